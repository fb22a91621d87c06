#ifndef STORE_DEMO_PATCH_H
#define STORE_DEMO_PATCH_H

#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* Writes the difference of two texts as the client's structuredPatch: an array of at most one hunk with
 * three lines around it. For edits of one place, which is all that the demo makes. */
void patch_write(struct jsonout *j, struct slice before, struct slice after);

#endif
