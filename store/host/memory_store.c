#include "store/api/host.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/id.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/fs/disk.h"
#include "store/fs/kernel.h"
#include "store/host/memory_row.h"
#include "store/journal/change.h"

/* It does not move and exists until the store is closed, because refs point to its texts. */
struct memory_session {
    char *id;              /* owned */
    char path[FS_FD_PATH]; /* the path of the descriptor */
    struct buf title;
    struct idset ids; /* the ids of its rows */
    bool removed;
    int fd;
};

struct memory {
    struct store base;
    pthread_mutex_t lock;            /* protects all below */
    struct memory_session **session; /* owned */
    size_t n, cap;
};

static const char *const kinds[] = { "user", "assistant", NULL };
static const struct index_keys keys = { .type = "role", .id = "id", .kinds = kinds };

/* ---- the store ---- */

static struct memory *memory_of(const struct store *st)
{
    return (struct memory *)st;
}

static enum err_code memory_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct memory *m;
    struct stat sb;

    if (path && stat(path, &sb))
        return err_set(e, ERR_NOT_FOUND, path, "open store");
    m = calloc(1, sizeof *m);
    if (m)
        m->base = (struct store){ .ops = &memory_store_ops,
                                  .env = env,
                                  .path = strdup(path ? path : "memory") };
    if (!m || !m->base.path || pthread_mutex_init(&m->lock, NULL)) {
        free(m ? m->base.path : NULL);
        free(m);
        return err_nomem(e);
    }
    *out = &m->base;
    return ERR_OK;
}

static void free_session(struct memory_session *s)
{
    if (s->fd >= 0)
        close(s->fd);
    buf_fini(&s->title);
    idset_fini(&s->ids);
    free(s->id);
    free(s);
}

static void memory_close(struct store *st)
{
    struct memory *m = memory_of(st);

    for (size_t i = 0; i < m->n; i++)
        free_session(m->session[i]);
    free(m->session);
    pthread_mutex_destroy(&m->lock);
    free(m->base.path);
    free(m);
}

/* ---- sessions ---- */

static struct session_ref memory_store_ref_of(const struct store *st,
                                              const struct memory_session *s)
{
    struct stat sb = { 0 };

    fstat(s->fd, &sb);
    return (struct session_ref){ .store = st,
                                 .id = slice_of(s->id),
                                 .path = slice_of(s->path),
                                 .folder = SLICE(""),
                                 .file = file_id_of(&sb) };
}

/* The caller holds the lock. */
static struct memory_session *locked_session(const struct memory *m, struct slice id)
{
    for (size_t i = 0; i < m->n; i++)
        if (!m->session[i]->removed && slice_eq(id, slice_of(m->session[i]->id)))
            return m->session[i];
    return NULL;
}

static enum err_code memory_store_find_session(const struct store *st, struct slice id,
                                               struct memory_session **out, struct err *e)
{
    struct memory *m = memory_of(st);

    pthread_mutex_lock(&m->lock);
    *out = locked_session(m, id);
    pthread_mutex_unlock(&m->lock);
    return *out ? ERR_OK : err_set(e, ERR_NOT_FOUND, "", "find session: no such session");
}

static struct memory_session *nth_session(struct memory *m, size_t i)
{
    struct memory_session *s;

    pthread_mutex_lock(&m->lock);
    s = i < m->n ? m->session[i] : NULL;
    pthread_mutex_unlock(&m->lock);
    return s;
}

/* Without the lock, because the callback may call the store. */
static enum err_code memory_enumerate(const struct store *st, const struct scope *scope,
                                      session_ref_fn *fn, void *arg, struct err *e)
{
    struct memory *m = memory_of(st);
    struct memory_session *s;
    bool more = true;

    (void)scope, (void)e;
    for (size_t i = 0; more && (s = nth_session(m, i)); i++) {
        struct session_ref ref = memory_store_ref_of(st, s);

        more = s->removed || fn(&ref, arg);
    }
    return ERR_OK;
}

static enum err_code memory_find(const struct store *st, const struct scope *scope, struct slice id,
                                 struct arena *a, struct session_ref *ref, struct err *e)
{
    struct memory_session *s;

    (void)scope, (void)a;
    TRY(memory_store_find_session(st, id, &s, e));
    *ref = memory_store_ref_of(st, s);
    return ERR_OK;
}

static enum err_code memory_describe(const struct store *st, const struct scope *scope,
                                     const struct session_ref *ref, struct session_row *row,
                                     struct err *e)
{
    struct memory *m = memory_of(st);
    struct memory_session *s;
    enum err_code rc = memory_store_find_session(st, ref->id, &s, e);

