#ifndef STORE_API_HOST_H
#define STORE_API_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/store.h"

struct log_states; /* store/log/append.h */
struct session_ref;
struct store;
struct store_env;
struct store_ops;

/* The writing side: what a program that runs agents needs to keep its sessions in a store of any system, in that
 * system's own format. The commands `create`, `append`, `checkpoint` and `set` only make these calls. A program that
 * appends while its agent runs keeps the session open (store/host/host_session.h).
 *
 * A host's writes are done at once, are durable when the call returns, and are not part of the change log, so `undo`
 * does not revert them. Rows are appended safely while other programs write, and no byte of theirs is lost. A call that
 * fails has written nothing that a reader could mistake for a row or a session.
 *
 * If a call is killed: rows are recorded in a journal first, and an incomplete append is undone when the next append or
 * change begins (store/journal/append_journal.h). create, checkpoint and set keep no journal: each document (metadata,
 * manifest, state, saved copy) is written to a temporary file and renamed, so either the old one or the new one is
 * there, complete. An interrupted checkpoint of several files may leave saved copies of some of them, and can be
 * repeated. A temporary file stays until the next call of the same kind.
 *
 * If two programs change one document at once: those that use this library take turns under its lock if the format has
 * one (goat), or refuse a document that changed before the rename (Entire). A program that takes no lock, such as goat
 * itself for its metadata, may overwrite what we set, and we may overwrite what it wrote between our read and our
 * rename.
 *
 * The order of calls: host_make (once, if there is no store yet) -> open -> host_create -> host_append,
 * host_checkpoint, host_set in any order. A system that cannot do one of them has NULL in struct store_ops, and the
 * call returns ERR_UNSUPPORTED; so a host's own store is a struct store_ops with the members it needs
 * (memory_store_ops is one that is kept in memory, noop_store_ops one that keeps nothing).
 *
 * Texts passed in are borrowed for the call. Returned texts are in the arena. */

enum host_field { /* members that a format may have no place for; see host_created.unsaved */
                  HOST_CWD = 1 << 0,
                  HOST_MODEL = 1 << 1,
                  HOST_TITLE = 1 << 2,
                  HOST_PARENT = 1 << 3,
};

struct host_create {
    struct slice id;    /* empty: a new one is generated, in the system's own form */
    struct slice cwd;   /* absolute; empty: the environment's */
    struct slice model; /* these three may be empty */
    struct slice title;
    struct slice parent; /* the session that this one continues */
    /* For systems with several dialects (goat): the one to write; empty: that of the newest session
     * of the store, else the one of the published program. */
    struct slice dialect;
};

struct host_created {
    struct slice id;
    struct slice path;   /* the path of the transcript or session directory; NUL-terminated */
    struct slice folder; /* as in struct session_ref; empty if the path is enough to name it */
    /* enum host_field: given values for which the format has no member */
    unsigned unsaved;
    const char *warning; /* as in struct host_checkpointed */
};

struct host_append {
    const struct slice *row; /* one JSON object each, without newline; checked by host_append */
    size_t n;
    /* append to the stream of SDK messages, not to the conversation */
    bool transcript;
    /* Set by store/host/host_session.h: what is known of the session's logs (NULL: nothing), and whether the rows are
     * made durable later. A system may ignore both. */
    struct log_states *logs;
    bool later;
    /* Also updates the counts and times that the format keeps in its metadata, as the library of the
     * system does in its AppendAndSave (goat). Others have nothing to update. */
    bool save;
};

struct host_appended {
    size_t n;
    size_t present;         /* rows among them that already existed and were not written again */
    size_t left_out;        /* rows among them that the system does not keep (claude: progress) */
    const struct slice *id; /* the id of each row, n of them; empty for a row that has no id */
};

struct host_checkpoint {
    /* the checkpoint is the state before the answer to this message, whose id a rewind names */
    struct slice message;
    /* absolute paths of the files that are about to be changed; need not exist */
    const char *const *file;
    size_t files;
    /* the label of the checkpoint, if the format has a place for it; may be empty */
    struct slice label;
    /* For a checkpoint at the end of a sub-agent's task, in systems that keep those (entire): the ids of the tool call
     * that started the task and of the sub-agent, whose transcript is saved with the files. message is then a
     * description of the task, and may be empty. */
    struct slice task, agent;
};

struct host_checkpointed {
    /* The id of the checkpoint, or that of the message if the system's checkpoints have none. */
    struct slice id;
    size_t files; /* saved, including files that do not exist */
    size_t fresh; /* copies among them that did not exist yet */
    /* a warning for the person (another session works in the same place), in the arena; or NULL */
    const char *warning;
};

struct host_setting {
    struct slice key;   /* as `reprise set` names it: "title", "tag", ... */
    struct slice value; /* text; empty: the setting is cleared */
};

/* Appends the row, without a newline, with which a host begins a session in the form of Claude Code: it has no message, but
 * the session is there with its directory. The title is the one to use until another is set; empty: none. */
