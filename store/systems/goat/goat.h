#ifndef STORE_SYSTEMS_GOAT_GOAT_H
#define STORE_SYSTEMS_GOAT_GOAT_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "store/api/store.h"

/* The Go directory sessions (goat.md B): SESSIONS/<id>/ with metadata.json, messages.jsonl (the conversation, one
 * message a line), transcript.jsonl (the SDK's stream, if the host kept it) and checkpoints/<id>/ with a manifest and
 * contents named by their SHA-256. Private to this directory; others see `goat_ops`.
 *
 * A session's ref has its directory's name for an id (what the host opens it by) and the file that a reader wants for a
 * path: messages.jsonl, else transcript.jsonl, else metadata.json. */

#define GOAT_METADATA "metadata.json"
#define GOAT_MESSAGES_LOG "messages.jsonl"
#define GOAT_TRANSCRIPT_LOG "transcript.jsonl"
#define GOAT_LOCK_SUFFIX ".lock"
bool goat_is_file(struct slice name);      /* one of these three */
enum { GOAT_LINE_MAX = 10 * 1024 * 1024 }; /* of a line that the host can still read */

/* What a store's path is, told by what lies there. */
enum goat_path_kind {
    GOAT_CONFIG,   /* CONFIG: sessions are in projects/<project>/sessions/ */
    GOAT_PROJECTS, /* in <project>/sessions/ */
    GOAT_PROJECT,  /* in sessions/ */
    GOAT_SESSIONS, /* in the path itself */
};

/* base.path as it was given. Immutable after open (the pool looks after itself), so that threads may share it. */
struct goat {
    struct store base;
    enum goat_path_kind place;
    struct window_pool *scratch; /* for describe */
};

/* The store as this system's own; asserts that it is one. */
const struct goat *goat_of(const struct store *st);

/* Can this be the name of a session's directory? One plain component; not one of the host's folders for memory, which
 * are never listed and never removed. Everything that becomes a file name passes this first. */
bool goat_is_id(struct slice id);
/* The names that are kept for what the host remembers (goat.md B5, Cleanup). */
bool goat_is_memory(struct slice name);
/* Likewise of a checkpoint's directory. */
bool goat_is_point_id(struct slice id);

/* <session directory>/<rest>, where the ref's path may be that directory itself, NUL-terminated in the arena; rest may be "" (then without a slash). NULL without memory. */
const char *goat_path(const struct session_ref *ref, const char *rest, struct arena *a);

/* ---- session_dirs.c: where sessions lie ---- */

/* A directory with sessions in it; folder is the name of its project, "" where it has none. Return false to stop. */
typedef bool goat_base_fn(const char *sessions, struct slice folder, void *arg);
/* Each of them, those that are there; no links. */
void goat_each_base(const struct goat *g, goat_base_fn *fn, void *arg);
enum goat_path_kind goat_path_kind_of(const char *path);
/* Does any session lie in the store? */
bool goat_has_sessions(const struct goat *g);

/* create.c: where a session of this directory belongs; NULL without memory. */
const char *goat_base_for(enum goat_path_kind place, const char *path, const char *cwd,
                          struct arena *a);

/* ---- enumerate.c ---- */

/* The session in a directory. ERR_NOT_FOUND: none. `id` is the directory's name, `sessions` where it lies. The ref's texts
 * are in the arena. */
MUST_CHECK enum err_code goat_ref_at(const struct store *st, const char *sessions,
                                     struct slice folder, struct slice id, struct arena *a,
                                     struct session_ref *ref, struct err *e);
/* Is the directory that a session says it ran in one of the scope? */
bool goat_in_scope(const struct scope *scope, struct slice cwd, struct arena *a);

extern const struct store_ops goat_ops;

/* The members of goat_ops. */
enum err_code goat_enumerate(const struct store *st, const struct scope *scope, session_ref_fn *fn,
                             void *arg, struct err *e);
enum err_code goat_unreadable(const struct store *st, const struct scope *scope, trouble_fn *fn,
                              void *arg, struct err *e);
enum err_code goat_describe(const struct store *st, const struct scope *scope,
                            const struct session_ref *ref, struct session_row *row, struct err *e);
enum err_code goat_find(const struct store *st, const struct scope *scope, struct slice id,
                        struct arena *a, struct session_ref *ref, struct err *e);
enum err_code goat_at_path(const struct store *st, struct slice path, struct arena *a,
                           struct session_ref *ref, struct err *e);
enum err_code goat_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                        struct transcript **out, struct err *e);
enum err_code goat_load(const struct store *st, const struct session_ref *ref,
                        const atomic_bool *cancel, struct transcript **out, struct err *e);
enum err_code goat_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e);
enum err_code goat_messages(const struct store *st, const struct session_ref *ref,
                            const struct message_query *q, json_fn *fn, void *arg, struct err *e);
enum err_code goat_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                           struct restore *out, struct err *e);

/* Changes: each plans only. */
enum err_code goat_rename(const struct store *st, const struct session_ref *ref, struct slice title,
                          struct change *c, struct err *e);
enum err_code goat_fork(const struct store *st, const struct session_ref *ref,
                        const struct fork_request *req, struct change *c, struct fork_result *out,
                        struct err *e);
enum err_code goat_parts(const struct store *st, const struct session_ref *ref, bool all,
                         struct arena *a, const char ***part, size_t *n, struct err *e);
enum err_code goat_live(const struct store *st, const struct session_ref *ref, struct live *out,
                        struct err *e);

enum err_code goat_check(const struct store *st, const struct session_ref *ref,
                         const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e);

/* Going back. */
enum err_code goat_plan_conversation(const struct store *st, const struct session_ref *ref,
                                     struct slice point, struct rewind_plan *plan, struct err *e);
enum err_code goat_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                               void *arg, struct err *e);
enum err_code goat_checkpoints(const struct store *st, const struct session_ref *ref,
                               struct checkpoint_list *out, struct err *e);
enum err_code goat_count_lines(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct checkpoint_list *list,
                               struct err *e);
enum err_code goat_plan(const struct store *st, const struct session_ref *ref, struct slice id,
                        struct rewind_plan *out, struct err *e);

/* Writing, for hosts. */
enum err_code goat_make(const struct store_env *env, const char *path, struct err *e);
enum err_code goat_create(const struct store *st, const struct host_create *req, struct arena *a,
                          struct host_created *out, struct err *e);
enum err_code goat_append(const struct store *st, const struct session_ref *ref,
                          const struct host_append *req, struct arena *a, struct host_appended *out,
                          struct err *e);
enum err_code goat_checkpoint(const struct store *st, const struct session_ref *ref,
                              const struct host_checkpoint *req, struct arena *a,
                              struct host_checkpointed *out, struct err *e);
enum err_code goat_set(const struct store *st, const struct session_ref *ref,
                       const struct host_setting *setting, size_t n, struct err *e);

#endif
