#ifndef STORE_REDACT_GIVEN_PRINTED_H
#define STORE_REDACT_GIVEN_PRINTED_H

#include "store/redact/given_command.h"
#include "store/redact/redact.h"

/* The output of a command whose purpose is to print a secret, as pass show, op read, pwgen and openssl rand, is one. */

/* What is on the lines below a line of commands. */
enum printed_below {
    BELOW_NOTHING,
    BELOW_SECRET, /* what the command printed */
    BELOW_USERS,  /* USER:PASSWORD, given to chpasswd or in the map of a mail server */
};

/* Notes in the line what a program that begins at a place has below it. */
void printed_note(struct command_line *line, struct slice text, size_t at);
/* Adds the secrets below a line of commands, which ends at a place, also with an escaped newline. */
MUST_CHECK enum err_code printed_find_below(const struct command_line *line, struct slice text,
                                            size_t at, struct secret_list *list);
/* Returns true if a command prints a secret. *alone: and nothing else. */
bool printed_by(struct slice command, bool *alone);
/* Adds the secrets in what such a command printed, which is a part of a text. */
MUST_CHECK enum err_code printed_find(struct slice text, struct slice output, bool alone,
                                      struct secret_list *list);

#endif
