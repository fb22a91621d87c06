#include "tests/test.h"

#include "support/screen/screen.h"

/* The keys of the list. */
static void marks_are_counted_and_printed_together(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<Tab><Down><Tab>");
    assert_true(screen_has(&x.s, "2 marked"));
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "only one session can be resumed at a time: 2 are marked"));
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<C-o>");
    assert_string_equal(x.s.log, "print 11111111 33333333\n");
    screen_close(&x.s);
}

static void an_unresumable_session_stays_with_an_explanation(void **state)
{
    (void)state;
    struct shop x;

    shop_begin(&x);
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    err_set(&x.s.no_command, ERR_UNSUPPORTED, "exathena", "resume: no command is configured");
    for (int print = 0; print < 3; print++) {
        screen_press(&x.s, print == 0   ? "<Down><Enter>"
                           : print == 1 ? "<C-o>"
                                        : "<Tab><Down><Tab><C-o>");
        assert_true(screen_has(&x.s, "no command is configured: resume: exathena"));
        screen_press(&x.s, "<End>");
    }
    x.s.settings.print = true;
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "no command is configured"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

static void an_editor_is_not_given_a_database(void **state)
{
    (void)state;
    struct shop x;

    shop_begin(&x);
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    x.s.ops.unsized = true;
    screen_press(&x.s, "<C-x>o");
    assert_true(screen_has(&x.s, "open in editor: the conversation is not in a text file on this "
                                 "machine"));
    assert_string_equal(x.s.log, "");
    x.s.ops.unsized = false;
    screen_press(&x.s, "<C-x>o");
    assert_non_null(strstr(x.s.log, "edit "));
    screen_close(&x.s);
}

static void marked_sessions_are_printed_when_all_have_been_read(void **state)
{
    (void)state;
    struct shop x;
    struct effect e;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_take(&x.s);
    assert_true(effects_pop(&x.s.waiting, &e));
    assert_int_equal(e.kind, EFFECT_LIST);
    screen_answer_one(&x.s, &e);
    effect_fini(&e);
    screen_press_only(&x.s, "<Tab><Tab><Tab><C-o>");
    assert_string_equal(x.s.log, "");
    screen_answer(&x.s);
    assert_string_equal(x.s.log, "print 11111111 22222222 33333333\n");
    screen_close(&x.s);
}

static void the_only_marked_session_is_the_one_that_is_resumed(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<Down><Tab><Enter>");
    assert_string_equal(x.s.log, "resume 22222222 in /home/u/src/shop\n");
    screen_close(&x.s);
}

static void print_mode_prints_on_enter(void **state)
{
    (void)state;
    struct shop x;

    shop_begin(&x);
    x.s.settings.print = true;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "print 11111111\n");
    screen_close(&x.s);
}

static void the_scope_key_cycles_through_all_scopes(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    assert_int_equal(x.s.scope, SCOPE_WORKTREES);
    screen_press(&x.s, "<C-a>");
    assert_int_equal(x.s.scope, SCOPE_ALL);
    assert_true(screen_has(&x.s, "all projects"));
    screen_press(&x.s, "<C-a>");
    assert_int_equal(x.s.scope, SCOPE_HERE);
    assert_true(screen_has(&x.s, "~/src/shop only"));
    screen_press(&x.s, "<C-a>");
    assert_int_equal(x.s.scope, SCOPE_WORKTREES);
    screen_close(&x.s);
}

static void worktrees_are_counted_if_there_are_any(void **state)
{
    (void)state;
    static const char *const titles[] = { "~/src/shop  ", "~/src/shop +1 worktree ",
                                          "~/src/shop +2 worktrees " };

    for (size_t i = 0; i < 3; i++) {
        struct shop x;

        shop_begin(&x);
        x.s.worktrees = i;
        screen_ready(&x.s, x.fake, SHOP, 24, 80);
        assert_non_null(strstr(screen_line(&x.s, 0), titles[i]));
        screen_close(&x.s);
    }
}

