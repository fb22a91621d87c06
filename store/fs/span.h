#ifndef STORE_FS_SPAN_H
#define STORE_FS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/digest.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Bytes that can be read at any offset: of a file, of a part of a file, or in memory. */
struct span {
    const char *path; /* for errors; NULL in memory */
    int fd;           /* -1: in memory */
    int64_t at;       /* where it begins in the file */
    int64_t n;
    bool whole;        /* it ends where the file ended when the span was made */
    const char *bytes; /* in memory */
};

/* A whole open file at its present length. The descriptor is borrowed. */
MUST_CHECK enum err_code span_of_file(int fd, const char *path, struct span *out, struct err *e);
struct span span_of_bytes(struct slice bytes);
/* Closes the descriptor; for callers that opened it for the span. */
void span_close(struct span *s);

/* Reads n bytes at an offset, all within the span. ERR_STALE if the file became shorter. */
MUST_CHECK enum err_code span_read(const struct span *s, int64_t offset, char *p, size_t n,
                                   struct err *e);
/* ERR_STALE if a whole file has grown since the span was made. */
MUST_CHECK enum err_code span_ended(const struct span *s, struct err *e);
/* Both at once for all of it, into room for one more byte. */
MUST_CHECK enum err_code span_read_all(const struct span *s, char *p, struct err *e);

/* ---- hashing ---- */

/* The state of hashing, kept from file to file because setting it up costs as much as hashing a small file. A zeroed
 * struct is an empty hasher. */
struct hasher {
    struct digest digest;
    char *piece; /* a buffer for files that are not held in memory */
};

void hasher_fini(struct hasher *h);

MUST_CHECK enum err_code hasher_bytes(struct hasher *h, struct slice bytes,
                                      uint8_t sha256[SHA256_BYTES], struct err *e);
/* Hashes a whole span in pieces, so that a file of any size takes the same memory. If `to` is not -1 the bytes are
 * also written to it at its present offset; to_path names it in errors. */
MUST_CHECK enum err_code hasher_span(struct hasher *h, const struct span *from, int to,
                                     const char *to_path, uint8_t sha256[SHA256_BYTES],
                                     struct err *e);

void hasher_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_BYTES * 2 + 1]);

#endif
