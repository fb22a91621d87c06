#ifndef TUI_COMMANDS_LINE_H
#define TUI_COMMANDS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/session.h"
#include "store/shortid.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"

/* The columns of one list. Ids take eight characters; one that needs more to be told from the others is wider alone.
 * On a terminal a line fits its width: the title is cut, and columns go in the order project, branch, size while the
 * title would have less than LINE_TITLE_LEAST. */
struct line_look {
    int64_t now_ms;
    struct short_ids *ids; /* owned */
    size_t id_columns;
    size_t width;        /* of the terminal; 0: there is none, lines are as long as they are */
    bool shows_projects; /* the list is of more than one */
};

MUST_CHECK enum err_code line_look_open(const struct sessions *s, const struct out *out,
                                        int64_t now_ms, struct line_look *look, struct err *e);
/* Makes room for an id in the column. */
void line_look_fit(struct line_look *look, const struct session_ref *ref);
void line_look_close(struct line_look *look);

enum { LINE_TITLE_LEAST = 28 };
/* The names of the columns, `indent` blanks from the left. */
MUST_CHECK enum err_code line_header(const struct line_look *look, size_t indent, struct out *out,
                                     struct err *e);
/* A session as one line for people, which `indent` columns stand before: age, start of the id, project, branch, size,
 * title and tag, then what is special about it. Everything from disk is cleaned. */
MUST_CHECK enum err_code line_write(const struct session_row *row, const struct line_look *look,
                                    size_t indent, struct out *out, struct err *e);
/* The start of its id, at least as wide as the column. */
MUST_CHECK enum err_code line_id(const struct session_ref *ref, const struct line_look *look,
                                 struct out *out, struct err *e);
/* The words for enum session_flags: "archived, interrupted"; empty when nothing is special. */
enum { LINE_FLAGS = 128 };
void line_flags(unsigned flags, char out[LINE_FLAGS]);
/* Text in at most w columns: cut with an ellipsis. */
MUST_CHECK enum err_code line_cut(struct slice text, size_t w, struct out *out, struct err *e);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
MUST_CHECK enum err_code line_column(struct slice text, size_t w, struct out *out, struct err *e);

#endif
