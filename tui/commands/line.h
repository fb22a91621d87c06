#ifndef TUI_COMMANDS_LINE_H
#define TUI_COMMANDS_LINE_H

#include <stdint.h>

#include "store/session.h"
#include "store/shortid.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"

/* How the lines of one list look: ids as short as all sessions of the stores allow, in a column that holds those that it
 * was fitted to. */
struct line_look {
    int64_t now_ms;
    struct short_ids *ids; /* owned */
    size_t id_columns;
};

MUST_CHECK enum err_code line_look_open(const struct sessions *s, int64_t now_ms,
                                        struct line_look *out, struct err *e);
void line_look_fit(struct line_look *look, const struct session_ref *ref);
void line_look_close(struct line_look *look);

/* A session as one line for people: age, start of the id, branch, tag and title, then what is
 * special about it. Everything from disk is cleaned. */
MUST_CHECK enum err_code line_write(const struct session_row *row, const struct line_look *look,
                                    struct out *out, struct err *e);
/* The start of its id, as wide as the column. */
MUST_CHECK enum err_code line_id(const struct session_ref *ref, const struct line_look *look,
                                 struct out *out, struct err *e);
/* The words for enum session_flags: "archived, interrupted"; empty when nothing is special. */
enum { LINE_FLAGS = 128 };
void line_flags(unsigned flags, char out[LINE_FLAGS]);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
MUST_CHECK enum err_code line_column(struct slice text, size_t w, struct out *out, struct err *e);

#endif
