#ifndef STORE_REWIND_DIFF_LINEDIFF_H
#define STORE_REWIND_DIFF_LINEDIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/span.h"

/* Line differences of two byte strings, through libgit2, as `git diff` and GNU diff show them, including a missing
 * newline at the end. */

struct linediff_line {
    char sign;                   /* '+', '-' or ' ' */
    bool no_newline;             /* the file ends here without a newline */
    struct slice text;           /* without its newline; borrows from either text */
    unsigned old_line, new_line; /* from 1; 0 if it is not on that side */
};

struct linediff_hunk {
    unsigned old_start, old_lines, new_start, new_lines;
    size_t first, n; /* its lines */
};

struct linediff {
    struct arena arena;
    struct linediff_hunk *hunk;
    size_t hunks;
    struct linediff_line *line;
    size_t lines;
    unsigned insertions, deletions;
    bool binary; /* one of them has a NUL: no hunks, no lines, no counts */
};

/* Both texts must outlive the diff. */
MUST_CHECK enum err_code linediff_make(struct slice before, struct slice after, unsigned context,
                                       struct linediff *out, struct err *e);
void linediff_fini(struct linediff *d);
/* Counts only. Lines of binary files are counted too, as Claude Code counts them. */
MUST_CHECK enum err_code linediff_count(struct slice before, struct slice after,
                                        unsigned *insertions, unsigned *deletions, bool *binary,
                                        struct err *e);
/* Applies the chosen hunks (one flag each) to the bytes of `before`. The result is in the arena. */
MUST_CHECK enum err_code linediff_apply_hunks(const struct linediff *d, struct slice before,
                                              const bool *chosen, struct arena *a,
                                              struct slice *out, struct err *e);

/* Three-way merge of texts by lines (libgit2): the result contains the changes of `ours` and of `theirs` to the
 * ancestor; it is in the arena. If both changed the same lines, or one of them is not text, *clean is false and there
 * is no result. */
MUST_CHECK enum err_code linediff_merge(struct slice ancestor, struct slice ours,
                                        struct slice theirs, struct arena *a, struct slice *out,
                                        bool *clean, struct err *e);

/* Counts the lines that differ between two spans of which one is too large to be held in memory: the parts that both
 * begin and end with are skipped in pieces, and only the middle is compared line by line. If that is still too large,
 * all of it counts as replaced. */
MUST_CHECK enum err_code linediff_count_spans(const struct span *before, const struct span *after,
                                              unsigned *insertions, unsigned *deletions,
                                              bool *binary, struct err *e);

#endif
