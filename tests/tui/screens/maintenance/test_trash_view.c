#include "tests/test.h"

#include <stdlib.h>
#include <time.h>

#include "support/screen/screen.h"

/* The trash view: its items, restored one by one, and emptied only by a typed word. */

static void open_trash(struct shop *x, int rows, int cols)
{
    shop_begin(x);
    x->fake[1].gone = x->fake[3].gone = true;
    screen_ready(&x->s, x->fake, SHOP, rows, cols);
    screen_press(&x->s, "<C-x>D");
}

TEST(the_trash_shows_age_size_and_title)
{
    struct shop x;

    open_trash(&x, 24, 80);
    assert_non_null(strstr(screen_line(&x.s, 0), " trash  2 sessions, 1.2 MB"));
    assert_non_null(strstr(screen_line(&x.s, 1), " ~/.claude/projects/shop "));
    assert_non_null(strstr(screen_line(&x.s, 1), " deleted 20"));
    assert_string_equal(screen_line(&x.s, 2),
                        "▌  1h ago   1.1 MB  Payments: idempotency keys                    shop");
    assert_string_equal(screen_line(&x.s, 3),
                        "   1h ago    20 KB  Payment page copy                             shop");
    assert_string_equal(
        screen_line(&x.s, 23),
        " Enter restore  Space mark  / search  E empty  Esc back  ? help"); /* nothing to undo */
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<Esc>");
    assert_true(screen_has(&x.s, "Fix the payment retry loop"));
    screen_close(&x.s);
}

TEST(the_origin_is_shown_if_there_is_room)
{
    struct shop x;

    open_trash(&x, 30, 120);
    assert_non_null(strstr(screen_line(&x.s, 1), "~/.claude/projects/shop"));
    screen_close(&x.s);
}

TEST(a_search_goes_to_the_matches_in_turn)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "n/PAGE copy<Enter>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    screen_press(&x.s, "n"); /* the only one */
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    screen_press(&x.s, "/<C-u>shop<Enter>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments: idempotency"));
    screen_press(&x.s, "n");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    screen_press(&x.s, "N");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments: idempotency"));
    screen_press(&x.s, "/<C-u>nowhere<Enter>");
    assert_true(screen_has(&x.s, "no session in the trash has this"));
    screen_press(&x.s, "<Esc>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments: idempotency"));
    assert_string_equal(x.s.log, "");
    screen_close(&x.s);
}

TEST(restore_asks_before_joining_a_newer_transcript)
{
    struct shop x;

    open_trash(&x, 24, 80);
    x.s.place_taken = true;
    screen_press(&x.s, "<Enter>");
    assert_true(screen_has(&x.s, "A newer transcript is in its place. Join the two?"));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "restore 22222222\n");
    assert_true(screen_has(&x.s, "trash  2 sessions"));
    screen_press(&x.s, "<Enter><Down><Enter>");
    assert_non_null(strstr(x.s.log, "join 22222222"));
    assert_true(screen_has(&x.s, "joined with the newer transcript: 1 session — u undo"));
    screen_close(&x.s);
}

TEST(restore_removes_the_selected_item_from_the_trash)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "<Down>r");
    assert_string_equal(x.s.log, "restore 44444444\n");
    assert_true(screen_has(&x.s, "restored: 1 session, 20 KB — u undo"));
    assert_true(screen_has(&x.s, "trash  1 session, 1.1 MB"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payments: idempotency keys"));
    screen_press(&x.s, "<Esc>");
    assert_string_equal(screen_line(&x.s, 23),
                        " Enter restore  Space mark  / search  E empty  u undo  Esc back  ? help");
    screen_press(&x.s, "<Esc>");
    assert_true(screen_has(&x.s, "Payment page copy"));
    screen_close(&x.s);
}

TEST(several_are_restored_at_once)
{
    struct shop x;

    shop_begin(&x);
    x.fake[1].gone = x.fake[2].gone = x.fake[3].gone = true;
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    screen_press(&x.s, "<C-x>D <Down> ");
    assert_non_null(strstr(screen_line(&x.s, 0), "3 sessions, 1.4 MB; 2 marked, 1.2 MB"));
    assert_string_equal(screen_line(&x.s, 2),
                        " ◆ 1h ago   1.1 MB  Payments: idempotency keys                    shop");
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "restore 22222222 44444444\n");
    assert_true(screen_has(&x.s, "restored: 2 sessions, 1.2 MB"));
    assert_true(screen_has(&x.s, "trash  1 session, 293 KB"));
    screen_close(&x.s);
}

TEST(only_marked_items_are_destroyed)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "<Down><Tab>E");
    assert_true(screen_has(&x.s, "Delete 1 session, 20 KB, for good?"));
    assert_true(screen_has(&x.s, "Only the marked ones: 1 more stay in the trash."));
    screen_press(&x.s, "yes<Enter>");
    assert_string_equal(x.s.log, "empty 44444444\n");
    screen_close(&x.s);
}

