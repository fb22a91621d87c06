#include "tests/test.h"

#include <stdlib.h>

#include "support/screen/screen.h"
#include "tui/app/view.h"
#include "tui/screens/list/list.h"

/* How the list is filled. */
TEST(hidden_sessions_and_older_copies_are_not_shown)
{
    struct shop x;

    shop_begin(&x);
    x.fake[0].hidden = HIDDEN_SIDECHAIN;
    x.fake[3].id = x.fake[1].id; /* a copy in another folder, older */
    x.fake[3].folder = "other";
    screen_ready(&x.s, x.fake, SHOP, 24, 80);
    assert_true(screen_has(&x.s, "3 sessions"));
    assert_true(screen_has(&x.s, "idempotency"));
    assert_false(screen_has(&x.s, "Payment page"));
    assert_false(screen_has(&x.s, "retry loop"));
    screen_close(&x.s);
}

TEST(sessions_are_listed_by_name_before_they_are_read)
{
    struct shop x;
    struct effect e;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_take(&x.s);
    assert_true(effects_pop(&x.s.waiting, &e));
    assert_int_equal(e.kind, EFFECT_LIST);
    struct ref_list *refs = ref_list_new();
    struct session_ref ref = {
        .store = &x.s.store, .id = SLICE("66666666"), .path = SLICE("/x"), .folder = SLICE("shop")
    };

    assert_true(ref_list_add(refs, &ref, 0));
    screen_send(
        &x.s, (struct msg){ .kind = MSG_SESSIONS, .generation = e.generation, .u.sessions = refs });
    screen_send(&x.s, (struct msg){ .kind = MSG_LISTED, .generation = e.generation });
    assert_non_null(strstr(screen_line(&x.s, 2), "66666666"));
    effect_fini(&e);
    screen_close(&x.s);
}

TEST(visible_sessions_are_read_first)
{
    enum { MANY = 300 };
    struct fake *many = calloc(MANY, sizeof *many);
    char(*id)[16] = calloc(MANY, sizeof *id);
    struct screen s = { 0 };
    struct effect e;

    assert_non_null(many);
    assert_non_null(id);
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        many[i] =
            (struct fake){ .id = id[i], .title = "title", .ago_ms = (MANY - i) * (int64_t)HOUR };
    }
    screen_open(&s, many, MANY, 24, 80);
    screen_take(&s);
    assert_true(effects_pop(&s.waiting, &e));
    struct ref_list *refs = ref_list_new();

    for (int i = 0; i < MANY; i++) {
        struct session_ref ref = {
            .store = &s.store, .id = { id[i], 8 }, .path = { id[i], 8 }, .folder = SLICE("x")
        };

        ref.file.mtime_ns = (s.now_ms - many[i].ago_ms) * 1000000;
        ref.file.ino = (uint64_t)i + 1;
        assert_true(ref_list_add(refs, &ref, 0));
    }
    screen_send(
        &s, (struct msg){ .kind = MSG_SESSIONS, .generation = e.generation, .u.sessions = refs });
    screen_send(&s, (struct msg){ .kind = MSG_LISTED, .generation = e.generation });
    effect_fini(&e);
    assert_true(effects_pop(&s.waiting, &e));
    assert_int_equal(e.kind, EFFECT_DESCRIBE);
    assert_true(slice_eq(e.refs->ref[0].id, SLICE("00000299")));
    effect_fini(&e);
    screen_close(&s);
    free(many);
    free(id);
}

AT_SHOP(a_session_that_grew_is_read_again_and_its_preview_too, 24, 140)
{
    x->fake[0].title = "A better title";
    x->fake[0].size += 100;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 1000);
    assert_true(screen_has(&x->s, "A better title"));
    assert_true(screen_has(&x->s, "(again)"));
}

/* Nothing is listed yet when they are pressed; the third session is the one that was meant. */
TEST(keys_typed_ahead_of_the_first_rows_are_not_lost)
{
    struct shop x;

    shop_begin(&x);
    x.s.settings.print = true;
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    for (int i = 0; i < 3; i++)
        screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_DOWN } });
    screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_UP } });
    screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_ENTER } });
    screen_answer(&x.s);
    screen_take(&x.s);
    assert_string_equal(x.s.log, "print 33333333\n");
    screen_close(&x.s);
}

