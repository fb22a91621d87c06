#ifndef TUI_COMMANDS_PICKER_PICKER_SCREEN_H
#define TUI_COMMANDS_PICKER_PICKER_SCREEN_H

#include "tui/commands/command.h"
#include "tui/commands/sessions.h"
#include "tui/config/config.h"

/* The picker on the screen: runs it, and does with the choice what was asked. ERR_CANCELLED: nothing was chosen.
 * Completes the settings of the configuration. rewind: the session whose rewind view is all there is to see; NULL: the
 * list. */
MUST_CHECK enum err_code picker_screen_run(struct invocation *in, struct config *config,
                                           struct sessions *s, const struct session_row *rewind,
                                           struct err *e);

#endif
