#ifndef STORE_REDACT_PRINTED_CALLS_H
#define STORE_REDACT_PRINTED_CALLS_H

#include "store/redact/redact.h"

/* The calls of tools in the rows of all agents, and their results. A call has an id and a command below a member such as
 * "input", "arguments" or "command"; its result has the same id and what was printed below one such as "output", "content"
 * or "stdout". Both may be one object. */

/* Which of the texts in an object are what a command printed that prints a secret. */
enum printed {
    PRINTED_NOT,
    PRINTED_AMONG, /* with the output of other commands */
    PRINTED_ALONE,
};

/* Looks at the id of an object, and remembers it if the call in it prints a secret. */
MUST_CHECK enum err_code printed_calls_note(struct known_values **known, struct slice object,
                                            enum printed *printed);
/* Returns true if the text of a member with this name is what was printed. */
bool printed_calls_is_output(struct slice name);

#endif
