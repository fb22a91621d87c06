#ifndef STORE_SYSTEMS_GOAT_METADATA_H
#define STORE_SYSTEMS_GOAT_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/time.h"
#include "store/api/session.h"
#include "store/journal/step.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/goat.h"

enum { GOAT_METADATA_MAX = 1024 * 1024 };

/* A session's metadata.json. Raw values and texts borrow from the document or are in the arena. */
struct goat_metadata {
    struct slice document; /* all of it */
    struct slice object;   /* the document without blanks, or a BOM, around it */
    bool bom;              /* the document begins with a BOM: Go cannot read it */
    enum goat_dialect dialect;
    struct slice raw[GOAT_FIELDS];  /* as written; empty: not there, or null */
    struct slice text[GOAT_FIELDS]; /* texts and times, decoded */
    int64_t created_ms;             /* TIME_NONE: not there, or Go's zero time */
    int64_t updated_ns;             /* 0: likewise */
    const char *why;                /* why it cannot be used, for a person; NULL: it can */
};

/* Reads the file below a directory (never through a link) into the arena, then parses it. If the
 * file is too large, a link or missing, this is the reason in `why`. */
MUST_CHECK enum err_code goat_metadata_read(int dirfd, const char *name, struct arena *a,
                                            struct goat_metadata *out);

/* The session's metadata, from its ref or else from the file. */
MUST_CHECK enum err_code goat_metadata_of(const struct session_ref *ref, struct arena *a,
                                          struct goat_metadata *out);

/* Reads only the document and the time of the last update (by which lists are sorted), as fast as
 * possible. updated_ns is 0 if it is missing. */
MUST_CHECK enum err_code goat_metadata_updated(int dirfd, const char *name, struct arena *a,
                                               struct goat_metadata *out);

/* RFC 3339 as Go writes it: seconds with up to nine digits, Z or an offset. Returns false if it is
 * not a valid time. */
bool goat_time(struct slice text, int64_t *ns);

/* A change of a metadata document, laid out as Go's MarshalIndent does. All other members keep
 * their spelling and their place, even if the dialect does not know them. */
struct goat_edit {
    enum goat_field field;
    /* one JSON value; empty: the member is removed, or set to its empty value if the dialect always
     * writes it */
    struct slice value;
    const char *key; /* for a member for which the dialect has no name; else NULL */
};

/* m must be usable (no why). The only error is ERR_NOMEM. */
MUST_CHECK enum err_code goat_metadata_edit(const struct goat_metadata *m,
                                            const struct goat_edit edit[], size_t n,
                                            struct arena *a, struct buf *out);

/* A session's metadata.json, open to be changed. */
struct goat_document {
    struct arena arena;
    const char *path;
    struct goat_metadata m;
};

/* Returns ERR_FORMAT if it cannot be used. On failure nothing stays open. */
MUST_CHECK enum err_code goat_document_open(const struct session_ref *ref, struct goat_document *d,
                                            struct err *e);
void goat_document_close(struct goat_document *d);
/* Puts the changed document in its place at once, for hosts. The caller has the lock. dir: the session's directory. */
MUST_CHECK enum err_code goat_document_write(const char *dir, const struct goat_document *d,
                                             const struct goat_edit edit[], size_t n,
                                             struct arena *a, struct err *e);
/* The lock file of a session, taken for every write: beside the log, as hosts have it. NULL if out
 * of memory. */
const char *goat_lock_path(const struct session_ref *ref, struct arena *a);

#endif
