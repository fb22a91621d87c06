#ifndef STORE_SYSTEMS_GOAT_MANIFEST_H
#define STORE_SYSTEMS_GOAT_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/goat/dialect.h"

enum { GOAT_HASH_TEXT = 64, GOAT_MANIFEST_MAX = 16 * 1024 * 1024 };

#define GOAT_POINTS "checkpoints"
#define GOAT_SESSION_END                                                                           \
    "session-end" /* what the files were when the session ended, not before a turn */

/* The state of one file in a checkpoint. */
enum goat_was {
    GOAT_WAS_THERE,   /* with these contents */
    GOAT_WAS_ABSENT,  /* recorded as missing */
    GOAT_WAS_UNKNOWN, /* not usable: why contains the reason */
};

struct goat_saved {
    struct slice path; /* as it was recorded: may be relative, or not a path at all */
    enum goat_was was;
    char hash[GOAT_HASH_TEXT + 1]; /* lower case; "" unless it was there */
    const char *why;
};

/* A checkpoint: checkpoints/<id>/manifest.json. */
struct goat_point {
    struct slice id; /* the directory's name */
    const char *dir;
    enum goat_dialect dialect;
    int64_t time_ms; /* TIME_NONE: unknown */
    struct goat_saved *saved;
    size_t n;
    const char *why; /* the defect of a damaged checkpoint, which then has no files; or NULL */
    /* the defect is a missing manifest: the checkpoint was cut short before its last step */
    bool begun;
};

struct goat_points {
    struct arena arena;
    const char *dir;
    struct goat_point *point; /* by time, then id */
    size_t n;
};

/* Reads all checkpoints of a session, including damaged ones. A session without checkpoints is not
 * an error. */
MUST_CHECK enum err_code goat_points_read(const struct session_ref *ref, struct goat_points *out,
                                          struct err *e);
void goat_points_fini(struct goat_points *p);

/* Parses one document. point->why receives a defect of the document; the only error is ERR_NOMEM. */
MUST_CHECK enum err_code goat_manifest_parse(struct slice document, struct arena *a,
                                             struct goat_point *point);

/* The path of the contents with this hash: in the checkpoint, in another one, or in the shared
 * directory (goat.md B9). If they are missing (*there is false), the path where they should be.
 * NULL if out of memory. */
const char *goat_blob(const struct goat_points *points, const struct goat_point *point,
                      const char *hash, struct arena *a, bool *there);

/* ---- what a session left in files (edits.c) ---- */

/* The recorded contents that a session last left in a file: from the newest checkpoint with the
 * file, and the tool calls since then that name it. */
struct goat_left {
    const struct goat_point *point; /* the checkpoint; NULL: no checkpoint has the file */
    const struct goat_saved *saved;
    bool touched; /* a tool call of the session named it since */
    bool known;   /* ... and the contents after it are known: */
    struct slice bytes;
};

struct goat_writes {
    struct arena arena; /* owns the texts */
    uint64_t replayed;  /* bytes that edits left, of all edits */
    struct slice_set path;
    struct goat_left *left; /* by the number of the path */
};

/* cwd: the directory that relative paths start at; NULL: not known. */
MUST_CHECK enum err_code goat_writes_read(const struct session_ref *ref,
                                          const struct goat_points *points, const char *cwd,
                                          struct goat_writes *out, struct err *e);
void goat_writes_fini(struct goat_writes *w);
/* NULL if nothing is known. path is absolute and clean. */
const struct goat_left *goat_writes_find(const struct goat_writes *w, const char *path);

#endif
