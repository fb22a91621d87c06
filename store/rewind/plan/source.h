#ifndef STORE_REWIND_PLAN_SOURCE_H
#define STORE_REWIND_PLAN_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "store/fs/hasher.h"
#include "store/rewind/plan/rewind.h"

/* The bytes of both sides of a rewind: those that are wanted, and those that lie in the work tree. */

/* Up to here they are held in memory; what is larger only passes through. */
enum { SOURCE_CONTENT_HELD_MAX = 16 << 20 };

struct source_content {
    struct buf bytes; /* when it is held */
    bool held;
    int64_t size;
    uint8_t sha256[SHA256_BYTES];
    struct hasher hasher; /* kept, like the buffer, from file to file */
};

void source_content_fini(struct source_content *c);

/* Reads a span and hashes it; replaces what was in out. like (may be NULL): where the bytes are the same as its bytes,
 * so is the hash, and is not made again. ERR_STALE: the file changed its size while it was read. */
MUST_CHECK enum err_code source_content_read(const struct span *s,
                                             const struct source_content *like,
                                             struct source_content *out, struct err *e);
bool source_content_same(const struct source_content *a, const struct source_content *b);

/* Opens the wanted bytes; span_close them. ERR_FORMAT with a text for a person when they are missing, short, a link or
 * no regular file. */
MUST_CHECK enum err_code source_open(const struct rewind_source *s, struct span *out,
                                     struct err *e);
/* ERR_FORMAT when the hash is not what the source's checksum says. */
MUST_CHECK enum err_code source_check(const struct rewind_source *s,
                                      const uint8_t sha256[SHA256_BYTES], struct err *e);
/* Opens, reads and checks: a rewind refuses a file whose saved copy answers ERR_FORMAT. */
MUST_CHECK enum err_code source_read(const struct rewind_source *s,
                                     const struct source_content *like, struct source_content *out,
                                     struct err *e);

#endif
