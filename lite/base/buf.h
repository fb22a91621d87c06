#ifndef LITE_BASE_BUF_H
#define LITE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A growing run of bytes. p is NULL while cap is 0, and the bytes are NUL-terminated only after buf_cstr. A failed call
 * leaves the bytes unchanged. A zeroed struct is an empty buffer. */
struct buf {
    char *p;
    size_t n, cap;
};

/* Makes room for `more` bytes after n. ERR_NOMEM: out of memory, or the size overflows. */
MUST_CHECK enum err_code buf_reserve(struct buf *b, size_t more);
MUST_CHECK enum err_code buf_add(struct buf *b, struct slice bytes);
MUST_CHECK enum err_code buf_add_byte(struct buf *b, char c);
/* printf into the buffer, for our own text and numbers, never for bytes from disk. */
MUST_CHECK enum err_code buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Adds a NUL after the bytes (not counted in n) and returns p, or NULL if out of memory. Valid until the next call. */
const char *buf_cstr(struct buf *b);
struct slice buf_slice(const struct buf *b);
/* Frees the bytes; the buffer is then empty. */
void buf_fini(struct buf *b);

#endif
