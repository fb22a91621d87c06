#ifndef STORE_SYSTEMS_ENTIRE_ENTIRE_H
#define STORE_SYSTEMS_ENTIRE_ENTIRE_H

#include <stdbool.h>

#include "store/api/store.h"
#include "store/systems/entire/read/catalog.h"

/* Entire: sessions of several agents, kept next to the code in the git repository itself (docs/formats/entire.md). State
 * files are in the common git directory, temporary checkpoints on shadow branches, committed ones on
 * entire/checkpoints/v1 or in one ref each. This header is private to the system; others use `entire_ops`.
 *
 * base.path is the directory that was asked for, or its work tree. Listing, reading and planning write nothing. */
struct entire {
    struct store base;
    char *git;      /* the git directory of the work tree */
    char *common;   /* the git directory that all work trees share */
    char *states;   /* common/entire-sessions; may not exist */
    char *worktree; /* the work tree; NULL: bare */
    char *worktree_id;
    char **tree; /* all work trees of the repository */
    size_t trees;
    struct catalog_cache *cache;
};

/* Returns true if a repository that contains this directory may have data of Entire. Decides by the names in git directories
 * from here upwards, without libgit2, which takes 10 ms to start. False is certain. */
bool entire_detect(const char *dir);
/* Downcast; asserts that the store is one of Entire's. */
const struct entire *entire_of(const struct store *st);
/* Opens the catalog of the store; free it with catalog_close. */
MUST_CHECK enum err_code entire_catalog(const struct entire *x, bool fresh, struct catalog **out,
                                        struct err *e);
/* Finds a session in a fresh catalog, which the caller closes. ERR_NOT_FOUND: it is gone. */
MUST_CHECK enum err_code entire_session(const struct store *st, struct slice id,
                                        struct catalog **catalog,
                                        const struct catalog_session **out, struct err *e);
/* Makes the ref of a session, with its texts in the arena. Returns false if out of memory. */
bool entire_ref(const struct entire *x, const struct catalog_session *s, struct arena *a,
                struct session_ref *out);
/* Returns true if the session belongs to the scope. */
bool entire_in_scope(const struct entire *x, const struct scope *scope,
                     const struct catalog_session *s);

extern const struct store_ops entire_ops;
/* Conversations of Claude Code are read and changed through its own system. */
extern const struct store_ops claude_ops;

/* ---- the members of entire_ops; store/api/store.h describes them ---- */

enum err_code entire_enumerate(const struct store *st, const struct scope *scope,
                               session_ref_fn *fn, void *arg, struct err *e);
enum err_code entire_describe(const struct store *st, const struct scope *scope,
                              const struct session_ref *ref, struct session_row *row,
                              struct err *e);
enum err_code entire_unreadable(const struct store *st, const struct scope *scope, trouble_fn *fn,
                                void *arg, struct err *e);
enum err_code entire_find(const struct store *st, const struct scope *scope, struct slice id,
                          struct arena *a, struct session_ref *ref, struct err *e);
enum err_code entire_at_path(const struct store *st, struct slice path, struct arena *a,
                             struct session_ref *ref, struct err *e);
enum err_code entire_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          struct transcript **out, struct err *e);
enum err_code entire_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e);
enum err_code entire_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e);
enum err_code entire_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e);
enum err_code entire_retrieve(const struct store *st, const struct session_ref *ref,
                              const struct retrieve_request *req, struct change *c,
                              struct retrieved *out, struct err *e);
enum err_code entire_restore(const struct store *st, const struct session_ref *ref, struct slice at,
                             struct restore *out, struct err *e);
enum err_code entire_parts(const struct store *st, const struct session_ref *ref, bool all,
                           struct arena *a, const char ***part, size_t *n, struct err *e);
/* The reason why a session without a state cannot be deleted. */
extern const char entire_only_committed[];
enum err_code entire_owned_refs(const struct store *st, const struct session_ref *ref,
                                struct arena *a, struct owned_refs *out, struct err *e);
enum err_code entire_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                               void *arg, struct err *e);
enum err_code entire_live(const struct store *st, const struct session_ref *ref, struct live *out,
                          struct err *e);
const char *entire_agent(const struct store *st, const struct session_ref *ref);

/* Changes of the agent's own transcript, if the agent is Claude Code. */
enum err_code entire_fork(const struct store *st, const struct session_ref *ref,
                          const struct fork_request *req, struct change *c, struct fork_result *out,
                          struct err *e);
enum err_code entire_resume_at(const struct store *st, const struct session_ref *ref,
                               struct slice message, struct change *c, struct err *e);

/* Damage. */
enum err_code entire_check(const struct store *st, const struct session_ref *ref,
                           const atomic_bool *cancel, finding_fn *fn, void *arg, struct err *e);
enum err_code entire_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                                 void *arg, struct err *e);

/* Writing, for hosts. */
enum err_code entire_create(const struct store *st, const struct host_create *req, struct arena *a,
                            struct host_created *out, struct err *e);
enum err_code entire_append(const struct store *st, const struct session_ref *ref,
                            const struct host_append *req, struct arena *a,
                            struct host_appended *out, struct err *e);
enum err_code entire_checkpoint(const struct store *st, const struct session_ref *ref,
                                const struct host_checkpoint *req, struct arena *a,
                                struct host_checkpointed *out, struct err *e);
enum err_code entire_set(const struct store *st, const struct session_ref *ref,
                         const struct host_setting *setting, size_t n, struct err *e);

/* Rewinding. */
enum err_code entire_checkpoints(const struct store *st, const struct session_ref *ref,
                                 struct checkpoint_list *out, struct err *e);
enum err_code entire_plan(const struct store *st, const struct session_ref *ref, struct slice point,
                          struct rewind_plan *out, struct err *e);
enum err_code entire_plan_conversation(const struct store *st, const struct session_ref *ref,
                                       struct slice point, struct rewind_plan *plan, struct err *e);
enum err_code entire_plan_turn(const struct store *st, const struct session_ref *ref,
                               struct slice point, struct rewind_plan *out, struct err *e);
enum err_code entire_count_lines(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct checkpoint_list *list,
                                 struct err *e);
enum err_code entire_plan_refs(const struct store *st, const struct session_ref *ref,
                               struct rewind_plan *plan, struct err *e);
enum err_code entire_plan_own(const struct store *st, const struct session_ref *ref,
                              struct slice point, struct rewind_plan *out, struct err *e);

#endif
