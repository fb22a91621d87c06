#ifndef STORE_JOURNAL_RECORD_JSON_H
#define STORE_JOURNAL_RECORD_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "store/fs/hasher.h"

/* Members of the JSON objects that a record is made of. Texts are any bytes and are written %XX-encoded; numbers are
 * written as texts, since cJSON keeps them as doubles, which times in ns and inode numbers do not fit. */
struct cJSON;

/* False without memory. A NULL text is no member. */
bool record_json_set_bytes(struct cJSON *o, const char *key, struct slice bytes,
                           struct buf *scratch);
bool record_json_set_text(struct cJSON *o, const char *key, const char *text, struct buf *scratch);
bool record_json_set_int(struct cJSON *o, const char *key, int64_t n);
bool record_json_set_hash(struct cJSON *o, const char *key, const uint8_t hash[SHA256_BYTES]);

/* False: it is not there, or damaged. */
bool record_json_bytes(const struct cJSON *o, const char *key, struct arena *a, struct slice *out);
bool record_json_text(const struct cJSON *o, const char *key, struct arena *a, const char **out);
/* One that need not be there; where it is, it must be whole. */
bool record_json_optional_text(const struct cJSON *o, const char *key, struct arena *a,
                               const char **out);
bool record_json_int(const struct cJSON *o, const char *key, int64_t *n);
bool record_json_hash(const struct cJSON *o, const char *key, uint8_t out[SHA256_BYTES]);

#endif
