#ifndef STORE_SYSTEMS_QWEN_QWEN_H
#define STORE_SYSTEMS_QWEN_QWEN_H

#include <stdbool.h>

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/proc/live.h"
#include "store/systems/common/jsonl.h"

/* The sessions of Qwen Code (docs/formats/qwen.md): its path is $QWEN_RUNTIME_DIR, advanced.runtimeOutputDir of the
 * settings, $QWEN_HOME or ~/.qwen, with
 *
 *   projects/<project>/chats/<id>.jsonl            a tree of records, linked by parentUuid
 *   projects/<project>/chats/archive/<id>.jsonl    the same, archived
 *   projects/<project>/subagents/<id>/agent-*.jsonl
 *   file-history/<id>/<hash>@v<n>                  the files before they were edited
 *   sessions/<pid>.json                            one for each running program
 *
 * The last two are always in $QWEN_HOME or ~/.qwen, wherever the rest is.
 * Only read: Qwen keeps the titles and the tree in the log that it may have open. */
struct qwen {
    struct jsonl_store jsonl; /* its folder is <path>/projects */
    char *history;            /* the folder file-history; need not exist */
    struct live_cache *live;  /* which sessions are in use */
};

const struct qwen *qwen_of(const struct store *st);

extern const struct index_keys qwen_keys;
extern const struct jsonl_format qwen_format;
extern const struct project_logs qwen_logs;
extern const struct store_ops qwen_ops;
extern const struct agent_hooks qwen_hooks;
extern const struct agent_mcp qwen_mcp; /* hooks.c */
extern const struct compose_ops qwen_compose;
/* The directory of the program's own files; the caller frees it. */
char *qwen_own_path(const struct store_env *env);
/* jsonl_format.usual: the directory of its sessions. */
char *qwen_usual_path(const struct store_env *env);

/* The text of a record that a person typed; empty if it is not such a record. */
struct slice qwen_prompt(struct slice row, struct arena *a);
/* Opens the parts of a record's message. */
bool qwen_parts(struct slice row, struct json_iter *parts);
/* The subtype of a system record, decoded. */
struct slice qwen_subtype(struct slice row, struct arena *a);

/* Called for each of the session's sub-agents with the path of its log. */
typedef enum err_code qwen_subagent_log_fn(const char *path, struct slice id, void *arg,
                                           struct err *e);
MUST_CHECK enum err_code qwen_each_subagent(const struct session_ref *ref, qwen_subagent_log_fn *fn,
                                            void *arg, struct err *e);

/* The members of qwen_ops. */
store_blocks_fn qwen_blocks;
store_usage_fn qwen_usage;
store_edits_fn qwen_edits;
store_subagents_fn qwen_subagents;
store_parts_fn qwen_files;
store_describe_subagents_fn qwen_describe_subagents;
store_subagent_fn qwen_subagent;
store_live_fn qwen_live;
store_checkpoints_fn qwen_checkpoints;
store_plan_fn qwen_plan;

#endif
