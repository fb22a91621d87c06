#ifndef STORE_API_RESTORE_H
#define STORE_API_RESTORE_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"

/* The restore bundle: what a host needs to put a person back into a session (CLI.md `restore`, seed 002
 * "Restore / Resume"). Texts and arrays live in the arena; slices named _json are one JSON value each. */
enum interruption {
    INTERRUPTION_NONE,   /* the turn ended */
    INTERRUPTION_PROMPT, /* a prompt was never answered: it can be asked again */
    INTERRUPTION_TURN, /* cut in the middle of a turn: messages ends with a continuation message */
};

struct restore {
    struct arena arena;
    struct slice session_id;
    struct slice cwd;
    struct slice worktree_path; /* empty: the session was not in a worktree */
    bool worktree_exists;
    struct slice git_branch;
    struct slice agent_setting;
    struct slice mode;
    /* after the resume filters, oldest first; rows that the agent adds when it loads have no id yet */
    struct slice *messages_json;
    size_t messages;
    enum interruption interruption;
    struct slice prompt_json; /* the message of an interrupted prompt; else empty */
    struct slice *todos_json, *skills_json, *replacements_json, *file_history_json;
    size_t todos, skills, replacements, file_history;
    struct slice command_cwd; /* where to run the resume command: exists, or is empty */
};

void restore_fini(struct restore *r);

#endif
