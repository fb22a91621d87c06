#ifndef STORE_JOURNAL_ATTRS_JSON_H
#define STORE_JOURNAL_ATTRS_JSON_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "store/fs/attrs.h"

struct buf;
struct cJSON;

/* The attributes of a file or a directory as a member, "attrs", of a record; see record_json.h. False: no memory, and
 * damage. */
bool attrs_json_write(struct cJSON *o, const struct attrs *x, struct buf *scratch);
bool attrs_json_read(const struct cJSON *o, struct arena *a, struct attrs *out);

#endif
