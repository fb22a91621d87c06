#ifndef STORE_SYSTEMS_ENTIRE_READ_PROMPTS_H
#define STORE_SYSTEMS_ENTIRE_READ_PROMPTS_H

#include "lite/base/buf.h"
#include "store/systems/entire/read/point.h"

/* prompt.txt: the prompts of a checkpoint (until 0.5.0 of all before it too), with a ruled line between them. */

/* The file of a point, replacing what was in out; false when it has none. p may be NULL. */
bool prompts_read(git_repository *repo, const struct point *p, struct buf *out);
struct slice prompts_first(struct slice text);
struct slice prompts_last(struct slice text);

#endif
