#ifndef TUI_COMMANDS_WRITE_CHANGE_H
#define TUI_COMMANDS_WRITE_CHANGE_H

#include "store/journal/change.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

/* What the commands that change one session share: find it, plan, do, answer {sessionId, …}. */

/* Plans one change of the session; the operands are the invocation's. */
typedef enum err_code change_plan_fn(struct invocation *in, struct sessions *s,
                                     const struct session_ref *ref, struct change *c,
                                     struct err *e);

/* The first `ids` operands (0: all) are sessions. All of it is one change. */
MUST_CHECK enum err_code change_sessions(struct invocation *in, const char *kind, int ids,
                                         change_plan_fn *plan, struct err *e);

#endif
