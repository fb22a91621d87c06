#ifndef STORE_SYSTEMS_COMMON_INFERRED_H
#define STORE_SYSTEMS_COMMON_INFERRED_H

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

struct edit; /* store/api/edit.h */

/* What a log proves about files, for agents that keep no copies of them. Anything that does not fit exactly proves
 * nothing. */

/* Applies a unified diff without file headers ("@@ -1,2 +1,3 @@" and lines) to a text, or reverts it (reverse). Each
 * hunk has to be at the lines that it names, with all of its lines as they are, line ends and a missing last newline
 * included. *fits is false, and there is no result, if anything differs. The result is in the arena. */
MUST_CHECK enum err_code inferred_patch(struct slice text, struct slice diff, bool reverse,
                                        struct arena *a, struct slice *out, bool *fits);

/* The same diff as the replacements of an edit (EDIT_WRITE if it fills an empty file), for blame. Sets nothing if a
 * hunk does not name what it replaces. Texts are in the arena, which has failed if out of memory. */
void inferred_edit(struct slice diff, struct arena *a, struct edit *out);

/* Returns true for a shell command that only reads: it consists of a few programs that change nothing. */
bool inferred_only_reads(struct slice command);

/* Returns false if it is certain that a shell command, run in dir, did not change the file at the absolute path: it
 * consists of a few programs whose plain words name other files. Links are followed as they are now. NULL as the path
 * asks about every file. */
bool inferred_may_change(struct slice command, const char *dir, const char *path);
/* The same for a file that did not exist afterwards. Other commands count only if they name the file or a program that
 * removes files, because builds and tests rarely remove a file that an agent then creates. */
bool inferred_may_remove(struct slice command, const char *dir, const char *path);
/* The same for a file that a command may have removed by its name, or put another one in its place: a link is none
 * then. */
bool inferred_may_replace(struct slice command, const char *dir, const char *path);
/* The same for its permissions, which only chmod is expected to change. */
bool inferred_may_chmod(struct slice command, const char *dir, const char *path);

/* Returns true if a command may replace what a file already contains by a part of it, such as `truncate`: it names the
 * file first to a program that works on present contents, or redirects nothing into it. */
bool inferred_may_shorten(struct slice command, const char *path);

#endif
