#ifndef STORE_SYSTEMS_GOAT_GOAT_H
#define STORE_SYSTEMS_GOAT_GOAT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* The Go directory sessions (docs/formats/goat.md): SESSIONS/<id>/ with metadata.json,
 * messages.jsonl (the conversation, one message per line), transcript.jsonl (the SDK's stream, if the
 * host kept it) and checkpoints/<id>/ with a manifest and contents named by their SHA-256. Private
 * to this directory; others use `goat_ops`.
 *
 * The id of a session's ref is the name of its directory (the host opens it by that name), and its
 * path is the file to read: messages.jsonl, else transcript.jsonl, else metadata.json. */

#define GOAT_METADATA "metadata.json"
#define GOAT_MESSAGES_LOG "messages.jsonl"
#define GOAT_TRANSCRIPT_LOG "transcript.jsonl"
#define GOAT_LOCK_SUFFIX ".lock"
/* The SDK's stream is read like the transcript of a sub-agent with this id. */
#define GOAT_STREAM_ID "transcript"
bool goat_is_file(struct slice name);      /* one of these three */
enum { GOAT_LINE_MAX = 10 * 1024 * 1024 }; /* the longest line that the host can read */

/* The level of a store's path, detected from its name and contents. */
enum goat_path_kind {
    GOAT_CONFIG,   /* CONFIG: sessions are in projects/<project>/sessions/ */
    GOAT_PROJECTS, /* in <project>/sessions/ */
    GOAT_PROJECT,  /* in sessions/ */
    GOAT_SESSIONS, /* in the path itself */
};

/* Its path is the given one. Immutable after open (the pool is thread-safe), so threads may share
 * it. */
struct goat {
    struct jsonl_store jsonl; /* it has no folder: there may be many */
    enum goat_path_kind place;
};

/* Downcast; asserts that the store is one of this system. */
const struct goat *goat_of(const struct store *st);

/* Returns true if this can be the name of a session's directory: one plain component, and not one
 * of the host's folders for memory, which are never listed and never removed. Every id is checked
 * here before it becomes a file name. */
bool goat_is_id(struct slice id);
/* Returns true if the name is reserved for the host's memory (goat.md B5). */
bool goat_is_memory(struct slice name);
/* Returns true if this can be the name of a checkpoint's directory. */
bool goat_is_point_id(struct slice id);

/* <session directory>/<rest>, NUL-terminated in the arena; the ref's path may be that directory
 * itself. rest may be empty (then without a slash). NULL if out of memory. */
const char *goat_path(const struct session_ref *ref, const char *rest, struct arena *a);

/* ---- where sessions are ---- */

/* Called for a directory with sessions; folder is the name of its project, or "". Return false to
 * stop. */
typedef bool goat_base_fn(const char *sessions, struct slice folder, void *arg);
/* Calls fn for each existing one; links are skipped. */
void goat_each_base(const struct goat *g, goat_base_fn *fn, void *arg);

/* The directory in which a session that runs in cwd belongs; NULL if out of memory. */
const char *goat_base_for(enum goat_path_kind place, const char *path, const char *cwd,
                          struct arena *a);

extern const struct store_ops goat_ops;
extern const struct index_keys goat_keys; /* in log.c */
extern const struct jsonl_format goat_format;

/* In describe.c, for goat_format: the part of one row that a list needs, and the values that the
 * metadata adds to a list's row. */
enum err_code goat_read_row_facts(struct slice line, struct arena *a, struct jsonl_row_facts *out);
enum err_code goat_complete_row(const struct store *st, const struct scope *scope,
                                struct session_row *row, struct arena *a, struct err *e);

/* The members of goat_ops. */
store_enumerate_fn goat_enumerate;
store_unreadable_fn goat_unreadable;
store_find_fn goat_find;
store_at_path_fn goat_at_path;
store_blocks_fn goat_blocks;
store_facts_fn goat_facts;
store_messages_fn goat_messages;
store_subagents_fn goat_subagents;
store_describe_subagents_fn goat_describe_subagents;
store_subagent_fn goat_subagent;
store_usage_fn goat_usage;
store_restore_fn goat_restore;

/* Changes: each function only plans. */
store_rename_fn goat_rename;
store_fork_fn goat_fork;
store_parts_fn goat_parts;
store_live_fn goat_live;

store_check_fn goat_check;

/* Rewind. */
store_plan_conversation_fn goat_plan_conversation;
store_check_store_fn goat_check_store;
store_edits_fn goat_edits;
store_checkpoints_fn goat_checkpoints;
store_count_lines_fn goat_count_lines;
store_plan_fn goat_plan;

/* Writing, for hosts. */
store_make_fn goat_make;
store_create_fn goat_create;
store_append_fn goat_append;
store_host_row_fn goat_host_row;
store_checkpoint_fn goat_checkpoint;
store_set_fn goat_set;

#endif
