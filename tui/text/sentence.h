#ifndef TUI_TEXT_SENTENCE_H
#define TUI_TEXT_SENTENCE_H

#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Writes what failed as a person reads it, in a command and on the screen: "cannot VERB OBJECT: REASON (STATE)", or the
 * word that was typed and what is wrong with it; always NUL-terminated. The path is data: clean the text before it is
 * printed. Returns where in `out` the path is, so that a narrow screen can cut it and not the reason; empty if it is not
 * there, or is a word that was typed. */
struct slice err_sentence(const struct err *e, char *out, size_t cap);

#endif
