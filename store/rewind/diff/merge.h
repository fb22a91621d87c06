#ifndef STORE_REWIND_DIFF_MERGE_H
#define STORE_REWIND_DIFF_MERGE_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Three-way merge of texts, by lines (libgit2): the result has what ours and what theirs changed of the ancestor; it
 * lives in the arena. *clean false: both changed the same lines, or one of them is no text, and there is no result. */
MUST_CHECK enum err_code merge_texts(struct slice ancestor, struct slice ours, struct slice theirs,
                                     struct arena *a, struct slice *out, bool *clean,
                                     struct err *e);

#endif
