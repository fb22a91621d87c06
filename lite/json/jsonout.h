#ifndef LITE_JSON_JSONOUT_H
#define LITE_JSON_JSONOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* Writes JSON into a buffer, one value after the other; commas are put by itself. cJSON cannot serve
 * here: its strings end at a NUL and cannot hold a lone surrogate, and both are real (claude.md 10).
 * The first failure (memory) sticks in rc and later calls do nothing, so that a row is written without
 * a check per field and asked once at the end. */
struct jsonout {
    struct buf *out;
    enum err_code rc;
    bool comma; /* a value was written on this level */
};

void jsonout_init(struct jsonout *j, struct buf *out);
void jsonout_open(struct jsonout *j, char bracket); /* '{' or '[' */
void jsonout_close(struct jsonout *j, char bracket);
void jsonout_key(struct jsonout *j, const char *key);
/* A key as it stands in another object, with its quotes. */
void jsonout_raw_key(struct jsonout *j, struct slice quoted);
/* WTF-8 in, well-formed JSON out: controls and lone surrogates escaped, broken bytes as U+FFFD, other
 * characters as they are (as JSON.stringify does). */
void jsonout_text(struct jsonout *j, struct slice text);
void jsonout_int(struct jsonout *j, int64_t n);
void jsonout_bool(struct jsonout *j, bool b);
void jsonout_null(struct jsonout *j);
/* Bytes that are one valid JSON value already, passed through; broken UTF-8 becomes U+FFFD. */
void jsonout_raw(struct jsonout *j, struct slice json);
/* key and value in one, left out when the text is empty: absent is never "" or null (CLI.md). */
void jsonout_member(struct jsonout *j, const char *key, struct slice text);

/* Changes members of an object and copies every other byte as it stands: how a line of another program is
 * rewritten. The object is valid JSON (json_valid); the result is appended to out. ERR_NOMEM only. */

/* What becomes of a member. It says `value` (one JSON value), in its place where it is there, and only once,
 * else behind the last member, in the order of the edits. Names are plain ASCII, need no escape, and differ. */
struct json_edit {
    const char *name;
    struct slice value; /* empty: the member goes */
    bool if_there;      /* it is not added where it is not there */
};

enum { JSON_EDITS_MAX = 64 };

/* All of them in one pass. */
MUST_CHECK enum err_code json_edit(struct buf *out, struct slice object,
                                   const struct json_edit edits[], size_t n);

/* One of them. */
MUST_CHECK enum err_code json_set(struct buf *out, struct slice object, const char *name,
                                  struct slice value);
/* Without the member, however often it is there. */
MUST_CHECK enum err_code json_remove(struct buf *out, struct slice object, const char *name);

#endif
