#include "tests/test.h"

#include "support/screen/screen.h"

/* Cleanup by rule: the rules, the exact list, one question, and the trash. */

/* Sets the rule "not used for" to any time: all five sessions of the shop are listed, and ticked by hand. */
static void open_all(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    for (size_t i = 0; i < SHOP; i++)
        x->fake[i].tag = NULL;
    x->fake[2].ago_ms += HOUR; /* more than a day, not just one */
    x->fake[4].flags |= SESSION_ARCHIVED;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<C-x>c<Left><Left><Left><Left>*");
}

TEST(cleanup_starts_with_sessions_unused_for_a_month)
{
    struct shop x;

    shop_begin(&x);
    x.fake[4].ago_ms = INT64_C(40) * DAY;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-x>c");
    assert_string_equal(screen_line(&x.s, 0), " clean up  1 of 1 session ticked, 900 B"
                                              "                           largest first");
    assert_string_equal(screen_line(&x.s, 1), "   where           this repository's worktrees");
    assert_string_equal(screen_cursor_line(&x.s), "▌  not used for  ‹ 30d ›");
    assert_non_null(strstr(screen_line(&x.s, 7), "   900 B  ████  Größere"));
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<Esc>");
    assert_true(screen_has(&x.s, "Fix the payment retry loop"));
    screen_close(&x.s);
}

TEST(a_rule_that_changes_changes_the_list_at_once)
{
    struct shop x;

    open_all(&x, 24, 80);
    assert_true(screen_has(&x.s, "4 of 5 sessions ticked, 1.5 MB"));
    screen_press(&x.s, "<Right>");
    assert_true(screen_has(&x.s, "not used for  ‹ 1d ›"));
    assert_true(screen_has(&x.s, "3 of 3 sessions ticked"));
    screen_press(&x.s, "<Down><Right>");
    assert_true(screen_has(&x.s, "larger than   ‹ 100k ›"));
    assert_true(screen_has(&x.s, "1 of 1 session ticked, 293 KB"));
    screen_press(&x.s, "<Left><Down><Down> ");
    assert_true(screen_has(&x.s, "[x] archived"));
    assert_true(screen_has(&x.s, "1 of 1 session ticked, 900 B"));
    screen_press(&x.s, "<Home><Right>");
    assert_true(screen_has(&x.s, "where         ‹ all projects ›"));
    assert_int_equal(x.s.scope, SCOPE_ALL);
    screen_close(&x.s);
}

/* The fake store has no orphans; the request and the message are the screen's. */
TEST(only_orphans_excludes_the_rules_about_sessions)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<Down><Down><Down> "); /* archived */
    screen_press(&x.s, "<Down> ");
    assert_true(screen_has(&x.s, "[ ] archived"));
    assert_true(screen_has(&x.s, "[x] orphaned"));
    assert_true(screen_has(&x.s, "what deleted sessions left behind"));
    assert_true(screen_has(&x.s, "Deleted sessions left nothing behind"));
    screen_press(&x.s, "<Up> ");
    assert_true(screen_has(&x.s, "[ ] orphaned"));
    screen_close(&x.s);
}

AT_SHOP(without_a_rule_nothing_is_ticked, 24, 80)
{
    screen_press(&x->s, "<C-x>c<Left><Left><Left><Left>");
    assert_true(screen_has(&x->s, "0 of 5 sessions ticked"));
    screen_press(&x->s, "d");
    assert_true(screen_has(&x->s, "delete: nothing is ticked"));
    screen_press(&x->s, "<Right><Right>"); /* a week: the rule ticks */
    assert_true(screen_has(&x->s, "1 of 1 session ticked, 900 B"));
}

AT_SHOP(any_age_and_size_can_be_typed, 24, 80)
{
    screen_press(&x->s, "<C-x>c<Enter><C-u>soon<Enter>");
    assert_true(screen_has(&x->s, "like 90d, 12h, 2w"));
    screen_press(&x->s, "<C-u>36h<Enter>");
    assert_true(screen_has(&x->s, "not used for  ‹ 36h ›"));
    assert_true(screen_has(&x->s, "2 of 2 sessions ticked"));
    screen_press(&x->s, "<Down><Enter><C-u>2k<Enter>");
    assert_true(screen_has(&x->s, "1 of 1 session ticked, 20 KB"));
    screen_press(&x->s, "<Enter><C-u><Enter>");
    assert_true(screen_has(&x->s, "larger than   ‹ any size ›"));
}

