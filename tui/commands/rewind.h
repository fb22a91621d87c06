#ifndef TUI_COMMANDS_REWIND_H
#define TUI_COMMANDS_REWIND_H

#include <stdbool.h>

#include "store/rewind/plan/rewind.h"
#include "tui/commands/command.h"

/* Completes interrupted rewinds. Those that have to wait are reported on stderr; the command goes
 * on. */
void rewinds_recover_first(struct invocation *in, struct rewind_recovery *out);

/* The output of `rewind` and `undo`: one object, or lines for people. result is NULL for a dry run. */
MUST_CHECK enum err_code rewind_answer(struct invocation *in, const struct rewind_preview *p,
                                       const struct rewind_result *result, struct err *e);
/* {canRewind: false, error}, if there is no such point or it cannot be rewound to. */
MUST_CHECK enum err_code rewind_answer_none(struct invocation *in, const struct err *why,
                                            struct err *e);
/* The output of --into. */
void rewind_answer_into(struct invocation *in, const char *dir,
                        const struct rewind_scratch_copy *r);

/* Shows the plan, or carries it out if `apply` is set. Returns ERR_UNSAFE for refusals and
 * ERR_STALE for conflicts, after the output was written. */
MUST_CHECK enum err_code rewind_show_or_apply(struct invocation *in, const struct rewind_plan *plan,
                                              const struct rewind_options *options, bool apply,
                                              bool skip_refused, struct err *e);
/* Puts the files of --file into the options, as absolute paths that live in the arena. */
MUST_CHECK enum err_code rewind_choose_files(const struct invocation *in, struct arena *a,
                                             struct rewind_options *o, struct err *e);

#endif
