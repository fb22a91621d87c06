#ifndef STORE_SYSTEMS_CLAUDE_REWIND_LASTWRITE_H
#define STORE_SYSTEMS_CLAUDE_REWIND_LASTWRITE_H

#include <stdbool.h>

#include "lite/base/textset.h"
#include "store/api/store.h"

/* What the session's own tools last wrote into files, told from the results of its edits since a message: after
 * the newest snapshot these are the only witness, and what differs from them was changed by somebody else. */
struct lastwrite {
    const char *path; /* absolute, as the tool named it */
    bool known;       /* false: it was written, but the rows do not say what it became */
    struct slice bytes;
};

struct lastwrites {
    struct arena arena; /* owns everything */
    struct lastwrite *write;
    size_t n;
    struct textset path; /* the numbers of the above */
};

/* Rows of t from `from` on. */
MUST_CHECK enum err_code lastwrites_read(const struct transcript *t, size_t from,
                                         struct lastwrites *out, struct err *e);
void lastwrites_fini(struct lastwrites *l);
const struct lastwrite *lastwrites_find(const struct lastwrites *l,
                                        const char *path); /* NULL: not written */

#endif
