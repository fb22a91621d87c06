#ifndef TUI_JOBS_JOBS_INTERNAL_H
#define TUI_JOBS_JOBS_INTERNAL_H

#include "store/rewind/plan/origin.h"
#include "tui/data/search_hits.h"
#include "tui/jobs/jobs.h"

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
/* EFFECT_SWEEP */
MUST_CHECK enum err_code jobs_sweep(struct store *const stores[], size_t n,
                                    const struct scope *scope, const struct effect *q,
                                    const atomic_bool *cancelled, struct sweep *out, struct err *e);
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
