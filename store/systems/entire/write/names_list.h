#ifndef STORE_SYSTEMS_ENTIRE_WRITE_NAMES_LIST_H
#define STORE_SYSTEMS_ENTIRE_WRITE_NAMES_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* A set of file names, sorted, as files_touched has them. */
struct names_list {
    struct arena *a; /* holds everything */
    struct slice *name;
    size_t n;
};

/* False without memory. The text is copied; what is there already is not added again. */
bool names_add(struct names_list *l, struct slice name);
/* All texts of a JSON array; null and anything else adds nothing. */
bool names_add_json(struct names_list *l, struct slice array);
void names_remove(struct names_list *l, struct slice name);

#endif
