#ifndef TUI_CONFIG_SHELL_H
#define TUI_CONFIG_SHELL_H

#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Turns words into a command line and back, by the rules of the shell but without running one: for the resume commands
 * of the configuration, for $EDITOR, and for the line that --print writes. */

/* Appends a word so that sh, bash, zsh and fish read exactly these bytes and a terminal can show it: plain, in '...', or,
 * if its bytes are not clean text, as "$(printf '...')" (in fish since 3.4). */
MUST_CHECK enum err_code shell_quote(struct buf *out, struct slice word);

/* Splits a line at blanks; '...', "..." and \ keep words together, and nothing is expanded. A
 * {name} in a word becomes the value of that name, which is not split again; other braces are kept.
 * The words are NUL-terminated and are in the arena, like the array, which ends with NULL. Returns
 * ERR_USAGE if a quote is not closed or the line has no word. */
struct shell_value {
    const char *name; /* without braces */
    struct slice value;
};
MUST_CHECK enum err_code shell_split(struct slice line, const struct shell_value *values, size_t n,
                                     struct arena *a, char ***argv, struct err *e);

#endif
