#include "tests/test.h"

#include "support/screen/screen.h"

/* The list of damage: sessions and files of every system, each with its defect in one line. */

/* One torn session, one with a broken line, and one that no list shows. */
static void open_damaged(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    x->fake[1].flags |= SESSION_DAMAGED;
    x->fake[3].hidden = HIDDEN_DAMAGED;
    x->fake[3].problem = "metadata.json is not JSON";
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<C-x>x");
}

TEST(each_row_names_system_session_and_damage)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    assert_string_equal(
        screen_line(&x.s, 0),
        " damaged  ~/src/shop +2 worktrees                                    3 sessions");
    assert_string_equal(screen_line(&x.s, 2),
                        "▌  2h ago  claude    Payments: idempotency …  a line cannot be read");
    assert_string_equal(screen_line(&x.s, 3),
                        "   3d ago  claude    Payment page copy        metadata.json is not JSON");
    assert_string_equal(screen_line(&x.s, 4),
                        "   2w ago  claude    Größere Änderungen am …  its last line is cut short");
    assert_string_equal(screen_line(&x.s, 20),
                        "  ~/.claude/projects/shop/22222222-0000-4000-8000-000000000002.jsonl");
    assert_string_equal(screen_line(&x.s, 21), "  a line cannot be read");
    assert_string_equal(screen_line(&x.s, 23),
                        " Enter read  X doctor  ^A scope  d delete  ^X actions  Esc back  ? help");
    screen_wait(&x.s, 200);
    screen_press(&x.s, "<Down>");
    assert_string_equal(
        screen_line(&x.s, 0),
        " damaged  ~/src/shop +2 worktrees                                    3 sessions");
    screen_close(&x.s);
}

TEST(the_newest_come_first_in_any_arrival_order)
{
    static const char *const names[] = { "Payment page copy", "Payments: idem", "Größere" };
    struct shop x;

    shop_begin(&x);
    x.fake[1].flags |= SESSION_DAMAGED;
    x.fake[3].flags |= SESSION_DAMAGED;
    x.fake[3].ago_ms = 1000;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-x>x");
    for (int i = 0; i < 3; i++)
        assert_non_null(strstr(screen_line(&x.s, 2 + i), names[i]));
    screen_close(&x.s);
}

TEST(narrow_screens_lose_the_age_first)
{
    struct shop x;

    open_damaged(&x, 12, 50);
    assert_string_equal(screen_line(&x.s, 2), "▌  claude    Payments: ide…  a line cannot be re…");
    assert_string_equal(screen_line(&x.s, 10), "  a line cannot be read");
    screen_close(&x.s);
}

TEST(the_list_shows_the_number_and_the_key)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_line(&x.s, 0), "4 sessions"));
    assert_non_null(strstr(screen_line(&x.s, 1), "3 damaged: ^X x"));
    x.fake[1].flags = 0;
    x.fake[1].size++;
    x.fake[3].gone = true;
    x.fake[4].flags = 0;
    x.fake[4].size++;
    screen_press(&x.s, "<F5>");
    assert_string_equal(screen_line(&x.s, 1), ">   type to filter");
    screen_close(&x.s);
}

TEST(a_line_being_written_is_no_damage)
{
    struct shop x;

    shop_begin(&x);
    x.fake[4].flags = SESSION_TORN | SESSION_LIVE;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<A-x>");
    assert_true(screen_has(&x.s, "Nothing here is damaged"));
    assert_true(screen_has(&x.s, "The beginning and the end of 5 sessions were checked. ^X X"));
    assert_true(screen_has(&x.s, "^A     check more projects"));
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "read: nothing is selected"));
    screen_close(&x.s);
}

TEST(nothing_is_checked_where_there_is_no_session)
{
    struct shop x;

    shop_begin(&x);
    screen_ready(&x.s, x.fake, 0, 24, 80);
    screen_press(&x.s, "<A-x>");
    assert_true(screen_has(&x.s, "There is no session to check."));
    assert_false(screen_has(&x.s, "0 sessions were"));
    screen_close(&x.s);
}

/* The next listing has no error, and the rows wait for the cursor of the list, which was just moved. */
TEST(an_error_that_the_next_listing_has_not_is_forgotten)
{
    struct shop x;
    struct err e;

    shop_begin(&x);
    x.s.problems = problem_list_new();
    err_set(&e, ERR_IO, "/home/u/.claude/projects/locked", "list sessions: Permission denied");
    assert_true(problem_list_add(x.s.problems, "claude", &e));
    screen_ready(&x.s, x.fake, SHOP, 24, 100);
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x.s, 240);
    screen_press(&x.s, "<Down><A-x>");
    assert_true(screen_has(&x.s, "Permission denied"));
    screen_wait(&x.s, 20);
    assert_int_equal(x.s.listings, 2);
    assert_false(screen_has(&x.s, "Permission denied"));
    screen_close(&x.s);
}

