#ifndef TUI_COMMANDS_PICKER_PICKER_PLAIN_H
#define TUI_COMMANDS_PICKER_PICKER_PLAIN_H

#include "tui/commands/command.h"
#include "tui/commands/sessions.h"
#include "tui/config/config.h"

/* The picker without a screen, for screen readers and terminals that cannot draw: numbered lines on stderr, and
 * what is typed on stdin chooses one (a number), narrows them (words, as in the filter) or leaves (nothing, q).
 * stdout gets the choice alone. */
MUST_CHECK enum err_code picker_plain_run(struct invocation *in, const struct config *config,
                                          struct sessions *s, struct err *e);

#endif
