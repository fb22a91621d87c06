#ifndef LITE_BASE_BUF_H
#define LITE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Bytes that grow. p is NULL while cap is 0; there is no terminating NUL unless buf_cstr put one.
 * A failed call leaves the bytes as they were. A zeroed struct is an empty buffer. */
struct buf {
    char *p;
    size_t n, cap;
};

/* Makes room for `more` bytes after n. ERR_NOMEM (with an overflow counted as such). */
MUST_CHECK enum err_code buf_reserve(struct buf *b, size_t more);
MUST_CHECK enum err_code buf_add(struct buf *b, struct slice bytes);
MUST_CHECK enum err_code buf_add_byte(struct buf *b, char c);
/* printf into the buffer: for our own text and numbers, never for bytes from disk. */
MUST_CHECK enum err_code buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* NUL-terminates (not counted in n) and returns p, or NULL without memory. Valid until the next call. */
const char *buf_cstr(struct buf *b);
struct slice buf_slice(const struct buf *b);
/* Frees the bytes and leaves an empty buffer. */
void buf_fini(struct buf *b);

#endif
