#ifndef STORE_SHOW_HUNKS_H
#define STORE_SHOW_HUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/rewind/diff/linediff.h"

/* The changes of an edit, line by line: from the patch a system recorded, or computed from the texts before and
 * after. */
struct hunk_line {
    char sign;      /* ' ', '+', '-'; '@': a hunk begins, text is its position; '\\': a remark */
    int64_t number; /* of the line in the new file (a removed line: in the old one); 0: not known */
    struct slice text;
};

struct hunks {
    struct arena arena;     /* decoded texts of a patch */
    struct hunk_line *line; /* owned; texts are borrowed from the compared texts or the arena */
    size_t n, cap;
    size_t added, removed;
    enum err_code rc;
};

/* These functions append, so that a call with several edits makes one diff. */
void hunks_of_patch(struct hunks *d, struct slice patch_json);
void hunks_of_texts(struct hunks *d, struct slice before, struct slice after);
/* One hunk of an existing diff; its texts are borrowed. */
void hunks_of_diff(struct hunks *d, const struct linediff *diff, size_t hunk);
void hunks_fini(struct hunks *d);

#endif
