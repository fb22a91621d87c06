#ifndef STORE_SYSTEMS_GOAT_MANIFEST_H
#define STORE_SYSTEMS_GOAT_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/systems/goat/dialect.h"

enum { GOAT_HASH_TEXT = 64, GOAT_MANIFEST_MAX = 16 * 1024 * 1024 };

#define GOAT_POINTS "checkpoints"
#define GOAT_SESSION_END                                                                           \
    "session-end" /* what the files were when the session ended, not before a turn */

/* What a checkpoint says of one file. */
enum goat_was {
    GOAT_WAS_THERE,  /* with these contents */
    GOAT_WAS_ABSENT, /* it says that there was none */
    GOAT_WAS_UNSAID, /* nothing that could be acted upon: why */
};

struct goat_saved {
    struct slice path; /* as it was passed: perhaps relative, perhaps no path at all */
    enum goat_was was;
    char hash[GOAT_HASH_TEXT + 1]; /* lower case; "" unless it was there */
    const char *why;
};

/* A checkpoint: checkpoints/<id>/manifest.json. */
struct goat_point {
    struct slice id; /* the directory's name */
    const char *dir;
    enum goat_dialect dialect;
    int64_t time_ms; /* TIME_NONE: it does not say */
    struct goat_saved *saved;
    size_t n;
    const char *why; /* it is damaged: what is wrong; then it has no files */
    bool begun;      /* that it has no manifest: it was cut short, which comes last */
};

struct goat_points {
    struct arena arena;
    const char *dir;
    struct goat_point *point; /* by time, then id */
    size_t n;
};

/* All checkpoints of a session, damaged ones too. A session without any has none. */
MUST_CHECK enum err_code goat_points_read(const struct session_ref *ref, struct goat_points *out,
                                          struct err *e);
void goat_points_fini(struct goat_points *p);

/* Reads one document. What is wrong with it is said in point->why; only memory fails. */
MUST_CHECK enum err_code goat_manifest_parse(struct slice document, struct arena *a,
                                             struct goat_point *point);

/* Where the contents with this hash lie: with the checkpoint, with another one, or with all of them (goat.md B9). Where
 * they are nowhere the place where they should be; NULL without memory. *there says which. */
const char *goat_blob(const struct goat_points *points, const struct goat_point *point,
                      const char *hash, struct arena *a, bool *there);

#endif
