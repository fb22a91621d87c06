#include "store/host/host_session.h"

#include <stdlib.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/host/host_session_internal.h"

enum { DEFAULT_MS = 100, DEFAULT_BATCH = 256, DEFAULT_QUEUE = 4096 };
enum { DEFAULT_BATCH_BYTES = 1 << 20, DEFAULT_QUEUE_BYTES = 16 << 20 };

/* The child of a fork has a copy of the session, perhaps with a mutex that is held by a thread of the parent. */
enum err_code host_session_check_process(const struct host_session *s, struct err *e)
{
    return getpid() == s->pid ? ERR_OK
                              : err_set(e, ERR_UNSUPPORTED, "",
                                        "session: it was opened before this process was forked");
}

/* ---- opening and closing ---- */

static enum err_code session_new(const struct store *st, const struct host_session_options *options,
                                 struct host_session **out, struct err *e)
{
    struct host_session *s;
    pthread_condattr_t attr;

    if (!st->ops->append)
        return err_set(e, ERR_UNSUPPORTED, st->ops->name, "append: not possible for sessions of %s",
                       st->ops->name);
    s = calloc(1, sizeof *s);
    if (!s)
        return err_nomem(e);
    s->st = st;
    s->pid = getpid();

    /* A zero is replaced by the default, which the store may define. */
    const struct store_ops *ops = s->st->ops;
    struct host_session_options *o = &s->opt;

    if (options)
        *o = *options;
    if (!o->interval_ms)
        o->interval_ms = ops->drain_ms ? ops->drain_ms : DEFAULT_MS;
    if (!o->batch_rows)
        o->batch_rows = DEFAULT_BATCH;
    if (!o->batch_bytes)
        o->batch_bytes = DEFAULT_BATCH_BYTES;
    if (!o->queue_rows)
        o->queue_rows = ops->queue_rows ? ops->queue_rows : DEFAULT_QUEUE;
    if (!o->queue_bytes)
        o->queue_bytes = DEFAULT_QUEUE_BYTES;

