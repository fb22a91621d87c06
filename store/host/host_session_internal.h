#ifndef STORE_HOST_HOST_SESSION_INTERNAL_H
#define STORE_HOST_HOST_SESSION_INTERNAL_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "lite/base/slice.h"
#include "store/api/store.h"
#include "store/host/host_session.h"
#include "store/host/host_state.h"
#include "store/log/append.h"

/* The rows and settings that an open session has not written yet, in order. Items are allocated with malloc and belong
 * to their queue. A zeroed struct is empty. */
enum item_kind { ITEM_ROW, ITEM_SAVED_ROW, ITEM_STREAM_ROW, ITEM_SETTING };

struct item {
    struct item *next;
    enum item_kind kind;
    struct slice row; /* or the value of a setting */
    struct slice key;
    char bytes[];
};

struct queue {
    struct item *first, **last;
    size_t n, bytes;
};

/* Copies the texts. NULL if out of memory. */
struct item *host_queue_item(enum item_kind kind, struct slice key, struct slice row);
void host_queue_add(struct queue *q, struct item *x);
/* Adds a setting before the first row, because the settings of a new session are written before its rows. */
void host_queue_add_setting(struct queue *q, struct item *x);
void host_queue_remove_first(struct queue *q);
/* Adds all items of one queue to another. */
void host_queue_move(struct queue *from, struct queue *to);
void host_queue_clear(struct queue *q);

/* There is one queue and one writer at a time. Every call puts its rows into the queue. The writer (`writing`) takes
 * batches from the head of the queue and passes them to the system: it is the background thread, a call that flushes,
 * or, without background, the call itself. The mutex guards the queue and is never held during I/O; what the writer
 * uses needs no lock, because nothing else uses it.
 *
 *   queue:  [setting] [row] [row] | [row] ...      before the first message: held, settings first
 *            `-- a batch: items of one kind, in order --' */

struct host_session {
    const struct store *st;
    struct host_session_options opt;
    struct arena arena; /* the texts of req and ref */
    struct host_create req;
    pid_t pid;

    pthread_mutex_t mutex; /* guards everything down to the next blank line */
    pthread_cond_t changed;
    struct queue queue;
    bool begun;   /* a message is in the queue or on disk */
    bool writing; /* a thread is the writer */
    bool urgent;  /* a call waits for room in the queue */
    bool ending;
    int64_t since_ms, retry_ms; /* when the oldest item came; when the next attempt may be made */
    uint32_t retry_wait_ms;
    struct err failure; /* the failure of the background thread, for the next call */
    struct host_session_counts counts;
    bool on_disk; /* set by the writer only */
    struct session_ref ref;

    struct log_states logs; /* the writer's */
    /* Announces to other programs that the session is written to; NULL: it is not on disk, or cannot be announced. */
    struct host_state *announced;

    pthread_t thread;
    bool has_thread;
};

/* ERR_UNSUPPORTED in the child of a fork. */
MUST_CHECK enum err_code host_session_check_process(const struct host_session *s, struct err *e);

/* Unless noted otherwise, these are called with the mutex held. It is released while they write or wait. */

void host_session_wait(struct host_session *s);
/* Waits until no other thread is the writer, and becomes it. */
void host_session_writer_acquire(struct host_session *s);
void host_session_writer_release(struct host_session *s);
/* Writes the present contents of the queue, but not what is added meanwhile. Called by the writer. Returns the first
 * failure; after a permanent one it still writes the rest. */
MUST_CHECK enum err_code host_session_write_queue(struct host_session *s, struct err *e);
/* Puts the session on disk. Called by the writer, without the mutex. */
MUST_CHECK enum err_code host_session_put_on_disk(struct host_session *s, struct err *e);
/* Announces a session that is on disk. Without a state directory, or if it cannot be written, it is not announced. */
void host_session_announce(struct host_session *s);
/* Writes rows without the queue. If the session's files were removed meanwhile, it is made again first, with all rows
 * that are still known. Called by the writer, without the mutex; set_rows writes settings in place of rows. */
MUST_CHECK enum err_code host_session_append_rows(struct host_session *s,
                                                  const struct host_append *req, struct arena *a,
                                                  struct host_appended *done, struct err *e);
MUST_CHECK enum err_code host_session_set_rows(struct host_session *s,
                                               const struct host_setting *setting, size_t n,
                                               struct err *e);
/* Counts rows that were written without the queue. */
void host_session_count(struct host_session *s, const struct host_appended *done);
bool host_session_has_batch(const struct host_session *s);
/* Returns the background thread's failure, once. */
enum err_code host_session_take_failure(struct host_session *s, struct err *e);

/* Without the mutex. */
MUST_CHECK enum err_code host_session_thread_start(struct host_session *s, struct err *e);
void host_session_thread_end(struct host_session *s);

#endif
