#ifndef TUI_COMMANDS_SESSION_LINE_H
#define TUI_COMMANDS_SESSION_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/api/session.h"
#include "store/query/short_ids.h"
#include "tui/commands/out.h"
#include "tui/commands/sessions.h"

/* Sessions as lines for people, in aligned columns.
 *
 * Ids take eight characters; an id that needs more to be unique is wider alone. On a terminal a line fits its width: the
 * title is cut, and the columns project, branch and size are left out in this order while the title would have less than
 * SESSION_LINE_TITLE_MIN columns. */
enum { SESSION_LINE_TITLE_MIN = 28 };

struct session_line_columns {
    int64_t now_ms;
    struct short_ids *ids; /* owned */
    size_t id_columns;
    size_t width;        /* of the terminal; 0: lines are not cut */
    bool shows_projects; /* the list contains more than one project */
};

MUST_CHECK enum err_code session_line_columns_open(const struct sessions *s, const struct out *o,
                                                   int64_t now_ms,
                                                   struct session_line_columns *look,
                                                   struct err *e);
/* Makes room for an id in the column. */
void session_line_columns_fit(struct session_line_columns *look, const struct session_ref *ref);
void session_line_columns_close(struct session_line_columns *look);

/* The names of the columns, `indent` blanks from the left. */
void session_line_header(const struct session_line_columns *look, size_t indent, struct out *o);
/* A session as one line: age, start of the id, project, branch, size, title, tag, and its flags. `indent` columns are
 * already used. Text from disk is cleaned. */
void session_line_write(const struct session_row *row, const struct session_line_columns *look,
                        size_t indent, struct out *o);

/* The start of an id, padded to the column. */
void session_line_id(const struct session_ref *ref, const struct session_line_columns *look,
                     struct out *o);
/* The words for enum session_flags: "archived, interrupted"; empty if no flag is set. */
enum { SESSION_LINE_FLAGS = 128 };
void session_line_flags(unsigned flags, char out[SESSION_LINE_FLAGS]);
/* Text in at most w columns: cut with an ellipsis. */
void session_line_cut(struct slice text, size_t w, struct out *o);
/* Text in exactly w columns: padded, or cut with an ellipsis. */
void session_line_column(struct slice text, size_t w, struct out *o);

#endif
