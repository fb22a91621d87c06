#ifndef TUI_JOBS_JOBS_H
#define TUI_JOBS_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "store/api/store.h"
#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"

/* The jobs of the workers: each answers one question, which is an effect (tui/app/effect.h). Several threads share the
 * context. */
struct job_context {
    struct store *const *store;
    size_t stores;
    const struct settings *settings;
    const char *present_dir;
    const struct store_env *env; /* where changes are kept; may be set before the first question */
    const struct config *config; /* how sessions are resumed; NULL: not checked */
    const char *path;            /* where programs are searched; may be NULL */
    bool no_worktrees;           /* the scope "worktrees" is only the project */

    pthread_mutex_t lock; /* protects what follows: scopes, resolved when first needed */
    struct arena arena;
    struct scope scope[SCOPE_ALL + 1];
    bool resolved[SCOPE_ALL + 1];
};

/* Borrows everything. */
void jobs_init(struct job_context *d, struct store *const store[], size_t stores,
               const struct settings *settings, const char *present_dir);
void jobs_fini(struct job_context *d);
/* While on, jobs that wait for a server give up soon, because the program is leaving the screen. */
void jobs_interrupt(const struct job_context *d, bool on);
/* Returns true if some store is on a server. */
bool jobs_have_servers(const struct job_context *d);
/* Returns the name of a store whose server has not answered a question for a second; NULL: no such store. */
const char *jobs_silent_store(const struct job_context *d);

/* Receives answers; post takes over what the message contains. */
struct reply {
    void (*post)(void *arg, const struct msg *m);
    void *arg;
    const atomic_bool *cancelled;
};

/* --- for the files of this folder */
/* The scope of this kind, which is resolved once and belongs to the context. */
MUST_CHECK enum err_code jobs_scope(struct job_context *d, enum scope_kind kind, struct scope *out,
                                    struct err *e);
void jobs_post(const struct reply *r, const struct effect *q, struct msg m);

/* The number of pieces in which a question is answered independently; at least 1. */
size_t jobs_pieces(const struct effect *question);
/* Answers one piece. The caller keeps the question. */
void jobs_run(struct job_context *d, const struct effect *question, size_t piece,
              const struct reply *reply);

/* ---- the workers (workers.c) ---- */

/* A few threads that answer questions (tui/app/effect.h).
 *
 *  - A question with many pieces (describing 10,000 rows) is answered piece by piece by all threads.
 *    Between pieces, more urgent questions go first, so a preview never waits for background work.
 *  - Only one question that may take seconds (loading a whole transcript) runs at a time.
 *  - A newer question of the same kind and requester replaces one that is not answered yet, except DESCRIBE.
 *  - Changes are made one at a time, in the order asked, and are never replaced, cancelled or
 *    dropped.
 *
 * All calls are made by one thread, the loop. */
struct workers;

MUST_CHECK enum err_code workers_new(struct job_context *context, int threads, struct workers **out,
                                     struct err *e);
/* Waits for the jobs under way and for all requested changes, and drops all answers. */
void workers_free(struct workers *w); /* NULL is fine */

/* Readable while answers wait. */
int workers_fd(const struct workers *w);
/* Takes the question over. Returns false if out of memory; the question is then freed and not
 * answered. */
bool workers_submit(struct workers *w, struct effect *question);
/* Returns true while a question is being answered or is waiting. */
bool workers_busy(struct workers *w);
/* Notes that no view waits for this generation any more. */
void workers_cancel(struct workers *w, unsigned generation);
/* Takes the oldest answer. Returns false if no answer is waiting. */
bool workers_pop(struct workers *w, struct msg *out);

#endif
