#include "tests/test.h"

#include "tui/widgets/list_cursor.h"

static struct list_area rows(size_t n, int fit)
{
    return (struct list_area){ { 2, 1, fit, 10 }, n };
}

static void the_cursor_stays_within_the_rows(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    list_cursor_move(&p, rows(10, 4), -5);
    assert_int_equal(p.at, 0);
    list_cursor_move(&p, rows(10, 4), 100);
    assert_int_equal(p.at, 9);
    assert_int_equal(p.top, 6);
    list_cursor_move(&p, rows(0, 4), 3);
    assert_int_equal(p.at, 0);
    assert_int_equal(p.top, 0);
}

static void rows_scroll_only_when_necessary(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    list_cursor_move(&p, rows(10, 4), 3);
    assert_int_equal(p.top, 0);
    list_cursor_move(&p, rows(10, 4), 4);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, rows(10, 4), 2);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, rows(10, 4), 0);
    assert_int_equal(p.top, 0);
}

static void no_blank_lines_below_while_rows_are_hidden_above(void **state)
{
    struct list_cursor p = { .at = 9, .top = 6 };

    (void)state;
    list_cursor_move(&p, rows(7, 4), 9); /* three rows were removed */
    assert_int_equal(p.at, 6);
    assert_int_equal(p.top, 3);
    list_cursor_move(&p, rows(7, 20), 6); /* the screen grew */
    assert_int_equal(p.top, 0);
}

static void keys_move_the_cursor_by_lines_pages_and_to_the_ends(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_DOWN));
    assert_int_equal(p.at, 1);
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_PAGE_DOWN));
    assert_int_equal(p.at, 5);
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_UP));
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_PAGE_UP));
    assert_int_equal(p.at, 0);
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_LAST));
    assert_int_equal(p.at, 9);
    assert_true(list_cursor_act(&p, rows(10, 4), ACT_FIRST));
    assert_int_equal(p.at, 0);
    assert_false(list_cursor_act(&p, rows(10, 4), ACT_TRASH));
}

static void wheel_and_click_move_the_cursor(void **state)
{
    struct list_cursor p = { 0 };

    (void)state;
    assert_false(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_WHEEL_DOWN, 2, 1 }));
    assert_int_equal(p.at, 3);
    assert_false(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_WHEEL_DOWN, 2, 1 }));
    assert_int_equal(p.top, 3);
    assert_true(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_CLICK, 3, 1 }));
    assert_int_equal(p.at, 4);
    assert_false(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_CLICK, 1, 1 }));
    assert_false(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_CLICK, 6, 1 }));
    assert_false(list_cursor_mouse(&p, rows(10, 4), (struct mouse){ MOUSE_CLICK, 3, 11 }));
    assert_int_equal(p.at, 4);
}

static void a_short_list_of_choices_wraps_around(void **state)
{
    size_t at = 0;

    (void)state;
    assert_true(list_cursor_wrap(&at, 3, ACT_UP));
    assert_int_equal(at, 2);
    assert_true(list_cursor_wrap(&at, 3, ACT_DOWN));
    assert_int_equal(at, 0);
    assert_false(list_cursor_wrap(&at, 3, ACT_LAST));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cursor_stays_within_the_rows),
        cmocka_unit_test(rows_scroll_only_when_necessary),
        cmocka_unit_test(no_blank_lines_below_while_rows_are_hidden_above),
        cmocka_unit_test(keys_move_the_cursor_by_lines_pages_and_to_the_ends),
        cmocka_unit_test(wheel_and_click_move_the_cursor),
        cmocka_unit_test(a_short_list_of_choices_wraps_around),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
