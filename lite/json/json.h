#ifndef LITE_JSON_JSON_H
#define LITE_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* JSON as bytes: finds values in a row without building a tree, so that a row can be read, cut and
 * spliced without ever being printed again. What holds everywhere here:
 *
 *  - nothing recurses: a text nested 100,000 deep costs a bit of heap per level, no stack;
 *  - "valid" is what JavaScript's JSON.parse accepts after the bytes were decoded as UTF-8 (a broken
 *    byte becomes U+FFFD and is fine inside a string, wrong outside of one); a BOM is not valid;
 *  - of duplicate keys the last one counts, and keys are compared decoded ("\u0074ype" is "type");
 *  - values are slices of the text handed in, with the quotes or brackets, without blanks around;
 *  - decoded strings are WTF-8: "\u0000" is a NUL byte, a lone "\ud800" the three bytes ED A0 80,
 *    a surrogate pair one character; broken bytes of the input are U+FFFD, one for each maximal
 *    broken part, as the WHATWG decoder does.
 *
 * The readers (iter, get) are tolerant: on a text that is cut or broken they answer what stands
 * before the fault. Who needs to know asks json_valid first. */

enum json_type {
    JSON_NONE, /* not there, or no JSON value begins like this */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* True when JSON.parse would accept the text. Blanks around the value are fine, anything else is
 * not. Runs at memory speed inside long strings. Without memory for the nesting: false. */
bool json_valid(struct slice text);
/* The same byte by byte, which is as fast for short texts; for the engines of lite/scan/key_scan.h. */
bool json_valid_plain(struct slice text);

/* By the first byte only. An empty slice is JSON_NONE. */
enum json_type json_type(struct slice value);

/* Walks the members of an object or the elements of an array, in file order. */
struct json_iter {
    const char *p, *end;
    bool object;
    bool last; /* no other member follows */
};

/* False when value is neither an object nor an array. Leading blanks are skipped. */
bool json_iter_open(struct json_iter *it, struct slice value);
/* The next member; key keeps its quotes and is empty ({NULL,0}) for an array. False at the end, and at
 * the first fault. */
bool json_iter_next(struct json_iter *it, struct slice *key, struct slice *value);

/* The same in two halves, for whoever looks into the values too and wants to pass every byte once: the key
 * (for an array: nothing), behind which the walk stands at the value, and the value. Between the two,
 * json_iter_into begins a walk of the value's own members (false when it has none), and json_iter_back
 * takes the place of json_iter_value: it goes on where the inner walk stopped. False: the value does not
 * end, and what the inner walk saw is only a part of it. */
bool json_iter_key(struct json_iter *it, struct slice *key);
bool json_iter_value(struct json_iter *it, struct slice *value);
bool json_iter_into(const struct json_iter *it, struct json_iter *inner);
bool json_iter_back(struct json_iter *it, struct json_iter *inner, struct slice *value);

/* Does a key or string value (with its quotes) say exactly this, once decoded? */
bool json_string_is(struct slice quoted, const char *text);
/* The number of the name that a key says; n: none of them. */
size_t json_key_in(struct slice key, const char *const names[], size_t n);

/* The value of a top-level key, last duplicate; false (and *value empty) when it is not there. */
bool json_get(struct slice object, const char *name, struct slice *value);
/* Several at once, in one pass: values[i] belongs to names[i], empty where there is none. Answers
 * how many were found. */
size_t json_get_each(struct slice object, const char *const names[], size_t n,
                     struct slice values[]);
/* json_get along a dotted path: json_at(row, "message.usage.input_tokens", &v). */
bool json_at(struct slice object, const char *path, struct slice *value);

/* Decodes a string value. Borrows from it when nothing has to change, else copies into the arena.
 * False when the value is not a terminated string, or without memory. A bad escape (which json_valid
 * rejects) is kept as it is written. */
bool json_text(struct slice value, struct arena *a, struct slice *text);
/* json_get and json_text in one; false unless the key holds a string. */
bool json_get_text(struct slice object, const char *name, struct arena *a, struct slice *text);
bool json_get_true(struct slice object, const char *name);
/* A number without fraction that fits; false otherwise. */
bool json_int(struct slice value, int64_t *out);

#endif
