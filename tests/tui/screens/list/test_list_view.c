#include "tests/test.h"

#include "support/screen/screen.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"

/* The keys of the list. */
AT_SHOP(marks_are_counted_and_printed_together, 24, 80)
{
    screen_press(&x->s, "<Tab><Down><Tab>");
    assert_true(screen_has(&x->s, "2 marked"));
    /* The footer promises nothing that is refused. */
    assert_false(screen_has(&x->s, "Enter resume"));
    screen_press(&x->s, "<Enter>");
    assert_true(screen_has(&x->s, "resume: it takes one session, and several are marked"));
    assert_string_equal(x->s.log, "");
    screen_press(&x->s, "<C-o>");
    assert_string_equal(x->s.log, "print 11111111 33333333\n");
}

/* Types the query into an empty line, presses the keys, and compares what the line is then. */
static void assert_query(struct screen *s, const char *typed, const char *keys, const char *want)
{
    line_editor_set(&s->model->list->query, (struct slice){ 0 });
    screen_press(s, typed);
    screen_press(s, keys);
    struct slice got = line_editor_text(&s->model->list->query);

    if (!slice_eq(got, slice_of(want)))
        fail_msg("%s became %.*s, not %s", typed, SLICE_ARG(got), want);
}

AT_SHOP(tab_completes_the_value_of_a_field, 24, 80)
{
    screen_press(&x->s, "branch:f");
    assert_string_equal(screen_line(&x->s, 1), "> branch:fix/retry"); /* the rest is dim */
    screen_press(&x->s, "<C-u>branch:");
    assert_non_null(strstr(screen_line(&x->s, 1), "Tab: fix/retry  main  refunds  ümlaut"));
    assert_null(strstr(screen_line(&x->s, 23), "Tab mark"));
    screen_press(&x->s, "<Tab>");
    assert_non_null(strstr(screen_line(&x->s, 1), "Tab: main  refunds  ümlaut"));
    screen_resize(&x->s, 24, 50);
    assert_non_null(strstr(screen_line(&x->s, 1), "fix/retry"));
    assert_true(screen_has(&x->s, "  Tab: main  refunds  …"));
    screen_resize(&x->s, 24, 80);
    assert_query(&x->s, "branch:r", "", "branch:r");
    assert_query(&x->s, "branch:r", "<Tab>", "branch:refunds");
    assert_true(screen_has(&x->s, "Refund flow"));
    assert_false(screen_has(&x->s, "idempotency"));
    assert_query(&x->s, "pay !dir:SH", "<Tab>", "pay !dir:shop");
    assert_query(&x->s, "dir:sh", "<Tab><Tab>", "dir:shop-wt");
    assert_query(&x->s, "dir:sh", "<Tab><Tab><Tab>", "dir:shop");
    assert_query(&x->s, "dir:sh", "<Tab>-<BS><Tab>", "dir:shop-wt");
    assert_query(&x->s, "is:", "<Tab>", "is:archived");
    assert_query(&x->s, "is:", "<Tab><Tab>", "is:damaged");
    assert_int_equal(x->s.model->list->marks, 0);
}

AT_SHOP(tab_marks_where_there_is_nothing_to_complete, 24, 80)
{
    static const char *const queries[] = { "pay",    "branch:main", "tag:infra ", "size:>1",
                                           "branch", "tag:",        "//branch:r", "branch:r pa" };

    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        assert_query(&x->s, queries[i], "<Tab>",
                     queries[i] == queries[5] ? "tag:infra" : queries[i]);
    assert_query(&x->s, "branch:r", "<Left><Tab>", "branch:r");
    list_unmark_all(x->s.model->list);
    assert_query(&x->s, "branch:main", "<Tab>", "branch:main");
    assert_int_equal(x->s.model->list->marks, 1);
}

