#ifndef STORE_BLAME_BLAME_H
#define STORE_BLAME_BLAME_H

#include "store/blame/blame_history.h"
#include "store/blame/blame_text.h"

/* Which session, turn and prompt wrote each line of a file.
 *
 * The edits of all sessions are replayed in order of time (blame_history.h, blame_text.h), and the result is compared
 * with the file as it is now. A line that is still as an edit left it belongs to that edit, and every other line to no
 * session. */

enum { BLAME_FILE_MAX = 64 << 20, BLAME_LINES_MAX = 4 << 20 };

struct blame {
    struct blame_history history;
    struct buf file;    /* as it is now */
    struct slice *line; /* without line ends; borrow from the file; owned */
    uint32_t *owner;    /* index into history.event, or BLAME_NOBODY; owned */
    size_t lines;
};

/* q->path[0] is the file. ERR_NOT_FOUND: the file does not exist. ERR_UNSUPPORTED: it is too large, or not text.
 * ERR_UNSAFE: it is not a regular file. */
MUST_CHECK enum err_code blame_file(struct store *const stores[], size_t n,
                                    const struct blame_query *q, struct blame *out, struct err *e);
void blame_fini(struct blame *b);
/* The edit that wrote a line, and its session; NULL if no session wrote it. */
const struct blame_event *blame_event_of(const struct blame *b, size_t line);
const struct session_ref *blame_session_of(const struct blame *b, size_t line);

#endif
