#ifndef TUI_COMMANDS_PICKER_PICKER_CHOICE_H
#define TUI_COMMANDS_PICKER_PICKER_CHOICE_H

#include "store/api/session.h"
#include "tui/commands/command.h"
#include "tui/config/config.h"

/* What becomes of a chosen session: it is resumed in dir (NULL: where it was, else the nearest directory that
 * still exists), or with --print written to stdout as a line for a shell or as JSON. Resuming returns only when it
 * failed. */
MUST_CHECK enum err_code picker_choice_run(struct invocation *in, const struct config *config,
                                           const struct session_row *row, const char *dir,
                                           struct err *e);

#endif
