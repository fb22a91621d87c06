#ifndef STORE_SYSTEMS_ENTIRE_REWIND_POINT_JSON_H
#define STORE_SYSTEMS_ENTIRE_REWIND_POINT_JSON_H

#include "store/systems/entire/read/links.h"
#include "store/systems/entire/read/view.h"

/* A point in the words of `entire rewind --list` (entire.md 4.1): that program is gone, what read its answer is not. A JSON
 * object in the arena; empty where Entire itself would not list the point (committed, and no commit here carries it).
 * link: the commit that carries a committed point; NULL: none. False without memory. */
bool point_json_make(const struct view *v, const struct point *p, const struct link *link,
                     struct arena *a, struct slice *out);

#endif
