#ifndef STORE_SHOW_TOOL_CALL_H
#define STORE_SHOW_TOOL_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/transcript.h"
#include "store/show/hunks.h"

/* What a reader wants to know about a tool call and its result (struct block): its subject, what it changed, how it
 * ended. The screen and the exported files show the same. */

/* The subject of the call, decoded: the command of a shell, the path of a file; empty if the input does not contain it.
 * *path: it is the path of a file. */
struct slice tool_call_subject(const struct block *call, struct arena *a, bool *path);
/* Returns true if the number of lines of its result is worth showing, as for a search. */
bool tool_call_counts_lines(const struct block *call);
/* Appends the call's edit: the patch that its result recorded, or the difference between the texts of its
 * input. result may be NULL. Texts are borrowed from the blocks and in the arena of the hunks. */
void tool_call_hunks(struct hunks *d, const struct block *call, const struct block *result);
/* Returns true if the member of the input is in the edit, or is the command of a shell, and so need
 * not be shown a second time. The key has its quotes. */
bool tool_call_shows(const struct block *call, struct slice key, bool has_diff);
/* The shell command of the call, decoded. Returns false if it is not a shell call. */
bool tool_call_command(const struct block *call, struct arena *a, struct slice *command);

/* The text of a result, without the tag around an error. */
struct slice tool_call_result(const struct block *result);
/* Finds the number in "Exit code 2" at the front of the output of a shell. */
bool tool_call_exit_code(struct slice text, struct slice *digits);
/* The first line of a text that is not blank. */
struct slice tool_call_first_line(struct slice text);

#endif
