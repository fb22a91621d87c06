#ifndef LITE_JSON_JSON_EDIT_H
#define LITE_JSON_JSON_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

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
