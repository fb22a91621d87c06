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
    struct compared_sessions *c); /* of malloc, with what it has; NULL is fine */

/* How the last states of a file that both sessions changed differ: "same", "differs", "deleted by A". A literal. */
const char *compare_result(const struct compared_file *f);
/* Returns true if both changed it and the states in which they left it are known and differ. */
bool compare_has_diff(const struct compared_file *f);

#endif
