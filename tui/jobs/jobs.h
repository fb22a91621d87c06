#ifndef TUI_JOBS_JOBS_H
#define TUI_JOBS_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

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

#endif