TEST(ticked_sessions_are_trashed_after_one_question)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<Tab>");
    assert_string_equal(screen_cursor_line(&x.s),
                        "▌ [x]   2h ago   1.1 MB  ████  Payments: idempotency keys  ~/src/shop");
    screen_press(&x.s, " ");
    assert_string_equal(screen_line(&x.s, 7),
                        "  [ ]   2h ago   1.1 MB  ████  Payments: idempotency keys  ~/src/shop");
    screen_press(&x.s, "d");
    assert_true(screen_has(&x.s, "Move 3 sessions, 313 KB, to the trash?"));
    assert_true(screen_has(&x.s, "1 session stays: not ticked."));
    assert_true(screen_has(&x.s, "Enter choose  y yes  "));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "d<Down><Enter>");
    assert_string_equal(x.s.log, "sweep 33333333 44444444 55555555\n");
    assert_true(screen_has(&x.s, "moved to trash: 3 sessions, 313 KB — u undo"));
    assert_true(screen_has(&x.s, "0 of 2 sessions ticked"));
    screen_close(&x.s);
}

/* The sessions under the cursor are given away, and what remains is not read yet. */
TEST(keys_while_sessions_are_moved_meet_no_session)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<Tab><Down>d<Down>");
    screen_press_only(&x.s, "<Enter> s<Right>");
    screen_answer(&x.s);
    assert_true(screen_has(&x.s, "moved to trash: 4 sessions"));
    screen_close(&x.s);
}

/* An undo that is asked for before the question brings one more back. */
TEST(nothing_is_moved_that_the_question_did_not_name)
{
    struct shop x;

    open_all(&x, 24, 80);
    x.fake[4].gone = true;
    screen_press(&x.s, "<Right>");
    screen_press_only(&x.s, "ud");
    assert_true(screen_has(&x.s, "Move 2 sessions, "));
    screen_answer(&x.s);
    screen_press(&x.s, "<Down><Enter>");
    assert_null(strstr(x.s.log, "sweep"));
    assert_true(screen_has(&x.s, "nothing moved: the sessions were read again meanwhile"));
    screen_press(&x.s, "d<Down><Enter>");
    assert_non_null(strstr(x.s.log, "sweep 33333333 44444444 55555555\n"));
    screen_close(&x.s);
}

TEST(undo_returns_them_to_the_list)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "d<Down><Enter>u");
    assert_true(screen_has(&x.s, "0 of 5 sessions ticked"));
    assert_non_null(strstr(x.s.log, "undo"));
    screen_press(&x.s, "<Esc><Esc>");
    assert_true(screen_has(&x.s, "4 of 5 sessions"));
    screen_close(&x.s);
}

TEST(a_session_in_use_cannot_be_ticked)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<Tab><End>"); /* after smaller ones, which can be moved */
    assert_non_null(
        strstr(screen_cursor_line(&x.s), " -       now    47 KB  ▏     Fix the payment"));
    assert_true(screen_has(&x.s, " stays: process 4242 may be writing to it; 2 files; ~/"));
    screen_press(&x.s, " ");
    assert_true(screen_has(&x.s, "stays: process 4242 may be writing to it"));
    assert_true(screen_has(&x.s, "4 of 5 sessions ticked"));
    screen_close(&x.s);
}

TEST(an_unticked_session_stays_unticked_while_rules_change)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<Right>");
    assert_true(screen_has(&x.s, "3 of 3 sessions ticked"));
    screen_press(&x.s, "<Tab> ");
    assert_true(screen_has(&x.s, "2 of 3 sessions ticked"));
    screen_press(&x.s, "<Home><Down><Down><Right>");
    assert_true(screen_has(&x.s, "0 of 1 session ticked"));
    assert_true(screen_has(&x.s, "[ ]   1d ago   293 KB  ████  Refund flow"));
    screen_press(&x.s, "<Left>");
    assert_true(screen_has(&x.s, "2 of 3 sessions ticked"));
    screen_press(&x.s, "*");
    assert_true(screen_has(&x.s, "3 of 3 sessions ticked"));
    screen_press(&x.s, "*");
    assert_true(screen_has(&x.s, "0 of 3 sessions ticked"));
    screen_press(&x.s, "d");
    assert_true(screen_has(&x.s, "delete: nothing is ticked"));
    screen_close(&x.s);
}

