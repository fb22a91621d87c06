#ifndef TUI_TEXT_PATH_H
#define TUI_TEXT_PATH_H

#include <stddef.h>

#include "lite/base/slice.h"

/* The path as people write it: the home directory as ~. The answer lies in out, or is the path itself. */
struct slice path_short(struct slice path, struct slice home, char *out, size_t cap);
/* The last part of a path, without slashes; the whole of it for "/". */
struct slice path_last(struct slice path);

#endif
