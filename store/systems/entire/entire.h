#ifndef STORE_SYSTEMS_ENTIRE_ENTIRE_H
#define STORE_SYSTEMS_ENTIRE_ENTIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/systems/entire/read/catalog.h"

/* Entire: sessions of several agents, kept next to the code in the git repository itself (docs/formats/entire.md). State
 * files are in the common git directory, temporary checkpoints on shadow branches, committed ones on
 * entire/checkpoints/v1 or in one ref each. This header is private to the system; others use `entire_ops`.
 *
 * base.path is the requested directory, or its work tree. Listing, reading and planning write
 * nothing. */
struct entire {
    struct store base;
    char *git;      /* the git directory of the work tree */
    char *common;   /* the git directory that all work trees share */
    char *states;   /* common/entire-sessions; may not exist */
    char *worktree; /* the work tree; NULL: bare */
    char *worktree_id;
    char **tree; /* all work trees of the repository */
    size_t trees;
    struct catalog_cache *cache;
};

/* Returns true if a repository that contains this directory may have data of Entire. Decides by the
 * names in git directories from here upwards, without libgit2, which takes 10 ms to start. There
 * are false positives but no false negatives. */
bool entire_detect(const char *dir);
/* Returns true if the repository has refs of Entire or the folder `states`. */
bool entire_is_enabled(git_repository *repo, const char *states);
/* Downcast; asserts that the store is one of Entire's. */
const struct entire *entire_of(const struct store *st);
/* Opens the catalog of the store; free it with catalog_close. */
MUST_CHECK enum err_code entire_catalog(const struct entire *x, bool fresh, struct catalog **out,
                                        struct err *e);
/* Finds a session in a fresh catalog, which the caller closes. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code entire_session(const struct store *st, struct slice id,
                                        struct catalog **catalog,
                                        const struct catalog_session **out, struct err *e);
/* Returns true if the session belongs to the scope. */
bool entire_in_scope(const struct entire *x, const struct scope *scope,
                     const struct catalog_session *s);

extern const struct store_ops entire_ops;
/* Conversations of Claude Code are read and changed through its own system. */
extern const struct store_ops claude_ops;

/* ---- the members of entire_ops; store/api/store.h describes them ---- */

store_enumerate_fn entire_enumerate;
store_describe_fn entire_describe;
store_unreadable_fn entire_unreadable;
store_find_fn entire_find;
store_at_path_fn entire_at_path;
store_facts_fn entire_facts;
store_tail_fn entire_tail;
store_load_fn entire_load;
store_blocks_fn entire_blocks;
store_messages_fn entire_messages;
store_subagents_fn entire_subagents;
store_describe_subagents_fn entire_describe_subagents;
store_subagent_fn entire_subagent;
store_usage_fn entire_usage;
store_retrieve_fn entire_retrieve;
store_restore_fn entire_restore;
store_parts_fn entire_parts;
/* The reason why a session without a state cannot be deleted. */
extern const char entire_only_committed[];
store_owned_refs_fn entire_owned_refs;
store_leftovers_fn entire_leftovers;
store_live_fn entire_live;
store_agent_fn entire_agent;

/* Changes to the agent's own transcript, if the agent is Claude Code. */
store_fork_fn entire_fork;
store_resume_at_fn entire_resume_at;

/* Damage. */
store_check_fn entire_check;
store_check_store_fn entire_check_store;

/* Writing, for hosts. */
store_make_fn entire_make;
store_create_fn entire_create;
store_append_fn entire_append;
store_checkpoint_fn entire_checkpoint;
store_set_fn entire_set;

/* Rewinding. */
store_edits_fn entire_edits;
store_checkpoints_fn entire_checkpoints;
store_plan_fn entire_plan;
store_plan_conversation_fn entire_plan_conversation;
store_plan_turn_fn entire_plan_turn;
store_origins_fn entire_origins;
store_count_lines_fn entire_count_lines;
store_plan_refs_fn entire_plan_refs;
store_plan_own_fn entire_plan_own;

/* ---- tokens.c ---- */

/* Token usage as recorded in states and in the metadata of sessions and checkpoints (`token_usage`,
 * docs/formats/entire.md 2.7). */
