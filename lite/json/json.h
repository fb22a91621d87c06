#ifndef LITE_JSON_JSON_H
#define LITE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* Reads values in a row of JSON without building a tree, so that a row can be read, cut and spliced without being
 * serialized again. All functions follow these rules:
 *
 * - Nothing recurses: a text nested 100,000 deep costs a bit of heap per level and no stack.
 * - "Valid" is what JavaScript's JSON.parse accepts after decoding the bytes as UTF-8: a broken byte becomes U+FFFD,
 *   which is fine inside a string and wrong outside. A BOM is not valid.
 * - The last of duplicate keys counts, and keys are compared decoded ("\u0074ype" is "type").
 * - Values are slices of the given text, with their quotes or brackets, without blanks around them.
 * - Decoded strings are WTF-8: "\u0000" is a NUL byte, a lone "\ud800" the three bytes ED A0 80, a surrogate pair one
 *   character. Each maximal broken part of the input is one U+FFFD (WHATWG).
 *
 * The readers (iter, get) are tolerant: from a cut or broken text they return what precedes the fault. Callers that
 * must reject such a text call json_valid first. */

enum json_type {
    JSON_NONE, /* missing, or no JSON value begins like this */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* Returns true if JSON.parse would accept the text. Blanks around the value are allowed, nothing else is. Runs at
 * memory speed inside long strings. Returns false if out of memory for the nesting. */
bool json_valid(struct slice text);
/* The same byte by byte, which is as fast for short texts. For the engines of lite/scan/key_scan.h. */
bool json_valid_plain(struct slice text);
/* p points after the opening quote. Returns the position after the closing one, or NULL if JSON.parse would reject the
 * string. */
const char *json_string_end(const char *p, const char *end);

/* The type by the first byte only. An empty slice is JSON_NONE. */
enum json_type json_type(struct slice value);

/* Walks the members of an object or the elements of an array, in file order. */
struct json_iter {
    const char *p, *end;
    bool object;
    bool last; /* no other member follows */
};

/* Returns false if the value is neither an object nor an array. Leading blanks are skipped. */
bool json_iter_open(struct json_iter *it, struct slice value);
/* Returns the next member. The key keeps its quotes and is empty ({NULL,0}) in an array. Returns false at the end and
 * at the first fault. */
bool json_iter_next(struct json_iter *it, struct slice *key, struct slice *value);

/* Begins a walk of the array along a dotted path of an object; nothing is walked if it is missing or no array. */
void json_list_open(struct json_iter *it, struct slice object, const char *path);
bool json_list_next(struct json_iter *it, struct slice *element);

/* The same in two steps, for callers that also read the values and want to pass every byte once: json_iter_key reads
 * the key (nothing in an array) and stops at the value, which json_iter_value reads. Between the two, json_iter_into
 * begins a walk of the value's members (false if it has none); json_iter_back then replaces json_iter_value and
 * continues where the inner walk stopped. It returns false if the value does not end; the inner walk then saw only a
 * part of it. */
bool json_iter_key(struct json_iter *it, struct slice *key);
bool json_iter_value(struct json_iter *it, struct slice *value);
bool json_iter_into(const struct json_iter *it, struct json_iter *inner);
bool json_iter_back(struct json_iter *it, struct json_iter *inner, struct slice *value);

/* Returns true if a key or string value (with its quotes) is exactly this text, once decoded. */
bool json_string_is(struct slice quoted, const char *text);
/* Returns the index of the name that equals the key, or n. */
size_t json_key_in(struct slice key, const char *const names[], size_t n);

/* Finds the value of a top-level key (the last of duplicates). Returns false and empties *value if it is missing. */
bool json_get(struct slice object, const char *name, struct slice *value);
/* Finds several in one pass: values[i] belongs to names[i] and is empty if it is missing. Returns how many were
 * found. */
size_t json_get_each(struct slice object, const char *const names[], size_t n,
                     struct slice values[]);
/* The members of an object, found once for many look-ups, which give what json_get gives. They borrow from it. */
enum { JSON_MEMBERS = 24 };
struct json_members {
    struct slice object;
    struct slice key[JSON_MEMBERS], value[JSON_MEMBERS];
    size_t n;
    /* All members are here, and no key has an escape; else each look-up reads the object again. */
    bool plain;
};
void json_members_read(struct json_members *m, struct slice object);
bool json_members_get(const struct json_members *m, struct slice name, struct slice *value);
/* json_get along a dotted path: json_at(row, "message.usage.input_tokens", &v). */
bool json_at(struct slice object, const char *path, struct slice *value);

/* Decodes a string value. The result borrows if nothing has to change and is in the arena otherwise. Returns false if
 * the value is not a terminated string or if out of memory. A bad escape (which json_valid rejects) is kept as it is
 * written. */
bool json_text(struct slice value, struct arena *a, struct slice *text);
/* json_get and json_text in one. Returns false unless the key has a string. */
bool json_get_text(struct slice object, const char *name, struct arena *a, struct slice *text);
/* The decoded text of a value; empty ({NULL,0}) if it is no string. */
struct slice json_text_of(struct slice value, struct arena *a);
/* The string along a dotted path; empty ({NULL,0}) if it is missing or no string. */
struct slice json_text_at(struct slice object, const char *path, struct arena *a);
/* The same, always in the arena. */
struct slice json_copy_at(struct slice object, const char *path, struct arena *a);
/* The time in ms of an ISO 8601 string along a dotted path; TIME_NONE if there is no valid one. */
int64_t json_time_at(struct slice object, const char *path, struct arena *a);
bool json_get_true(struct slice object, const char *name);
/* Returns true if the key has a string that is exactly this text, once decoded. */
bool json_get_is(struct slice object, const char *name, const char *text);
/* Reads a number without a fraction. Returns false if it is anything else or does not fit. */
bool json_int(struct slice value, int64_t *out);

#endif
