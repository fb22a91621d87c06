#ifndef STORE_JOURNAL_RECORD_H
#define STORE_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/cleanup.h"
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

/* The JSON objects that a record is made of. One table describes the members of an object and the struct that they are
 * written from and read into. */
struct cJSON;

enum record_kind {
    RECORD_TEXT,     /* const char *, percent-encoded */
    RECORD_OPTIONAL, /* the same; NULL writes no member */
    RECORD_BYTES,    /* struct slice, percent-encoded */
    /* An integer of 4 or 8 bytes, written as a text, because cJSON keeps numbers as doubles, which cannot hold times in
     * ns and inode numbers. */
    RECORD_INT,
    RECORD_NUMBER, /* int64_t as a number of JSON; 0 if it is missing */
    RECORD_BOOL,   /* bool as the text 0 or 1 */
    RECORD_FLAG,   /* bool; false writes no member */
    RECORD_HASH,   /* SHA256_BYTES in hex */
    RECORD_WORD,   /* enum, as one of `words` */
    RECORD_ATTRS,  /* struct attrs; the member is "attrs" */
};

struct record_field {
    const char *key;
    enum record_kind kind;
    size_t at, size;          /* the place and size of the struct's member */
    const char *const *words; /* WORD: by value */
    size_t words_n;
};
#define RECORD_FIELD(key, kind, type, member)                                                      \
    {                                                                                              \
        key, kind, offsetof(type, member), sizeof(((type *)NULL)->member), NULL, 0                 \
    }
#define RECORD_ENUM(key, type, member, words)                                                      \
    {                                                                                              \
        key, RECORD_WORD, offsetof(type, member), sizeof(((type *)NULL)->member), words,           \
            COUNT_OF(words)                                                                        \
    }

struct record_table {
    const struct record_field *field;
    size_t n, size; /* size: of the struct */
};
#define RECORD_TABLE(type, fields)                                                                 \
    {                                                                                              \
        fields, COUNT_OF(fields), sizeof(type)                                                     \
    }
/* An array of texts is written as objects with the member "path". */
extern const struct record_table record_paths;

/* Return false if out of memory. */
bool record_put(struct cJSON *o, const struct record_table *t, const void *from,
                struct buf *scratch);
bool record_put_list(struct cJSON *o, const char *key, const struct record_table *t,
                     const void *items, size_t n, struct buf *scratch);
bool record_put_int(struct cJSON *o, const char *key, int64_t n);
/* A member of the kind BYTES. */
bool record_put_bytes(struct cJSON *o, const char *key, struct slice bytes, struct buf *scratch);
/* Return false if a member is missing or damaged, or if out of memory. */
bool record_get(const struct cJSON *o, const struct record_table *t, void *to, struct arena *a);
/* *items is a pointer to the structs, in the arena; NULL and 0 if the list is missing. */
bool record_get_list(const struct cJSON *o, const char *key, const struct record_table *t,
                     void *items, size_t *n, struct arena *a);
bool record_get_int(const struct cJSON *o, const char *key, int64_t *n);
/* A NULL pointer if it is missing. */
bool record_get_bytes(const struct cJSON *o, const char *key, struct arena *a, struct slice *out);

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
