#ifndef TUI_JOBS_JOBS_REWIND_H
#define TUI_JOBS_JOBS_REWIND_H

#include "tui/jobs/jobs.h"

/* The part of the desk that answers what the rewind view asks. REWIND and UNDO_REWIND are the only questions of the desk
 * that change files. */
/* Takes a record back, at env->now_ms, as `reprise undo`: what was edited since stays, but for the consented files (may be
 * NULL). */
MUST_CHECK enum err_code jobs_undo_rewind(const struct store_env *env, const char *record,
                                          const struct name_list *consent,
                                          struct rewind_summary *out, struct err *e);
/* Adds the files that would stay and that a person may take back all the same. */
MUST_CHECK enum err_code jobs_undo_edited(const struct store_env *env, const char *record,
                                          struct name_list *out, struct err *e);
MUST_CHECK enum err_code jobs_run_rewind(const struct effect *question, const struct reply *reply,
                                         struct err *e);

#endif
