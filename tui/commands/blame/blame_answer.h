#ifndef TUI_COMMANDS_BLAME_BLAME_ANSWER_H
#define TUI_COMMANDS_BLAME_BLAME_ANSWER_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

struct invocation;

/* The shared part of the commands about edits: blame, touched, files. */

/* The names of a file that sessions may have recorded: as it is given, and without links. */
struct blame_paths {
    const char *path[2]; /* absolute and clean; in the arena */
    size_t n;
};

/* name: relative to the directory in which the program works (-C). */
MUST_CHECK enum err_code blame_paths_of(const struct invocation *in, const char *name,
                                        struct arena *a, struct blame_paths *out, struct err *e);
/* Returns true if something has this name. */
bool blame_is_there(const struct invocation *in, const char *name);
/* The first line of a prompt that is not blank. */
struct slice blame_first_line(struct slice prompt);

#endif
