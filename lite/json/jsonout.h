#ifndef LITE_JSON_JSONOUT_H
#define LITE_JSON_JSONOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Writes JSON into a buffer, one value after the other, and adds the commas. (cJSON cannot be used: its strings end at
 * a NUL and cannot contain a lone surrogate, and both occur.) The first failure (out of memory) stays in rc and later
 * calls do nothing, so that a row is written without a check per field; the caller checks rc once at the end. */
struct jsonout {
    struct buf *out;
    enum err_code rc;
    bool comma; /* a value was written at this level */
};

void jsonout_init(struct jsonout *j, struct buf *out);
void jsonout_open(struct jsonout *j, char bracket); /* '{' or '[' */
void jsonout_close(struct jsonout *j, char bracket);
void jsonout_key(struct jsonout *j, const char *key);
/* A key copied from another object, with its quotes. */
void jsonout_raw_key(struct jsonout *j, struct slice quoted);
/* Writes WTF-8 as well-formed JSON: controls and lone surrogates are escaped, broken bytes become U+FFFD, other
 * characters stay as they are (as JSON.stringify does). */
void jsonout_text(struct jsonout *j, struct slice text);
void jsonout_int(struct jsonout *j, int64_t n);
void jsonout_bool(struct jsonout *j, bool b);
void jsonout_null(struct jsonout *j);
/* Passes through bytes that are one valid JSON value; broken UTF-8 becomes U+FFFD. */
void jsonout_raw(struct jsonout *j, struct slice json);
/* The same without the blanks between tokens, so that a document of several lines becomes one. */
void jsonout_compact(struct jsonout *j, struct slice json);
/* Write key and value. */
void jsonout_int_member(struct jsonout *j, const char *key, int64_t n);
void jsonout_bool_member(struct jsonout *j, const char *key, bool b);
void jsonout_raw_member(struct jsonout *j, const char *key, struct slice json);
/* Writes key and value; null if the text is empty. */
void jsonout_text_or_null(struct jsonout *j, const char *key, struct slice text);
/* Writes key and value, or nothing if the text is empty: a missing text is never "" or null. */
void jsonout_member(struct jsonout *j, const char *key, struct slice text);

/* The functions below change members of an object and copy every other byte as it is, which is how lines of other
 * programs are rewritten. The object must be valid JSON (json_valid). The result is appended to out. The only error is
 * ERR_NOMEM. */

/* A change of one member. An existing member keeps its place (one that occurs several times is written once); new ones
 * follow the last member, in the order of the edits. Names are plain ASCII without escapes, each different. */
struct json_edit {
    const char *name;
    struct slice value; /* one JSON value; empty removes the member */
    bool if_there;      /* a missing member is not added */
};

enum { JSON_EDITS_MAX = 64 };

/* Applies all edits in one pass. */
MUST_CHECK enum err_code json_edit(struct buf *out, struct slice object,
                                   const struct json_edit edits[], size_t n);

/* JSON Merge Patch (RFC 7396): appends the target with the patch applied, member by member; null removes. Both must be
 * valid JSON. Members keep their places and their bytes, new ones follow, and the last of duplicates counts. The time
 * grows with the product of the numbers of members. ERR_USAGE: nested deeper than 256 levels; ERR_NOMEM. */
MUST_CHECK enum err_code json_merge(struct buf *out, struct slice target, struct slice patch);

/* Sets one member. */
MUST_CHECK enum err_code json_set(struct buf *out, struct slice object, const char *name,
                                  struct slice value);
/* Removes every occurrence of the member. */
MUST_CHECK enum err_code json_remove(struct buf *out, struct slice object, const char *name);

#endif
