#ifndef STORE_FS_HASHER_H
#define STORE_FS_HASHER_H

#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/span.h"

enum { SHA256_BYTES = 32 };

/* The state of hashing, kept from file to file because setting it up costs as much as hashing a small file. A zeroed
 * struct is an empty hasher. */
struct hasher {
    void *kind, *state; /* libcrypto's */
    char *piece;        /* a buffer for files that are not held in memory */
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
