#ifndef TUI_COMMANDS_READ_MESSAGES_TEXT_H
#define TUI_COMMANDS_READ_MESSAGES_TEXT_H

#include "store/api/session.h"
#include "tui/commands/command.h"

/* The conversation as plain text for people: `messages` without --json. Prompts begin with "> ", what the
 * agent said stands as it is, a tool call takes one line. */
MUST_CHECK enum err_code messages_text_write(struct invocation *in, const struct session_ref *ref,
                                             struct arena *a, struct err *e);

#endif
