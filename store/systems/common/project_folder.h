#ifndef STORE_SYSTEMS_COMMON_PROJECT_FOLDER_H
#define STORE_SYSTEMS_COMMON_PROJECT_FOLDER_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* How a project's folder is named after its path (claude.md 1.1). Names are ASCII and NUL-terminated in
 * the arena; .p is NULL if out of memory. */
enum { PROJECT_FOLDER_NAME_MAX = 200 };

/* Every UTF-16 unit that is no ASCII letter or digit becomes '-'; any length. Different paths may be
 * flattened to the same name. */
struct slice project_folder_flatten(struct slice path, struct arena *a);
/* The folder's name: flattened, and from 200 units on cut and told apart by a hash of the path. */
struct slice project_folder_name(struct slice path, struct arena *a);
/* The directory that a folder stands for, if it is the path or above it; the nearest. Of long names the hash is not
 * compared: programs make it differently. NULL: no directory, or out of memory (arena.failed). */
const char *project_folder_ancestor(struct slice folder, struct slice path, struct arena *a);
/* Returns true if two paths flatten to the same name. */
bool project_folder_same(struct slice a, struct slice b);

#endif
