#ifndef STORE_SYSTEMS_CODEX_CODEX_H
#define STORE_SYSTEMS_CODEX_CODEX_H

#include <pthread.h>

#include "store/api/store.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/common/patches/patch_log.h"

/* The sessions ("threads") of the Codex CLI (docs/formats/codex.md): its path is $CODEX_HOME or ~/.codex, with
 *
 *   sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl[.zst]           the log of a thread
 *   sessions/YYYY/MM/DD/rollout-<time>-<thread>_<rollout>.jsonl       the same thread after a revert
 *   archived_sessions/rollout-...                                     archived ones, without folders
 *   session_index.jsonl                                               names: the last line of a thread counts
 *   state_5.sqlite                                                    the index: names, and when a thread was changed
 *   thread-writer-locks/<thread>.lock                                 locked by the program that has it open
 *
 * The log of a fork or of a reverted thread begins with a reference to the log that it continues
 * (rollout.h). All of this is indexed in a database of the program's, so nothing is ever changed
 * here; only new threads are added (codex_compose.c). Immutable after open, except for the names, the index and the names of files, which are
 * read again when they change; threads may share it. */
struct codex_names;
struct codex_threads;
struct codex_places;

struct codex {
    struct jsonl_store jsonl; /* its folder is <path>/sessions */
    struct codex_names *names;
    struct codex_threads *threads;
    struct codex_places *places;
};

/* Downcast; asserts that the store is one of this system. */
const struct codex *codex_of(const struct store *st);

/* A UUID in lower case. */
bool codex_is_id(struct slice id);

/* The names of a store's threads, from session_index.jsonl. Returns NULL if out of memory. */
struct codex_names *codex_names_new(const char *store);
void codex_names_free(struct codex_names *names); /* NULL is fine */
/* Reads the file if it has changed; without it no thread has a name. Any thread may call this and the next one. */
void codex_names_refresh(struct codex_names *names);
/* The name of a thread, in the arena; empty if it has none. */
struct slice codex_names_find(struct codex_names *names, struct slice thread, struct arena *a);

/* A cache of the file names in the folders of a store (places.c), for looking up many rollouts: a
 * folder is read again only after it has changed. Returns NULL if out of memory. Any thread may
 * call these functions. */
struct codex_places *codex_places_new(const char *store);
void codex_places_free(struct codex_places *places); /* NULL is fine */
/* Finds a rollout in the folder of the day on which its id was made or of a neighbouring day (the
 * folders use local time), or else among the archived ones. The path is in the arena; NULL if it is
 * not found. Reads at most four folders. */
const char *codex_places_find(struct codex_places *places, struct slice id, struct arena *a);

/* The program's index of its threads (threads.c). Returns NULL if out of memory. Any thread may
 * call these functions. */
struct codex_thread {
    struct slice name;  /* empty: none */
    struct slice cwd;   /* the directory of its newest turn; may be empty */
    int64_t updated_ms; /* 0: not known */
};
struct codex_threads *codex_threads_new(const char *store);
void codex_threads_free(struct codex_threads *t); /* NULL is fine */
/* Reads the index if it has changed. */
void codex_threads_refresh(struct codex_threads *t);
/* A thread as in the index; all zero if the index does not contain it. Its texts are in the arena,
 * which may be NULL if they are not used. */
struct codex_thread codex_threads_find(struct codex_threads *t, struct slice id, struct arena *a);
/* Reports the index if it could not be read. */
void codex_threads_report(struct codex_threads *t, unreadable_fn *fn, void *arg);

extern const struct jsonl_format codex_format;
extern const struct store_ops codex_ops;
extern const struct agent_hooks codex_hooks;
extern const struct agent_mcp codex_mcp; /* hooks.c */
extern const struct compose_ops codex_compose;

/* The changes of a thread to files (patches.c). With `dropped`, the prompts of reverted turns are points as well. */
MUST_CHECK enum err_code codex_read_patches(const struct store *st, const struct session_ref *ref,
                                            bool dropped, struct patch_log *out, struct err *e);
/* Merges the changes of the thread's sub-agents into its own, in order of time, and renumbers the lines. */
MUST_CHECK enum err_code codex_add_agents(const struct store *st, const struct session_ref *ref,
                                          struct patch_log *c, struct err *e);

/* The members of codex_ops. */
store_enumerate_fn codex_enumerate;
store_unreadable_fn codex_unreadable;
store_describe_fn codex_describe;
store_find_fn codex_find;
store_at_path_fn codex_at_path;
store_place_fn codex_place;
store_tail_fn codex_tail;
store_load_fn codex_load;
store_blocks_fn codex_blocks;
store_subagents_fn codex_subagents;
store_parts_fn codex_shared;
store_subagent_fn codex_subagent;
store_parts_fn codex_deleted_parts;
store_live_fn codex_live;
store_checkpoints_fn codex_checkpoints;
store_plan_fn codex_plan;
store_edits_fn codex_edits;
store_usage_fn codex_usage;

#endif
