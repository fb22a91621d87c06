#ifndef TUI_COMMANDS_LINE_H
#define TUI_COMMANDS_LINE_H

#include <stdint.h>

#include "store/session.h"
#include "tui/commands/out.h"

/* A session as one line for people: age, start of the id, branch, tag and title, then what is
 * special about it. Everything from disk is cleaned. */
MUST_CHECK enum err_code line_write(const struct session_row *row, int64_t now_ms, struct out *out,
                                    struct err *e);
/* The words for enum session_flags: "archived, interrupted"; empty when nothing is special. */
enum { LINE_FLAGS = 128 };
void line_flags(unsigned flags, char out[LINE_FLAGS]);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
MUST_CHECK enum err_code line_column(struct slice text, size_t w, struct out *out, struct err *e);

#endif
