#ifndef STORE_SYSTEMS_KIMI_KIMI_H
#define STORE_SYSTEMS_KIMI_KIMI_H

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* The sessions of Kimi Code (docs/formats/kimi.md): its path is ~/.kimi-code, with
 *
 *   sessions/wd_<name>_<hash>/<id>/state.json                  title, directory, archive mark
 *   sessions/wd_<name>_<hash>/<id>/agents/main/wire.jsonl      the log; beside it those of sub-agents
 *   sessions/wd_<name>_<hash>/<id>/agents/main/file-history/   the files before they were edited
 *
 * <hash> is the beginning of the SHA-256 of the directory. Only read: the index of the sessions is elsewhere. The
 * store is a struct jsonl_store with the folder <path>/sessions. */

/* Kinds of rows, in the order of kimi_keys.kinds. */
enum kimi_kind {
    KIMI_OTHER,
    KIMI_PROMPT,
    KIMI_EVENT,
    KIMI_UNDO,
    KIMI_COMPACTION,
    KIMI_CLEAR,
    KIMI_TRACKED,
    KIMI_CHECKPOINT,
    KIMI_MESSAGE,
};

extern const struct index_keys kimi_keys;
extern const struct jsonl_format kimi_format;
extern const struct session_dirs kimi_dirs;
extern const struct store_ops kimi_ops;
extern const struct agent_hooks kimi_hooks;
extern const struct agent_mcp kimi_mcp; /* hooks.c */

/* Returns true if a person wrote the prompt. */
bool kimi_is_typed(struct slice row);
/* The text of a prompt's input. */
struct slice kimi_prompt(struct slice row, struct arena *a);
int64_t kimi_time(struct slice row);
/* The contents of state.json. Texts are in the arena; they are empty if the file is unreadable. */
struct kimi_state {
    struct slice cwd, title, last_prompt, forked_from;
    bool archived;
    bool known; /* it could be read */
};
void kimi_state_read(const struct session_ref *ref, struct arena *a, struct kimi_state *out);
enum { KIMI_HASH_DIGITS = 12, KIMI_STATE_MOST = 256 << 10 };
/* Returns true if the session's folder is named after the directory. */
bool kimi_is_folder_of(struct slice folder, struct slice directory);

/* The directory of the session to which a log, perhaps a sub-agent's, belongs. */
struct slice kimi_session_dir(const struct session_ref *ref);

store_folder_of_fn kimi_folder_of; /* place.c */
store_set_directory_fn kimi_set_directory;
store_usage_fn kimi_usage;
store_edits_fn kimi_edits;
store_subagents_fn kimi_subagents;
store_subagent_fn kimi_subagent;
store_checkpoints_fn kimi_checkpoints;
store_plan_fn kimi_plan;

#endif
