#ifndef STORE_LOG_INDEX_PARALLEL_H
#define STORE_LOG_INDEX_PARALLEL_H

#include "lite/scan/index.h"

/* index_build over a zeroed index, but a large file is cut into pieces where lines end, and two threads take one after the
 * other: telling valid JSON takes longer than reading it. The answer is the same, line by line. */
MUST_CHECK enum err_code index_parallel_build(struct index *ix, const struct file *f,
                                              const struct index_keys *keys, unsigned flags,
                                              const atomic_bool *stop, struct err *e);

#endif
