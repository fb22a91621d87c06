#ifndef STORE_SYSTEMS_OPENCODE_OPENCODE_H
#define STORE_SYSTEMS_OPENCODE_OPENCODE_H

#include "store/git/libgit2.h"
#include "store/systems/common/sqlite/sqlite_store.h"

/* Sessions of OpenCode (docs/formats/opencode.md):
 *
 *     <data>/opencode.db                 sessions, messages and their parts; other channels: opencode-<channel>.db
 *     <data>/storage/                    the same in files, if there is no database: before version 1.2
 *     <data>/snapshot/<project>/<hash>/  a git repository without commits: the trees of the project before and after
 *                                        each step of the agent; its objects are partly those of the project's own .git
 *
 * <data> is $XDG_DATA_HOME/opencode; $OPENCODE_DB names another database. Only OpenCode changes its sessions: they are
 * read, resumed and forked by its command, and their files are restored from its trees; opencode_compose.c makes new ones.
 * The store's path is <data>.
 *
 * Kilo's CLI is a fork of OpenCode: it has "kilo" in place of "opencode" in all of these names, and $KILO_DB. */
extern const struct store_ops opencode_ops, kilo_ops;
extern const struct agent_hooks opencode_hooks, kilo_hooks;
extern const struct agent_mcp opencode_mcp; /* hooks.c */
extern const struct compose_ops opencode_compose;

/* A row of a conversation is made here, of one message and its parts:
 *
 *     {"id": ..., "message": <message.data>, "parts": [{"id": ..., "data": <part.data>}, ...]} */

/* SQL: the first message of the session s that OpenCode's own revert undid; NULL if it undid none.
 * Ids ascend. */
#define OPENCODE_REVERTED                                                                          \
    "CASE WHEN json_valid(s.revert) THEN json_extract(s.revert, '$.messageID') END"

extern const struct sqlite_format opencode_format; /* show.c */
sqlite_query_fn opencode_sessions;                 /* list.c */
bool opencode_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                     const struct scope *scope, struct arena *a, struct sqlite_listed *out);

/* ---- files.c: sessions of old versions ---- */

extern const char opencode_tables[];
sqlite_fill_fn opencode_fill;

/* ---- show.c: blocks ---- */

store_blocks_fn opencode_blocks;
/* The prompt in the data of a part; empty if it is not a prompt (another kind of part, or written
 * by OpenCode itself). */
struct slice opencode_prompt(struct slice part, struct arena *a);

/* ---- show.c: usage ---- */

sqlite_query_fn opencode_answers;
bool opencode_answer(const struct sqlite_row *row, struct arena *a, struct usage_record *u);

/* ---- steps.c: what the trees of a session are ---- */

/* A call of a tool that may change files. */
struct opencode_call {
    struct slice path;    /* absolute: the only file that it changes; empty: any file */
    struct slice command; /* the command of a shell; empty: another tool */
    struct slice dir;     /* where the command ran; empty: not recorded */
    /* What a tool that writes a whole file found, and the text that it wrote. */
    enum { OPENCODE_NOT_TOLD, OPENCODE_FOUND, OPENCODE_FOUND_NONE } found;
    struct slice text;
};

/* A step of the agent: one answer of the model and the calls in it. Trees are 40 hex digits; empty: not recorded. */
struct opencode_step {
    struct slice before, after;
    int64_t begin_ms, end_ms; /* TIME_NONE: not recorded */
    /* absolute: the files that OpenCode found changed, and those that its tools were asked to
     * change */
    struct slice *file;
    size_t files;
    struct opencode_call *call;
    size_t calls;
};

struct opencode_prompt {
    struct slice id, text;
    int64_t time_ms;
    bool undone; /* by OpenCode's own revert, which may have left files behind */
    bool copied; /* it is older than the session, which is a fork */
    size_t step; /* the first one after it; there may be none */
};

struct opencode_steps {
    struct arena arena; /* owns everything */
    struct opencode_prompt *prompt;
    size_t prompts;
    struct opencode_step *step;
    size_t n, kept;       /* those from `kept` on were undone */
    struct slice root;    /* the work tree; empty: not recorded */
    struct slice cwd;     /* the directory of the newest answer; empty: not recorded */
    struct slice project; /* its id */
};

/* Oldest first. */
MUST_CHECK enum err_code opencode_steps_read(const struct session_ref *ref,
                                             struct opencode_steps *out, struct err *e);
void opencode_steps_fini(struct opencode_steps *s);
/* The tree before the prompt was answered; empty: not recorded. */
struct slice opencode_steps_tree(const struct opencode_steps *s, const struct opencode_prompt *p);

/* ---- rewind.c ---- */

store_plan_fn opencode_plan;

/* The repositories with the snapshots of a project. Each work tree of the project has a separate
 * one, and a tree is looked up in all of them, because an object has the same id in each. Old trees
 * disappear, because OpenCode prunes them after seven days. */
enum { OPENCODE_REPOSITORIES_MAX = 16 };

struct opencode_repository {
    git_repository *repo;
    const char *objects; /* in the arena */
};

struct opencode_trees {
    struct opencode_repository in[OPENCODE_REPOSITORIES_MAX];
    size_t n;
    bool shut;           /* one of them could not be opened */
    bool lost;           /* one of them borrows objects from a repository that is gone */
    struct arena *arena; /* borrowed */
};

/* Opens those that can be opened, if any. */
MUST_CHECK enum err_code opencode_trees_open(const struct store *st, const struct opencode_steps *s,
                                             struct arena *a, struct opencode_trees *out,
                                             struct err *e);
void opencode_trees_close(struct opencode_trees *t);
/* The index of the repository with this tree (40 hex digits); n if no repository has it. */
size_t opencode_trees_find(const struct opencode_trees *t, struct slice hex, git_oid *out);

/* The same for both trees of a step. */
size_t opencode_trees_find_both(const struct opencode_trees *t, const struct opencode_step *step,
                                git_oid *before, git_oid *after);

/* A file in a tree. */
struct opencode_entry {
    bool exists;
    bool plain; /* a regular file, not a link or a submodule */
    git_oid blob;
    unsigned mode;
};

/* Returns false if the tree cannot be read. */
bool opencode_trees_entry(git_repository *repo, const git_oid *tree, const char *path,
                          struct opencode_entry *out);

/* ---- points.c ---- */

store_checkpoints_fn opencode_checkpoints;
/* The reason why the tree of a prompt is missing. */
const char *opencode_why_missing(const struct opencode_steps *s, const struct opencode_trees *t,
                                 const struct opencode_prompt *p);
extern const char opencode_why_none[]; /* if the turn has no snapshot at all */

#endif
