#ifndef LITE_JSONEDIT_H
#define LITE_JSONEDIT_H

#include "lite/buf.h"
#include "lite/err.h"
#include "lite/slice.h"

/* Changes one member of an object and copies every other byte as it stands: how a line of another program
 * is rewritten. The object is valid JSON (json_valid); the result is appended to out. ERR_NOMEM only. */

/* The member says `value` (one JSON value): in its place where it is there, and only once, else behind
 * the last member. name is plain ASCII and needs no escape. */
MUST_CHECK enum err_code json_put(struct buf *out, struct slice object, const char *name,
                                  struct slice value);
/* Without the member, however often it is there. */
MUST_CHECK enum err_code json_drop(struct buf *out, struct slice object, const char *name);

#endif
