#ifndef STORE_API_HOST_H
#define STORE_API_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

struct session_ref;
struct store;
struct store_env;
struct store_ops;

/* The writing side: what a program that runs agents needs to keep its sessions in a store of any system, in that
 * system's own format. The commands `create`, `append`, `checkpoint` and `set` are these calls and nothing more.
 *
 * A host's writes are its own: they are done at once, durable when the call returns, and no part of the log of changes
 * that `undo` takes back. Rows are put beside whatever other programs write at the same moment, and no byte of theirs is
 * lost. A call that fails has written nothing that a reader would take for a row or a session.
 *
 * If a call is killed: rows are recorded in a journal first, and an incomplete append is undone when the next append or
 * change begins (store/journal/append_journal.h). create, checkpoint and set keep no journal: each document (metadata, manifest,
 * state, saved copy) is written beside its place and renamed, so the old one or the new one is there, whole. A checkpoint
 * of several files may leave saved copies of some, and can be made again. A temporary file stays until the next call of
 * its kind.
 *
 * Two programs that change one document at once: programs of ours take turns under its lock where the format has one
 * (goat), or refuse what changed before they rename (Entire). A program that takes no lock, as goat itself for its
 * metadata, may overwrite what we set, and we what it wrote between our read and our rename.
 *
 * The order of calls: host_make (once, where there is no store yet) -> open -> host_create -> host_append,
 * host_checkpoint, host_set in any order. A system that cannot do one of them has NULL in its place in struct
 * store_ops and the call answers ERR_UNSUPPORTED; so a host's own store is a struct store_ops with the members it
 * needs (tests/support/memory_store.c is one that lives in memory).
 *
 * Texts handed in are borrowed for the call. Texts handed out live in the arena. */

enum host_field { /* what a format may have no place for; see host_created.unsaved */
                  HOST_CWD = 1 << 0,
                  HOST_MODEL = 1 << 1,
                  HOST_TITLE = 1 << 2,
                  HOST_PARENT = 1 << 3,
};

struct host_create {
    struct slice id;    /* empty: one is drawn, in the system's own shape */
    struct slice cwd;   /* absolute; empty: the environment's */
    struct slice model; /* these three may be empty */
    struct slice title;
    struct slice parent; /* the session that this one continues */
};

struct host_created {
    struct slice id;
    struct slice path; /* of the transcript or session directory; NUL-terminated */
    /* enum host_field: what was given and the format has no place for */
    unsigned unsaved;
};

struct host_append {
    const struct slice *row; /* one JSON object each, without newline; checked by host_append */
    size_t n;
    bool transcript; /* not to the conversation but to the stream of SDK messages beside it */
};

struct host_appended {
    size_t n;
    size_t present;         /* of these: rows that were there already, and were not written again */
    const struct slice *id; /* of each row, n of them; empty for one that has none */
};

struct host_checkpoint {
    struct slice message; /* before the answer to this one; what a rewind will be asked for */
    const char *const
        *file; /* absolute paths of the files that are about to be changed; need not exist */
    size_t files;
    struct slice label; /* of the checkpoint, where the format has a place for it; may be empty */
};

struct host_checkpointed {
    struct slice id; /* of the checkpoint; where a system has no ids of their own: the message's */
    size_t files;    /* saved, those that were not there included */
    size_t fresh;    /* of these: copies that were not there yet */
    const char *
        warning; /* what the person should know (another session works there too), in the arena; NULL: nothing */
};

struct host_setting {
    struct slice key;   /* as `reprise set` names it: "title", "tag", ... */
    struct slice value; /* text; empty: the setting goes back to nothing */
};

/* Makes an empty store where there is none; one that is there already is fine. path NULL: where the system keeps the
 * sessions of env->cwd. */
MUST_CHECK enum err_code host_make(const struct store_ops *ops, const struct store_env *env,
                                   const char *path, struct err *e);
/* A new session without messages. ERR_STALE: there is one with this id, and it is as it was. ERR_USAGE: this cannot be
 * an id of the system. */
MUST_CHECK enum err_code host_create(const struct store *st, const struct host_create *req,
                                     struct arena *a, struct host_created *out, struct err *e);
/* Adds rows behind the last one, all of them or none (in each file), in one write that is written down first. Rows whose
 * uuid the session has already are not written again, so that a call that failed, or whose answer was lost, can be made
 * again. Calls of several threads and programs take turns, each behind what the one before wrote (ERR_LOCKED after
 * 10 s). Rows of a sub-agent (claude: those with an agentId) go into its own file, before the others. A row says what it was handed in
 * with, in the order and spelling of the system where that has its own; what its rows need and this one lacks (an id, a
 * time, the row before) is added to it. ERR_USAGE: a row is no JSON
 * object, or none of this system. */
MUST_CHECK enum err_code host_append(const struct store *st, const struct session_ref *ref,
                                     const struct host_append *req, struct arena *a,
                                     struct host_appended *out, struct err *e);
/* Saves what files are now, before the host changes them. Saying it again for the same message and file keeps what was
 * saved first. ERR_UNSAFE: a path is not absolute, or leads to no regular file. */
MUST_CHECK enum err_code host_checkpoint(const struct store *st, const struct session_ref *ref,
                                         const struct host_checkpoint *req, struct arena *a,
                                         struct host_checkpointed *out, struct err *e);
/* Updates the session's metadata; members that are not named stay. ERR_USAGE: no such setting in this system, or a
 * value that it cannot have; then none was set. */
MUST_CHECK enum err_code host_set(const struct store *st, const struct session_ref *ref,
                                  const struct host_setting *setting, size_t n, struct err *e);

enum { HOST_ID = 37 }; /* bytes of a drawn id, with its NUL */
/* A random UUID. */
void host_generate_id(char out[HOST_ID]);
/* Rows of a text of many lines, blank ones left out, in the arena: what `reprise append` reads. */
MUST_CHECK enum err_code host_rows(struct slice text, struct arena *a, struct slice **row,
                                   size_t *n, struct err *e);
/* Returns true if this can be one part of a path: not empty, no "." or "..", no '/' and no NUL, at most 255 bytes, no '-' in front.
 * Ids from outside are checked here before they become a file's name. */
bool host_id_is_plain(struct slice id);

#endif