    (void)scope;
    session_row_reset(row);
    if (rc)
        return rc;
    row->ref = memory_store_ref_of(st, s);
    row->modified_ms = row->activity_ms = session_modified_ms(&row->ref.file);
    pthread_mutex_lock(&m->lock);
    row->custom_title = arena_copy(&row->arena, buf_slice(&s->title));
    pthread_mutex_unlock(&m->lock);
    row->summary = row->custom_title.n ? row->custom_title : row->ref.id;
    return row->custom_title.p && session_row_keep(row) ? ERR_OK : err_nomem(e);
}

/* ---- conversations ---- */

static enum err_code index_session(const char *path, const atomic_bool *cancel, struct index *ix,
                                   struct file_id *id, struct err *e)
{
    struct file f;

    TRY(file_open(AT_FDCWD, path, FILE_FOLLOW, &f, e));
    enum err_code rc = index_build(ix, &f, &keys, INDEX_VALIDATE, cancel, e);

    *id = f.id;
    file_close(&f);
    return rc;
}

static enum err_code memory_load(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);
    struct memory_session *s;
    struct index ix = { 0 };
    enum err_code rc = t ? memory_store_find_session(st, ref->id, &s, e) : err_nomem(e);

    if (!rc)
        rc = index_session(s->path, cancel, &ix, &t->id, e);
    if (!rc) {
        t->path = strdup(s->path);
        t->message = calloc(ix.n + 1, sizeof *t->message);
        if (!t->path || !t->message)
            rc = err_nomem(e);
    }
    if (!rc) {
        for (size_t i = 0; i < ix.n; i++)
            t->message[t->n++] =
                (struct message){ .offset = ix.line[i].offset,
                                  .length = ix.line[i].length,
                                  .line = (uint32_t)i,
                                  .time_ms = ix.line[i].time_ms,
                                  .id = ix.line[i].id,
                                  .kind = (uint8_t)(ix.line[i].kind == 1   ? MESSAGE_USER
                                                    : ix.line[i].kind == 2 ? MESSAGE_ASSISTANT
                                                                           : MESSAGE_OTHER) };
        t->lines = ix.n;
        t->size = t->id.size;
    }
    index_fini(&ix);
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

static enum err_code memory_tail(const struct store *st, const struct session_ref *ref,
                                 size_t bytes, const atomic_bool *cancel, struct transcript **out,
                                 struct err *e)
{
    (void)bytes; /* all of it is in memory */
    return memory_load(st, ref, cancel, out, e);
}

static enum err_code memory_blocks(const struct store *st, struct slice row, struct block_list *out,
                                   struct err *e)
{
    struct slice role;
    struct block b = { .kind = BLOCK_TEXT };

    (void)st, (void)e;
    json_get(row, "role", &role);
    if (json_string_is(role, "user"))
        b.kind = BLOCK_PROMPT;
    json_get_text(row, "text", &out->arena, &b.text);
    return transcript_block_add(out, &b);
}

static enum err_code memory_store_write_message(const struct message_query *q, struct slice row,
                                                json_fn *fn, void *arg, struct err *e)
{
    struct slice id, role, text;
    struct buf out = { 0 };
    struct jsonout j;

    json_get(row, "id", &id);
    json_get(row, "role", &role);
    json_get(row, "text", &text);
    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_raw_member(&j, "type", role);
    jsonout_raw_member(&j, "uuid", id);
    jsonout_member(&j, "session_id", q->session);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_raw_member(&j, "role", role);
    jsonout_raw_member(&j, "content", text);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    enum err_code rc = j.rc ? j.rc : fn(buf_slice(&out), arg, e);

    buf_fini(&out);
    return rc;
}

static enum err_code memory_messages(const struct store *st, const struct session_ref *ref,
                                     const struct message_query *q, json_fn *fn, void *arg,
                                     struct err *e)
{
    struct transcript *t;
    struct buf row = { 0 };
    enum err_code rc = memory_load(st, ref, q->cancel, &t, e);

    if (rc)
        return rc;
    size_t from, end, n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->message[i].kind != MESSAGE_OTHER)
            t->message[n++] = t->message[i];
    t->n = n;
    transcript_page(q, t->n, &from, &end);
    for (size_t i = from; !rc && i < end; i++) {
        rc = transcript_read(t, i, &row, e);
        if (!rc)
            rc = memory_store_write_message(q, buf_slice(&row), fn, arg, e);
    }
    buf_fini(&row);
    transcript_free(t);
    return rc;
}

