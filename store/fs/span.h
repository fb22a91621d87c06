#ifndef STORE_FS_SPAN_H
#define STORE_FS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Bytes that can be read at any place: of a file, of a part of one, or in memory. */
struct span {
    const char *path; /* for errors; NULL in memory */
    int fd;           /* -1: in memory */
    int64_t at;       /* where it begins in the file */
    int64_t n;
    bool whole;        /* it ends where the file ended when it was made */
    const char *bytes; /* in memory */
};

/* A whole open file, as long as it is now. The descriptor is borrowed. */
MUST_CHECK enum err_code span_of_file(int fd, const char *path, struct span *out, struct err *e);
struct span span_of_bytes(struct slice bytes);
/* Closes the descriptor: for who opened it for the span. */
void span_close(struct span *s);

/* n bytes at an offset, which must be in it. ERR_STALE: the file is shorter by now. */
MUST_CHECK enum err_code span_read(const struct span *s, int64_t offset, char *p, size_t n,
                                   struct err *e);
/* ERR_STALE: a whole file has grown since the span was made. */
MUST_CHECK enum err_code span_ended(const struct span *s, struct err *e);

#endif