static void the_selection_sticks_through_a_change_of_scope(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press(&x.s, "<Down><Down><C-a>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_close(&x.s);
}

static void the_old_scope_stays_until_the_new_one_answers(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 80);
    screen_press_only(&x.s, "<C-a>");
    assert_true(screen_has(&x.s, "Refund flow"));
    screen_close(&x.s);
}

static void the_sort_key_cycles_through_all_orders(void **state)
{
    (void)state;
    static const char *const names[] = { "created", "size", "title", "recent" };
    static const char *const tops[] = { "Fix the payment", "Payments: idem", "Fix the payment",
                                        "Fix the payment" };
    struct shop x;

    shop_ready(&x, 24, 80);
    for (int i = 0; i < 4; i++) {
        screen_press(&x.s, "<C-s>");
        assert_non_null(strstr(screen_line(&x.s, 0), names[i]));
        assert_non_null(strstr(screen_line(&x.s, 2), tops[i]));
    }
    screen_close(&x.s);
}

static void vim_keys_act_and_a_slash_begins_the_filter(void **state)
{
    (void)state;
    struct shop x;

    shop_begin(&x);
    x.s.settings.keys.scheme = KEYS_VIM;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "jj");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_press(&x.s, "/copy");
    assert_string_equal(screen_line(&x.s, 1), "> copy");
    assert_true(screen_has(&x.s, "1/5"));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "q");
    assert_string_equal(x.s.log, "quit 130\n");
    screen_close(&x.s);
}

static void vim_keys_scroll_by_half_a_page(void **state)
{
    (void)state;
    struct shop x;

    shop_begin(&x);
    x.s.settings.keys.scheme = KEYS_VIM;
    x.s.settings.density = DENSITY_TWO_LINES; /* a page is three of four rows */
    screen_ready(&x.s, x.fake, SHOP, 12, 80);
    screen_press(&x.s, "<C-d>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_press(&x.s, "<C-d>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Größere"));
    screen_press(&x.s, "<C-u>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

static void the_wheel_scrolls_and_a_click_selects(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 100);
    screen_send(&x.s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_CLICK, 4, 10 } });
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_send(&x.s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_WHEEL_DOWN, 4, 90 } });
    assert_true(screen_has(&x.s, "3: conversation of"));
    screen_send(&x.s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_CLICK, 20, 10 } });
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_send(&x.s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_DOUBLE_CLICK, 5, 10 } });
    assert_true(screen_has(&x.s, "conversation of Payment page copy"));
    screen_close(&x.s);
}

static void the_preview_reads_only_where_the_selection_rests(void **state)
{
    (void)state;
    struct shop x;

    shop_ready(&x, 24, 100);
    assert_true(screen_has(&x.s, "conversation of"));
    screen_press(&x.s, "<Down><Down>");
    assert_false(screen_has(&x.s, "conversation of Refund"));
    screen_wait(&x.s, 100);
    assert_true(screen_has(&x.s, "conversation of Refund flow"));
    screen_close(&x.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_counted_and_printed_together),
        cmocka_unit_test(an_unresumable_session_stays_with_an_explanation),
        cmocka_unit_test(an_editor_is_not_given_a_database),
        cmocka_unit_test(marked_sessions_are_printed_when_all_have_been_read),
        cmocka_unit_test(the_only_marked_session_is_the_one_that_is_resumed),
        cmocka_unit_test(print_mode_prints_on_enter),
        cmocka_unit_test(the_scope_key_cycles_through_all_scopes),
        cmocka_unit_test(worktrees_are_counted_if_there_are_any),
        cmocka_unit_test(the_selection_sticks_through_a_change_of_scope),
        cmocka_unit_test(the_old_scope_stays_until_the_new_one_answers),
        cmocka_unit_test(the_sort_key_cycles_through_all_orders),
        cmocka_unit_test(vim_keys_act_and_a_slash_begins_the_filter),
        cmocka_unit_test(vim_keys_scroll_by_half_a_page),
        cmocka_unit_test(the_wheel_scrolls_and_a_click_selects),
        cmocka_unit_test(the_preview_reads_only_where_the_selection_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