/* ---- writing ---- */

static enum err_code new_session(struct slice id, struct slice title, struct memory_session **out,
                                 struct err *e)
{
    struct memory_session *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->fd = fs_open_memory("session");
    if (s->fd < 0) {
        enum err_code rc = err_sys(e, "", "create");

        free_session(s);
        return rc;
    }
    s->id = strndup(id.p, id.n);
    if (!s->id || buf_add(&s->title, title)) {
        free_session(s);
        return err_nomem(e);
    }
    fs_fd_path(s->fd, s->path);
    *out = s;
    return ERR_OK;
}

static enum err_code memory_create(const struct store *st, const struct host_create *req,
                                   struct arena *a, struct host_created *out, struct err *e)
{
    struct memory_session *s;
    char drawn[HOST_ID];

    host_generate_id(drawn);
    struct slice id = arena_copy(a, req->id.n ? req->id : slice_of(drawn));
    enum err_code rc = id.p ? new_session(id, req->title, &s, e) : err_nomem(e);

    if (rc)
        return rc;

    /* The session is complete when it enters the table, because other threads may find it at once. */
    struct memory *m = memory_of(st);

    rc = ERR_OK;
    pthread_mutex_lock(&m->lock);
    if (locked_session(m, slice_of(s->id)))
        rc = err_set(e, ERR_STALE, "", "create: a session with this id exists");
    else if (!array_reserve(m->session, m->cap, m->n + 1))
        rc = err_nomem(e);
    else
        m->session[m->n++] = s;
    pthread_mutex_unlock(&m->lock);

    if (rc) {
        free_session(s);
        return rc;
    }
    *out = (struct host_created){ .id = id, .path = slice_of(s->path) };
    out->unsaved = (req->model.n ? HOST_MODEL : 0U) | (req->parent.n ? HOST_PARENT : 0U);
    return ERR_OK;
}

/* Fills in the ids, and adds to rows those that the session does not have yet; `added` has their ids. */
static enum err_code memory_store_collect_rows(const struct memory_session *s,
                                               const struct host_append *req, struct arena *a,
                                               struct slice *id, struct buf *rows,
                                               struct idset *added)
{
    for (size_t i = 0; i < req->n; i++) {
        size_t before = rows->n, n = added->n;
        uint32_t number;

        if (memory_row_add(req->row[i], a, &id[i], rows) ||
            idset_add(added, id128_of(id[i]), &number))
            return ERR_NOMEM;
        if (number < n || idset_has(&s->ids, id128_of(id[i])))
            rows->n = before;
    }
    return ERR_OK;
}

/* All rows or none. */
static enum err_code memory_store_write_rows(struct memory_session *s, struct slice rows,
                                             struct err *e)
{
    off_t end = lseek(s->fd, 0, SEEK_CUR);
    enum err_code rc = disk_write(s->fd, rows, NULL, s->path, e);

    if (rc && (ftruncate(s->fd, end) || lseek(s->fd, end, SEEK_SET) < 0))
        return err_sys(e, s->path, "append");
    return rc;
}

static enum err_code append_locked(struct memory_session *s, const struct host_append *req,
                                   struct arena *a, struct slice *id, size_t *present,
                                   struct err *e)
{
    struct idset added = { 0 };
    struct buf rows = { 0 };
    size_t known = s->ids.n;
    enum err_code rc =
        memory_store_collect_rows(s, req, a, id, &rows, &added) ? err_nomem(e) : ERR_OK;

    if (!rc)
        rc = memory_store_write_rows(s, buf_slice(&rows), e);
    for (size_t i = 0; !rc && i < added.n; i++)
        if (idset_add(&s->ids, added.id[i], &(uint32_t){ 0 }))
            rc = err_nomem(e);
    *present = req->n - (s->ids.n - known);
    idset_fini(&added);
    buf_fini(&rows);
    return rc;
}

static enum err_code memory_append(const struct store *st, const struct session_ref *ref,
                                   const struct host_append *req, struct arena *a,
                                   struct host_appended *out, struct err *e)
{
    struct memory *m = memory_of(st);
    struct slice *id = arena_zalloc(a, (req->n + 1) * sizeof *id);
    struct host_appended done = { .n = req->n, .id = id };
    struct memory_session *s;
    enum err_code rc = id ? memory_store_find_session(st, ref->id, &s, e) : err_nomem(e);