AT_SHOP(a_value_that_no_session_has_is_replaced_by_one_that_some_have, 24, 80)
{
    screen_press(&x->s, "branch:zz");
    assert_true(screen_has(&x->s, "No matches"));
    assert_non_null(strstr(screen_line(&x->s, 1), "> branch:zz "));
    assert_non_null(strstr(screen_line(&x->s, 1), "Tab: fix/retry  main  refunds  ümlaut"));
    assert_query(&x->s, "branch:zz", "<Tab>", "branch:fix/retry");
    assert_query(&x->s, "branch:zz", "<Tab><Tab>", "branch:main");
    /* Where only one value is left to choose, it is named, too. */
    screen_press(&x->s, "<C-u>tag:x");
    assert_non_null(strstr(screen_line(&x->s, 1), "Tab: infra"));
    assert_query(&x->s, "agent:nosuch", "<Tab>", "agent:claude");
}

TEST(a_value_with_blanks_is_completed_in_quotes)
{
    static struct fake odd[] = {
        { .id = "11111111", .title = "One", .cwd = "/home/u/Mein Projekt" },
        { .id = "22222222", .title = "Two", .cwd = "/home/u/a\"b" },
        { .id = "33333333", .title = "Three", .cwd = "/home/u/zoo\x1b[2J" },
    };
    struct screen s = { 0 };

    screen_ready(&s, odd, 3, 24, 80);
    assert_query(&s, "dir:me", "<Tab>", "dir:\"Mein Projekt\"");
    assert_true(screen_has(&s, "One"));
    assert_false(screen_has(&s, "Two"));
    assert_query(&s, "dir:\"mein P", "<Tab>", "dir:\"Mein Projekt\"");
    assert_query(&s, "dir:a", "<Tab>", "dir:a");
    assert_query(&s, "dir:z", "<Tab>", "dir:z");
    screen_close(&s);
}

TEST(an_unresumable_session_stays_with_an_explanation)
{
    struct shop x;

    shop_begin(&x);
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    err_set(&x.s.no_command, ERR_UNSUPPORTED, "exathena", "resume: no command is configured");
    for (int print = 0; print < 3; print++) {
        screen_press(&x.s, print == 0   ? "<Down><Enter>"
                           : print == 1 ? "<C-o>"
                                        : "<Tab><Down><Tab><C-o>");
        assert_true(screen_has(&x.s, "cannot resume exathena: no command is configured"));
        screen_press(&x.s, "<End>");
    }
    x.s.settings.print = true;
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "no command is configured"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

TEST(an_editor_is_not_given_a_database)
{
    struct shop x;

    shop_begin(&x);
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    x.s.ops.size_unknown = true;
    screen_press(&x.s, "<C-x>o");
    assert_true(screen_has(&x.s, "open in editor: the conversation is not in a text file on this "
                                 "machine"));
    assert_string_equal(x.s.log, "");
    x.s.ops.size_unknown = false;
    screen_press(&x.s, "<C-x>o");
    assert_non_null(strstr(x.s.log, "edit "));
    screen_close(&x.s);
}

TEST(marked_sessions_are_printed_when_all_have_been_read)
{
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

AT_SHOP(the_only_marked_session_is_the_one_that_is_resumed, 24, 80)
{
    screen_press(&x->s, "<Down><Tab><Enter>");
    assert_string_equal(x->s.log, "resume 22222222 in /home/u/src/shop\n");
}

TEST(print_mode_prints_on_enter)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.print = true;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "print 11111111\n");
    screen_close(&x.s);
}

AT_SHOP(the_scope_key_cycles_through_all_scopes, 24, 80)
{
    assert_int_equal(x->s.scope, SCOPE_WORKTREES);
    screen_press(&x->s, "<C-a>");
    assert_int_equal(x->s.scope, SCOPE_ALL);
    assert_true(screen_has(&x->s, "all projects"));
    screen_press(&x->s, "<C-a>");
    assert_int_equal(x->s.scope, SCOPE_HERE);
    assert_true(screen_has(&x->s, "~/src/shop only"));
    screen_press(&x->s, "<C-a>");
    assert_int_equal(x->s.scope, SCOPE_WORKTREES);
}

