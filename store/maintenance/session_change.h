#ifndef STORE_MAINTENANCE_SESSION_CHANGE_H
#define STORE_MAINTENANCE_SESSION_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"
#include "store/api/session.h"
#include "store/api/store.h"
#include "store/journal/change.h"

/* Changes of sessions, as the commands, the screen and the library for other programs make them. A change of several
 * sessions is planned one after the other and then done as a whole or not at all:
 *
 *     change_new(session_change_name(kind)) -> session_change_plan for each session -> change_do -> change_free */

enum session_change_kind {
    SESSION_RENAME,
    SESSION_TAG,
    SESSION_ARCHIVE,
    SESSION_UNARCHIVE,
    SESSION_RESUME_AT,
    SESSION_TOMBSTONE,
    SESSION_REAPPEND,
};

enum tags_change { TAGS_SET, TAGS_ADD, TAGS_REMOVE };

/* Texts are borrowed for the call. */
struct session_change {
    enum session_change_kind kind;
    /* SESSION_TAG: whether these are all its tags, or some to be added or removed */
    enum tags_change tags;
    /* SESSION_RENAME: the title. SESSION_TAG: tags, separated by commas; none to set: all are removed.
     * SESSION_RESUME_AT: the message; empty: an empty conversation. SESSION_TOMBSTONE: the message. */
    struct slice text;
    bool cut; /* SESSION_TOMBSTONE: the row is removed from the file, see store_tombstone_fn */
    size_t *appended; /* SESSION_REAPPEND: set to the number of rows; may be NULL */
};

/* The name of the command, and the kind of the change in the operation log. A literal. */
const char *session_change_name(enum session_change_kind kind);

/* Adds the session with its origin and the steps of the change to c, and describes it (c->text). Without steps there is
 * nothing to change. A store that does not consist of files has no steps either: it is changed at once and for good,
 * and *at_once (may be NULL) is set. ERR_UNSUPPORTED: the system cannot do that. Other errors are those of
 * store_rename_fn and its neighbours. */
MUST_CHECK enum err_code session_change_plan(const struct session_ref *ref,
                                             const struct scope *scope,
                                             const struct session_change *what, struct change *c,
                                             bool *at_once, struct err *e);

/* Makes a copy of the session (store_fork_fn) as a change of its own; c is new and of the kind "fork", and owns the
 * texts of *out. The copy is made before the operation log is locked, because copying may take a while.
 * ERR_UNSUPPORTED: the system cannot fork, or chooses the ids of forks itself. */
MUST_CHECK enum err_code session_change_fork(const struct store_env *env,
                                             const struct session_ref *ref,
                                             const struct fork_request *req, struct change *c,
                                             struct fork_result *out, struct err *e);

struct retrieve_request;
struct retrieved;
/* Puts the session's transcript where its agent looks for it (store_retrieve_fn), as a change of its own; c is new and
 * of the kind "retrieve". Without steps there was nothing to write. ERR_UNSUPPORTED: it is there already, because the
 * system keeps it nowhere else. */
MUST_CHECK enum err_code session_change_retrieve(const struct store_env *env,
                                                 const struct session_ref *ref,
                                                 const struct retrieve_request *req,
                                                 struct change *c, struct retrieved *out,
                                                 struct err *e);

/* The messages, other than the removed one, that a resume would no longer restore. */
struct left_out {
    struct arena arena;
    struct slice *id;
    size_t n;
};

/* For a planned SESSION_TOMBSTONE. Reads the transcript twice, once from a copy in memory, and writes nothing. End *out
 * with arena_fini(&out->arena), after an error too. */
MUST_CHECK enum err_code session_change_left_out(const struct session_ref *ref,
                                                 const struct change *c, struct slice message,
                                                 struct left_out *out, struct err *e);

/* ---- changes that only the agent can make ---- */

/* A change of one session by a command of its own agent (store_ops.change_command), for agents whose index only they
 * write. Before the agent deletes a session that consists of files, copies of these are put into the trash. The change
 * is recorded in the operation log with the command; a deletion of which a copy is kept can be undone, nothing else. */
struct agent_change {
    enum store_command what;
    const struct session_ref *ref;
    struct slice title; /* RENAME: the new one */
    const char *const *argv;
    const char *dir;              /* where the command runs */
    const char *variable, *value; /* a variable of its environment, as in struct spawn */
    const char *line;             /* the same as a line for a shell */
    bool permanently;             /* DELETE: no copy is kept */
    bool unsure; /* DELETE: even if it is not known whether an agent is writing to the session */
};

struct agent_changed {
    char id[40];       /* the id of the change in the operation log */
    char trash_id[64]; /* the id of the copy; "": no copy is kept */
    int64_t bytes;     /* the size of the copy in bytes */
};

/* "rename", "archive", "unarchive", "delete" */
const char *agent_change_name(enum store_command what);
/* CAN_RENAME, CAN_ARCHIVE or CAN_DELETE */
unsigned agent_change_ability(enum store_command what);
/* What a person should know before it: a sentence; a literal. */
const char *agent_change_consequence(const struct agent_change *a);
/* Runs the command and checks its result in the store. ERR_LOCKED: an agent has the session open, or may have, and
 * nothing was run. ERR_IO: the command failed, or the session is not changed; the text has the last line of what the
 * command printed. If the agent removed a part of the session nevertheless, the copies stay in the trash,
 * which the text mentions. */
MUST_CHECK enum err_code agent_change_run(const struct store_env *env, const struct agent_change *a,
                                          struct agent_changed *out, struct err *e);

#endif
