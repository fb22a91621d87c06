#ifndef STORE_JOURNAL_CONTENTS_H
#define STORE_JOURNAL_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
#include "lite/base/digest.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Contents of a document, or rows of a database, that are made piece by piece and may be larger than the memory that a change should take. Few
 * bytes stay in memory. More are written to a file of the change, which has all of its long contents, one after the other,
 * and no name until the change is recorded: a kill before that leaves nothing behind. */

struct change;
struct span;
struct step;
struct step_part;
struct store_env;

struct contents {
    struct change *change;
    const struct store_env *env;
    size_t most;  /* bytes that stay in memory */
    bool counted; /* nothing is kept, for a dry run */
    /* While they are made: one contents of a change after the other. */
    struct buf bytes; /* all, or those that are not in the file yet */
    int64_t n;
    bool in_file;
    int64_t at; /* where they begin there */
    struct digest digest;
};

MUST_CHECK enum err_code contents_add(struct contents *x, struct slice bytes, struct err *e);
/* Reads n bytes that were added, unless they are only counted. */
MUST_CHECK enum err_code contents_read(const struct contents *x, int64_t at, char *p, size_t n,
                                       struct err *e);
/* Ends them: *bytes are borrowed, or *part has them. */
MUST_CHECK enum err_code contents_end(struct contents *x, struct slice *bytes,
                                      struct step_part *part, struct err *e);
/* Frees the memory. The bytes in the file stay there until the change is freed; if they are `unused` and the last ones,
 * their space is free again. */
void contents_fini(struct contents *x, bool unused);

/* ---- in the record of a change ---- */

#define CONTENTS_NAME "contents"

/* Gives the file its name in the directory of a new record, or links that of an earlier change there, durably. The
 * parts of the steps are then parts of that file. */
MUST_CHECK enum err_code contents_record(struct change *c, const char *dir, struct err *e);

/* Makes a span of them. *own is -1 before, and a descriptor to close afterwards, or -1. */
MUST_CHECK enum err_code step_part_open(const struct step_part *part, struct span *out, int *own,
                                        struct err *e);
/* Sets *same to whether an open file has these contents from its beginning on. ERR_FORMAT: they are damaged. */
MUST_CHECK enum err_code step_part_is_in(const struct step_part *part, int fd, const char *path,
                                         bool *same, struct err *e);
/* Writes them to a file. ERR_FORMAT: they are damaged, and what was written is not what was recorded. */
MUST_CHECK enum err_code step_part_write(const struct step_part *part, int to, const char *to_path,
                                         struct err *e);

#endif
