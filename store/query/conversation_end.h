#ifndef STORE_QUERY_CONVERSATION_END_H
#define STORE_QUERY_CONVERSATION_END_H

#include <stdatomic.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/id.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"
#include "store/api/session.h"
#include "store/api/transcript.h"

/* The end of a conversation as a resume restores it: as few of its last bytes are read as a question needs. */

struct conversation_end {
    struct slice at; /* the id of a message, or its place (conversation_place); empty: the end */
    size_t least;    /* this many rows before it are needed; SIZE_MAX: all */
    const atomic_bool *cancel; /* may be NULL */
};

/* Loads it, as a part (t->partial) with at least those rows, or whole. The flags of the first rows of a part are not
 * reliable, so it has some more rows. *at: the index of the message, or t->n if the whole conversation does not have it. */
MUST_CHECK enum err_code conversation_end_load(const struct session_ref *ref,
                                               const struct conversation_end *want,
                                               struct transcript **out, size_t *at, struct err *e);

/* A message without an id is named by its place in the session, "@" and a number, which stays the same while rows are
 * added. The place that a text names, or -1. */
int64_t conversation_place(struct slice name);
/* The index of the message with this id or place, or t->n. */
size_t conversation_find(const struct transcript *t, struct slice name);

/* Reading on in a conversation while it grows: the time that a step takes depends on what is new. */
struct conversation_cursor {
    struct id128 id; /* the id of the last row */
    int64_t offset;
    char *path;               /* owned: the file of the rows */
    struct file_id log, side; /* as it was, and the log of changes of a database */
};

void conversation_cursor_fini(struct conversation_cursor *c);

/* Sets the cursor after the message, or at the end of the conversation if `after` is empty. ERR_NOT_FOUND: there is no such
 * message. */
MUST_CHECK enum err_code conversation_cursor_set(struct conversation_cursor *c,
                                                 const struct session_ref *ref, struct slice after,
                                                 const atomic_bool *cancel, struct err *e);
/* The rows after the cursor, which moves to the end: those of *out from *from on. *out is NULL if the file did not
 * change. If the row before the cursor is no longer in the conversation, they are those that are further down in the
 * file. */
MUST_CHECK enum err_code conversation_read_on(struct conversation_cursor *c,
                                              const struct session_ref *ref,
                                              const atomic_bool *cancel, struct transcript **out,
                                              size_t *from, struct err *e);

#endif
