#ifndef STORE_REDACT_GIVEN_PIPED_H
#define STORE_REDACT_GIVEN_PIPED_H

#include "store/redact/given_command.h"
#include "store/redact/redact.h"

/* Secrets that a program reads from its input, and those that a log or an address carries without a name of their own. */

/* Notes the program at a place if it reads a secret, and adds what was echoed to it, or is behind its <<<. */
MUST_CHECK enum err_code piped_find(struct command_line *line, struct slice text, size_t at,
                                    struct secret_list *list);
/* For a colon, a closing bracket, a slash or a percent sign at the place: adds what a log of a build hides
 * (::add-mask::WORD), the token of a channel of conda (https://HOST/t/TOKEN/NAME), and a password in an encoded address
 * (password%3DWORD%26). */
MUST_CHECK enum err_code piped_find_marked(struct slice text, size_t at, struct secret_list *list);

#endif
