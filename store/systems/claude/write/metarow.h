#ifndef STORE_SYSTEMS_CLAUDE_WRITE_METAROW_H
#define STORE_SYSTEMS_CLAUDE_WRITE_METAROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/file.h"

/* Metadata rows of a transcript: not part of the conversation, and the newest of a type counts. Listings look
 * for them in the last 64 KiB only, so whoever writes to the file keeps them there ("re-append").
 *
 * The order is the client's own (claude.md C4, claude.md 9.2). */
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

/* Where the newest row of each type lies. */
struct metarow {
    bool found;
    int64_t offset;    /* in the file */
    struct slice text; /* the row without its newline; filled by metarows_near_end */
};

struct metarows {
    struct metarow row[METAROW_TYPES];
    int64_t size; /* of the file when it was read */
    int64_t end;  /* where the next row will begin: a torn last line gets its newline first */
};

/* Looks into the last WINDOW_BYTES of the file: constant time. Texts live in the arena. */
MUST_CHECK enum err_code metarows_near_end(const struct file *f, struct arena *a,
                                           struct metarows *out, struct err *e);
/* The same of a file that is not open. */
MUST_CHECK enum err_code metarows_of(const char *path, struct arena *a, struct metarows *out,
                                     struct err *e);
/* Looks through the whole file. *stop, when given and set by another thread, ends it with ERR_CANCELLED. */
MUST_CHECK enum err_code metarows_anywhere(const struct file *f, const atomic_bool *stop,
                                           struct arena *a, struct metarows *out, struct err *e);
/* The value of a string member of a found row; empty when there is none. */
struct slice metarow_value(const struct metarow *row, const char *key, struct arena *a);

#endif
