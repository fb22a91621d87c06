#ifndef STORE_REWIND_ATTRS_MEMBER_H
#define STORE_REWIND_ATTRS_MEMBER_H

#include <stdbool.h>

#include "lite/arena.h"
#include "store/attrs.h"

struct buf;
struct cJSON;

/* The attributes of a file or a directory as a member, "attrs", of a record; see member.h. False: no memory, and
 * damage. */
bool attrs_json_write(struct cJSON *o, const struct attrs *x, struct buf *scratch);
bool attrs_json_read(const struct cJSON *o, struct arena *a, struct attrs *out);

#endif
