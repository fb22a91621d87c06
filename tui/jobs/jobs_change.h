#ifndef TUI_JOBS_JOBS_CHANGE_H
#define TUI_JOBS_JOBS_CHANGE_H

#include "store/rewind/plan/origin.h"
#include "tui/jobs/jobs.h"

/* The desk's answers to questions about changes: systems plan, the operation log does. A worker runs them, one
 * at a time and to their end; nothing here looks at reply.cancelled but what changes nothing. */

/* EFFECT_CHANGE. shown: what undo means, and where archiving looks for a session's folders. */
MUST_CHECK enum err_code jobs_change(const struct store_env *env, const struct shown *shown,
                                     const struct effect *q, struct change_result *out,
                                     struct err *e);
/* Its part for CHANGE_UNDO and CHANGE_REDO (jobs_undo.c). */
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

#endif
