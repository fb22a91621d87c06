#ifndef STORE_REDACT_GIVEN_COMMAND_H
#define STORE_REDACT_GIVEN_COMMAND_H

#include "store/redact/redact.h"

/* Passwords in the arguments and the input of programs, with no name beside them: mysql -pWORD, net user NAME WORD,
 * echo WORD | sudo -S, vncpasswd <<< WORD. */

/* What was seen of the present line of commands. A zeroed struct has seen nothing. */
struct command_line {
    unsigned command;   /* its place in the table of those that take a flag, from 1; 0: none */
    unsigned long_flag; /* the same, in the table of flags of a word */
    bool reads_secret;
    unsigned below;                /* enum printed_below */
    size_t below_at;               /* where the program begins that has it */
    size_t echo;                   /* where the word after "echo" begins; 0: none */
    size_t argument, argument_end; /* a secret further on in the line; 0: none */
};

/* Returns true if a word of a command may begin after this character. */
bool command_is_boundary(char c);
/* Notes a separator of commands. */
void command_line_separate(struct command_line *line, char separator);
/* Notes the program of that name, if one begins here; `at` is behind a boundary. */
void command_line_note(struct command_line *line, struct slice text, size_t at);
/* Adds the secret that begins at a place, or the one that was echoed to the program whose flag is there. */
MUST_CHECK enum err_code command_find(struct command_line *line, struct slice text, size_t at,
                                      struct secret_list *list);

#endif