TEST(a_session_ticked_by_hand_stays_ticked_when_they_are_read_again)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "*<Tab><Down> ");
    assert_true(screen_has(&x.s, "1 of 5 sessions ticked"));
    screen_press(&x.s, "<F5>");
    assert_true(screen_has(&x.s, "1 of 5 sessions ticked"));
    screen_press(&x.s, "<Tab><Right>"); /* a rule ticks what it finds */
    assert_true(screen_has(&x.s, "3 of 3 sessions ticked"));
    screen_press(&x.s, "<Left>");
    assert_true(screen_has(&x.s, "0 of 5 sessions ticked"));
    screen_close(&x.s);
}

TEST(grouped_by_project_each_shows_its_disk_usage)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<C-s><C-s><Tab>");
    assert_true(screen_has(&x.s, "by project"));
    assert_string_equal(screen_cursor_line(&x.s),
                        "▌ [x]            1.2 MB  ▸ ~/src/shop  4 sessions");
    assert_string_equal(screen_line(&x.s, 8),
                        "  [x]            293 KB  ▸ ~/src/shop-wt  1 session");
    screen_press(&x.s, " "); /* the whole project, whether it is shown or not */
    assert_true(screen_has(&x.s, "1 of 5 sessions ticked, 293 KB"));
    screen_close(&x.s);
}

TEST(a_project_opens_and_closes_like_a_tree)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press(&x.s, "<C-s><C-s><Tab><Right>");
    assert_string_equal(screen_line(&x.s, 7), "▌ [x]            1.2 MB  ▾ ~/src/shop  4 sessions");
    assert_true(screen_has(&x.s, "Payment page copy"));
    assert_string_equal(screen_line(&x.s, 12),
                        "  [x]            293 KB  ▸ ~/src/shop-wt  1 session");
    screen_press(&x.s, "<Down><Down> ");
    assert_true(screen_has(&x.s, "▾ ~/src/shop")); /* also after the list was requested anew */
    screen_press(&x.s, "<F5>");
    assert_true(screen_has(&x.s, "Payment page copy"));
    screen_press(&x.s, "<Left>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "▸ ~/src/shop"));
    assert_false(screen_has(&x.s, "Payment page copy"));
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "Payment page copy"));
    screen_press(&x.s, "<Down><C-s>"); /* another order: the cursor stays with its session */
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments: idempotency keys"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

TEST(nothing_can_be_moved_during_the_search)
{
    struct shop x;

    open_all(&x, 24, 80);
    screen_press_only(&x.s, "<Right>d");
    assert_true(screen_has(&x.s, "delete: the sessions are still being checked"));
    x.s.now_ms += 200;
    screen_send(&x.s, (struct msg){ .kind = MSG_TICK });
    assert_true(screen_has(&x.s, "checking the sessions"));
    screen_press_only(&x.s, "<Left>"); /* requested again: only the last reply counts */
    screen_answer(&x.s);
    assert_true(screen_has(&x.s, "0 of 5 sessions ticked"));
    screen_close(&x.s);
}

AT_SHOP(errors_are_shown_and_nothing_is_offered, 24, 80)
{
    struct msg failed = { .kind = MSG_FAILED };

    screen_press_only(&x->s, "<C-x>c");
    for (size_t i = 0; i < x->s.waiting.n; i++)
        if (x->s.waiting.item[i].kind == EFFECT_SWEEP)
            failed.generation = x->s.waiting.item[i].generation;
    err_set(&failed.u.error, ERR_IO, "/home/u/.claude", "look for sessions");
    screen_send(&x->s, failed);
    assert_true(screen_has(&x->s, "look for sessions: /home/u/.claude"));
    assert_false(screen_has(&x->s, "Tab pane"));
    screen_answer(&x->s); /* a late reply is dropped */
    screen_press(&x->s, "d");
    assert_true(screen_has(&x->s, "delete: the sessions could not be checked"));
}

TEST(cleanup_fits_a_small_screen)
{
    struct shop x;

    open_all(&x, 12, 50);
    screen_press(&x.s, "<End>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Fix the payment"));
    assert_true(screen_has(&x.s, "Größere"));
    screen_close(&x.s);
}