TEST(worktrees_are_counted_if_there_are_any)
{
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

/* Whatever the width, with a mark of each kind and a fork that has files. */
TEST(every_row_of_all_projects_names_its_project_in_full)
{
    static struct fake rows[] = {
        { .id = "11111111",
          .title = "Make the number of the captures independent of the retries",
          .cwd = "/home/u/src/shop-refunds-2",
          .restorable = 12,
          .flags = SESSION_FORK | SESSION_INTERRUPTED | SESSION_DAMAGED },
        { .id = "22222222",
          .title = "Explain why the ledger rounds to the wrong side of the cent",
          .cwd = "/home/u/src/ledger-exports",
          .tag = "accounting" },
    };

    for (int cols = 60; cols <= 200; cols += 4) {
        struct screen s = { 0 };

        screen_ready(&s, rows, 2, 24, cols);
        screen_press(&s, "<C-a>");
        if (!screen_has(&s, "all projects") || !screen_has(&s, "shop-refunds-2") ||
            !screen_has(&s, "ledger-exports") || !screen_has(&s, "Make the numbe") ||
            (cols >= 80 && !screen_has(&s, "12")))
            fail_msg("%d columns:\n%s", cols, screen_text(&s));
        screen_close(&s);
    }
}

AT_SHOP(the_selection_sticks_through_a_change_of_scope, 24, 80)
{
    screen_press(&x->s, "<Down><Down><C-a>");
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
}

AT_SHOP(the_old_scope_stays_until_the_new_one_answers, 24, 80)
{
    screen_press_only(&x->s, "<C-a>");
    assert_true(screen_has(&x->s, "Refund flow"));
}

AT_SHOP(the_sort_key_cycles_through_all_orders, 24, 80)
{
    static const char *const names[] = { "created", "size", "title", "recent" };
    static const char *const tops[] = { "Fix the payment", "Payments: idem", "Fix the payment",
                                        "Fix the payment" };

    for (int i = 0; i < 4; i++) {
        screen_press(&x->s, "<C-s>");
        assert_non_null(strstr(screen_line(&x->s, 0), names[i]));
        assert_non_null(strstr(screen_line(&x->s, 2), tops[i]));
    }
}

TEST(vim_keys_act_and_a_slash_begins_the_filter)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.keys.scheme = KEYS_VIM;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "jj");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Refund flow"));
    screen_press(&x.s, "/copy");
    assert_string_equal(screen_line(&x.s, 1), "> copy");
    assert_true(screen_has(&x.s, "1 of 5 sessions"));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "q");
    assert_string_equal(x.s.log, "quit 130\n");
    screen_close(&x.s);
}

TEST(vim_keys_scroll_by_half_a_page)
{
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

AT_SHOP(the_wheel_scrolls_and_a_click_selects, 24, 100)
{
    screen_send(&x->s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_CLICK, 4, 10 } });
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_send(&x->s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_WHEEL_DOWN, 4, 90 } });
    assert_true(screen_has(&x->s, "3: conversation of"));
    screen_send(&x->s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_CLICK, 20, 10 } });
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_send(&x->s, (struct msg){ .kind = MSG_MOUSE, .u.mouse = { MOUSE_DOUBLE_CLICK, 5, 10 } });
    assert_true(screen_has(&x->s, "conversation of Payment page copy"));
}

AT_SHOP(the_preview_reads_only_where_the_selection_rests, 24, 100)
{
    assert_true(screen_has(&x->s, "conversation of"));
    screen_press(&x->s, "<Down><Down>");
    assert_false(screen_has(&x->s, "conversation of Refund"));
    screen_wait(&x->s, 100);
    assert_true(screen_has(&x->s, "conversation of Refund flow"));
}