enum entire_token {
    TOKEN_INPUT,
    TOKEN_CACHE_CREATION,
    TOKEN_CACHE_READ,
    TOKEN_OUTPUT,
    TOKEN_CALLS, /* requests to the model */
    TOKEN_COUNT,
};

struct entire_tokens {
    int64_t n[TOKEN_COUNT];
    bool known;             /* false: there was no such member */
    struct slice subagents; /* JSON of the member subagent_tokens, borrowed; empty: missing */
};

/* Reads the value of a `token_usage`. Anything but an object is unknown. */
struct entire_tokens entire_tokens_read(struct slice json);
/* Adds the numbers; those of sub-agents are dropped, as Entire does for a checkpoint of several sessions. */
void entire_tokens_add(struct entire_tokens *sum, const struct entire_tokens *t);
/* The value as JSON, in the arena; empty if it is unknown. p is NULL if out of memory. */
struct slice entire_tokens_json(const struct entire_tokens *t, struct arena *a);

/* Counts the tokens of a transcript of Claude Code from a line on. An answer that was streamed in
 * several rows is counted once, by the row with the most output. The result is unknown if no row
 * has a usage. */
MUST_CHECK enum err_code entire_tokens_count(struct slice transcript, int64_t from_line,
                                             struct entire_tokens *out, struct err *e);

/* The number that a setting of a host ("input-tokens") refers to; TOKEN_COUNT if it refers to none. */
enum entire_token entire_tokens_setting(struct slice key);

/* ---- views (read/view.c) ---- */

/* A session with the work tree of its checkpoints and the repository opened there, for listing
 * checkpoints and planning a rewind. Nothing here writes. */
struct view {
    const struct entire *store;
    struct catalog *catalog; /* held until view_close; NULL: not open */
    const struct catalog_session *session;
    git_repository *repo;
    const char *root; /* the work tree; NULL: bare, or it is gone */
    struct arena arena;
};

MUST_CHECK enum err_code view_open(const struct store *st, const struct session_ref *ref,
                                   struct view *out, struct err *e);
void view_close(struct view *v); /* a zeroed one is fine */
/* The directory in which the session worked, if that is an existing work tree of this repository; otherwise the one
 * that was opened, or NULL. */
const char *view_root(const struct entire *x, const struct catalog_session *s);
/* Returns true if the .git of the work tree leads to this repository. */
bool view_root_is_own(const struct view *v);

/* The session's point with this id, or the only one whose id begins with it. ERR_NOT_FOUND: no such
 * point. ERR_USAGE: several. */
MUST_CHECK enum err_code view_point(const struct view *v, struct slice id, const struct point **out,
                                    struct err *e);

/* ---- the shadow branch ---- */

/* Returns true if the session works on the shadow branch, or has commits on it. */
bool view_owns_shadow(const struct view *v, const struct shadow *shadow);
/* Returns true if the branch on which the session works exists but is not in the catalog because it
 * could not be read. The session must have a state. */
bool view_shadow_is_unread(const struct view *v);

/* ---- trees ---- */

/* The tree of a commit, of HEAD, and of the tip of a branch (without refs/heads/). */
bool view_commit_tree(const struct view *v, const git_oid *commit, git_oid *tree);
bool view_head_tree(const struct view *v, git_oid *tree);
bool view_branch_tree(const struct view *v, const char *branch, git_oid *tree);
/* The blob and the mode of a file in a tree. */
bool view_tree_entry(const struct view *v, const git_oid *tree, const char *path, git_oid *blob,
                     unsigned *mode);

/* The difference between a point and the one before it. A shadow commit is compared with the
 * previous commit on the branch, even one of another session; the first one is compared with the
 * commit that it was made on. For a committed checkpoint, the difference is the change of the
 * commit that names it. */
struct view_turn {
    git_oid before, after;
    bool has_before; /* false: the commit has no parent */
    bool too_large;  /* why opening failed: the trees differ too much (repo_tree_fits) */
    git_diff *diff;
};

/* link: the commit that names a committed point, or NULL. Returns false if the difference is unknown or unreadable. */
bool view_turn_open(const struct view *v, const struct point *p, const struct link *link,
                    struct view_turn *out);
void view_turn_close(struct view_turn *t); /* a zeroed one is fine */
/* Returns true if this is a file of the user, not one of Entire's own. */
bool view_is_work(const git_diff_delta *delta);

#endif