TEST(text_pasted_ahead_of_the_first_rows_goes_where_the_keys_before_it_lead)
{
    struct shop x;

    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { 'r', MOD_CTRL } });
    screen_send(&x.s, (struct msg){ .kind = MSG_PASTE, .u.paste = SLICE(", in\nstages") });
    screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = '!' } });
    screen_answer(&x.s);
    screen_take(&x.s);
    assert_non_null(
        strstr(screen_line(&x.s, 23), "title › Fix the payment retry loop, in stages!"));
    assert_true(screen_has(&x.s, "type to filter"));
    screen_close(&x.s);

    /* what still waits is dropped with the program */
    shop_begin(&x);
    screen_open(&x.s, x.fake, SHOP, 24, 80);
    screen_send(&x.s, (struct msg){ .kind = MSG_KEY, .u.key = { 'r', MOD_CTRL } });
    screen_send(&x.s, (struct msg){ .kind = MSG_PASTE, .u.paste = SLICE("dropped") });
    screen_close(&x.s);
}

/* So many that a letter takes the filter several frames. */
TEST(keys_pressed_during_filtering_act_on_the_best_match)
{
    enum { MANY = 24000, NEEDLE = 23990 };
    struct fake *many = calloc(MANY, sizeof *many);
    char(*id)[16] = calloc(MANY, sizeof *id);
    struct screen s = { .settings.print = true };

    assert_non_null(many);
    assert_non_null(id);
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        many[i] = (struct fake){ .id = id[i],
                                 .title = i == NEEDLE ? "needle" : "no idea, then",
                                 .prompt = "words",
                                 .ago_ms = i * (int64_t)MINUTE,
                                 .size = 10 };
    }
    screen_ready(&s, many, MANY, 24, 80);
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'n' } });
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'e' } });
    assert_true(model_wake_ms(s.model) != TIME_NONE && model_wake_ms(s.model) <= s.now_ms);
    assert_true(screen_has(&s, "no idea"));
    list_rebuild(s.model->list, &s.model->fx); /* as if rows had arrived meanwhile */
    assert_true(filter_pending(&s.model->list->filter));
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_ENTER } });
    screen_answer(&s);
    screen_take(&s);
    assert_non_null(strstr(s.log, "00023990"));
    screen_close(&s);
    free(many);
    free(id);
}

TEST(the_cursor_moves_when_the_filter_is_done)
{
    enum { MANY = 24000, BETTER = 23990, NEXT = 23995 };
    struct fake *many = calloc(MANY, sizeof *many);
    char(*id)[16] = calloc(MANY, sizeof *id);
    struct screen s = { .settings.print = true };
    const struct key down = { .code = KEYCODE_DOWN };

    assert_non_null(many);
    assert_non_null(id);
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        many[i] = (struct fake){ .id = id[i],
                                 .title = i == BETTER || i == NEXT ? "needle" : "no idea, then",
                                 .prompt = "words",
                                 .ago_ms = i * (int64_t)MINUTE,
                                 .size = 10 };
    }
    screen_ready(&s, many, MANY, 24, 80);
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'n' } });
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'e' } });
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = down });
    assert_true(filter_pending(&s.model->list->filter)); /* a frame comes first */
    list_rebuild(s.model->list, &s.model->fx);           /* arriving rows do not lose the key */
    while (filter_pending(&s.model->list->filter))
        screen_send(&s, (struct msg){ .kind = MSG_TICK });
    assert_int_equal(s.model->list->selected, s.model->list->filter.hit[1]);
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = 'e' } });
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_UP } });
    screen_send(&s, (struct msg){ .kind = MSG_KEY, .u.key = { .code = KEYCODE_ENTER } });
    screen_answer(&s);
    screen_take(&s);
    assert_non_null(strstr(s.log, "00023990"));
    screen_close(&s);
    free(many);
    free(id);
}

/* ---- rows that arrive while keys are pressed ---- */

/* Another session becomes the newest one, as an agent that works in it would make it. */
static void overtake(struct shop *x, size_t i)
{
    x->fake[i].ago_ms = 0;
    x->fake[i].size += 100;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
}