TEST(errors_of_the_listing_come_first)
{
    struct shop x;
    struct err e;
    const struct finding around[] = {
        { .kind = FINDING_DAMAGED_CHANGE,
          .path = "/home/u/.local/state/reprise/changes/7",
          .why = "its record cannot be read: this change cannot be undone" },
        { .kind = FINDING_UNREADABLE, /* reported already */
          .path = "/home/u/.claude/projects/shop/55555555-0000-4000-8000-000000000005.jsonl",
          .why = "torn" },
    };

    shop_begin(&x);
    x.s.store_findings = around;
    x.s.arounds = 2;
    x.s.problems = problem_list_new();
    err_set(&e, ERR_IO, "/home/u/.claude/projects/locked", "list sessions: Permission denied");
    assert_true(problem_list_add(x.s.problems, "claude", &e));
    screen_ready(&x.s, x.fake, SHOP, 24, 100);
    screen_press(&x.s, "<Down><C-x>x"); /* a key acknowledges the error, too */
    assert_non_null(strstr(screen_line(&x.s, 0), "1 session, 2 problems"));
    assert_string_equal(
        screen_line(&x.s, 2),
        "▌          claude              locked                       cannot list sessions: "
        "Permission denied");
    assert_non_null(strstr(screen_line(&x.s, 3), "claude              7 "));
    assert_non_null(strstr(screen_line(&x.s, 4), "claude    55555555  Größere Änderungen"));
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "read: this is a file, not a session"));
    screen_press(&x.s, "<C-x>oy");
    assert_string_equal(x.s.log, "edit /home/u/.claude/projects/locked\n"
                                 "copy /home/u/.claude/projects/locked\n");
    screen_close(&x.s);
}

TEST(a_session_in_a_wrong_folder_is_put_back_after_a_question)
{
    struct shop x;
    const struct finding astray[] = {
        { .kind = FINDING_MISPLACED,
          .session = SLICE("66666666-0000-4000-8000-000000000006"),
          .path = "/home/u/.claude/projects/shop/shop/66666666-0000-4000-8000-000000000006.jsonl",
          .why = "no list shows it: Claude Code does not look for sessions there",
          .repair = "moves it to /home/u/.claude/projects/shop",
          .fixable = true },
        { .kind = FINDING_DAMAGED_CHANGE, .path = "/home/u/7", .why = "no record" },
    };

    shop_begin(&x);
    x.s.store_findings = astray;
    x.s.arounds = 2;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-x>x");
    assert_non_null(strstr(screen_line(&x.s, 2), "+"));
    assert_true(screen_has(&x.s, "(the repair"));
    assert_true(screen_has(&x.s, "moves it to /home/u/.claude/projects/shop)"));
    assert_non_null(strstr(screen_line(&x.s, 23), " F repair "));
    screen_press(&x.s, "F");
    assert_true(screen_has(&x.s, "Put the session back?"));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "");
    err_set(&x.s.refusal, ERR_LOCKED, "", "it is in use");
    screen_press(&x.s, "Fy");
    assert_string_equal(x.s.log, "fix 66666666\n");
    screen_press(&x.s, "<Esc><Down>F");
    assert_true(screen_has(&x.s, "repair: nothing here is safe to repair"));
    screen_press(&x.s, "<Down>F");
    assert_true(screen_has(&x.s, "repair: the doctor of the session repairs it"));
    assert_string_equal(x.s.log, "fix 66666666\n");
    screen_close(&x.s);
}

TEST(enter_opens_the_session_and_esc_returns)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    screen_press(&x.s, "<Down><Enter>");
    assert_true(screen_has(&x.s, "0: conversation of Payment page copy"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_line(&x.s, 0), " reprise "));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

TEST(actions_are_about_the_session_under_the_cursor)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    screen_press(&x.s, "<Down><Down>d<Down><Enter>");
    assert_string_equal(x.s.log, "trash 55555555\n");
    assert_non_null(strstr(screen_line(&x.s, 0), "2 sessions"));
    screen_press(&x.s, "u");
    assert_non_null(strstr(screen_line(&x.s, 0), "3 sessions"));
    screen_press(&x.s, "<Home><C-x>");
    assert_true(screen_has(&x.s, "─ Payments: idempotency keys ─"));
    screen_press(&x.s, "y");
    assert_string_equal(x.s.log, "trash 55555555\nundo\n"
                                 "copy 22222222-0000-4000-8000-000000000002\n");
    screen_close(&x.s);
}

TEST(the_cursor_stays_with_its_session)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    screen_press(&x.s, "<End>");
    x.fake[2].flags |= SESSION_DAMAGED; /* another, newer one */
    x.fake[2].size++;
    screen_press(&x.s, "<F5>");
    assert_non_null(strstr(screen_line(&x.s, 0), "4 sessions"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "Größere Änderungen"));
    screen_press(&x.s, "<C-a>"); /* entries are numbered anew there */
    assert_non_null(strstr(screen_line(&x.s, 0), "all projects"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "Größere Änderungen"));
    screen_close(&x.s);
}

/* A key may arrive between the change of the scope and its reply: the open session is then found again, or no session
 * is meant, never another one. */
TEST(the_open_session_stays_the_subject_while_the_scope_changes)
{
    struct shop x;

    open_damaged(&x, 24, 80);
    screen_press_only(&x.s, "<C-a><End><Enter>");
    x.fake[0].gone = x.fake[2].gone = true;
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    screen_press(&x.s, "<C-x>y<Esc>");
    assert_string_equal(x.s.log, "copy 55555555-0000-4000-8000-000000000005\n");
    assert_non_null(strstr(screen_line(&x.s, 0), "3 sessions"));
    screen_press_only(&x.s, "<C-a><End><Enter>");
    x.fake[4].gone = true;
    screen_answer(&x.s);
    screen_press(&x.s, "<C-x>d");
    assert_true(screen_has(&x.s, "delete: no session is selected"));
    screen_close(&x.s);
}

TEST(nothing_is_reported_before_the_search_is_complete)
{
    struct shop x;

    shop_begin(&x);
    x.fake[4].flags = 0;
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_press_only(&x.s, "<C-x>x");
    assert_true(screen_has(&x.s, "Checking ..."));
    screen_answer(&x.s);
    screen_wait(&x.s, 200);
    assert_true(screen_has(&x.s, "Nothing here is damaged"));
    screen_close(&x.s);
}
