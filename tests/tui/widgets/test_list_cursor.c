#include "tests/test.h"

#include "tui/widgets/list_cursor.h"

static void it_stays_among_the_rows(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    list_cursor_move(&p, -5, 10, 4);
    assert_int_equal(p.at, 0);
    list_cursor_move(&p, 100, 10, 4);
    assert_int_equal(p.at, 9);
    assert_int_equal(p.top, 6);
    list_cursor_move(&p, 3, 0, 4);
    assert_int_equal(p.at, 0);
    assert_int_equal(p.top, 0);
}

static void rows_scroll_only_when_they_must(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    list_cursor_move(&p, 3, 10, 4);
    assert_int_equal(p.top, 0);
    list_cursor_move(&p, 4, 10, 4);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, 2, 10, 4);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, 0, 10, 4);
    assert_int_equal(p.top, 0);
}

static void no_room_is_left_below_while_rows_are_hidden_above(void **state)
{
    struct list_cursor p = { .at = 9, .top = 6 };

    (void)state;
    list_cursor_move(&p, 9, 7, 4); /* three rows have gone */
    assert_int_equal(p.at, 6);
    assert_int_equal(p.top, 3);
    list_cursor_move(&p, 6, 7, 20); /* the screen has grown */
    assert_int_equal(p.top, 0);
}

static void keys_move_it_by_lines_pages_and_to_the_ends(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    assert_true(list_cursor_act(&p, ACT_DOWN, 10, 4));
    assert_int_equal(p.at, 1);
    assert_true(list_cursor_act(&p, ACT_PAGE_DOWN, 10, 4));
    assert_int_equal(p.at, 5);
    assert_true(list_cursor_act(&p, ACT_UP, 10, 4));
    assert_true(list_cursor_act(&p, ACT_PAGE_UP, 10, 4));
    assert_int_equal(p.at, 0);
    assert_true(list_cursor_act(&p, ACT_LAST, 10, 4));
    assert_int_equal(p.at, 9);
    assert_true(list_cursor_act(&p, ACT_FIRST, 10, 4));
    assert_int_equal(p.at, 0);
    assert_false(list_cursor_act(&p, ACT_TRASH, 10, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stays_among_the_rows),
        cmocka_unit_test(rows_scroll_only_when_they_must),
        cmocka_unit_test(no_room_is_left_below_while_rows_are_hidden_above),
        cmocka_unit_test(keys_move_it_by_lines_pages_and_to_the_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