AT_SHOP(rows_stay_for_a_moment_after_the_cursor_was_moved, 24, 80)
{
    screen_wait(&x->s, 1000);
    overtake(x, 3);
    screen_wait(&x->s, 200);
    screen_press(&x->s, "<Down>");
    screen_wait(&x->s, 100);
    assert_int_equal(x->s.listings, 2);
    assert_non_null(strstr(screen_line(&x->s, 2), "Fix the payment"));
    assert_non_null(strstr(screen_line(&x->s, 3), "Payments: idempotency"));
    screen_wait(&x->s, 300);
    assert_non_null(strstr(screen_line(&x->s, 2), "Payment page copy"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Payments: idempotency"));
}

/* Nobody moved the cursor, but the session under it was seen. */
AT_SHOP(what_was_read_stays_selected_when_another_becomes_newer, 24, 80)
{
    screen_wait(&x->s, 1000);
    overtake(x, 3);
    screen_wait(&x->s, 1000);
    assert_non_null(strstr(screen_line(&x->s, 2), "Payment page copy"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Fix the payment"));
}

TEST(the_selected_session_stays_on_its_line_of_the_screen)
{
    enum { MANY = 60 };
    struct fake many[MANY];
    char id[MANY][16];
    struct screen s = { 0 };

    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "%08d", i);
        many[i] = (struct fake){ .id = id[i], .title = id[i], .ago_ms = (i + 1) * (int64_t)HOUR };
    }
    screen_ready(&s, many, MANY, 24, 80);
    screen_press(&s, "<Down><Down><Down><Down><Down>");
    assert_non_null(strstr(screen_cursor_line(&s), "00000005"));
    int y = s.frame.cursor_y;

    screen_wait(&s, 1000);
    many[50].ago_ms = 0;
    many[50].size += 100;
    screen_send(&s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&s, 1000);
    assert_non_null(strstr(screen_cursor_line(&s), "00000005"));
    assert_int_equal(s.frame.cursor_y, y);
    assert_non_null(strstr(screen_line(&s, 2), "00000000"));
    screen_press(&s, "<Home>");
    assert_non_null(strstr(screen_cursor_line(&s), "00000050"));
    screen_close(&s);
}

/* A listing under way, of which the test sends the answers. */
struct arrival {
    struct shop x;
    unsigned generation;
};

static void arrival_begin(struct arrival *a)
{
    struct effect e;

    shop_begin(&a->x);
    a->x.s.settings.print = true;
    screen_open(&a->x.s, a->x.fake, SHOP, 24, 80);
    screen_take(&a->x.s);
    assert_true(effects_pop(&a->x.s.waiting, &e));
    a->generation = e.generation;
    effect_fini(&e);
}

/* Sessions from .. end - 1 are found, and those rows are read. */
static void find(struct arrival *a, size_t from, size_t end, bool last)
{
    struct ref_list *refs = ref_list_new();

    for (size_t i = from; i < end; i++) {
        char path[160];
        struct session_ref ref = screen_ref(&a->x.s, &a->x.fake[i], path);

        assert_true(ref_list_add(refs, &ref, 0));
    }
    screen_send(
        &a->x.s,
        (struct msg){ .kind = MSG_SESSIONS, .generation = a->generation, .u.sessions = refs });
    if (last)
        screen_send(&a->x.s, (struct msg){ .kind = MSG_LISTED, .generation = a->generation });
    screen_wait(&a->x.s, 10);
}

TEST(a_list_that_is_not_complete_says_so)
{
    struct arrival a;

    arrival_begin(&a);
    find(&a, 2, 4, false);
    assert_true(screen_has(&a.x.s, "2+ sessions…"));
    find(&a, 0, 2, false);
    find(&a, 4, SHOP, true);
    screen_wait(&a.x.s, 200);
    assert_true(screen_has(&a.x.s, " 5 sessions  recent"));
    screen_close(&a.x.s);
}

/* In the first moment, Enter and arrows are meant for the list that the person expects, not for rows in any order. */
TEST(keys_typed_before_the_rows_are_in_order_wait_for_it)
{
    struct arrival a;

    arrival_begin(&a);
    find(&a, 2, 4, false);
    screen_press_only(&a.x.s, "<Down><Enter>");
    assert_string_equal(a.x.s.log, "");
    find(&a, 0, 2, false);
    find(&a, 4, SHOP, true);
    screen_wait(&a.x.s, 200);
    assert_string_equal(a.x.s.log, "print 22222222\n");
    screen_close(&a.x.s);
}

/* A server may take long: after a moment, the keys are for what is shown. */
TEST(keys_do_not_wait_for_the_end_of_a_listing)
{
    struct arrival a;

    arrival_begin(&a);
    find(&a, 2, 4, false);
    screen_press_only(&a.x.s, "<Down>");
    screen_wait(&a.x.s, 400);
    assert_non_null(strstr(screen_cursor_line(&a.x.s), "Payment page copy"));
    screen_press(&a.x.s, "<Enter>");
    assert_string_equal(a.x.s.log, "print 44444444\n");
    screen_close(&a.x.s);
}

TEST(a_key_right_after_rows_moved_is_for_the_session_that_was_there)
{
    for (int late = 0; late < 2; late++) {
        struct arrival a;

        arrival_begin(&a);
        find(&a, 2, 4, false);
        screen_wait(&a.x.s, 1000);
        assert_non_null(strstr(screen_cursor_line(&a.x.s), "Refund flow"));
        find(&a, 0, 2, false);
        screen_wait(&a.x.s, 130); /* the rows are put in order */
        assert_non_null(strstr(screen_cursor_line(&a.x.s), "Fix the payment"));
        screen_wait(&a.x.s, late ? 400 : 100);
        screen_press(&a.x.s, "<Enter>");
        assert_string_equal(a.x.s.log, late ? "print 11111111\n" : "print 33333333\n");
        screen_close(&a.x.s);
    }
}

/* Another program deletes it. Its neighbour, which comes under the cursor, is not what the key was meant for. */
AT_SHOP(no_key_hits_the_neighbour_of_a_session_that_was_deleted_elsewhere, 24, 80)
{
    x->s.settings.print = true;
    screen_press(&x->s, "<Down>");
    screen_wait(&x->s, 1000);
    x->fake[1].gone = true;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 260);
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "");
    assert_true(screen_has(&x->s, "the session has just gone from the list"));
    screen_wait(&x->s, 400);
    screen_press(&x->s, "<Enter>");
    assert_string_equal(x->s.log, "print 33333333\n");
}