#define HOST_CREATED_TITLE "createdTitle"
MUST_CHECK enum err_code host_first_row(struct slice id, struct slice cwd, struct slice title,
                                        struct buf *out);

/* The reason why hosts keep no sessions in this store, for a person; NULL: they do. For Claude Code these are its own
 * switches (seed 002): CLAUDE_CODE_SKIP_PROMPT_HISTORY in the environment, and cleanupPeriodDays 0 in its settings, as
 * they were when the store was opened. The calls below then check their arguments, succeed, and write nothing, as those
 * of noop_store_ops; existing sessions are read as usual. A literal. */
const char *host_unpersisted(const struct store *st);

/* Makes an empty store; an existing one is left as it is. path NULL: where the system keeps the
 * sessions of env->cwd. */
MUST_CHECK enum err_code host_make(const struct store_ops *ops, const struct store_env *env,
                                   const char *path, struct err *e);
/* A new session without messages. ERR_STALE: a session with this id exists, and is unchanged. ERR_USAGE: the id is not
 * valid in this system. */
MUST_CHECK enum err_code host_create(const struct store *st, const struct host_create *req,
                                     struct arena *a, struct host_created *out, struct err *e);
/* Appends rows, all of them or none (in each file), in one write that is recorded first. Rows whose uuid the session
 * already has are not written again, so that a call that failed, or whose result was lost, can be repeated. Calls of
 * several threads and programs take turns, each appending after the one before (ERR_LOCKED after 10 s). Rows of a
 * sub-agent (claude: those with an agentId) go into its own file, before the others. A row keeps its values, in the
 * order and spelling of the system if that has its own; members that the system requires and the row lacks (an id, a
 * time, the preceding row) are added. ERR_USAGE: a row is not a JSON object, or not a row of this system. */
MUST_CHECK enum err_code host_append(const struct store *st, const struct session_ref *ref,
                                     const struct host_append *req, struct arena *a,
                                     struct host_appended *out, struct err *e);
/* Saves the present contents of files, before the host changes them. A repeated call for the same
 * message and file keeps what was saved first. ERR_UNSAFE: a path is not absolute, or does not lead
 * to a regular file. */
MUST_CHECK enum err_code host_checkpoint(const struct store *st, const struct session_ref *ref,
                                         const struct host_checkpoint *req, struct arena *a,
                                         struct host_checkpointed *out, struct err *e);
/* Updates the session's metadata; other members stay as they are. ERR_USAGE: no such setting in this system, or a value
 * that is not allowed; nothing is then set. */
MUST_CHECK enum err_code host_set(const struct store *st, const struct session_ref *ref,
                                  const struct host_setting *setting, size_t n, struct err *e);

/* As an interval: queued rows are written as soon as the thread is idle. */
#define HOST_AT_ONCE UINT32_MAX

/* The checks that host_create and host_append make for every system. *out is the request with its defaults. */
MUST_CHECK enum err_code host_check_create(const struct store *st, const struct host_create *req,
                                           struct host_create *out, struct err *e);
MUST_CHECK enum err_code host_check_rows(const struct host_append *req, struct err *e);

enum { HOST_ID = 37 }; /* bytes of a generated id, with its NUL */
/* A random UUID. */
void host_generate_id(char out[HOST_ID]);
/* The id identifies a session in any project, so it must be new in all of them. ERR_STALE: a session has it. `doing`
 * begins the text of the error: "create", "fork". */
MUST_CHECK enum err_code host_id_is_new(const struct store *st, struct slice id, struct arena *a,
                                        const char *doing, struct err *e);
/* The rows of a text, without blank lines, in the arena: what `reprise append` reads. */
MUST_CHECK enum err_code host_rows(struct slice text, struct arena *a, struct slice **row,
                                   size_t *n, struct err *e);
/* Returns true if this is a safe file name: not empty, no "." or "..", no '/' and no NUL, at most 255 bytes, no leading
 * '-'. Ids from outside are checked here before they become part of a path. */
bool host_id_is_plain(struct slice id);

/* A store that keeps nothing, for hosts whose persistence is switched off (seed 004): the same calls succeed, nothing
 * is read or written, and nothing is ever listed. open accepts any path, even NULL. Every valid id exists and has no
 * messages, so that a host can look up the session it created. Threads may share it. */
extern const struct store_ops noop_store_ops;

/* A store whose sessions live in memory and end with it, for hosts that want a conversation to be read, listed and
 * searched like any other, but not kept (seed 001); also an example of a host's own store. Every session is a file
 * without a name (memfd), which the library reads as usual.
 *
 * A row is {"id", "role", "text"}, or a row of any agent, whose role and text are found (store/host/memory_row.h): role
 * "user" or "assistant", other rows are kept and are no messages; a missing id is generated, and rows whose id the
 * session already has are not written again. The one setting is "title". open accepts NULL, or the path of an existing
 * directory, which distinguishes stores and is otherwise unused. Sessions are forked and deleted at once; nothing of the
 * store outlives the process, so there is nothing to undo or to rewind. Threads may share a store, also while rows are
 * appended. */
extern const struct store_ops memory_store_ops;

#endif