    /* Waits are timed by the monotonic clock, because the time of day may be set meanwhile. */
    pthread_mutex_init(&s->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    *out = s;
    return ERR_OK;
}

static void session_free(struct host_session *s)
{
    host_state_close(s->announced);
    host_queue_clear(&s->queue);
    log_states_fini(&s->logs);
    arena_fini(&s->arena);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* Ends host_session_open and _create. */
static enum err_code session_ready(struct host_session *s, enum err_code rc,
                                   struct host_session **out, struct err *e)
{
    if (!rc && s->arena.failed)
        rc = err_nomem(e);
    if (!rc && s->on_disk)
        host_session_announce(s);
    if (!rc && s->opt.background)
        rc = host_session_thread_start(s, e);
    if (rc) {
        session_free(s);
        return rc;
    }
    *out = s;
    return ERR_OK;
}

enum err_code host_session_open(const struct store *st, const struct session_ref *ref,
                                const struct host_session_options *options,
                                struct host_session **out, struct err *e)
{
    struct host_session *s;

    TRY(session_new(st, options, &s, e));
    s->ref = *ref;
    s->ref.store = st;
    s->ref.id = arena_copy(&s->arena, ref->id);
    s->ref.path = arena_copy(&s->arena, ref->path);
    s->ref.folder = arena_copy(&s->arena, ref->folder);
    s->ref.preread = (struct slice){ NULL, 0 };
    s->begun = s->on_disk = true;
    return session_ready(s, ERR_OK, out, e);
}

/* The id is known from now on, so it has to be free now. */
static enum err_code host_session_choose_id(struct host_session *s, struct err *e)
{
    char drawn[HOST_ID];

    if (!s->req.id.n) {
        host_generate_id(drawn);
        s->req.id = arena_copy(&s->arena, (struct slice){ drawn, HOST_ID - 1 });
        return ERR_OK;
    }
    return host_id_is_new(s->st, s->req.id, &s->arena, "create", e);
}

enum err_code host_session_create(const struct store *st, const struct host_create *req,
                                  const struct host_session_options *options,
                                  struct host_session **out, struct err *e)
{
    struct host_session *s;

    TRY(session_new(st, options, &s, e));
    enum err_code rc = host_check_create(st, req, &s->req, e);

    s->req.id = arena_copy(&s->arena, s->req.id);
    s->req.cwd = arena_copy(&s->arena, s->req.cwd);
    s->req.model = arena_copy(&s->arena, s->req.model);
    s->req.title = arena_copy(&s->arena, s->req.title);
    s->req.parent = arena_copy(&s->arena, s->req.parent);
    if (!rc && st->ops->begins) {
        rc = host_session_choose_id(s, e);
    } else if (!rc) {
        rc = host_session_put_on_disk(s, e);
        s->begun = s->on_disk = !rc;
    }
    return session_ready(s, rc, out, e);
}

enum err_code host_session_close(struct host_session *s, struct err *e)
{
    if (!s || host_session_check_process(s, NULL))
        return ERR_OK;
    host_session_thread_end(s);
    enum err_code rc = host_session_flush(s, e);

    session_free(s);
    return rc;
}

/* ---- what is known of a session ---- */

struct slice host_session_id(const struct host_session *s)
{
    return s->req.id.n ? s->req.id : s->ref.id;
}

void host_session_counts(struct host_session *s, struct host_session_counts *out)
{
    *out = (struct host_session_counts){ 0 };
    if (host_session_check_process(s, NULL))
        return;
    pthread_mutex_lock(&s->mutex);
    *out = s->counts;
    out->queued = s->queue.n;
    pthread_mutex_unlock(&s->mutex);
}

/* ---- appending ---- */

static bool has_room(const struct host_session *s, const struct queue *more)
{
    return !s->queue.n || (s->queue.n + more->n <= s->opt.queue_rows &&
                           s->queue.bytes + more->bytes <= s->opt.queue_bytes);
}

/* Holding rows without a limit would exhaust memory, so a full queue puts the session on disk. */
static enum err_code host_session_wait_for_room(struct host_session *s, const struct queue *more,
                                                struct err *e)
{
    enum err_code rc = host_session_take_failure(s, e);

    while (!rc && s->opt.background && !has_room(s, more)) {
        s->begun = s->urgent = true;
        pthread_cond_broadcast(&s->changed);
        host_session_wait(s);
        rc = host_session_take_failure(s, e);
    }
    return rc;
}

static bool any_begins(const struct host_session *s, const struct host_append *req)
{
    for (size_t i = 0; i < req->n; i++)
        if (!s->st->ops->begins || s->st->ops->begins(req->row[i]))
            return true;
    return false;
}

/* Without a thread: held rows are written first. */
static enum err_code append_now(struct host_session *s, const struct host_append *req,
                                struct arena *a, struct host_appended *out, struct err *e)
{
    struct host_append with_state = *req;

    with_state.logs = &s->logs;
    with_state.later = s->opt.durable == HOST_DURABLE_FLUSH;
    pthread_mutex_lock(&s->mutex);
    host_session_writer_acquire(s);
    s->begun = true;
    enum err_code rc = host_session_write_queue(s, e);

    pthread_mutex_unlock(&s->mutex);
    if (!rc && !s->on_disk)
        rc = host_session_put_on_disk(s, e);
    if (!rc)
        rc = host_session_append_rows(s, &with_state, a, out, e);
    pthread_mutex_lock(&s->mutex);
    s->on_disk = s->ref.path.p != NULL;
    s->begun = s->on_disk;
    if (!rc)
        host_session_count(s, out);
    host_session_writer_release(s);
    pthread_mutex_unlock(&s->mutex);
    return rc;
}

/* Also for rows that have to wait for the first message. */
static bool goes_to_queue(struct host_session *s, const struct host_append *req)
{
    if (s->opt.background)
        return true;
    size_t bytes = 0;

    for (size_t i = 0; i < req->n; i++)
        bytes += req->row[i].n;
    pthread_mutex_lock(&s->mutex);
    bool held = !s->begun && !any_begins(s, req) && s->queue.n + req->n <= s->opt.queue_rows &&
                s->queue.bytes + bytes <= s->opt.queue_bytes;

    pthread_mutex_unlock(&s->mutex);
    return held;
}

enum err_code host_session_append(struct host_session *s, const struct host_append *req,
                                  struct arena *a, struct host_appended *out, struct err *e)
{
    TRY(host_session_check_process(s, e));
    *out = (struct host_appended){ 0 };
    if (!req->n)
        return ERR_OK;

    if (!goes_to_queue(s, req))
        return append_now(s, req, a, out, e);

    /* The rows are prepared without the lock, and then move to the queue together. */
    struct queue more = { 0 };
    struct slice *ids = arena_zalloc(a, req->n * sizeof *ids);
    bool begins = any_begins(s, req);
    enum err_code rc = ids ? host_check_rows(req, e) : err_nomem(e);

    for (size_t i = 0; i < req->n && !rc; i++) {
        /* One row, which the format may write in another way. */
        const struct store_ops *ops = s->st->ops;
        struct slice row = req->row[i], none = { NULL, 0 };
        struct arena scratch = { 0 };
        struct item *x = NULL;

        if (ops->host_row)
            rc = ops->host_row(s->st, req->row[i], req->transcript, &scratch, &row, &ids[i], e);
        if (rc == ERR_USAGE)
            err_wrap(e, rc, "row %zu", i + 1);
        if (!rc)
            x = host_queue_item(req->transcript ? ITEM_STREAM_ROW
                                : req->save     ? ITEM_SAVED_ROW
                                                : ITEM_ROW,
                                none, row);
        if (x)
            host_queue_add(&more, x);
        if (!rc && (!x || !(ids[i] = arena_copy(a, ids[i])).p))
            rc = err_nomem(e);
        arena_fini(&scratch);
    }
    if (!rc) {
        pthread_mutex_lock(&s->mutex);
        rc = host_session_wait_for_room(s, &more, e);
        if (!rc) {
            /* The interval begins with the first row; rows that wait for the first message do not start it. */
            bool was_empty = !s->queue.n || !s->begun;

            if (was_empty)
                s->since_ms = time_clock_ms(CLOCK_MONOTONIC);
            s->begun |= begins;
            host_queue_move(&more, &s->queue);
            if (was_empty || host_session_has_batch(s))
                pthread_cond_broadcast(&s->changed);
        }
        pthread_mutex_unlock(&s->mutex);
    }
    host_queue_clear(&more);
    if (!rc)
        *out = (struct host_appended){ .n = req->n, .id = ids };
    return rc;
}

/* ---- settings ---- */

static enum err_code prepare_settings(const struct host_setting *setting, size_t n,
                                      struct queue *out, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct item *x = host_queue_item(ITEM_SETTING, setting[i].key, setting[i].value);

        if (!x)
            return err_nomem(e);
        host_queue_add(out, x);
    }
    return ERR_OK;
}

enum err_code host_session_set(struct host_session *s, const struct host_setting *setting, size_t n,
                               struct err *e)
{
    struct queue more = { 0 };
    enum err_code rc = host_session_check_process(s, e);

