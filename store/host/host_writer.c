#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lite/base/time.h"
#include "store/host/host_session_internal.h"

struct item *host_queue_item(enum item_kind kind, struct slice key, struct slice row)
{
    struct item *x = malloc(sizeof *x + key.n + row.n);

    if (!x)
        return NULL;
    *x = (struct item){ .kind = kind,
                        .row = { x->bytes + key.n, row.n },
                        .key = { x->bytes, key.n } };
    if (key.n)
        memcpy(x->bytes, key.p, key.n);
    if (row.n)
        memcpy(x->bytes + key.n, row.p, row.n);
    return x;
}

void host_queue_add(struct queue *q, struct item *x)
{
    if (!q->first)
        q->last = &q->first;
    *q->last = x;
    q->last = &x->next;
    q->n++;
    q->bytes += x->row.n;
}

void host_queue_add_setting(struct queue *q, struct item *x)
{
    struct item **at = &q->first;

    while (*at && (*at)->kind == ITEM_SETTING)
        at = &(*at)->next;
    if (!*at) {
        host_queue_add(q, x);
        return;
    }
    x->next = *at;
    *at = x;
    q->n++;
    q->bytes += x->row.n;
}

void host_queue_remove_first(struct queue *q)
{
    struct item *x = q->first;

    q->first = x->next;
    q->n--;
    q->bytes -= x->row.n;
    free(x);
}

void host_queue_move(struct queue *from, struct queue *to)
{
    if (!from->first)
        return;
    if (!to->first)
        to->last = &to->first;
    *to->last = from->first;
    to->last = from->last;
    to->n += from->n;
    to->bytes += from->bytes;
    *from = (struct queue){ 0 };
}

void host_queue_clear(struct queue *q)
{
    while (q->first)
        host_queue_remove_first(q);
}

/* Who writes, when, and in which batches. */

enum { RETRY_FIRST_MS = 100, RETRY_MOST_MS = 5000 };

void host_session_wait(struct host_session *s)
{
    pthread_cond_wait(&s->changed, &s->mutex);
}

/* ---- writing a batch ---- */

struct batch {
    enum item_kind kind;
    size_t n;
    struct slice *row;
    struct host_setting *setting;
    struct arena a;
};

/* Takes the items at the head that are written together. They stay in the queue until they are written. */
static enum err_code batch_take(struct host_session *s, struct batch *b, struct err *e)
{
    size_t most = s->opt.durable == HOST_DURABLE_ROW ? 1 : s->opt.batch_rows, bytes = 0;
    const struct item *x = s->queue.first;

    *b = (struct batch){ .kind = x->kind };
    b->row = arena_alloc(&b->a, most * sizeof *b->row);
    b->setting = arena_alloc(&b->a, most * sizeof *b->setting);
    if (!b->row || !b->setting)
        return err_nomem(e);
    for (; x && x->kind == b->kind && b->n < most; x = x->next) {
        if (b->n && bytes + x->row.n > s->opt.batch_bytes)
            break;
        bytes += x->row.n;
        b->setting[b->n] = (struct host_setting){ .key = x->key, .value = x->row };
        b->row[b->n++] = x->row;
    }
    return ERR_OK;
}

enum err_code host_session_put_on_disk(struct host_session *s, struct err *e)
{
    struct host_created made;

    TRY(host_create(s->st, &s->req, &s->arena, &made, e));
    s->ref = (struct session_ref){
        .store = s->st, .id = made.id, .path = made.path, .folder = made.folder
    };
    host_session_announce(s);
    return ERR_OK;
}

/* ---- other programs ---- */

/* A failure to announce it must not stop a host from writing. The store in memory, and those that keep nothing, are
 * seen by no other program. */
void host_session_announce(struct host_session *s)
{
    const struct host_published where = { .env = s->st->env,
                                          .system = store_format(s->st->ops),
                                          .session = s->ref.id,
                                          .cwd = slice_of(s->st->env->cwd ? s->st->env->cwd : ""),
                                          .writer = true };

    if (!s->announced && s->ref.path.n &&
        (s->st->ops->remote || !store_changes_at_once(s->st->ops)) && !host_unpersisted(s->st) &&
        host_state_open(&where, &s->announced, NULL))
        s->announced = NULL;
}

/* If the whole store is gone, its disk may be back in a moment. */
static bool host_writer_is_gone(const struct host_session *s)
{
    struct stat st;

    if (!s->st->path || stat(s->st->path, &st) != 0)
        return false;
    return log_states_any_gone(&s->logs) || (lstat(s->ref.path.p, &st) != 0 && errno == ENOENT);
}

