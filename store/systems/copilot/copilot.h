#ifndef STORE_SYSTEMS_COPILOT_COPILOT_H
#define STORE_SYSTEMS_COPILOT_COPILOT_H

#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* The sessions of the Copilot CLI (docs/formats/copilot.md): its path is $COPILOT_HOME or ~/.copilot, with
 *
 *   session-state/<id>/events.jsonl                   the log: one event per line, those of sub-agents among them
 *   session-state/<id>/workspace.yaml                 name, directory, branch
 *   session-state/<id>/rewind-file-snapshots/         the files before each turn (snapshots.c)
 *   session-state/<id>/inuse.<pid>.hold               while a program has it open
 *   session-state/<id>.jsonl                          an older session, without a directory
 *
 * A sub-agent has no file; it consists of the rows with its agentId, so its ref has the path of the
 * session but a separate id. The index is a database of the program's, and nothing is ever written
 * here. Immutable after open; threads may share it. */
/* A UUID in lower case. */
bool copilot_is_id(struct slice id);
/* The session's directory; NULL if it has none, or out of memory. */
const char *copilot_directory(const struct session_ref *ref, struct arena *a);

/* The values of workspace.yaml that a list shows, in the arena. */
struct copilot_workspace {
    struct slice name, cwd, branch;
    bool named; /* by a person */
};
/* Reads single-line values of the first level, plain or quoted, and folded texts. Anything else is
 * ignored. */
void copilot_workspace_read(struct slice yaml, struct arena *a, struct copilot_workspace *out);

extern const struct jsonl_format copilot_format;
extern const struct store_ops copilot_ops;
extern const struct agent_hooks copilot_hooks;
extern const struct agent_mcp copilot_mcp; /* hooks.c */

/* The members of copilot_ops. */
store_enumerate_fn copilot_enumerate;
store_find_fn copilot_find;
store_at_path_fn copilot_at_path;
store_tail_fn copilot_tail;
store_load_fn copilot_load;

store_subagents_fn copilot_subagents;
store_parts_fn copilot_files;
store_describe_subagents_fn copilot_describe_subagents;
store_subagent_fn copilot_subagent;
store_checkpoints_fn copilot_checkpoints;
store_plan_fn copilot_plan;
store_usage_fn copilot_usage;

/* ---- snapshots.c ---- */

/* rewind-file-snapshots/index.json contains, for each turn that changed files, their state before
 * (with a copy of the bytes in backups/) and after it (only the hash), whether a tool or a shell
 * command changed them. A rewind to a turn therefore restores, for each path, the earliest "before"
 * state of that turn or a later one. */
enum copilot_was {
    COPILOT_CONTENT,
    COPILOT_ABSENT,
    COPILOT_UNKNOWN, /* not captured, or of a kind that this reader does not know */
};

struct copilot_state {
    enum copilot_was was;
    const char *hash;   /* 64 hex digits; NULL if unknown */
    const char *backup; /* absolute path of the copy, or NULL */
    uint32_t mode;      /* with the type of the file; 0: unknown */
};

struct copilot_file {
    const char *path; /* absolute, lexically clean */
    struct copilot_state before, after;
};

struct copilot_snapshot {
    /* the prompt of the turn, which the program's own rewind may have removed */
    struct slice event;
    int64_t time_ms;
    struct copilot_file *file;
    size_t n;
};

struct copilot_snapshots {
    struct arena arena;
    struct copilot_snapshot *snapshot; /* oldest first */
    size_t n;
    const char *why; /* the reason why the index cannot be used, a literal; else NULL */
};

/* The snapshots of a session; none if it has no directory. */
MUST_CHECK enum err_code copilot_snapshots_read(const struct session_ref *ref,
                                                struct copilot_snapshots *out, struct err *e);
void copilot_snapshots_fini(struct copilot_snapshots *s);

#endif
