#include "tests/test.h"

#include "support/screen/screen.h"

/* The list of all keys. */
static void help_begins_with_this_context_and_can_be_searched(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<F1>");
    assert_non_null(strstr(screen_line(&x.s, 3), "In the list of sessions"));
    assert_non_null(strstr(screen_line(&x.s, 4), "Enter"));
    screen_press(&x.s, "before:");
    assert_non_null(strstr(screen_line(&x.s, 4), "before:2w"));
    screen_press(&x.s, "<C-u>undo");
    assert_true(screen_has(&x.s, "In the menu"));
    screen_press(&x.s, "<Esc><PgDn>");
    assert_false(screen_has(&x.s, "In the list of sessions"));
    screen_press(&x.s, "<Home>");
    assert_non_null(strstr(screen_line(&x.s, 3), "In the list of sessions"));
    screen_press(&x.s, "<Esc>");
    assert_false(screen_has(&x.s, "In the list of sessions"));
    screen_close(&x.s);
}

static void a_slash_is_typed_into_the_query(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<F1>search");
    assert_true(screen_has(&x.s, "search the conversation"));
    screen_press(&x.s, "/");
    assert_true(screen_has(&x.s, "search/"));
    assert_true(screen_has(&x.s, "No matches"));
    screen_press(&x.s, "<BS>");
    assert_true(screen_has(&x.s, "search the conversation"));
    screen_close(&x.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slash_is_typed_into_the_query),
        cmocka_unit_test(help_begins_with_this_context_and_can_be_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
