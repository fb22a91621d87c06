#ifndef STORE_API_RESTORE_H
#define STORE_API_RESTORE_H

#include <stdbool.h>
#include <stddef.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"

/* The restore bundle: everything a host needs to continue a session (`reprise restore`). Texts and
 * arrays are in the arena; slices named _json are one JSON value each. */
enum interruption {
    INTERRUPTION_NONE,   /* the turn ended */
    INTERRUPTION_PROMPT, /* a prompt was never answered: it can be asked again */
    INTERRUPTION_TURN,   /* the turn was cut off: messages ends with a continuation message */
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
    /* the model has been given the list of skills, which need not be announced again */
    bool skills_listed;
    /* Whole rows of the transcript, for agents that have these features; empty or 0: no such row. The newest
     * attribution snapshot contains the earlier ones. */
    struct slice attribution_json;
    struct slice *collapse_json; /* commits of the context collapse, oldest first */
    size_t collapses;
    struct slice collapse_snapshot_json;
    struct slice command_cwd; /* where to run the resume command: exists, or is empty */
};

static inline void restore_fini(struct restore *r)
{
    arena_fini(&r->arena);
    *r = (struct restore){ 0 };
}

/* Writes the bundle as members of an object, all but command_cwd; reprise.h lists them. */
void restore_json_members(struct jsonout *j, const struct restore *r, const char *system);

/* Systems that keep transcripts away from where an agent looks for them (Entire's are in git) have
 * to put one back before the agent can continue a session. A local transcript that was continued
 * since is never overwritten unless that is requested; the record of the change keeps the old one
 * in either case. */
enum retrieve_state {
    RETRIEVE_NEW,         /* no transcript on this machine */
    RETRIEVE_UNCHANGED,   /* the local one is the same, or is the original of a redacted copy */
    RETRIEVE_NEWER,       /* the checkpoint has more of the conversation */
    RETRIEVE_LOCAL_NEWER, /* the local one has more, or that cannot be determined */
    RETRIEVE_NOT_OURS,    /* its agent's directory of transcripts is unknown */
};

struct retrieve_request {
    /* a checkpoint: all of its sessions as they were then; empty: the newest of this session */
    struct slice at;
    bool overwrite; /* even local transcripts that are newer */
    bool dry_run;   /* session_change_retrieve only plans */
};

struct retrieve_item {
    struct slice session, agent;
    const char *path;   /* where the agent looks; NULL with RETRIEVE_NOT_OURS */
    const char *folder; /* must exist before it is written */
    enum retrieve_state state;
    bool planned;  /* the change writes it */
    bool redacted; /* the copy went through Entire's redaction: it is not the original */
};

struct retrieved {
    struct arena arena; /* owns everything */
    struct retrieve_item *item;
    size_t n;
};

static inline const char *retrieve_state_name(enum retrieve_state state)
{
    static const char *const names[] = {
        [RETRIEVE_NEW] = "new",
        [RETRIEVE_UNCHANGED] = "unchanged",
        [RETRIEVE_NEWER] = "checkpoint-newer",
        [RETRIEVE_LOCAL_NEWER] = "local-newer",
        [RETRIEVE_NOT_OURS] = "unknown-agent",
    };

    return names[state];
}

static inline void retrieved_fini(struct retrieved *r)
{
    arena_fini(&r->arena);
    *r = (struct retrieved){ 0 };
}

#endif
