#ifndef STORE_JOURNAL_RECORD_H
#define STORE_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/fs/copy.h"
#include "store/fs/span.h"

/* Any bytes as printable ASCII: %XX for controls, for bytes above '~' and for '%' itself. Our own records keep paths,
 * ids and titles in this form, because JSON text cannot represent every file name. */

/* Replaces the contents of out. */
MUST_CHECK enum err_code record_percent_encode(struct slice bytes, struct buf *out);
/* Adds a NUL after the bytes. Returns false if the text is malformed or if out of memory. */
bool record_percent_decode(const char *text, struct arena *a, struct slice *out);

/* Members of the JSON objects that a record is made of. Texts are percent-encoded. Numbers are written as texts,
 * because cJSON keeps them as doubles, which cannot hold times in ns and inode numbers. */
struct cJSON;

/* Return false if out of memory. A NULL text writes no member. */
bool record_json_set_text(struct cJSON *o, const char *key, const char *text, struct buf *scratch);
bool record_json_set_int(struct cJSON *o, const char *key, int64_t n);
bool record_json_set_hash(struct cJSON *o, const char *key, const uint8_t hash[SHA256_BYTES]);

/* Return false if the member is missing or damaged. */
bool record_json_text(const struct cJSON *o, const char *key, struct arena *a, const char **out);
/* A member that may be missing, but must be valid if present. */
bool record_json_optional_text(const struct cJSON *o, const char *key, struct arena *a,
                               const char **out);
bool record_json_int(const struct cJSON *o, const char *key, int64_t *n);
bool record_json_hash(const struct cJSON *o, const char *key, uint8_t out[SHA256_BYTES]);

/* The attributes of a file or directory as the member "attrs". */
bool record_json_set_attrs(struct cJSON *o, const struct attrs *x, struct buf *scratch);
bool record_json_attrs(const struct cJSON *o, struct arena *a, struct attrs *out);

/* Ids of changes and rewinds begin with a time in ms, in fifteen digits, and sort by it in both logs together, since
 * undo means the newest of either. So a new id is later than all existing ones, even if the clock was set back. They
 * end with env->run in eight hexadecimal digits. */
enum { RECORD_ID_SIZE = 40 };
MUST_CHECK enum err_code record_id_next(const struct store_env *env, char out[RECORD_ID_SIZE],
                                        struct err *e);
/* Returns true if this run of the program made the change or rewind. */
bool record_id_is_of_run(const struct store_env *env, const char *id);
/* The time of an id; 0 if it is not an id. */
int64_t record_id_time(const char *id);

#endif
