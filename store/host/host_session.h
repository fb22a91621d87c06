#ifndef STORE_HOST_HOST_SESSION_H
#define STORE_HOST_HOST_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/host.h"
#include "store/api/session.h"

/* A session that a host keeps open while its agent runs. The calls of store/api/host.h keep no state; this handle
 * remembers the last row, the ids that were written and the metadata near the end, so that the cost of an append
 * depends on what it writes and not on the size of the session. It works over any struct store that can append.
 *
 *     host_session_open or host_session_create -> host_session_append, _set in any order -> host_session_close
 *
 * Other programs may write to the same session: each append takes the lock of the log and compares the file with what
 * it remembers. Rows that another program appended since are read, and the last of them is the parent of ours; a file
 * that was replaced, shortened or edited is read again.
 *
 * A session that does not exist yet (host_session_create) of a system that creates its file with the first message
 * (Claude Code, seed 002) is not on disk until one is appended. Until then rows and settings are held in memory;
 * settings are written first. Closing it without a message leaves nothing behind. With other systems it is on disk when
 * the call returns.
 *
 * There are two ways of writing:
 *
 * - Without `background` every call writes at once and returns the result for its rows. A call that fails has written
 *   nothing, and can be repeated.
 * - With it, rows and settings go into a queue in memory, and one thread of the session writes them in batches: when
 *   the first of them is interval_ms old, or when there is enough for a batch. Calls check their rows and give them ids
 *   and times before they return; what depends on the file (the preceding row, repeated ids) is decided when they are
 *   written. Rows are written in the order of the calls.
 *
 * Durability: a row is safe from a kill of the process once it is written, and from a power cut once it is synced.
 * Depending on `durable`, each batch (without background, each call) is synced, or each row separately, or nothing
 * before host_session_flush and host_session_close. A kill at any moment loses only rows that were not written yet. It
 * never leaves a part of a row: appends are recorded first, and what an interrupted one left is removed when the next
 * append or change begins (store/journal/append_journal.h). Only with HOST_DURABLE_FLUSH can a power cut leave a part
 * of a row that was not flushed; readers skip it, and the next row begins on a line of its own.
 *
 * Failures of the background thread (disk full, no permission) go to `failed` at once, and are returned by the next
 * call, which does nothing else. The rows stay in the queue and are tried again after 0.1 s, and then at growing
 * intervals of up to 5 s. Only rows that can never be written (ERR_USAGE, ERR_UNSUPPORTED) are dropped, and counted as
 * lost. A full queue makes host_session_append wait; it returns the failure instead if the thread cannot write.
 *
 * Other programs: as long as a session is open and on disk, it is announced as one that this process writes to
 * (store/host/host_state.h), so that no other program deletes it or rewinds its conversation. If its files are gone all
 * the same, the next write makes them again, with all rows that they had (where the system keeps a removed file for
 * those who know it, as Linux does; otherwise with those that were not written yet), calls `failed` once with
 * ERR_STALE, and goes on; counts.remade says how often that happened.
 *
 * Threads: calls on one session may come from any thread at any time, except that host_session_close must be the
 * last. They take turns. `failed` is called by the thread that writes, without a lock; it must not call the session.
 * The background thread has all signals blocked. Different sessions are independent, also of one store; two handles
 * of one session in one process behave like two processes. The store and its environment must outlive the session.
 *
 * fork: a session belongs to the process that opened it. In a child every call returns ERR_UNSUPPORTED at once and
 * writes nothing of the parent's queue; host_session_close does nothing there. The child opens the session again if it
 * has something to append. (A child does not keep the lock of the log either.) */
struct host_session;

enum host_durable {
    HOST_DURABLE_BATCH, /* the default */
    HOST_DURABLE_ROW,
    HOST_DURABLE_FLUSH,
};

/* Called when rows could not be written; the error is valid during the call. */
typedef void host_failed_fn(const struct err *failure, void *arg);

/* Members that are zero have the defaults in brackets. With a zeroed struct, or NULL, calls write at once. */
struct host_session_options {
    bool background;
    enum host_durable durable;
    /* The default is that of the system's own agent: Claude Code 100 (with a remote copy 10: seed 002), ExAthena 250
     * (seed 001), Go agents HOST_AT_ONCE (seed 004); others 100. */
    uint32_t interval_ms;
    size_t batch_rows;  /* rows in one write, at most [256] */
    size_t batch_bytes; /* bytes in one write [1 MiB]; a longer row is written alone */
    size_t queue_rows;  /* an append waits if the queue has this many rows [4096; Go agents 256] */
    size_t queue_bytes; /* or this many bytes [16 MiB] */
    host_failed_fn *failed;
    void *arg;
};

/* ERR_UNSUPPORTED: sessions of this system cannot be appended to. Texts of the ref are copied. */
MUST_CHECK enum err_code host_session_open(const struct store *st, const struct session_ref *ref,
                                           const struct host_session_options *options,
                                           struct host_session **out, struct err *e);
/* A new session. The errors are those of host_create; if the session is put on disk later, some of them are returned
 * with its first message. */
MUST_CHECK enum err_code host_session_create(const struct store *st, const struct host_create *req,
                                             const struct host_session_options *options,
                                             struct host_session **out, struct err *e);
/* The id, valid until the session is closed; known before the session is on disk. */
struct slice host_session_id(const struct host_session *s);

/* Appends rows, as host_append. In the background, and while the session is not on disk, ids are those of the rows
 * (empty if the store generates them only when it writes), and `present` and `left_out` are not known yet and are 0:
 * see host_session_counts. */
MUST_CHECK enum err_code host_session_append(struct host_session *s, const struct host_append *req,
                                             struct arena *a, struct host_appended *out,
                                             struct err *e);
/* Updates the session's metadata, as host_set; in the background the settings are queued in order with the rows. */
MUST_CHECK enum err_code host_session_set(struct host_session *s,
                                          const struct host_setting *setting, size_t n,
                                          struct err *e);
/* Writes everything that was passed before this call, in this thread, and syncs it. Rows that could not be written, and
 * those of a session without a message, stay in the queue. */
MUST_CHECK enum err_code host_session_flush(struct host_session *s, struct err *e);
/* Flushes, ends the thread and frees the session in any case. If that fails, the rows that could not be written are
 * lost, and the error is the reason: a host that wants to keep them calls host_session_flush first. NULL is fine. */
enum err_code host_session_close(struct host_session *s, struct err *e);

struct host_session_counts {
    uint64_t written;  /* rows */
    uint64_t present;  /* rows that the session already had */
    uint64_t left_out; /* rows that the system does not keep */
    uint64_t lost;     /* rows and settings that could never be written */
    uint64_t batches;  /* appends to the log */
    size_t queued;     /* rows and settings that wait */
    uint64_t remade;   /* how often the session was made again because its files were gone */
};
void host_session_counts(struct host_session *s, struct host_session_counts *out);

#endif