TEST(marks_stay_with_their_items_and_esc_clears_them)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "<Down> ");
    x.fake[0].gone = true; /* meanwhile another program deletes one more */
    screen_press(&x.s, "U");
    assert_true(screen_has(&x.s, "trash  3 sessions"));
    assert_true(screen_has(&x.s, "; 1 marked, 20 KB"));
    assert_non_null(strstr(screen_line(&x.s, 4), "◆ 1h ago    20 KB  Payment page copy"));
    screen_press(&x.s, "<Esc><Esc>"); /* the first one is for the message */
    assert_false(screen_has(&x.s, "marked"));
    assert_true(screen_has(&x.s, "trash  3 sessions"));
    screen_press(&x.s, "<Esc>");
    assert_false(screen_has(&x.s, "trash  3 sessions"));
    screen_close(&x.s);
}

/* Another program deletes a session and restores one, both above the selected item. */
TEST(the_cursor_stays_on_its_item_when_the_trash_changes_elsewhere)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    x.fake[0].gone = true;
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED, .u.logged = true });
    screen_answer(&x.s);
    assert_true(screen_has(&x.s, "trash  3 sessions"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    x.fake[0].gone = x.fake[1].gone = false;
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED, .u.logged = true });
    screen_answer(&x.s);
    assert_true(screen_has(&x.s, "trash  1 session,"));
    assert_non_null(strstr(screen_cursor_line(&x.s), "Payment page copy"));
    screen_close(&x.s);
}

TEST(emptying_names_number_and_size_and_requires_a_typed_word)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "E");
    assert_true(screen_has(&x.s, "Delete 2 sessions, 1.2 MB, for good?"));
    screen_press(&x.s, "<Enter>");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "Ey2");
    assert_string_equal(x.s.log, "");
    screen_press(&x.s, "<Esc>Eyes<Enter>");
    assert_string_equal(x.s.log, "empty 22222222 44444444\n");
    assert_true(screen_has(&x.s, "deleted for good: 2 sessions, 1.2 MB"));
    assert_false(screen_has(&x.s, "undo —"));
    screen_close(&x.s);
}

/* Another program deletes a session while the question is open. */
TEST(only_what_the_question_named_is_destroyed)
{
    struct shop x;

    open_trash(&x, 24, 80);
    screen_press(&x.s, "E");
    assert_true(screen_has(&x.s, "Delete 2 sessions, 1.2 MB, for good?"));
    x.fake[0].gone = true;
    screen_send(&x.s, (struct msg){ .kind = MSG_FILES_CHANGED, .u.logged = true });
    screen_answer(&x.s);
    screen_press(&x.s, "yes<Enter>");
    assert_string_equal(x.s.log, "empty 22222222 44444444\n");
    screen_close(&x.s);
}

AT_SHOP(an_empty_trash_is_reported_and_offers_nothing, 24, 80)
{
    screen_press(&x->s, "<C-x>D");
    assert_true(screen_has(&x->s, "The trash is empty"));
    screen_press(&x->s, "E");
    assert_true(screen_has(&x->s, "empty: the trash is empty"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
}

AT_SHOP(errors_reading_the_trash_are_shown, 24, 80)
{
    struct msg failed = { .kind = MSG_FAILED };

    screen_press_only(&x->s, "<C-x>D");
    for (size_t i = 0; i < x->s.waiting.n; i++)
        if (x->s.waiting.item[i].kind == EFFECT_TRASH)
            failed.generation = x->s.waiting.item[i].generation;
    err_set(&failed.u.error, ERR_IO, "/data/trash", "read the trash");
    screen_send(&x->s, failed);
    assert_true(screen_has(&x->s, "read the trash: /data/trash"));
    screen_answer(&x->s); /* a late reply is dropped */
    assert_true(screen_has(&x->s, "read the trash: /data/trash"));
}

/* With a search through the list for each of them, 20,000 take 1.2 seconds. */
TEST(the_marks_of_a_large_trash_are_kept_in_a_moment)
{
    enum { MANY = 20000 };
    struct screen s = { 0 };
    struct fake *many = calloc(MANY, sizeof *many);
    char(*id)[16] = calloc(MANY, sizeof *id);

    assert_non_null(many);
    assert_non_null(id);
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        many[i] = (struct fake){ .id = id[i], .title = "title", .gone = true };
    }
    screen_ready(&s, many, MANY, 24, 80);
    screen_press(&s, "<C-x>D*");
    assert_true(screen_has(&s, "20000 marked"));
    many[0].gone = false;
    const clock_t begun = clock();

    screen_press(&s, "<F5>");
    assert_true(clock() - begun < CLOCKS_PER_SEC / 2);
    assert_true(screen_has(&s, "19999 marked"));
    screen_close(&s);
    free(many);
    free(id);
}
