#ifndef STORE_SYSTEMS_GOAT_LAST_WRITES_H
#define STORE_SYSTEMS_GOAT_LAST_WRITES_H

#include "lite/base/slice.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/goat/manifest.h"

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
