#include "tests/test.h"

#include "tui/widgets/list_cursor.h"

static struct list_area rows(size_t n, int fit)
{
    return (struct list_area){ { 2, 1, fit, 10 }, n };
}

TEST(the_cursor_stays_within_the_rows)
{
    struct list_cursor p = { 0 };

    list_cursor_move(&p, rows(10, 4), -5);
    assert_int_equal(p.at, 0);
    list_cursor_move(&p, rows(10, 4), 100);
    assert_int_equal(p.at, 9);
    assert_int_equal(p.top, 6);
    list_cursor_move(&p, rows(0, 4), 3);
    assert_int_equal(p.at, 0);
    assert_int_equal(p.top, 0);
}

TEST(rows_scroll_only_when_necessary)
{
    struct list_cursor p = { 0 };

    list_cursor_move(&p, rows(10, 4), 3);
    assert_int_equal(p.top, 0);
    list_cursor_move(&p, rows(10, 4), 4);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, rows(10, 4), 2);
    assert_int_equal(p.top, 1);
    list_cursor_move(&p, rows(10, 4), 0);
    assert_int_equal(p.top, 0);
}

TEST(no_blank_lines_below_while_rows_are_hidden_above)
{
    struct list_cursor p = { .at = 9, .top = 6 };

    list_cursor_move(&p, rows(7, 4), 9); /* three rows were removed */
    assert_int_equal(p.at, 6);
    assert_int_equal(p.top, 3);
    list_cursor_move(&p, rows(7, 20), 6); /* the screen grew */
    assert_int_equal(p.top, 0);
}

TEST(keys_move_the_cursor_by_lines_pages_and_to_the_ends)
{
    struct list_cursor p = { 0 };

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

TEST(wheel_and_click_move_the_cursor)
{
    struct list_cursor p = { 0 };

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

TEST(a_short_list_of_choices_wraps_around)
{
    size_t at = 0;

    assert_true(list_cursor_wrap(&at, 3, ACT_UP));
    assert_int_equal(at, 2);
    assert_true(list_cursor_wrap(&at, 3, ACT_DOWN));
    assert_int_equal(at, 0);
    assert_false(list_cursor_wrap(&at, 3, ACT_LAST));
}
