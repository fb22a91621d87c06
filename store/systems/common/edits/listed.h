#ifndef STORE_SYSTEMS_COMMON_EDITS_LISTED_H
#define STORE_SYSTEMS_COMMON_EDITS_LISTED_H

#include "lite/base/slice.h"

/* What the output of a shell command that lists files ("ls -R", "cd src && ls -la", "find .") shows of one file. Anything
 * that is not understood completely shows nothing. */

enum listed { LISTED_UNKNOWN, LISTED_ABSENT, LISTED_PRESENT };

/* dir: where the command ran; path: of the file; both absolute and normalized. output: all that a command which
 * succeeded wrote; an agent may have added lines of its own, and wrapped lines. */
enum listed listed_by_command(struct slice command, const char *dir, struct slice output,
                              const char *path);

/* Returns true if the result that an agent recorded of a command is that of one that succeeded, with all of its output. */
bool listed_is_whole(struct slice result);

#endif
