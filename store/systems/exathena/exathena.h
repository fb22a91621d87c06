#ifndef STORE_SYSTEMS_EXATHENA_EXATHENA_H
#define STORE_SYSTEMS_EXATHENA_EXATHENA_H

#include <stdbool.h>

#include "lite/io/window.h"
#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

#define EXATHENA_SUFFIX JSONL_SUFFIX
/* lengths of the ids that the library generates */
enum { EXATHENA_ID = 22, EXATHENA_EVENT_ID = 11 };

/* The sessions of ExAthena (formats/exathena.md): base.path is <project>/.exathena, with
 *
 *   sessions/<id>.jsonl                       the log: one event a line, in the order of events
 *   sessions/<id>/sidechains/<agent>.jsonl    runs of sub-agents, one line each
 *   file-history/<id>/<sha of path>/          the files before each edit (saved_files.h)
 *
 * There is no metadata: no title, no tag, no archive mark. A line with a key that the library does
 * not know makes its own rewind fail half-way, so no keys are added. The name of a session is its
 * first prompt, or its id.
 *
 * A host may name a root of its own for the logs (its option `root:`), which names no project: then
 * base.path is sessions/ itself, and file-history/ is where the library would look for it, in the
 * .exathena of the directory that it runs in: the nearest one above the root, else above our own
 * directory.
 *
 * The library reads, writes and cuts without locks. Immutable after open; threads may share it. */
struct exathena {
    struct store base;
    char *sessions; /* <path>/sessions; need not exist */
    char *history;  /* <path>/file-history; need not exist */
    char *project;  /* the directory that contains .exathena */
    bool own_root;  /* the logs are directly in base.path */
    /* own_root, and no .exathena is above the root: project is our own directory, which no session
     * names */
    bool homeless;
    struct window_pool *scratch;
};

/* The store as this system's own; asserts that it is one. */
const struct exathena *exathena_of(const struct store *st);

/* The folder of the logs. */
struct jsonl_folder exathena_folder(const struct exathena *x);
/* Returns true if this can be the id of a session: it must name one file, and be usable on a
 * command line. */
bool exathena_is_id(struct slice id);
/* A new id as the library generates them: base64url of random bytes, n characters; ours never begin
 * with '-'. */
void exathena_generate_id(char *out, size_t n);
/* <path of the transcript without its suffix>/<rest>, in the session's own directory; NULL if out
 * of memory. */
const char *exathena_side_path(const struct session_ref *ref, const char *rest, struct arena *a);

/* Returns true if the scope includes the store's project, to which all its sessions belong: the
 * scope names the project, a directory inside it, or a worktree. */
bool exathena_in_scope(const struct exathena *x, const struct scope *scope);

extern const struct store_ops exathena_ops;

/* The members of exathena_ops. */
enum err_code exathena_enumerate(const struct store *st, const struct scope *scope,
                                 session_ref_fn *fn, void *arg, struct err *e);
enum err_code exathena_find(const struct store *st, const struct scope *scope, struct slice id,
                            struct arena *a, struct session_ref *ref, struct err *e);
enum err_code exathena_at_path(const struct store *st, struct slice path, struct arena *a,
                               struct session_ref *ref, struct err *e);
enum err_code exathena_describe(const struct store *st, const struct scope *scope,
                                const struct session_ref *ref, struct session_row *row,
                                struct err *e);
enum err_code exathena_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                            struct transcript **out, struct err *e);
enum err_code exathena_load(const struct store *st, const struct session_ref *ref,
                            const atomic_bool *cancel, struct transcript **out, struct err *e);
enum err_code exathena_blocks(const struct store *st, struct slice row, struct block_list *out,
                              struct err *e);
enum err_code exathena_messages(const struct store *st, const struct session_ref *ref,
                                const struct message_query *q, json_fn *fn, void *arg,
                                struct err *e);
enum err_code exathena_restore(const struct store *st, const struct session_ref *ref,
                               struct slice at, struct restore *out, struct err *e);
enum err_code exathena_subagents(const struct store *st, const struct session_ref *ref,
                                 struct arena *a, struct slice **ids, size_t *n, struct err *e);
enum err_code exathena_describe_subagents(const struct store *st, const struct session_ref *ref,
                                          const atomic_bool *cancel, struct subagent_list *out,
                                          struct err *e);
enum err_code exathena_subagent(const struct store *st, const struct session_ref *ref,
                                struct slice agent, struct arena *a, struct session_ref *out,
                                struct err *e);

/* Changes: each plans only. */
enum err_code exathena_fork(const struct store *st, const struct session_ref *ref,
                            const struct fork_request *req, struct change *c,
                            struct fork_result *out, struct err *e);
enum err_code exathena_parts(const struct store *st, const struct session_ref *ref, bool all,
                             struct arena *a, const char ***part, size_t *n, struct err *e);
enum err_code exathena_copies(const struct store *st, const struct session_ref *ref,
                              struct arena *a, const char **dir, struct err *e);
enum err_code exathena_live(const struct store *st, const struct session_ref *ref, struct live *out,
                            struct err *e);

/* Looking for damage. */
enum err_code exathena_check(const struct store *st, const struct session_ref *ref,
                             const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e);
enum err_code exathena_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                                 void *arg, struct err *e);
enum err_code exathena_check_store(const struct store *st, const struct scope *scope,
                                   finding_fn *fn, void *arg, struct err *e);

/* Rewind. */
enum err_code exathena_checkpoints(const struct store *st, const struct session_ref *ref,
                                   struct checkpoint_list *out, struct err *e);
enum err_code exathena_plan(const struct store *st, const struct session_ref *ref,
                            struct slice point, struct rewind_plan *out, struct err *e);
enum err_code exathena_plan_inferred(const struct store *st, const struct session_ref *ref,
                                     struct slice point, struct rewind_plan *out, struct err *e);
enum err_code exathena_plan_conversation(const struct store *st, const struct session_ref *ref,
                                         struct slice point, struct rewind_plan *plan,
                                         struct err *e);

/* Writing, for hosts. */
enum err_code exathena_make(const struct store_env *env, const char *path, struct err *e);
enum err_code exathena_create(const struct store *st, const struct host_create *req,
                              struct arena *a, struct host_created *out, struct err *e);
enum err_code exathena_append(const struct store *st, const struct session_ref *ref,
                              const struct host_append *req, struct arena *a,
                              struct host_appended *out, struct err *e);
enum err_code exathena_checkpoint(const struct store *st, const struct session_ref *ref,
                                  const struct host_checkpoint *req, struct arena *a,
                                  struct host_checkpointed *out, struct err *e);

#endif
