#ifndef STORE_REWIND_PLAN_DIRS_H
#define STORE_REWIND_PLAN_DIRS_H

#include <stdbool.h>

#include "store/fs/attrs.h"

struct buf;
struct cJSON;

/* Directories that go because nothing is left in them, or come back, and what they are like: so that a private one
 * does not come back open to all. */
struct dir_like {
    const char *path; /* absolute */
    struct attrs attrs;
    bool made; /* by this process, just now */
};

struct dirs {
    struct dir_like *dir;
    size_t n;
};

/* NULL: nothing is known of it. */
struct dir_like *dirs_find(const struct dirs *list, struct slice path);
/* Path and attributes are copied. One that is known already stays as it is. False without memory. */
bool dirs_add(struct dirs *list, struct arena *a, struct slice path, const struct attrs *x);
bool dirs_add_all(struct dirs *list, struct arena *a, const struct dirs *from);

/* "dirs" of a record; see record_json.h. */
bool dirs_write(struct cJSON *root, const struct dirs *list, struct buf *scratch);
bool dirs_read(const struct cJSON *root, struct arena *a, struct dirs *out);

#endif
