#ifndef TUI_COMMANDS_SESSION_LINE_H
#define TUI_COMMANDS_SESSION_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "store/query/short_ids.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"

/* The columns of one list. Ids take eight characters; one that needs more to be told from the others is wider alone.
 * On a terminal a line fits its width: the title is cut, and columns go in the order project, branch, size while the
 * title would have less than SESSION_LINE_TITLE_MIN. */
struct session_line_columns {
    int64_t now_ms;
    struct short_ids *ids; /* owned */
    size_t id_columns;
    size_t width;        /* of the terminal; 0: there is none, lines are as long as they are */
    bool shows_projects; /* the list is of more than one */
};

MUST_CHECK enum err_code session_line_columns_open(const struct sessions *s, const struct out *out,
                                                   int64_t now_ms,
                                                   struct session_line_columns *look,
                                                   struct err *e);
/* Makes room for an id in the column. */
void session_line_columns_fit(struct session_line_columns *look, const struct session_ref *ref);
void session_line_columns_close(struct session_line_columns *look);

enum { SESSION_LINE_TITLE_MIN = 28 };
/* The names of the columns, `indent` blanks from the left. */
MUST_CHECK enum err_code session_line_header(const struct session_line_columns *look, size_t indent,
                                             struct out *out, struct err *e);
/* A session as one line for people, which `indent` columns stand before: age, start of the id, project, branch, size,
 * title and tag, then what is special about it. Everything from disk is cleaned. */
MUST_CHECK enum err_code session_line_write(const struct session_row *row,
                                            const struct session_line_columns *look, size_t indent,
                                            struct out *out, struct err *e);
/* The start of its id, at least as wide as the column. */
MUST_CHECK enum err_code session_line_id(const struct session_ref *ref,
                                         const struct session_line_columns *look, struct out *out,
                                         struct err *e);
/* The words for enum session_flags: "archived, interrupted"; empty when nothing is special. */
enum { SESSION_LINE_FLAGS = 128 };
void session_line_flags(unsigned flags, char out[SESSION_LINE_FLAGS]);
/* Text in at most w columns: cut with an ellipsis. */
MUST_CHECK enum err_code session_line_cut(struct slice text, size_t w, struct out *out,
                                          struct err *e);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
MUST_CHECK enum err_code session_line_column(struct slice text, size_t w, struct out *out,
                                             struct err *e);

#endif
