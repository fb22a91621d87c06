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

/* A session's metadata.json. Raw values and texts borrow from the document or live in the arena. */
struct goat_metadata {
    struct slice object; /* the document without blanks, or a BOM, around it */
    bool bom;            /* it begins with one: Go cannot read it */
    enum goat_dialect dialect;
    struct slice raw[GOAT_FIELDS];  /* as written; empty: not there, or null */
    struct slice text[GOAT_FIELDS]; /* texts and times, decoded */
    int64_t created_ms;             /* TIME_NONE: not there, or Go's zero time */
    int64_t updated_ns;             /* 0: likewise */
    const char *why; /* it cannot be used: what is wrong, for a person; NULL: nothing is */
};

/* Reads a document. What is wrong with it is no error but in `why`; only memory fails. */
MUST_CHECK enum err_code goat_metadata_parse(struct slice document, struct arena *a,
                                             struct goat_metadata *out);
/* Reads the file beneath a directory (never through a link) into `bytes`, then the document. A file that is too large,
 * a link, or one that is not there is said in `why` too. */
MUST_CHECK enum err_code goat_metadata_read(int dirfd, const char *name, struct buf *bytes,
                                            struct arena *a, struct goat_metadata *out);

/* The session's: as its ref tells it already, else read. */
MUST_CHECK enum err_code goat_metadata_of(const struct session_ref *ref, struct buf *bytes,
                                          struct arena *a, struct goat_metadata *out);

/* Only the time of the last update, and as quickly as can be: what a list is sorted by. *ns is 0 where there is none. */
MUST_CHECK enum err_code goat_metadata_updated(int dirfd, const char *name, struct buf *bytes,
                                               int64_t *ns);

/* RFC 3339 as Go writes it: seconds with up to nine digits, Z or an offset. False: no such time. */
bool goat_time(struct slice text, int64_t *ns);

/* A metadata document with other members, laid out as Go's MarshalIndent does. What is not named stays, with its own
 * spelling and in its place; members that the dialect does not know too. */
struct goat_edit {
    enum goat_field field;
    /* one JSON value; empty: the member goes, or stands empty where the dialect always writes it */
    struct slice value;
    const char *key; /* for a member that the dialect has no name for; else NULL */
};

/* m is sound (no why). ERR_NOMEM only. */
MUST_CHECK enum err_code goat_metadata_edit(const struct goat_metadata *m,
                                            const struct goat_edit edit[], size_t n,
                                            struct arena *a, struct buf *out);

/* A session's metadata.json, open to be changed. */
struct goat_document {
    struct arena arena;
    struct buf bytes; /* as it lies on the disk */
    const char *path;
    struct goat_metadata m;
};

/* ERR_FORMAT when it cannot be used. On failure nothing is left open. */
MUST_CHECK enum err_code goat_document_open(const struct session_ref *ref, struct goat_document *d,
                                            struct err *e);
void goat_document_close(struct goat_document *d);
/* The step that puts the changed document in its place; it borrows from d. */
MUST_CHECK enum err_code goat_document_step(const struct session_ref *ref, struct goat_document *d,
                                            const struct goat_edit edit[], size_t n,
                                            struct step *step, struct err *e);
/* What is locked while a session is written to: beside the log, as hosts do. NULL without memory. */
const char *goat_lock_path(const struct session_ref *ref, struct arena *a);

#endif
