#ifndef STORE_SHOW_TOOL_CALL_H
#define STORE_SHOW_TOOL_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/edit.h"
#include "store/api/transcript.h"
#include "store/rewind/diff/linediff.h"

/* ---- line by line (hunks.c) ---- */

/* The changes of an edit, line by line: from the patch a system recorded, or computed from the texts before and
 * after. */
struct hunk_line {
    char sign; /* ' ', '+', '-'; '@': a hunk begins, text is its position; '\\': a remark */
    /* the number of the line in the new file (a removed line: in the old one); 0: not known */
    int64_t number;
    struct slice text;
};

struct hunks {
    struct arena arena;     /* decoded texts of a patch */
    struct hunk_line *line; /* owned; texts are borrowed from the compared texts or the arena */
    size_t n, cap;
    size_t added, removed;
    enum err_code rc;
};

/* These functions append, so that a call with several edits makes one diff. */
void hunks_of_patch(struct hunks *d, struct slice patch_json);
void hunks_of_texts(struct hunks *d, struct slice before, struct slice after);
/* One hunk of an existing diff; its texts are borrowed. */
void hunks_of_diff(struct hunks *d, const struct linediff *diff, size_t hunk);
void hunks_fini(struct hunks *d);

/* ---- for a reader (tool_call.c) ---- */

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
/* Returns true if the result of an edit contains only a sentence with the name of the file and lines that the diff
 * shows. */
bool tool_call_repeats(const struct block *call, const struct block *result, const struct hunks *d);
/* The shell command of the call, decoded. Returns false if it is not a shell call. */
bool tool_call_command(const struct block *call, struct arena *a, struct slice *command);

/* The text of a result, without the tag around an error. */
struct slice tool_call_result(const struct block *result);
/* Finds the number in "Exit code 2" at the front of the output of a shell. */
bool tool_call_exit_code(struct slice text, struct slice *digits);
/* The first line of a text that is not blank. */
struct slice tool_call_first_line(struct slice text);

/* ---- as edits (tool_inputs.c) ---- */

/* The edits that a tool call requests; see tool_edits.h for the forms that are understood. */

struct tool_inputs {
    struct arena *a;
    struct edit *edit; /* in the arena; paths are as written and may be relative */
    size_t n;
};

/* name: of the tool; input: the raw JSON object, or the text of a patch, which may be a JSON string. Adds nothing for a
 * call that is not an edit. Texts borrow from the input or are in the arena, which has failed if out of memory. */
void tool_inputs_read(struct slice name, struct slice input, struct tool_inputs *out);

/* The file that a call names, as written. */
bool tool_inputs_path(struct slice input, struct arena *a, struct slice *out);
/* The command of a call that runs one in a shell. */
bool tool_inputs_command(struct slice name, struct slice input, struct arena *a, struct slice *out);

/* ---- for tool_inputs_read ---- */

/* Adds an edit; the result is valid until the next call. NULL if out of memory. */
struct edit *tool_inputs_add(struct tool_inputs *t, struct edit edit);
/* Adds the edits of a patch of apply_patch ("*** Begin Patch"). */
void apply_patch_read(struct slice patch, struct tool_inputs *out);

#endif
