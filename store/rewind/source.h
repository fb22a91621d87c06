#ifndef STORE_REWIND_SOURCE_H
#define STORE_REWIND_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/buf.h"
#include "lite/err.h"
#include "store/rewind/rewind.h"

/* The bytes of both sides of a rewind: those that are wanted, and those that lie in the work tree. */

enum { SHA256_BYTES = 32 };

struct content {
    struct buf bytes;
    uint8_t sha256[SHA256_BYTES];
};

void content_fini(struct content *c);

/* All bytes of a descriptor, and their hash. Replaces what was in out. ERR_STALE: the file changed its size
 * while it was read. */
MUST_CHECK enum err_code content_read(int fd, const char *path, struct content *out, struct err *e);
MUST_CHECK enum err_code content_of(struct slice bytes, struct content *out, struct err *e);

/* The wanted bytes. ERR_FORMAT with a text for a person when they are missing, no regular file, a link, or not what
 * their checksum says: a rewind then refuses the file. */
MUST_CHECK enum err_code source_read(const struct rewind_source *s, struct content *out,
                                     struct err *e);

void sha256_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_BYTES * 2 + 1]);

#endif
