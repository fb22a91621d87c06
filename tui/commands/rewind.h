#ifndef TUI_COMMANDS_REWIND_H
#define TUI_COMMANDS_REWIND_H

#include <stdbool.h>

#include "store/rewind/plan/rewind.h"
#include "tui/commands/command.h"

/* Brings rewinds that were cut short to their end. Those that have to wait are told on stderr and stop nothing else. */
void rewinds_recover_first(struct invocation *in, struct rewind_recovery *out);

/* What `rewind` and `undo` answer: one object, or lines for a person. result is NULL for a dry run. */
MUST_CHECK enum err_code rewind_answer(struct invocation *in, const struct rewind_preview *p,
                                       const struct rewind_result *result, struct err *e);
/* {canRewind: false, error}: this is no point one can go back to. */
MUST_CHECK enum err_code rewind_answer_none(struct invocation *in, const struct err *why,
                                            struct err *e);

/* What --into wrote. */
MUST_CHECK enum err_code rewind_answer_into(struct invocation *in, const char *dir,
                                            const struct rewind_export_result *r, struct err *e);

/* Shows, or applies where `apply` is set; refusals and conflicts are ERR_UNSAFE after the answer was written. */
MUST_CHECK enum err_code rewind_show_or_apply(struct invocation *in, const struct rewind_plan *plan,
                                              const struct rewind_options *options, bool apply,
                                              bool skip_refused, struct err *e);
/* The files that --file names, absolute, as those that the options choose; they live in the arena. */
MUST_CHECK enum err_code rewind_choose_files(const struct invocation *in, struct arena *a,
                                             struct rewind_options *o, struct err *e);
/* ERR_NOT_FOUND: one of them is none of the plan's. */
MUST_CHECK enum err_code rewind_check_files(const struct rewind_plan *plan,
                                            const struct rewind_options *o, struct err *e);
/* rewinds show ID [FILE] */
MUST_CHECK enum err_code rewinds_show(struct invocation *in, struct err *e);

#endif