/* The documents of the session are made first, as for a new one, and then the logs that this process has seen. */
static enum err_code remake(struct host_session *s, struct err *e)
{
    struct host_create req = s->req;
    struct host_created made = { .path = s->ref.path };
    enum err_code rc = ERR_OK;

    req.id = s->ref.id;
    if (s->st->ops->has_documents || !log_states_any_gone(&s->logs))
        rc = host_create(s->st, &req, &s->arena, &made, e);
    if (rc == ERR_STALE) /* it still has its documents */
        rc = ERR_OK;
    else if (!rc && !log_states_any_gone(&s->logs))
        s->ref.path = made.path;
    if (!rc)
        rc = log_states_put_back(&s->logs, e);
    return rc;
}

/* Returns true if the session was gone and is there again. */
static bool remade(struct host_session *s)
{
    struct err why = { 0 };

    if (!host_writer_is_gone(s) || remake(s, NULL))
        return false;
    pthread_mutex_lock(&s->mutex);
    s->counts.remade++;
    pthread_mutex_unlock(&s->mutex);
    if (s->opt.failed) {
        err_set(&why, ERR_STALE, s->ref.path.p,
                "another program removed the session: it was made again with all rows that are "
                "known");
        s->opt.failed(&why, s->opt.arg);
    }
    return true;
}

enum err_code host_session_append_rows(struct host_session *s, const struct host_append *req,
                                       struct arena *a, struct host_appended *done, struct err *e)
{
    /* Some systems would begin a log that is gone anew. */
    if (log_states_any_gone(&s->logs))
        remade(s);
    enum err_code rc = host_append(s->st, &s->ref, req, a, done, e);

    return rc == ERR_NOT_FOUND && remade(s) ? host_append(s->st, &s->ref, req, a, done, e) : rc;
}

enum err_code host_session_set_rows(struct host_session *s, const struct host_setting *setting,
                                    size_t n, struct err *e)
{
    enum err_code rc = host_set(s->st, &s->ref, setting, n, e);

    return rc == ERR_NOT_FOUND && remade(s) ? host_set(s->st, &s->ref, setting, n, e) : rc;
}

static enum err_code batch_write(struct host_session *s, struct batch *b,
                                 struct host_appended *done, struct err *e)
{
    const struct host_append req = { .row = b->row,
                                     .n = b->n,
                                     .transcript = b->kind == ITEM_STREAM_ROW,
                                     .save = b->kind == ITEM_SAVED_ROW,
                                     .logs = &s->logs,
                                     .later = s->opt.durable == HOST_DURABLE_FLUSH };
    enum err_code rc = s->on_disk ? ERR_OK : host_session_put_on_disk(s, e);

    *done = (struct host_appended){ 0 };
    if (rc)
        return rc;
    return b->kind == ITEM_SETTING ? host_session_set_rows(s, b->setting, b->n, e)
                                   : host_session_append_rows(s, &req, &b->a, done, e);
}

/* What can never succeed must not block what comes after it. */
static bool is_hopeless(enum err_code rc)
{
    return rc == ERR_USAGE || rc == ERR_UNSUPPORTED;
}

static void batch_count(struct host_session *s, const struct batch *b,
                        const struct host_appended *done, enum err_code rc)
{
    s->counts.batches += !rc && b->kind != ITEM_SETTING;
    s->counts.written += done->n - done->present - done->left_out;
    s->counts.present += done->present;
    s->counts.left_out += done->left_out;
    s->counts.lost += is_hopeless(rc) ? b->n : 0;
}

void host_session_count(struct host_session *s, const struct host_appended *done)
{
    const struct batch rows = { .kind = ITEM_ROW };

    batch_count(s, &rows, done, ERR_OK);
}

void host_session_writer_acquire(struct host_session *s)
{
    while (s->writing)
        host_session_wait(s);
    s->writing = true;
}

void host_session_writer_release(struct host_session *s)
{
    s->writing = false;
    pthread_cond_broadcast(&s->changed);
}

enum err_code host_session_write_queue(struct host_session *s, struct err *e)
{
    size_t left = s->begun ? s->queue.n : 0;
    enum err_code first = ERR_OK;
    bool stuck = false;