    if (rc)
        return rc;
    pthread_mutex_lock(&m->lock);
    rc = append_locked(s, req, a, id, &done.present, e);
    pthread_mutex_unlock(&m->lock);
    if (!rc)
        *out = done;
    return rc;
}

static enum err_code memory_set(const struct store *st, const struct session_ref *ref,
                                const struct host_setting *setting, size_t n, struct err *e)
{
    struct memory *m = memory_of(st);
    struct memory_session *s;
    enum err_code rc = memory_store_find_session(st, ref->id, &s, e);

    for (size_t i = 0; i < n && !rc; i++)
        if (!slice_eq(setting[i].key, SLICE("title")))
            rc = err_set(e, ERR_USAGE, "", "set: no such setting");
    if (rc)
        return rc;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < n && !rc; i++) {
        s->title.n = 0;
        rc = buf_add(&s->title, setting[i].value) ? err_nomem(e) : ERR_OK;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

/* ---- copies, and deleting ---- */

/* The rows up to and including a message; all if it is empty. */
static enum err_code copied_rows(const struct transcript *t, struct slice at, struct buf *out,
                                 struct err *e)
{
    AUTO_BUF row = { 0 };
    const struct id128 last = id128_of(at);
    bool found = !at.n;

    for (size_t i = 0; i < t->n; i++) {
        TRY(transcript_read(t, i, &row, e));
        if (buf_add(out, buf_slice(&row)) || buf_add_byte(out, '\n'))
            return err_nomem(e);
        found |= at.n && id128_eq(t->message[i].id, last);
        if (at.n && found)
            break;
    }
    return found && out->n ? ERR_OK
                           : err_set(e, ERR_NOT_FOUND, "",
                                     "fork: no such message; see reprise messages --plain");
}

/* The copy is made at once, without a step of the change. */
/* Other threads may still read it, so its memory is released with the store. */
static void memory_hide(const struct store *st, struct memory_session *s)
{
    struct memory *m = memory_of(st);

    pthread_mutex_lock(&m->lock);
    s->removed = true;
    pthread_mutex_unlock(&m->lock);
}

static enum err_code memory_fork(const struct store *st, const struct session_ref *ref,
                                 const struct fork_request *req, struct change *c,
                                 struct fork_result *out, struct err *e)
{
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    AUTO_ARENA a = { 0 };
    AUTO_BUF rows = { 0 }, title = { 0 };
    struct memory_session *from, *s;
    struct host_created made;
    struct slice *row;
    struct host_append all = { .n = 0 };

    TRY(memory_store_find_session(st, ref->id, &from, e));
    TRY(memory_load(st, ref, NULL, &t, e));
    TRY(copied_rows(t, req->at, &rows, e));

    /* Another thread may rename the original, so its title is read under the lock. */
    pthread_mutex_lock(&memory_of(st)->lock);
    bool failed = req->title.n    ? buf_add(&title, req->title)
                  : from->title.n ? buf_add(&title, buf_slice(&from->title)) ||
                                        buf_add(&title, SLICE(" (fork)"))
                                  : false;

    pthread_mutex_unlock(&memory_of(st)->lock);
    if (failed)
        return err_nomem(e);
    const struct host_create create = { .id = req->id, .title = buf_slice(&title) };

    TRY(host_rows(buf_slice(&rows), &a, &row, &all.n, e));
    all.row = row;
    TRY(memory_create(st, &create, &c->arena, &made, e));
    TRY(memory_store_find_session(st, made.id, &s, e));

    const struct session_ref copy = memory_store_ref_of(st, s);
    struct host_appended done;
    enum err_code rc = memory_append(st, &copy, &all, &a, &done, e);

    /* A fork is there as a whole or not at all. */
    if (rc)
        memory_hide(st, s);
    else
        *out = (struct fork_result){ .id = made.id, .path = s->path };
    return rc;
}

static enum err_code memory_remove(const struct store *st, const struct session_ref *ref,
                                   struct err *e)
{
    struct memory_session *s;

    TRY(memory_store_find_session(st, ref->id, &s, e));
    memory_hide(st, s);
    return ERR_OK;
}

const struct store_ops memory_store_ops = {
    .name = "memory",
    .open = memory_open,
    .close = memory_close,
    .enumerate = memory_enumerate,
    .describe = memory_describe,
    .find = memory_find,
    .tail = memory_tail,
    .load = memory_load,
    .blocks = memory_blocks,
    .messages = memory_messages,
    .create = memory_create,
    .append = memory_append,
    .set = memory_set,
    .fork = memory_fork,
    .accepts_fork_id = true,
    .remove = memory_remove,
};
