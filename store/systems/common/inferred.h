#ifndef STORE_SYSTEMS_COMMON_INFERRED_H
#define STORE_SYSTEMS_COMMON_INFERRED_H

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

struct edit; /* store/api/edit.h */

/* For agents that keep no copies of files: what a log proves about them. Whatever does not fit exactly proves
 * nothing. */

/* Applies a unified diff without file headers ("@@ -1,2 +1,3 @@" and lines) to a text, or takes it out of one
 * (reverse). Each hunk has to be at the lines that it names, with all of its lines as they are, line ends and a missing
 * last newline included. *fits is false, and there is no result, if anything differs. The result is in the arena. */
MUST_CHECK enum err_code inferred_patch(struct slice text, struct slice diff, bool reverse,
                                        struct arena *a, struct slice *out, bool *fits);

/* The same diff as the replacements of an edit (EDIT_WRITE if it fills an empty file), for blame. Sets nothing if a
 * hunk does not name what it replaces. Texts are in the arena, which has failed if out of memory. */
void inferred_edit(struct slice diff, struct arena *a, struct edit *out);

/* Returns true for a command of the shell that only reads: one of a few programs, without anything by which a shell
 * could do more (redirections, pipes, lists, substitutions). */
bool inferred_only_reads(struct slice command);

/* Returns false if it is certain that a command of the shell, run in dir, left the file at the absolute path alone: it
 * consists of a few programs whose plain words name other files. Links in directories are not followed. */
bool inferred_may_change(struct slice command, const char *dir, const char *path);
/* The same for a file that did not exist afterwards. A command of another kind counts only if it names the file or a
 * program that removes files: builds and tests rarely remove one that an agent then makes. */
bool inferred_may_remove(struct slice command, const char *dir, const char *path);

#endif