    while (left && !stuck) {
        struct err why = { 0 };
        size_t wrote;

        /* Writes the batch at the head of the queue. Called by the writer with the mutex, which is
         * released meanwhile; items are then only added after the batch. */
        struct host_appended done = { 0 };
        struct batch b;
        enum err_code rc = batch_take(s, &b, &why);

        if (!rc) {
            pthread_mutex_unlock(&s->mutex);
            rc = batch_write(s, &b, &done, &why);
            pthread_mutex_lock(&s->mutex);
            s->on_disk = s->ref.path.p != NULL;
        }
        batch_count(s, &b, &done, rc);
        wrote = !rc || is_hopeless(rc) ? b.n : 0;
        for (size_t i = 0; i < wrote; i++)
            host_queue_remove_first(&s->queue);
        arena_fini(&b.a);
        pthread_cond_broadcast(&s->changed);

        left -= wrote < left ? wrote : left; /* the last batch may include more */
        stuck = rc && !is_hopeless(rc);
        if (!rc || first)
            continue;
        first = rc;
        if (e)
            *e = why;
    }
    return first;
}

/* ---- the thread ---- */

bool host_session_has_batch(const struct host_session *s)
{
    return s->queue.n >= s->opt.batch_rows || s->queue.bytes >= s->opt.batch_bytes;
}

static int64_t due_ms(const struct host_session *s)
{
    int64_t due = s->since_ms;

    if (!s->urgent && !host_session_has_batch(s) && s->opt.interval_ms != HOST_AT_ONCE)
        due += s->opt.interval_ms;
    return due > s->retry_ms ? due : s->retry_ms;
}

static void note_outcome(struct host_session *s, enum err_code rc, const struct err *why)
{
    bool again = rc && !is_hopeless(rc);

    s->urgent = false;
    s->since_ms = time_clock_ms(CLOCK_MONOTONIC);
    s->retry_wait_ms = again && s->retry_wait_ms ? 2 * s->retry_wait_ms : RETRY_FIRST_MS;
    if (s->retry_wait_ms > RETRY_MOST_MS)
        s->retry_wait_ms = RETRY_MOST_MS;
    s->retry_ms = again ? s->since_ms + s->retry_wait_ms : 0;
    if (!rc)
        return;
    s->failure = *why;
    s->failure.code = rc;
    pthread_cond_broadcast(&s->changed);
    if (s->opt.failed) {
        pthread_mutex_unlock(&s->mutex);
        s->opt.failed(why, s->opt.arg);
        pthread_mutex_lock(&s->mutex);
    }
}

static void *write_in_background(void *arg)
{
    struct host_session *s = arg;

    pthread_mutex_lock(&s->mutex);
    while (!s->ending) {
        bool idle = !s->begun || !s->queue.first || s->writing;
        int64_t due = idle ? 0 : due_ms(s);

        if (idle) {
            host_session_wait(s);
        } else if (time_clock_ms(CLOCK_MONOTONIC) < due) {
            const struct timespec at = { .tv_sec = (time_t)(due / 1000),
                                         .tv_nsec = due % 1000 * 1000000 };

            pthread_cond_timedwait(&s->changed, &s->mutex, &at);
        } else {
            struct err why = { 0 };

            host_session_writer_acquire(s);
            enum err_code rc = host_session_write_queue(s, &why);

            host_session_writer_release(s);
            note_outcome(s, rc, &why);
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* No handler of the host runs on our thread. */
enum err_code host_session_thread_start(struct host_session *s, struct err *e)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int sys = pthread_create(&s->thread, NULL, write_in_background, s);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->has_thread = sys == 0;
    errno = sys;
    return sys ? err_sys(e, "", "session: start a thread") : ERR_OK;
}

void host_session_thread_end(struct host_session *s)
{
    pthread_mutex_lock(&s->mutex);
    s->ending = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    s->has_thread = false;
}

enum err_code host_session_take_failure(struct host_session *s, struct err *e)
{
    enum err_code rc = s->failure.code;

    if (rc && e)
        *e = s->failure;
    s->failure = (struct err){ 0 };
    return rc;
}

/* ---- flushing ---- */

enum err_code host_session_flush(struct host_session *s, struct err *e)
{
    enum err_code rc = host_session_check_process(s, e);

    if (rc)
        return rc;
    pthread_mutex_lock(&s->mutex);
    host_session_writer_acquire(s);
    /* Lost rows are reported in any case; rows that were only delayed are tried again now. */
    enum err_code lost = is_hopeless(s->failure.code) ? host_session_take_failure(s, e) : ERR_OK;

    s->failure = (struct err){ 0 };
    rc = host_session_write_queue(s, lost ? NULL : e);
    pthread_mutex_unlock(&s->mutex);
    enum err_code unsynced = log_states_sync(&s->logs, lost || rc ? NULL : e);

    if (unsynced == ERR_NOT_FOUND && remade(s))
        unsynced = log_states_sync(&s->logs, lost || rc ? NULL : e);

    pthread_mutex_lock(&s->mutex);
    host_session_writer_release(s);
    pthread_mutex_unlock(&s->mutex);
    return lost ? lost : rc ? rc : unsynced;
}
