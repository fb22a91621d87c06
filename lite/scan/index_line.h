#ifndef LITE_SCAN_INDEX_LINE_H
#define LITE_SCAN_INDEX_LINE_H

#include "lite/scan/index.h"
#include "lite/scan/key_scan.h"

/* One line becomes one entry: shared by the pass over a file and the one over bytes. */

struct index_reader {
    const struct index_keys *keys;
    struct key_scan_names names;
    key_scan_feed_fn *feed;
    key_validate_fn *exact; /* NULL: not asked for */
    uint8_t kind_length[254];
};

void index_reader_init(struct index_reader *r, const struct index_keys *keys, unsigned flags);

/* A line in memory. */
struct index_line index_line_of(const struct index_reader *r, struct slice text, int64_t offset);
/* A line that comes in pieces: what the scan of all of it found becomes the entry. */
struct index_line index_line_found(const struct index_reader *r, const struct key_scan *s,
                                   int64_t offset, uint64_t length);

MUST_CHECK enum err_code index_add(struct index *ix, const struct index_line *line);
/* Gives back most of the room that growth left over: a file mostly stays as it is. */
void index_trim(struct index *ix);
/* Forgets a torn last line, which is about to be looked at again. */
void index_remove_torn(struct index *ix);

#endif
