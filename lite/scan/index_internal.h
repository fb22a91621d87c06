#ifndef LITE_SCAN_INDEX_INTERNAL_H
#define LITE_SCAN_INDEX_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/scan/key_scan.h"

/* The parts of the line index that tests need to reach. */

struct index;
struct index_keys;
struct index_line;

/* index_build with any buffer sizes: the resulting index does not depend on them. */
struct index_pass {
    struct index *ix;
    const struct file *file;
    const struct index_keys *keys;
    unsigned flags;          /* enum index_flags */
    const atomic_bool *stop; /* may be NULL */
    /* Bytes that are read at once. The buffer grows up to hold_bytes for a longer line; even longer lines are read in
     * pieces. */
    size_t read_bytes, hold_bytes;
};

/* Small enough to stay in the second-level cache: the bytes are scanned right after they were read. */
enum { INDEX_READ_BYTES = 256 << 10, INDEX_HOLD_BYTES = 4 << 20 };

MUST_CHECK enum err_code index_pass_run(const struct index_pass *pass, struct err *e);

/* The state that is prepared once for all lines. */
struct index_reader {
    const struct index_keys *keys;
    struct key_scan_names names;
    key_scan_feed_fn *feed;
    key_validate_fn *exact; /* NULL without INDEX_VALIDATE */
    uint8_t kind_length[254];
};

void index_reader_init(struct index_reader *r, const struct index_keys *keys, unsigned flags);
/* The entry of a line of this length, from what the scan of the whole line found. */
struct index_line index_line_found(const struct index_reader *r, const struct key_scan *s,
                                   int64_t offset, uint64_t length);

#endif
