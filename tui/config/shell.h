#ifndef TUI_CONFIG_SHELL_H
#define TUI_CONFIG_SHELL_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Words to a command line and back, by the rules of the shell, without one. */

/* Appends a word so that a shell reads exactly these bytes, and so that printing it does nothing to a terminal:
 * plain, in '...', or (with bytes that are no clean text) as $'...', which bash, zsh and ksh know. */
MUST_CHECK enum err_code shell_quote(struct buf *out, struct slice word);

/* Splits at blanks; '...', "..." and \ keep words together, nothing is expanded. A {name} in a word becomes the
 * value of that name, whole, never split again; other braces stay as they are. Words are NUL-terminated
 * and live in the arena with the array, which ends with NULL. ERR_USAGE: a quote is not closed, or there
 * is no word at all. */
struct shell_value {
    const char *name; /* without braces */
    struct slice value;
};
MUST_CHECK enum err_code shell_split(struct slice line, const struct shell_value *values, size_t n,
                                     struct arena *a, char ***argv, struct err *e);

#endif
