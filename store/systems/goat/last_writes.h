#ifndef STORE_SYSTEMS_GOAT_LAST_WRITES_H
#define STORE_SYSTEMS_GOAT_LAST_WRITES_H

#include "lite/base/slice.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/goat/manifest.h"

/* What a session itself last left in its files, as far as it tells: the newest checkpoint that has a file, and the calls
 * of tools since then that name it. */
struct goat_left {
    const struct goat_point *point; /* of the checkpoint; NULL: none has it */
    const struct goat_saved *saved;
    bool touched; /* a tool of the session named it since */
    bool known;   /* ... and what it became is told: */
    struct slice bytes;
};

struct goat_writes {
    struct arena arena; /* owns the texts */
    struct slice_set path;
    struct goat_left *left; /* by the number of the path */
};

/* cwd: what relative paths begin at; NULL: not known. */
MUST_CHECK enum err_code goat_writes_read(const struct session_ref *ref,
                                          const struct goat_points *points, const char *cwd,
                                          struct goat_writes *out, struct err *e);
void goat_writes_fini(struct goat_writes *w);
/* NULL: nothing is known. path is absolute and clean. */
const struct goat_left *goat_writes_find(const struct goat_writes *w, const char *path);

#endif