/* What another program archives need not change the transcript. */
AT_SHOP(a_change_by_another_program_that_is_not_in_the_transcript_is_shown, 24, 80)
{
    const int64_t file_ms = x->s.now_ms - 2 * HOUR;

    for (int logged = 0; logged < 2; logged++) {
        x->fake[1].ago_ms = x->s.now_ms - file_ms / 1000 * 1000;
        screen_press(&x->s, "<F5>");
        screen_wait(&x->s, 5000);
        x->fake[1].ago_ms = x->s.now_ms - file_ms / 1000 * 1000;
        x->fake[1].flags |= SESSION_ARCHIVED;
        screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED, .u.logged = logged });
        screen_wait(&x->s, 600);
        assert_int_equal(screen_has(&x->s, "Payments: idempotency"), !logged);
    }
    assert_true(screen_has(&x->s, "4 of 5 sessions"));
}

AT_SHOP(the_letter_of_a_menu_that_did_not_open_is_no_text, 24, 80)
{
    screen_press(&x->s, "<Down>");
    screen_wait(&x->s, 1000);
    x->fake[1].gone = true;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 260);
    screen_press(&x->s, "<C-x>a");
    assert_string_equal(x->s.log, "");
    assert_true(screen_has(&x->s, "the session has just gone from the list"));
    assert_true(screen_has(&x->s, "type to filter"));
}

AT_SHOP(the_menu_closes_when_its_session_is_deleted_elsewhere, 24, 80)
{
    screen_press(&x->s, "<Down><C-x>");
    assert_true(screen_has(&x->s, "all sessions"));
    x->fake[1].gone = true;
    screen_send(&x->s, (struct msg){ .kind = MSG_FILES_CHANGED });
    screen_wait(&x->s, 1000);
    assert_false(screen_has(&x->s, "all sessions"));
    assert_true(screen_has(&x->s, "the session has gone from the list"));
    assert_non_null(strstr(screen_cursor_line(&x->s), "Refund flow"));
}
