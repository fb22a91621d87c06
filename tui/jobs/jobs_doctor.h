#ifndef TUI_JOBS_JOBS_DOCTOR_H
#define TUI_JOBS_JOBS_DOCTOR_H

#include "tui/jobs/jobs.h"

/* The desk's answers to questions about damage. */

/* EFFECT_CHECK_SESSION */
MUST_CHECK enum err_code jobs_check_session(struct job_context *d, const struct effect *q,
                                            const struct reply *r, struct err *e);
/* EFFECT_CHECK_STORE */
MUST_CHECK enum err_code jobs_check_store(struct job_context *d, const struct effect *q,
                                          const struct reply *r, struct err *e);
/* CHANGE_FIX: repairs what can be repaired in the one session of the question. ERR_STALE: nothing could be. */
MUST_CHECK enum err_code jobs_fix(const struct store_env *env, const struct scope *scope,
                                  const struct effect *q, struct change_result *out, struct err *e);

#endif
