#ifndef STORE_BLAME_COMPARE_H
#define STORE_BLAME_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/session.h"
#include "store/query/usage.h"
#include "store/rewind/plan/rewind.h"

/* Two sessions next to each other: forks of one conversation, or the same task given to two agents. Texts are in the
 * arena of the comparison. */

struct compared_prompt {
    struct slice text;
    int64_t time_ms; /* TIME_NONE: not recorded */
};

struct compared_side {
    struct slice cwd;               /* may be empty */
    struct compared_prompt *prompt; /* in the order of the conversation */
    size_t prompts;
    size_t common; /* the prompts that both sessions have in common */
    size_t messages;
    int64_t first_ms,
        last_ms; /* the times of the first and the last message; TIME_NONE: not recorded */
    struct usage_sum usage;
    bool records_usage;
    const char *no_files; /* why it is not known which files it changed; NULL: it is known */
};

/* What one of the sessions did to a file, and how its edits left it. */
struct compared_state {
    bool changed;
    size_t edits;
    uint64_t added, removed;
    bool known;
    bool absent;       /* known: there was no file */
    struct slice text; /* known, and not absent; line ends are "\n" */
};

struct compared_file {
    struct slice path; /* relative to the session's directory if it is below, else absolute */
    struct compared_state side[2];
};

struct compared_sessions {
    struct arena arena;
    struct compared_side side[2];
    size_t common; /* messages that both conversations begin with */
    struct compared_file *file;
    size_t files;
};

/* Two paths are the same file if they are the same below the directories of their sessions, which may be two worktrees.
 * Messages of different agents are never common. compare_fini() frees *out. */
MUST_CHECK enum err_code compare_sessions(const struct session_ref *a, const struct session_ref *b,
                                          struct compared_sessions *out, struct err *e);
void compare_fini(struct compared_sessions *c);
void compared_sessions_free(
    struct compared_sessions *c); /* allocated by malloc(); frees its members, too; may be NULL */

/* How the last states of a file that both sessions changed differ: "same", "differs", "deleted by A". A literal. */
const char *compare_result(const struct compared_file *f);
/* Returns true if both changed it and the states in which they left it are known and differ. */
bool compare_has_diff(const struct compared_file *f);

/* ---- taking files from one of them (compare_take.c) ---- */

/* Which work is taken into the work tree: the files as the session `side` left them, or one hunk of one file. */
struct compare_take {
    size_t side;
    struct slice only;     /* the path of this compared file only; empty: all */
    const char *hunk_path; /* absolute; NULL: whole files */
    /* From 1: one of those that linediff_make() finds from the present file with REWIND_CONTEXT. */
    size_t hunk;
};

/* Makes the plan that gives the files which that session changed the content in which it left them, below the directory
 * of either session in which the program was started. A file that is neither as one of the sessions left it nor as our
 * own newest rewind did is held back as edited by hand. Existing files keep their line ends and mode.
 *
 * ERR_UNSUPPORTED: the session's files are not known. ERR_UNSAFE: the program was started in the directory of neither.
 * ERR_NOT_FOUND: no such hunk. `ref` and the comparison must outlive the plan, which the caller frees. */
MUST_CHECK enum err_code compare_take_plan(const struct session_ref ref[2],
                                           const struct compared_sessions *c,
                                           const struct compare_take *take, struct rewind_plan *out,
                                           struct err *e);

#endif
