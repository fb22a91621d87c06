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
