#ifndef STORE_SHOW_ROW_WINDOW_H
#define STORE_SHOW_ROW_WINDOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/api/store.h"
#include "store/api/transcript.h"

/* Rows of a conversation, read one after the other. A call and its result are separate rows but belong together for a
 * reader, so rows are read ahead, up to the result of a call, but never more than ROW_WINDOW rows or ROW_WINDOW_BYTES;
 * a result that comes later stays where it is. */

enum { ROW_WINDOW = 64, ROW_WINDOW_BYTES = 8 << 20, ROW_TAKEN = 64 };

struct row_read {
    size_t at; /* in the transcript */
    struct buf bytes;
    struct block_list blocks;
    uint64_t taken; /* results that belong to calls above; of the first ROW_TAKEN blocks */
};

/* The caller sets the first members. */
struct row_window {
    const struct store *store;
    const struct transcript *t;
    size_t next, end;          /* the next row to read, and the one before which reading ends */
    const atomic_bool *cancel; /* may be NULL */
    /* Optional. Changes the bytes of a row before its blocks are read. A non-zero code means out of memory. */
    enum err_code (*change)(struct buf *bytes, void *arg);
    void *arg;
    struct row_read row[ROW_WINDOW]; /* a ring */
    size_t first, n, bytes;
};

/* The first row that was not removed, which is read if necessary and is not moved while others are read; *row is NULL
 * after the last one. */
MUST_CHECK enum err_code row_window_first(struct row_window *w, struct row_read **row,
                                          struct err *e);
/* The result of a call in that row, from the rows below, which are read as far as needed; it is then taken. *result is
 * NULL if no row has it. */
MUST_CHECK enum err_code row_window_result(struct row_window *w, struct slice call_id,
                                           const struct block **result, struct err *e);
/* Returns true if the block is a result that was taken. */
bool row_window_is_taken(const struct row_read *row, size_t block);
/* Removes the first row. */
void row_window_remove(struct row_window *w);
/* Frees the rows; the window can be used again. */
void row_window_fini(struct row_window *w);

#endif
