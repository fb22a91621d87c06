#ifndef LITE_SCAN_INDEX_PASS_H
#define LITE_SCAN_INDEX_PASS_H

#include "lite/scan/index.h"

/* index_build with its buffer sizes open: the same index comes out of any. */
struct index_pass {
    struct index *ix;
    const struct file *file;
    const struct index_keys *keys;
    unsigned flags;          /* enum index_flags */
    const atomic_bool *stop; /* may be NULL */
    size_t read_bytes;       /* read at once; the buffer grows from here ... */
    size_t hold_bytes; /* ... to this for a line that is longer; one longer still comes in pieces */
};

/* Small enough to stay in the second-level cache: the bytes are looked at right after they were read. */
enum { INDEX_READ_BYTES = 256 << 10, INDEX_HOLD_BYTES = 4 << 20 };

MUST_CHECK enum err_code index_pass_run(const struct index_pass *pass, struct err *e);

#endif