    if (!rc && !s->st->ops->set)
        rc = err_set(e, ERR_UNSUPPORTED, s->st->ops->name, "set: not possible for sessions of %s",
                     s->st->ops->name);
    if (rc)
        return rc;
    pthread_mutex_lock(&s->mutex);
    bool now = !s->opt.background && s->begun;

    pthread_mutex_unlock(&s->mutex);
    if (now) {
        /* The caller writes it himself, in the place of the writer. */
        pthread_mutex_lock(&s->mutex);
        host_session_writer_acquire(s);
        pthread_mutex_unlock(&s->mutex);
        rc = host_session_set_rows(s, setting, n, e);

        pthread_mutex_lock(&s->mutex);
        host_session_writer_release(s);
        pthread_mutex_unlock(&s->mutex);
        return rc;
    }
    rc = prepare_settings(setting, n, &more, e);
    pthread_mutex_lock(&s->mutex);
    if (!rc)
        rc = host_session_wait_for_room(s, &more, e);
    if (!rc) {
        /* With the mutex. */
        if (!s->queue.n)
            s->since_ms = time_clock_ms(CLOCK_MONOTONIC);
        while (!s->begun && more.first) {
            struct item *x = more.first;

            more.first = x->next;
            x->next = NULL;
            host_queue_add_setting(&s->queue, x);
        }
        host_queue_move(&more, &s->queue);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->mutex);
    host_queue_clear(&more);
    return rc;
}
