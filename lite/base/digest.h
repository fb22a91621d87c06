#ifndef LITE_BASE_DIGEST_H
#define LITE_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* MD5, SHA-1 and SHA-256 by libcrypto. The first digest loads the library, unless it is linked statically: loading it took
 * a third of the start of the program, and a list needs no digest. All functions may be called by any thread. */

enum digest_kind { DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA256, DIGEST_KINDS };
enum { MD5_BYTES = 16, SHA1_BYTES = 20, SHA256_BYTES = 32, DIGEST_MOST = 32 };

/* A digest under way, used by one thread. A zeroed struct is empty. It can be used for one digest after another, because
 * setting it up costs as much as hashing a small file. */
struct digest {
    void *state; /* libcrypto's */
    bool failed; /* kept until digest_end reports it */
};

void digest_begin(struct digest *d, enum digest_kind kind);
void digest_add(struct digest *d, struct slice bytes);
/* Writes the bytes of the kind, at most DIGEST_MOST. Returns false if this or an earlier call failed; digest_error says why. */
MUST_CHECK bool digest_end(struct digest *d, uint8_t *sum);
void digest_fini(struct digest *d);

/* The digest of these bytes, as digest_end writes it. */
MUST_CHECK bool digest_of(enum digest_kind kind, struct slice bytes, uint8_t *sum);

/* The reason why a digest failed: ERR_UNSUPPORTED if libcrypto cannot be loaded, else ERR_NOMEM. */
enum err_code digest_error(struct err *e);

/* Writes n bytes as 2 n lower-case digits and a NUL. */
void digest_hex(const uint8_t *bytes, size_t n, char *out);
/* Writes them as base64 and a NUL. Only after a digest did not fail. */
void digest_base64(const uint8_t *bytes, size_t n, char *out);

#endif
