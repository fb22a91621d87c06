#ifndef STORE_REWIND_DIFF_SPANDIFF_H
#define STORE_REWIND_DIFF_SPANDIFF_H

#include <stdbool.h>

#include "store/fs/span.h"

/* Lines that differ between two spans of which one is too large to be held: what both begin and end with goes by in
 * pieces, and only the middle is compared line by line. Where that is still too large, all of it counts as replaced. */
MUST_CHECK enum err_code spandiff_count(const struct span *before, const struct span *after,
                                        unsigned *insertions, unsigned *deletions, bool *binary,
                                        struct err *e);

#endif
