#ifndef TUI_COMMANDS_CHANGE_BY_AGENT_H
#define TUI_COMMANDS_CHANGE_BY_AGENT_H

#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "tui/commands/command.h"

/* Changes that only the agents of the sessions can make, with commands of their own
 * (store/maintenance/agent_change.h): the commands rename, archive, unarchive and delete. */
struct by_agent {
    enum store_command what;
    struct slice title;                   /* RENAME */
    const struct session_ref *const *ref; /* NULL: a session that is named twice */
    size_t n;
};

/* Sets *all to whether agents make the change; if they do so for some of the sessions only, returns ERR_USAGE. */
MUST_CHECK enum err_code by_agent_check(const struct by_agent *b, bool *all, struct err *e);
/* Shows the commands, asks whether to run them (not with --yes), and runs them one after the other until one fails.
 * With --print it only writes them. Without a terminal to ask on: ERR_UNSUPPORTED. */
MUST_CHECK enum err_code by_agent_run(struct invocation *in, const struct by_agent *b,
                                      struct err *e);

#endif
