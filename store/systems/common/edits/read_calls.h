#ifndef STORE_SYSTEMS_COMMON_EDITS_READ_CALLS_H
#define STORE_SYSTEMS_COMMON_EDITS_READ_CALLS_H

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* Calls with which an agent reads a file. Their results prove what it contained then. */

/* Returns true if the call reads a whole file, and sets its path as written. */
bool read_call_path(struct slice name, struct slice input, struct arena *a, struct slice *path);
/* Returns true if the result of a call that failed shows that there is no such file. */
bool read_call_is_missing(struct slice result, struct slice path);
/* Returns true if the result refers to an earlier one instead of the text. */
bool read_call_is_repeated(struct slice result);
/* The text that a result shows: itself, or without the numbers before its lines. Then nothing shows whether the last line
 * has an end, and it has none. Borrowed, or in the arena, which has failed if out of memory. */
struct slice read_call_text(struct slice result, struct arena *a);

#endif
