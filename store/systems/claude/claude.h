#ifndef STORE_SYSTEMS_CLAUDE_CLAUDE_H
#define STORE_SYSTEMS_CLAUDE_CLAUDE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "store/api/store.h"
#include "store/log/log_damage.h"
#include "store/proc/live.h"

#define CLAUDE_SUFFIX ".jsonl"
enum { CLAUDE_ID = 36 }; /* length of a session id */

/* The session storage of Claude Code (docs/formats/claude.md):
 * CONFIG/projects/<folder>/<uuid>.jsonl, one JSON row per line, with a side folder <uuid>/ beside
 * it for sub-agents, a title and an archive mark. Private to this directory; others see
 * `claude_ops`.
 *
 * base.path is CONFIG. Immutable after open, except for the pool and the caches, which are safe to share, so that
 * threads may share it. */
struct claude {
    struct store base;
    char *projects;      /* CONFIG/projects; need not exist */
    char *forced_folder; /* CLAUDE_CODE_PROJECT_DIR_NAME if it counts, else NULL (claude.md 1.2) */
    struct window_pool *scratch;  /* for describe */
    struct live_cache *live;      /* which sessions are in use */
    struct agents *agents;        /* which agents are running */
    struct claude_tables *tables; /* for describe */
    int64_t retention_ms;         /* after which the agent removes a transcript; TIME_NONE: never */
    bool no_sessions;             /* the agent keeps none */
    char *odd_settings;           /* the file with a period that is 0 or not understood, or NULL */
    const char *unpersisted;      /* why hosts write nothing; NULL: they do */
};

/* The store as a struct claude; asserts that it is one. */
const struct claude *claude_of(const struct store *st);

/* Returns true for 8-4-4-4-12 hex digits of either case. Every id is checked with this before it becomes a file
 * name. */
bool claude_is_uuid(struct slice text);

/* The name of a session's transcript. */
bool claude_is_transcript_name(const char *name);
/* A path in the session's side folder: <folder>/<id>/rest, NUL-terminated in the arena; rest may be "". .p is NULL if
 * out of memory. */
struct slice claude_side_path(const struct session_ref *ref, const char *rest, struct arena *a);
/* Returns true for 1 to 128 letters, digits, _ and -, which may be part of the name of a sub-agent's file. */
bool claude_is_agent_id(struct slice id);

/* The operations that a session supports (enum session_can): all that the system has members for, or none if its
 * transcript cannot be read (such as a link). */
unsigned claude_abilities(const struct claude *c, const struct session_row *row);

/* Where settings are: the agent's directory, the project (or NULL), and what stands for /etc (NULL: that). */
struct claude_settings {
    const char *config, *project, *etc;
};

/* How long the agent keeps a transcript after its mtime, in ms; 0: it writes no transcripts; TIME_NONE: not known. *odd is
 * then the path of the settings with the 0, or of those that are not understood; the caller frees it. It is NULL otherwise,
 * and if out of memory. */
int64_t claude_retention(const struct claude_settings *places, char **odd);

/* live.c: describes the agent's processes; the caller fills in config. */
extern const struct agents_profile claude_agents_profile;

extern const struct store_ops claude_ops;
extern const struct store_ops qoder_ops; /* the same form of another agent (qoder.c) */

/* Opens the store at the path, which it takes over, as one of these operations. */
MUST_CHECK enum err_code claude_open_at(const struct store_ops *ops,
                                        const struct agents_profile *profile,
                                        const struct store_env *env, char *path,
                                        struct claude **out, struct err *e);
void claude_close(struct store *st);
extern const struct agent_hooks claude_hooks;
extern const struct agent_mcp claude_mcp; /* hooks.c */
extern const struct compose_ops claude_compose;

/* The members of claude_ops. */
store_enumerate_fn claude_enumerate;
store_unreadable_fn claude_unreadable;
/* What describe looks for in the windows, prepared once for each store. */
struct claude_tables *claude_tables_new(void); /* NULL if out of memory */
void claude_tables_free(struct claude_tables *t);

/* The last titles in a window. */
struct claude_titles {
    struct slice custom, ai;
    bool has_custom; /* a row was found, perhaps with an empty title */
};
/* Returns false if out of memory. */
bool claude_titles_read(const struct claude *c, struct slice window, struct arena *a,
                        struct claude_titles *out);
