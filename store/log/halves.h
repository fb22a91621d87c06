#ifndef STORE_LOG_HALVES_H
#define STORE_LOG_HALVES_H

#include "lite/index.h"

/* index_build over a zeroed index, but a large file is cut in two where a line ends and both halves are
 * indexed at once: telling valid JSON takes longer than reading it. The answer is the same, line by line. */
MUST_CHECK enum err_code halves_index(struct index *ix, const struct file *f,
                                      const struct index_keys *keys, unsigned flags,
                                      const atomic_bool *stop, struct err *e);

#endif
