#ifndef STORE_SYSTEMS_GOAT_WRITE_METAEDIT_H
#define STORE_SYSTEMS_GOAT_WRITE_METAEDIT_H

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/systems/goat/read/metadata.h"

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

#endif