store_describe_fn claude_describe;
store_full_scan_fn claude_full_scan;
store_find_fn claude_find;
store_find_each_fn claude_find_each;
store_find_many_fn claude_find_many;
store_at_path_fn claude_at_path;
store_tail_fn claude_tail;
store_branches_fn claude_branches;
store_load_branch_fn claude_load_branch;
store_load_fn claude_load;
store_load_fn claude_load_path;
store_messages_fn claude_messages;
store_subagents_fn claude_subagents;
store_describe_subagents_fn claude_describe_subagents;
store_subagent_fn claude_subagent;
store_usage_fn claude_usage;
store_facts_fn claude_facts; /* show/facts.c */

/* The transcript of each sub-agent of a session. A non-zero result ends the walk and is returned. */
typedef enum err_code claude_agent_fn(struct slice id, const char *path, void *arg, struct err *e);
MUST_CHECK enum err_code claude_each_agent(const struct session_ref *ref, claude_agent_fn *fn,
                                           void *arg, struct err *e);
store_blocks_fn claude_blocks;
store_raw_texts_fn claude_raw_texts;

/* Changes. These only plan. */
store_rename_fn claude_rename;
store_tag_fn claude_tag;
store_fork_fn claude_fork;
store_resume_at_fn claude_resume_at;
store_tombstone_fn claude_tombstone;
store_reappend_fn claude_reappend;
store_folder_of_fn claude_folder_of;
store_set_directory_fn claude_set_directory;
store_place_fn claude_place;
store_restore_fn claude_restore;

store_archive_fn claude_archive;
store_parts_fn claude_parts;
store_live_fn claude_live;
store_live_many_fn claude_live_many;
store_running_fn claude_running;

/* Damage. */
store_check_fn claude_check;
store_reconnect_fn claude_reconnect;
/* Reports the parts of the conversation that a resume leaves out by mistake. */
MUST_CHECK enum err_code claude_report_lost_parts(const struct session_ref *ref,
                                                  const atomic_bool *cancel, finding_fn *fn,
                                                  void *arg, struct err *e);
/* How many messages a resume restores, and how many it leaves out by mistake; 0 and 0 if none. The chain of the log is
 * rebuilt. */
struct claude_log;
MUST_CHECK enum err_code claude_count_lost(struct claude_log *log, size_t *restored, size_t *lost,
                                           struct err *e);
extern const struct log_rules claude_log_rules;
log_refused_fn claude_refused_row;
log_survey_fn claude_survey;
store_leftovers_fn claude_leftovers;
store_gone_fn claude_gone;
/* Adds the ids of all transcripts, whatever they contain. ERR_IO: a folder cannot be read. */
struct idset;
MUST_CHECK enum err_code claude_transcript_ids(const struct claude *c, struct idset *ids,
                                               struct err *e);
store_check_store_fn claude_check_store;

/* Rewind. */
store_edits_fn claude_edits;
store_checkpoints_fn claude_checkpoints;
store_count_lines_fn claude_count_lines;
store_plan_conversation_fn claude_plan_conversation;
store_plan_fn claude_plan;

/* Writing, for hosts. */
store_make_fn claude_make;
store_create_fn claude_create;
store_append_fn claude_append;
store_begins_fn claude_begins;
store_host_row_fn claude_host_row;
store_checkpoint_fn claude_checkpoint;
store_set_fn claude_set;

/* The members of store_ops with which transcripts of Claude Code's form are listed, read and rewound. */
#define CLAUDE_READS                                                                               \
    .close = claude_close, .enumerate = claude_enumerate, .unreadable = claude_unreadable,         \
    .describe = claude_describe, .full_scan = claude_full_scan, .find = claude_find,               \
    .find_each = claude_find_each, .find_many = claude_find_many, .at_path = claude_at_path,       \
    .tail = claude_tail, .load = claude_load, .load_path = claude_load_path,                       \
    .branches = claude_branches, .load_branch = claude_load_branch, .messages = claude_messages,   \
    .subagents = claude_subagents, .describe_subagents = claude_describe_subagents,                \
    .subagent = claude_subagent, .usage = claude_usage, .blocks = claude_blocks,                   \
    .raw_texts = claude_raw_texts, .live = claude_live, .live_many = claude_live_many,             \
    .check = claude_check, .edits = claude_edits, .checkpoints = claude_checkpoints,               \
    .count_lines = claude_count_lines, .plan = claude_plan, .place = claude_place

#endif
