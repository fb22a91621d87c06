#ifndef STORE_REWIND_PLAN_TWIN_H
#define STORE_REWIND_PLAN_TWIN_H

#include <stdbool.h>

#include "lite/base/slice.h"

/* A session records a symbolic link that was removed as a file with the text that the link led to. This text is then still
 * in another file, most likely of the same project.
 *
 * Returns true if another regular file below root has the text, or if that is not known: root is NULL, or has too many
 * files below it. Links are not followed, and .git is left out. */
bool twin_may_exist(const char *root, const char *path, struct slice text);

#endif
