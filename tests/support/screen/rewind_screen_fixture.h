#ifndef TESTS_SUPPORT_SCREEN_REWIND_SCREEN_FIXTURE_H
#define TESTS_SUPPORT_SCREEN_REWIND_SCREEN_FIXTURE_H

#include "test.h"

#include <stdlib.h>

#include "support/rewind_fixture.h"
#include "support/screen/screen.h"
#include "tui/jobs/jobs.h"

/* The rewind view over a real work tree (support/rewind_fixture.h), its requests served at once as a worker would. */
struct rewind_screen {
    struct screen s; /* must be first: the hook finds the rest */
    struct fake fake[SHOP];
    struct rewind_fixture going;
    char *before; /* the work tree as it was */
    unsigned prospects, rewinds;
    bool slow;        /* a rewind gets no reply and stays under way */
    unsigned waiting; /* its generation */
};

static inline void rewind_screen_post(void *arg, const struct msg *m)
{
    screen_send(arg, *m);
}

static inline void rewind_screen_answer(struct screen *s, const struct effect *e)
{
    struct rewind_screen *t = (struct rewind_screen *)(void *)s;
    const struct reply reply = { .post = rewind_screen_post, .arg = s };
    struct msg failed = { .kind = MSG_FAILED, .generation = e->generation };

    if (e->requester != REQUESTER_REWIND)
        return;
    if (t->slow && e->kind == EFFECT_REWIND) {
        t->waiting = e->generation;
        return;
    }
    t->prospects += e->kind == EFFECT_PREVIEW;
    t->rewinds += e->kind == EFFECT_REWIND || e->kind == EFFECT_UNDO_REWIND;
    enum err_code rc =
        jobs_run_rewind(&(struct job_context){ .stores = 0 }, e, &reply, &failed.u.error);

    if (rc)
        screen_send(s, failed);
}

static inline void rewind_screen_begin(struct rewind_screen *t, int rows, int cols)
{
    memcpy(t->fake, shop, sizeof t->fake);
    rewind_fixture_begin(&t->going);
    t->before = rewind_fixture_image(&t->going);
    t->s.now_ms = (int64_t)REWIND_FIXTURE_NOW_S * 1000;
    t->s.answer = rewind_screen_answer;
    screen_ready(&t->s, t->fake, SHOP, rows, cols);
    rewind_fixture_store(&t->going, &t->s.store, &t->s.ops);
    t->s.settings.home = slice_of(t->going.home);
}

static inline int rewind_screen_set_up(void **state)
{
    struct rewind_screen *t = calloc(1, sizeof *t);

    assert_non_null(t);
    rewind_screen_begin(t, 24, 80);
    *state = t;
    return 0;
}

static inline int rewind_screen_tear_down(void **state)
{
    struct rewind_screen *t = *state;

    screen_close(&t->s);
    rewind_fixture_end(&t->going);
    free(t->before);
    free(t);
    return 0;
}

/* The view, at the turn in which everything happened. */
static inline void rewind_screen_go(struct rewind_screen *t)
{
    screen_press(&t->s, "<C-x>w<Up>");
    screen_wait(&t->s, 100);
}

static inline bool rewind_screen_is_untouched(struct rewind_screen *t)
{
    char *now = rewind_fixture_image(&t->going);
    bool same = strcmp(now, t->before) == 0;

    free(now);
    return same;
}

/* Moves to the file whose row contains this text. */
static inline void rewind_screen_to_file(struct rewind_screen *t, const char *name)
{
    screen_press(&t->s, "<Tab><Home>");
    for (int i = 0; i < 10 && !strstr(screen_cursor_line(&t->s), name); i++)
        screen_press(&t->s, "<Down>");
    assert_non_null(strstr(screen_cursor_line(&t->s), name));
}

#endif
