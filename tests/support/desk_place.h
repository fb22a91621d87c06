#ifndef TESTS_SUPPORT_DESK_PLACE_H
#define TESTS_SUPPORT_DESK_PLACE_H

#include <poll.h>
#include <string.h>

#include "support/talk.h"
#include "tests/test.h"
#include "tui/term/worker.h"

/* A real store with one session in a temporary folder, and workers that are asked about it. In this order: begin, a
 * conversation (support/talk.h), open, questions (workers_ask) and answers, end. */

#define ID "5e550000-0000-4000-8000-000000000001"
#define FILE_NAME "projects/-p/" ID ".jsonl"

struct desk_place {
    struct talk talk;
    struct session_ref ref;
    char state[4096], data[4096];
    struct store_env env;
    struct store *store[1];
    struct settings settings;
    struct desk desk;
    struct workers *workers;
};

static inline void desk_place_begin(struct desk_place *w)
{
    memset(w, 0, sizeof *w);
    talk_begin(&w->talk);
}

static inline void desk_place_open(struct desk_place *w, int workers, int64_t now_ms)
{
    w->ref = talk_ref(&w->talk);
    folder_path(&w->talk.folder, "state", w->state);
    folder_path(&w->talk.folder, "data", w->data);
    w->env = (struct store_env){ .home = w->talk.folder.path,
                                 .proc_dir = w->talk.folder.path,
                                 .cwd = "/p",
                                 .state_dir = w->state,
                                 .data_dir = w->data,
                                 .now_ms = now_ms };
    assert_int_equal(claude_ops.open(&w->env, w->talk.folder.path, &w->store[0], NULL), ERR_OK);
    w->ref.store = w->store[0];
    w->settings.project = SLICE("/p");
    desk_init(&w->desk, w->store, 1, &w->settings, "/p");
    w->desk.env = &w->env;
    assert_int_equal(workers_new(&w->desk, workers, &w->workers, NULL), ERR_OK);
}

static inline void desk_place_end(struct desk_place *w)
{
    workers_free(w->workers);
    desk_fini(&w->desk);
    store_close(w->store[0]);
    talk_end(&w->talk);
}

/* Waits for the next answer, which is the caller's. */
static inline struct msg desk_place_next(struct desk_place *w)
{
    struct pollfd fd = { .fd = workers_fd(w->workers), .events = POLLIN };
    struct msg m;

    while (!workers_take(w->workers, &m))
        assert_int_equal(poll(&fd, 1, 30000), 1);
    return m;
}

#endif
