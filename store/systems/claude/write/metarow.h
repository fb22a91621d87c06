#ifndef STORE_SYSTEMS_CLAUDE_WRITE_METAROW_H
#define STORE_SYSTEMS_CLAUDE_WRITE_METAROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* Metadata rows of a transcript. They are not part of the conversation, and the newest row of a
 * type counts. Listings look for them only in the last 64 KiB, so every writer keeps them there by
 * appending them again ("re-append").
 *
 * The order is that of the client (claude.md C4, claude.md 9.2). */
enum metarow_type {
    METAROW_LAST_PROMPT,
    METAROW_CUSTOM_TITLE,
    METAROW_AI_TITLE,
    METAROW_TAG,
    METAROW_RELOCATED,
    METAROW_AGENT_NAME,
    METAROW_AGENT_COLOR,
    METAROW_AGENT_SETTING,
    METAROW_MODE,
    METAROW_PERMISSION_MODE,
    METAROW_ATIS_LATCH,
    METAROW_WORKTREE_STATE,
    METAROW_PR_LINK,
    METAROW_TYPES
};

/* The name in the row's "type". */
extern const char *const metarow_names[METAROW_TYPES + 1];

/* Writes a row {"type": ..., key: text, "sessionId": ...} and its newline. */
MUST_CHECK enum err_code metarow_write(enum metarow_type type, const char *key, struct slice text,
                                       struct slice session, struct buf *out);

/* The newest row of a type. */
struct metarow {
    bool found;
    int64_t offset;    /* in the file */
    struct slice text; /* the row without its newline, in the arena */
};

struct metarows {
    struct metarow row[METAROW_TYPES];
    int64_t size; /* the size of the file when it was read */
    int64_t end;  /* where the next row will begin; a torn last line gets its newline first */
};

/* Searches the last WINDOW_BYTES of the file, in constant time. */
MUST_CHECK enum err_code metarows_near_end(const struct file *f, struct arena *a,
                                           struct metarows *out, struct err *e);
/* The same for a file that is not open. */
MUST_CHECK enum err_code metarows_of(const char *path, struct arena *a, struct metarows *out,
                                     struct err *e);
/* Searches the file backwards for the newest row of each of these types (1u << METAROW_...), until all are found. Only
 * a whole read shows that a type is missing. If another thread sets *stop (which may be NULL), it ends with
 * ERR_CANCELLED. */
enum { METAROW_ALL = (1 << METAROW_TYPES) - 1 };
MUST_CHECK enum err_code metarows_anywhere(const struct file *f, unsigned types,
                                           const atomic_bool *stop, struct arena *a,
                                           struct metarows *out, struct err *e);
/* The value of a string member of a found row; empty if it is missing. */
struct slice metarow_value(const struct metarow *row, const char *key, struct arena *a);

/* Computes the metadata near the end after these whole lines are appended. Texts are copied into the arena. Returns
 * false if out of memory. */
bool metarows_after(const struct metarows *m, struct slice lines, struct arena *a,
                    struct metarows *out);

/* ---- writing rows again ---- */

/* Adds to `out` the rows that have to be written again so that each type's newest row is within the last WINDOW_BYTES
 * once `coming` more bytes are appended. Rows are copied as they are, in the client's order, each with a newline; a row
 * that stays inside the window is left alone. `except` is a type that the coming bytes already contain (METAROW_TYPES:
 * none). *rows is the number of added rows. */
MUST_CHECK enum err_code metarows_reappend(const struct metarows *m, size_t coming,
                                           enum metarow_type except, struct buf *out, size_t *rows);

/* Must be called first: a last-prompt row that would be written again gets the leaf from which a resume continues once
 * the coming bytes are appended (leaf; NULL: that of the file at path). With the old leaf, the next row would follow
 * that one, and the conversation would lose the rows in between. A row that was written to name its leaf ("explicit")
 * is not moved as long as the leaf is right: if it were written again after rows that another program appends at the
 * same moment, these would be removed from the conversation. */
MUST_CHECK enum err_code metarows_set_leaf(struct metarows *m, const char *path, size_t coming,
                                           const struct slice *leaf, struct arena *a,
                                           struct err *e);

/* Must also be called first: if the worktree of the session is gone, the session has left it, and its row is written
 * again with null instead, as the client does when it resumes the session (seed 002). */
MUST_CHECK enum err_code metarows_leave_worktree(struct metarows *m, struct arena *a,
                                                 struct err *e);

/* A tag as the SDK stores it (claude.md 5.1): ASCII is only trimmed; other text is normalised to NFKC and loses format
 * characters, private use and unassigned code points, repeatedly until nothing changes, and is then trimmed. Empty if
 * nothing is left. Returns false if it still changes after ten rounds, or if out of memory. */
bool metarow_tag_text(struct slice tag, struct arena *a, struct slice *out);

#endif