AT_SHOP(old_undo_records_are_named_and_counted_once, 24, 80)
{
    x->s.undo_records = 14;
    screen_press(&x->s, "<C-x>c");
    assert_true(screen_has(&x->s, "14 old undo records, 28 KB: E removes them"));
    screen_press(&x->s, "<Right><Right>");
    assert_true(screen_has(&x->s, "14 old undo records, 28 KB: E removes them"));
    screen_press(&x->s, "<Esc>");
    x->s.undo_records = 0;
    screen_press(&x->s, "<C-x>c");
    assert_false(screen_has(&x->s, "undo record"));
}

AT_SHOP(old_undo_records_are_removed_after_a_question, 24, 80)
{
    x->s.undo_records = 14;
    screen_press(&x->s, "<C-x>c");
    screen_press(&x->s, "E");
    assert_true(screen_has(&x->s, "Remove 14 old undo records, 28 KB, for good?"));
    screen_press(&x->s, "<Esc>");
    assert_true(screen_has(&x->s, "14 old undo records"));
    screen_press(&x->s, "E");
    screen_press(&x->s, "yes<Enter>");
    assert_non_null(strstr(x->s.log, "prune 14"));
    assert_true(screen_has(&x->s, "removed for good: 14 undo records, 28 KB"));
    assert_false(screen_has(&x->s, "old undo records"));
    screen_press(&x->s, "E");
    assert_true(screen_has(&x->s, "old records: there are no old ones"));
}

AT_SHOP(old_snapshots_are_removed_with_them, 24, 80)
{
    x->s.old_snapshots = 3;
    screen_press(&x->s, "<C-x>c");
    assert_true(screen_has(&x->s, "3 old snapshots: E removes them"));
    screen_press(&x->s, "<Esc>");
    x->s.old_snapshots = 0;
    x->s.held_snapshots = 2;
    screen_press(&x->s, "<C-x>c");
    assert_true(screen_has(&x->s, "2 old snapshots stay for a day: the clock has jumped"));
    screen_press(&x->s, "<Esc>");
    x->s.old_snapshots = 3;
    screen_press(&x->s, "<C-x>c");
    assert_true(
        screen_has(&x->s, "3 old snapshots: E removes them  2 old snapshots stay for a day"));
    screen_press(&x->s, "<Esc>");
    x->s.held_snapshots = 0;
    x->s.undo_records = 14;
    screen_press(&x->s, "<C-x>c");
    assert_true(
        screen_has(&x->s, "14 old undo records, 28 KB, and 3 old snapshots: E removes them"));
    screen_press(&x->s, "E");
    assert_true(
        screen_has(&x->s, "Remove 14 old undo records, 28 KB, and 3 old snapshots for good?"));
    assert_true(screen_has(&x->s, "beyond the limits in [snapshots]"));
    screen_press(&x->s, "yes<Enter>");
    assert_non_null(strstr(x->s.log, "prune 14 3"));
    assert_true(screen_has(&x->s, "removed for good: 14 undo records, 28 KB; 3 snapshots"));
    assert_false(screen_has(&x->s, "old snapshots"));
}

TEST(tagged_sessions_are_kept_unless_the_rule_is_turned_off)
{
    struct shop x;

    shop_begin(&x);
    for (size_t i = 0; i < SHOP; i++)
        x.fake[i].tag = i == 1 ? "keep" : NULL;
    screen_ready(&x.s, x.fake, SHOP, 24, 100);
    screen_press(&x.s, "<C-x>c");
    screen_press(&x.s, "<Enter><C-u>1h<Enter>");
    assert_true(screen_has(&x.s, "keep            [x] tagged  [x] named by hand"));
    assert_true(screen_has(&x.s, "kept: 1 tagged  "));
    assert_true(screen_has(&x.s, " -    2h ago   1.1 MB  ██████████  Payments: idempotency"));
    assert_true(screen_has(&x.s, "tagged #keep"));
    screen_press(&x.s, "d");
    assert_true(screen_has(&x.s, "1 session stays: tagged."));
    screen_press(&x.s, "<Esc><Down><Down><Down><Down><Down> ");
    assert_true(screen_has(&x.s, "[ ] tagged  [x] named by hand"));
    assert_true(screen_has(&x.s, "[x]   2h ago   1.1 MB  ██████████  Payments: idem"));
    assert_false(screen_has(&x.s, "kept:"));
    assert_true(screen_has(&x.s, "#keep  ~/src/shop"));
    screen_press(&x.s, "<Esc><C-x>c"); /* again on when the view opens again */
    assert_true(screen_has(&x.s, "[x] tagged"));
    screen_close(&x.s);
}
