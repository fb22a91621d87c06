#ifndef TESTS_SUPPORT_SCREEN_JOBS_FIXTURE_H
#define TESTS_SUPPORT_SCREEN_JOBS_FIXTURE_H

#include <poll.h>

#include "store/systems/claude/claude.h"
#include "support/transcript_writer.h"
#include "tests/test.h"
#include "tui/jobs/jobs.h"

/* A real store with one session in a temporary folder, and workers that query it. Call in this order: begin, a
 * conversation (support/transcript_writer.h), open, requests (workers_submit) and replies, end. */

#define ID "5e550000-0000-4000-8000-000000000001"
#define FILE_NAME "projects/-p/" ID ".jsonl"

struct jobs_fixture {
    struct transcript_writer conversation;
    struct session_ref ref;
    char state[4096], data[4096];
    struct store_env env;
    struct store *store[1];
    struct settings settings;
    struct job_context context;
    struct workers *workers;
};

static inline void jobs_fixture_begin(struct jobs_fixture *w)
{
    memset(w, 0, sizeof *w);
    transcript_writer_begin(&w->conversation);
}

static inline void jobs_fixture_open(struct jobs_fixture *w, int workers, int64_t now_ms)
{
    w->ref = transcript_writer_ref(&w->conversation);
    folder_path(&w->conversation.folder, "state", w->state);
    folder_path(&w->conversation.folder, "data", w->data);
    w->env = (struct store_env){ .run = 7,
                                 .home = w->conversation.folder.path,
                                 .proc_dir = w->conversation.folder.path,
                                 .etc_dir = w->conversation.folder.path,
                                 .cwd = "/p",
                                 .state_dir = w->state,
                                 .data_dir = w->data,
                                 .now_ms = now_ms };
    assert_int_equal(claude_ops.open(&w->env, w->conversation.folder.path, &w->store[0], NULL),
                     ERR_OK);
    w->ref.store = w->store[0];
    w->settings.project = SLICE("/p");
    jobs_init(&w->context, w->store, 1, &w->settings, "/p");
    w->context.env = &w->env;
    assert_int_equal(workers_new(&w->context, workers, &w->workers, NULL), ERR_OK);
}

static inline void jobs_fixture_end(struct jobs_fixture *w)
{
    workers_free(w->workers);
    jobs_fini(&w->context);
    store_close(w->store[0]);
    transcript_writer_end(&w->conversation);
}

/* Waits for the next reply, which the caller then owns. */
static inline struct msg jobs_fixture_next(struct jobs_fixture *w)
{
    struct pollfd fd = { .fd = workers_fd(w->workers), .events = POLLIN };
    struct msg m;

    while (!workers_pop(w->workers, &m))
        assert_int_equal(poll(&fd, 1, 30000), 1);
    return m;
}

#endif
