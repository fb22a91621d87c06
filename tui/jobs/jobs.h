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

/* The jobs of the workers; each answers one question (tui/app/effect.h). The context is shared by
 * several threads at once. */
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
/* on: jobs that wait for a server give up soon, because the program leaves the screen; off ends
 * this. */
void jobs_interrupt(const struct job_context *d, bool on);
/* Returns whether sessions may be on a server, and the name of a store for which a question has
 * been waiting for a second without an answer; NULL: no such store. */
bool jobs_ask_servers(const struct job_context *d);
const char *jobs_silent_store(const struct job_context *d);

/* Receives answers; post takes over what the message contains. */
struct reply {
    void (*post)(void *arg, const struct msg *m);
    void *arg;
    const atomic_bool *cancelled;
};

/* --- for the files of this folder */
/* Resolved once, and shared. */
MUST_CHECK enum err_code jobs_scope(struct job_context *d, enum scope_kind kind, struct scope *out,
                                    struct err *e);
void jobs_post(const struct reply *r, const struct effect *q, struct msg m);

/* The number of pieces in which a question is answered independently; at least 1. */
size_t jobs_pieces(const struct effect *question);
/* Answers one piece. The caller keeps the question. */
void jobs_run(struct job_context *d, const struct effect *question, size_t piece,
              const struct reply *reply);

#endif
