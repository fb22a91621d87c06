#ifndef TUI_JOBS_JOBS_H
#define TUI_JOBS_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "store/api/store.h"
#include "store/rewind/plan/origin.h"
#include "tui/app/effect.h"
#include "tui/app/msg.h"
#include "tui/config/config.h"
#include "tui/data/search_hits.h"

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
    const struct problem_list *unopened; /* stores that are not in `store`; NULL: none */
    bool no_worktrees;                   /* the scope "worktrees" is only the project */
    /* Carries out EFFECT_BISECT. *turn gets the id of the turn, if one was found. */
    enum err_code (*bisect)(void *arg, const struct effect *q, const struct bisect_watch *watch,
                            struct buf *turn, struct err *e);
    void *bisect_arg;

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

/* ---- for the files of this folder: one function for each kind of effect ---- */

/* Changes: systems plan them, and the operation log carries them out. A worker runs them one at a
 * time and to completion; only jobs that change nothing check reply.cancelled. */

/* Returns true if only the agent of the session can make the change (jobs_change.c). */
bool jobs_is_by_agent(const struct effect *q);
/* EFFECT_CHANGE of such a change: without the person's confirmation, *out has the command that would run. */
MUST_CHECK enum err_code jobs_change_by_agent(const struct job_context *d, const struct effect *q,
                                              struct change_result *out, struct err *e);
/* EFFECT_CHANGE of any other. shown: the sessions that an undo considers, and where archiving looks for a session's
 * folders. */
MUST_CHECK enum err_code jobs_change(const struct store_env *env, const struct shown *shown,
                                     const struct effect *q, struct change_result *out,
                                     struct err *e);
/* Its part for CHANGE_UNDO and CHANGE_REDO (jobs_rewind.c). */
MUST_CHECK enum err_code jobs_undo(const struct store_env *env, const struct shown *shown,
                                   const struct effect *q, struct change_result *out,
                                   struct err *e);
/* CHANGE_KEEP and CHANGE_PUT_BACK; the latter makes a change for each session. */
MUST_CHECK enum err_code jobs_keep(const struct job_context *d, const struct effect *q,
                                   struct change_result *out, struct err *e);
/* CHANGE_CONTINUE_IN, CHANGE_MOVE and CHANGE_BUNDLE. Without the person's confirmation, *out has lines about what would be made, or
 * the agents to choose from. */
MUST_CHECK enum err_code jobs_carry(const struct job_context *d, const struct effect *q,
                                    struct change_result *out, struct err *e);
/* EFFECT_SWEEP */
MUST_CHECK enum err_code jobs_sweep(struct store *const stores[], size_t n,
                                    const struct config *config, const struct scope *scope,
                                    const struct effect *q, const atomic_bool *cancelled,
                                    struct sweep *out, struct err *e);
/* Counts the old undo records and snapshots (jobs_prune.c). config: NULL if it is not known. */
void jobs_prune_count(const struct store_env *env, const struct config *config, struct sweep *out);
/* Removes them for good if there are as many as the effect says. */
MUST_CHECK enum err_code jobs_prune(const struct job_context *d, const struct effect *q,
                                    struct change_result *out, struct err *e);
/* EFFECT_ESTIMATE_DELETE */
MUST_CHECK enum err_code jobs_estimate_delete(const struct effect *q, const atomic_bool *cancelled,
                                              struct delete_estimate *out, struct err *e);

/* Damage. */

/* EFFECT_CHECK_SESSION */
MUST_CHECK enum err_code jobs_check_session(struct job_context *d, const struct effect *q,
                                            const struct reply *r, struct err *e);
/* EFFECT_CHECK_STORE */
MUST_CHECK enum err_code jobs_check_store(struct job_context *d, const struct effect *q,
                                          const struct reply *r, struct err *e);
/* CHANGE_FIX: repairs what can be repaired in the one session of the question. ERR_STALE if nothing
 * could be repaired. */
MUST_CHECK enum err_code jobs_fix(const struct store_env *env, const struct scope *scope,
                                  const struct effect *q, struct change_result *out, struct err *e);

/* The questions of the rewind view. EFFECT_REWIND and EFFECT_UNDO_REWIND are the only ones that change files of a
 * project. */

/* Undoes a record, at the time env->now_ms, as `reprise undo` does: files edited since the rewind
 * stay, except those in `consent` (may be NULL). */
MUST_CHECK enum err_code jobs_undo_rewind(const struct store_env *env, const char *record,
                                          const struct name_list *consent,
                                          struct rewind_summary *out, struct err *e);
/* Adds the files that would stay but that the person may choose to undo anyway. */
MUST_CHECK enum err_code jobs_undo_edited(const struct store_env *env, const char *record,
                                          struct name_list *out, struct err *e);
MUST_CHECK enum err_code jobs_run_rewind(const struct job_context *d, const struct effect *question,
                                         const struct reply *reply, struct err *e);

/* Rows of the list, and the trash. */

enum { DESCRIBE_PIECE = 64 }; /* rows described between two checks for more urgent work */

/* EFFECT_DESCRIBE, one piece of it */
MUST_CHECK enum err_code jobs_describe(struct job_context *d, const struct effect *q, size_t piece,
                                       const struct reply *r, struct err *e);
/* EFFECT_DISK_USAGE */
MUST_CHECK enum err_code jobs_disk_usage(const struct effect *q, const struct reply *r,
                                         struct err *e);
/* EFFECT_FULL_SCAN: one row per piece */
MUST_CHECK enum err_code jobs_full_scan(struct job_context *d, const struct effect *q, size_t piece,
                                        const struct reply *r, struct err *e);
/* EFFECT_LOG */
MUST_CHECK enum err_code jobs_log(struct job_context *d, const struct effect *q,
                                  const struct reply *r, struct err *e);
/* EFFECT_USAGE_GROUPS */
MUST_CHECK enum err_code jobs_usage_groups(struct job_context *d, const struct effect *q,
                                           const struct reply *r, struct err *e);
/* EFFECT_BOARD */
MUST_CHECK enum err_code jobs_board(struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e);
/* CHANGE_BACK_TO */
MUST_CHECK enum err_code jobs_back_to(const struct store_env *env, const struct shown *shown,
                                      const struct effect *q, struct change_result *out,
                                      struct err *e);
/* EFFECT_TRASH */
MUST_CHECK enum err_code jobs_trash(const struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e);

typedef void jobs_found_fn(struct search_hits *list, void *arg); /* takes the list over */

/* EFFECT_SEARCH: searches every message of a conversation. Passes on lists of hits in order, of any length; the last
 * one has `done` set. Rows that cannot be read are skipped. */
MUST_CHECK enum err_code jobs_search_transcript(const struct conversation *c, struct slice needle,
                                                const atomic_bool *cancel, jobs_found_fn *fn,
                                                void *arg, struct err *e);

/* EFFECT_EXPORT: writes the session of the question to the file in its text, or several into that directory. */
MUST_CHECK enum err_code jobs_export(const struct effect *q, const struct reply *r, struct err *e);
/* EFFECT_USAGE */
MUST_CHECK enum err_code jobs_usage(const struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e);
/* EFFECT_BLAME */
MUST_CHECK enum err_code jobs_blame(struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e);

/* EFFECT_GREP: searches the conversations of the question's sessions, in their order. */
MUST_CHECK enum err_code jobs_grep(const struct effect *q, const struct reply *r, struct err *e);

#endif
