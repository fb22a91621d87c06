#ifndef STORE_SYSTEMS_CLAUDE_WRITE_HOST_WRITE_H
#define STORE_SYSTEMS_CLAUDE_WRITE_HOST_WRITE_H

#include "lite/base/buf.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/systems/claude/write/metarow.h"

/* Shared by the calls of a host that write to a transcript. */

/* Where a resume continues once the rows are written. */
struct claude_write_leaf {
    struct slice id; /* uuid; empty: nowhere */
    bool unknown;    /* the leaf is not known: a last-prompt row is not moved */
    bool wanted;     /* a last-prompt row is written unless one is near the end */
};

/* Adds metadata rows to rows that are about to be appended to a file with this metadata near its end: those that would
 * otherwise be pushed out of the tail window, unless the new rows replace them. leaf NULL: the rows do not change where
 * a resume continues. */
MUST_CHECK enum err_code claude_add_metarows(const struct session_ref *ref,
                                             const struct metarows *near_end,
                                             const struct claude_write_leaf *leaf, struct buf *rows,
                                             struct err *e);
/* Appends whole lines that are not part of the conversation, together with these metadata rows. */
MUST_CHECK enum err_code claude_write_rows(const struct store_env *env,
                                           const struct session_ref *ref, struct slice lines,
                                           struct err *e);

/* Reads a text from the row with which claude_create began the session: "cwd", or HOST_CREATED_TITLE.
 * Empty if absent. */
MUST_CHECK enum err_code claude_creation_text(const char *path, const char *key, struct arena *a,
                                              struct slice *text, struct err *e);

/* The rows of a host: to which file each belongs, and which members it lacks. */

struct log_states;

/* A row as the host passed it. */
struct incoming_row {
    struct slice row;
    struct slice agent; /* the sub-agent whose file it goes to; empty: the session's own */
    struct slice id;    /* empty: it needs no id */
    bool named;         /* the id is the caller's */
    bool message;       /* part of a conversation */
    bool aside;         /* not part of the conversation that a resume restores */
    bool left_out;      /* a progress row, which the client shows and does not keep (seed 002) */
    bool reparented;    /* its parent was left out */
};

struct appending {
    const struct store *st;
    const struct session_ref *ref;
    struct log_states *logs; /* NULL: nothing is remembered */
    bool later;
    struct arena *a;
    struct incoming_row *given;
    size_t n, present, left_out;
};

/* Reads one row. Progress rows are counted and left out. ERR_USAGE: it is not a row of this system. */
MUST_CHECK enum err_code claude_incoming_row_read(struct appending *w, struct slice row,
                                                  struct incoming_row *g, struct err *e);
/* A text of the row, decoded, in the arena. An empty text counts as absent. Returns false if out of memory. */
bool claude_incoming_row_text(struct slice row, const char *key, struct arena *a,
                              struct slice *out);
/* A text as a JSON value. */
struct slice claude_incoming_row_quote(struct slice text, struct arena *a);
/* Writes the row with the members that it lacks, at most INCOMING_ROW_MEMBERS, without a newline. Its uuid is replaced
 * if it is invalid, and its parent if that was left out. */
enum { INCOMING_ROW_MEMBERS = 8 };
MUST_CHECK enum err_code claude_incoming_row_complete(const struct incoming_row *g,
                                                      const struct json_edit member[], size_t n,
                                                      struct buf *out);
/* Sets ERR_UNSUPPORTED. */
MUST_CHECK enum err_code claude_incoming_row_refuse_stream(struct err *e);

#endif
