#ifndef STORE_SYSTEMS_COMMON_SESSION_DIRS_H
#define STORE_SYSTEMS_COMMON_SESSION_DIRS_H

#include "store/systems/common/jsonl.h"

/* For agents that keep each session as a directory with a log in it, either directly in the folder of the store or in
 * one folder for each project. The store begins with a struct jsonl_store, whose format has a struct session_dirs. */
struct session_dirs {
    const char *log; /* in the directory of a session: "/messages.jsonl" */
    /* The folder in a session's directory that has such a directory for each sub-agent; NULL: none. */
    const char *agents;
    bool (*is_agent)(struct slice id); /* NULL: their names have the form of sessions' ids */
    bool named; /* the name of the log begins with that of the directory: <id>/<id>.messages.json */
    /* Optional. Gets the id of a session from the name of its directory. Returns false if it is not a session's
     * directory. NULL: the name is the id. */
    bool (*name_id)(const char *name, struct slice *id);
    /* Returns true if a folder may contain sessions of the scope. NULL: the agent has no project folders. */
    bool (*in_scope)(const struct jsonl_store *s, const struct scope *scope, const char *folder);
};

store_enumerate_fn session_dirs_enumerate;
store_find_fn session_dirs_find;
/* The path is that of a session's directory, or of a file in it. */
store_at_path_fn session_dirs_at_path;
/* The directory of a session: the path of its log without the name of the log. */
struct slice session_dirs_of(const struct session_ref *ref);
/* Reads a file in the session's directory; `out` is empty if it cannot be read, has more than `most` bytes, or is not
 * valid JSON. ERR_NOMEM. */
MUST_CHECK enum err_code session_dirs_json(const struct session_ref *ref, const char *name,
                                           size_t most, struct buf *out);
/* The member deleted_parts: the session's directory. */
store_parts_fn session_dirs_parts;
/* Sub-agents in directories like those of sessions (session_dirs.agents). */
store_subagents_fn session_dirs_subagents;
store_subagent_fn session_dirs_subagent;
/* For store_ops.subagents: the names in this folder of a session's directory that name_id accepts (NULL: that are ids
 * of sub-agents), sorted. */
MUST_CHECK enum err_code session_dirs_names(const struct session_ref *ref, const char *folder,
                                            bool (*name_id)(const char *name, struct slice *id),
                                            struct arena *a, struct slice **names, size_t *n,
                                            struct err *e);

/* The members of store_ops that are the same for all such agents. */
#define SESSION_DIRS_LIST                                                                          \
    .close = jsonl_store_close, .enumerate = session_dirs_enumerate,                               \
    .unreadable = jsonl_unreadable, .find = session_dirs_find,                                     \
    .find_each = store_find_each_listed, .at_path = session_dirs_at_path
/* The same, and those of agents whose rows are a table (row_table.h). */
#define SESSION_DIRS_OPS                                                                           \
    SESSION_DIRS_LIST, .describe = jsonl_describe, .tail = jsonl_tail, .load = jsonl_load,         \
                       .blocks = row_table_blocks, .messages = block_messages

#endif
