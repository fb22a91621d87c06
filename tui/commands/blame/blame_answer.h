#ifndef TUI_COMMANDS_BLAME_BLAME_ANSWER_H
#define TUI_COMMANDS_BLAME_BLAME_ANSWER_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

struct invocation;

/* The shared part of the commands about edits: blame, touched, files. */

/* Returns true if a file or directory has this name. */
bool blame_is_there(const struct invocation *in, const char *name);
/* The first line of a prompt that is not blank. */
struct slice blame_first_line(struct slice prompt);

#endif
