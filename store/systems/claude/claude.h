#ifndef STORE_SYSTEMS_CLAUDE_CLAUDE_H
#define STORE_SYSTEMS_CLAUDE_CLAUDE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "store/api/store.h"
#include "store/proc/agents.h"
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
};

/* The store as a struct claude; asserts that it is one. */
const struct claude *claude_of(const struct store *st);

/* 8-4-4-4-12 hex digits of either case. Every id that becomes a file name passes this first. */
bool claude_is_uuid(struct slice text);

/* The name of a session's transcript. */
bool claude_is_transcript_name(const char *name);
/* A path in the session's side folder: <folder>/<id>/rest, NUL-terminated in the arena; rest may be "". .p is NULL if
 * out of memory. */
struct slice claude_side_path(const struct session_ref *ref, const char *rest, struct arena *a);
/* 1 to 128 letters, digits, _ and -: what may be part of the name of a sub-agent's file. */
bool claude_is_agent_id(struct slice id);

/* How long the agent keeps a transcript after its mtime, in ms; TIME_NONE: for ever. */
int64_t claude_retention(const char *config);

/* live.c: describes its processes; the caller fills in config. */
extern const struct agents_profile claude_agents_profile;

extern const struct store_ops claude_ops;

/* The members of claude_ops. */
enum err_code claude_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e);
enum err_code claude_unreadable(const struct store *st, const struct scope *scope, trouble_fn *fn,
                                void *arg, struct err *e);
/* What describe looks for in the windows, prepared once for each store. */
struct claude_tables *claude_tables_new(void); /* NULL if out of memory */
void claude_tables_free(struct claude_tables *t);

/* The last titles in a window. */
struct claude_titles {
    struct slice custom, ai;
    bool has_custom; /* there is a row, perhaps with an empty title */
};
/* Returns false if out of memory. */
bool claude_titles_read(const struct claude *c, struct slice window, struct arena *a,
                        struct claude_titles *out);
enum err_code claude_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row,
                              struct err *e);
enum err_code claude_deep(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct session_row *row, bool *found,
                          struct err *e);
enum err_code claude_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e);
enum err_code claude_find_many(const struct store *st, const struct scope *scope,
                               const struct slice *id, size_t n, struct arena *a,
                               struct session_ref *ref, struct err *e);
enum err_code claude_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e);
enum err_code claude_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          struct transcript **out, struct err *e);
enum err_code claude_branches(const struct store *st, const struct session_ref *ref,
                              const atomic_bool *cancel, struct branch_list *out, struct err *e);
enum err_code claude_load_branch(const struct store *st, const struct session_ref *ref,
                                 struct id128 leaf, const atomic_bool *cancel,
                                 struct transcript **out, struct err *e);
enum err_code claude_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e);
enum err_code claude_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e);
enum err_code claude_subagents(const struct store *st, const struct session_ref *ref,
                               struct arena *a, struct slice **ids, size_t *n, struct err *e);
enum err_code claude_describe_subagents(const struct store *st, const struct session_ref *ref,
                                        const atomic_bool *cancel, struct subagent_list *out,
                                        struct err *e);
enum err_code claude_subagent(const struct store *st, const struct session_ref *ref,
                              struct slice agent, struct arena *a, struct session_ref *out,
                              struct err *e);
enum err_code claude_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e);

/* Changes. These only plan. */
enum err_code claude_rename(const struct store *st, const struct session_ref *ref,
                            struct slice title, struct change *c, struct err *e);
enum err_code claude_tag(const struct store *st, const struct session_ref *ref, struct slice tag,
                         bool clear, struct change *c, struct err *e);
enum err_code claude_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e);
enum err_code claude_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e);
enum err_code claude_tombstone(const struct store *st, const struct session_ref *ref,
                               struct slice message, bool cut, struct change *c, struct err *e);
enum err_code claude_reappend(const struct store *st, const struct session_ref *ref,
                              struct change *c, size_t *appended, struct err *e);
enum err_code claude_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e);

enum err_code claude_archive(const struct store *st, const struct scope *scope,
                             const struct session_ref *ref, bool archived, struct change *c,
                             struct err *e);
enum err_code claude_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e);
enum err_code claude_live(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e);
enum err_code claude_live_many(const struct store *st, const struct session_ref *const ref[],
                               size_t n, struct live out[], struct err *e);

/* Damage. */
enum err_code claude_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e);
enum err_code claude_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e);
enum err_code claude_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e);

/* Rewind. */
enum err_code claude_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e);
enum err_code claude_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e);
enum err_code claude_plan_conversation(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e);
enum err_code claude_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e);

/* Writing, for hosts. */
enum err_code claude_make(const struct store_env *env, const char *path, struct err *e);
enum err_code claude_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e);
enum err_code claude_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e);
enum err_code claude_checkpoint(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e);
enum err_code claude_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e);

#endif
