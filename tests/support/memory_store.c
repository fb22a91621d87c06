#include "support/memory_store.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"

enum { SESSIONS_MAX = 16, TITLE_MAX = 200 };

struct memory_session {
    char id[64], path[40], title[TITLE_MAX];
    int fd;
};

struct memory {
    struct store base;
    struct memory_session session[SESSIONS_MAX];
    size_t n;
};

static const char *const kinds[] = { "user", "assistant", NULL };
static const struct index_keys keys = { .type = "role", .id = "id", .kinds = kinds };

/* ---- the store ---- */

static struct memory *memory_of(const struct store *st)
{
    return (struct memory *)st;
}

/* Like every store it fails if its directory does not exist. */
static enum err_code memory_open(const struct store_env *env, const char *path, struct store **out,
                                 struct err *e)
{
    struct memory *m;
    struct stat sb;

    if (stat(path, &sb))
        return err_set(e, ERR_NOT_FOUND, path, "open store");
    m = calloc(1, sizeof *m);
    if (!m)
        return err_set(e, ERR_NOMEM, path, "open store");
    m->base = (struct store){ .ops = &memory_ops, .env = env, .path = strdup(path) };
    *out = &m->base;
    return ERR_OK;
}

static void memory_close(struct store *st)
{
    struct memory *m = memory_of(st);

    for (size_t i = 0; i < m->n; i++)
        close(m->session[i].fd);
    free(m->base.path);
    free(m);
}

/* ---- sessions ---- */

static struct session_ref ref_of(const struct store *st, const struct memory_session *s)
{
    struct stat sb = { 0 };

    fstat(s->fd, &sb);
    return (
        struct session_ref){ .store = st,
                             .id = { s->id, strlen(s->id) },
                             .path = { s->path, strlen(s->path) },
                             .folder = SLICE(""),
                             .file = { .dev = sb.st_dev, .ino = sb.st_ino, .size = sb.st_size } };
}

static struct memory_session *session_of(const struct store *st, struct slice id)
{
    struct memory *m = memory_of(st);

    for (size_t i = 0; i < m->n; i++)
        if (slice_eq(id, slice_of(m->session[i].id)))
            return &m->session[i];
    return NULL;
}

static enum err_code memory_enumerate(const struct store *st, const struct scope *scope,
                                      session_ref_fn *fn, void *arg, struct err *e)
{
    struct memory *m = memory_of(st);
    bool more = true;

    (void)scope, (void)e;
    for (size_t i = 0; more && i < m->n; i++) {
        struct session_ref ref = ref_of(st, &m->session[i]);

        more = fn(&ref, arg);
    }
    return ERR_OK;
}

static enum err_code memory_find(const struct store *st, const struct scope *scope, struct slice id,
                                 struct arena *a, struct session_ref *ref, struct err *e)
{
    struct memory_session *s = session_of(st, id);

    (void)scope, (void)a;
    if (!s)
        return err_set(e, ERR_NOT_FOUND, "", "find session: no such session");
    *ref = ref_of(st, s);
    return ERR_OK;
}

static enum err_code memory_describe(const struct store *st, const struct scope *scope,
                                     const struct session_ref *ref, struct session_row *row,
                                     struct err *e)
{
    struct memory_session *s = session_of(st, ref->id);

    (void)scope;
    session_row_reset(row);
    if (!s)
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "describe");
    row->ref = ref_of(st, s);
    row->custom_title = slice_of(s->title);
    row->summary = row->custom_title.n ? row->custom_title : row->ref.id;
    return ERR_OK;
}

/* ---- conversations ---- */

static enum err_code memory_load(const struct store *st, const struct session_ref *ref,
                                 const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);
    struct index ix = { 0 };
    struct file f;

    (void)st;
    assert(t);
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, FILE_FOLLOW, &f, e);

    if (!rc) {
        rc = index_build(&ix, &f, &keys, INDEX_VALIDATE, cancel, e);
        t->id = f.id;
        file_close(&f);
    }
    t->path = strdup(ref->path.p);
    t->message = calloc(ix.n + 1, sizeof *t->message);
    t->lines = ix.n;
    t->size = t->id.size;
    for (size_t i = 0; i < ix.n; i++)
        t->message[t->n++] =
            (struct message){ .offset = ix.line[i].offset,
                              .length = ix.line[i].length,
                              .line = (uint32_t)i,
                              .time_ms = ix.line[i].time_ms,
                              .id = ix.line[i].id,
                              .kind = ix.line[i].kind == 1 ? MESSAGE_USER : MESSAGE_ASSISTANT };
    index_fini(&ix);
    if (rc)
        transcript_free(t);
    else
        *out = t;
    return rc;
}

static enum err_code memory_tail(const struct store *st, const struct session_ref *ref,
                                 size_t bytes, struct transcript **out, struct err *e)
{
    (void)bytes; /* all of it is in memory */
    return memory_load(st, ref, NULL, out, e);
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

static enum err_code say(const struct message_query *q, struct slice row, json_fn *fn, void *arg,
                         struct err *e)
{
    struct slice id, role, text;
    struct buf out = { 0 };
    struct jsonout j;

    json_get(row, "id", &id);
    json_get(row, "role", &role);
    json_get(row, "text", &text);
    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_key(&j, "type");
    jsonout_raw(&j, role);
    jsonout_key(&j, "uuid");
    jsonout_raw(&j, id);
    jsonout_member(&j, "session_id", q->session);
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_key(&j, "role");
    jsonout_raw(&j, role);
    jsonout_key(&j, "content");
    jsonout_raw(&j, text);
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
    size_t from = q->offset > 0 ? (size_t)q->offset : 0;
    size_t end = q->has_limit && q->limit > 0 ? from + (size_t)q->limit : t->n;

    for (size_t i = from; !rc && i < t->n && i < end; i++) {
        rc = transcript_read(t, i, &row, e);
        if (!rc)
            rc = say(q, buf_slice(&row), fn, arg, e);
    }
    buf_fini(&row);
    transcript_free(t);
    return rc;
}

/* ---- writing ---- */

static enum err_code memory_create(const struct store *st, const struct host_create *req,
                                   struct arena *a, struct host_created *out, struct err *e)
{
    struct memory *m = memory_of(st);
    struct memory_session *s = &m->session[m->n];
    struct slice id = req->id;
    char drawn[HOST_ID];

    host_generate_id(drawn);
    if (!id.n)
        id = slice_of(drawn);
    if (session_of(st, id))
        return err_set(e, ERR_STALE, "", "create: a session with this id exists");
    if (m->n == SESSIONS_MAX || id.n >= sizeof s->id || req->title.n >= sizeof s->title)
        return err_set(e, ERR_USAGE, "", "create: too much for a memory");
    s->fd = memfd_create("session", MFD_CLOEXEC);
    if (s->fd < 0)
        return err_sys(e, "", "create");
    snprintf(s->id, sizeof s->id, "%.*s", SLICE_ARG(id));
    snprintf(s->title, sizeof s->title, "%.*s", SLICE_ARG(req->title));
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
    m->n++;
    *out = (struct host_created){ .id = arena_copy(a, id), .path = { s->path, strlen(s->path) } };
    out->unsaved = (req->model.n ? HOST_MODEL : 0U) | (req->parent.n ? HOST_PARENT : 0U);
    return ERR_OK;
}

static enum err_code memory_append(const struct store *st, const struct session_ref *ref,
                                   const struct host_append *req, struct arena *a,
                                   struct host_appended *out, struct err *e)
{
    struct memory_session *s = session_of(st, ref->id);
    struct slice *id = arena_zalloc(a, req->n * sizeof *id);
    struct buf rows = { 0 };

    assert(s && id);
    for (size_t i = 0; i < req->n; i++) {
        json_get_text(req->row[i], "id", a, &id[i]);
        if (buf_add(&rows, req->row[i]) || buf_add_byte(&rows, '\n'))
            return err_set(e, ERR_NOMEM, "", "append");
    }
    ssize_t n = write(s->fd, rows.p, rows.n);

    buf_fini(&rows);
    *out = (struct host_appended){ .n = req->n, .id = id };
    return n < 0 ? err_sys(e, s->path, "append") : ERR_OK;
}

static enum err_code memory_set(const struct store *st, const struct session_ref *ref,
                                const struct host_setting *setting, size_t n, struct err *e)
{
    struct memory_session *s = session_of(st, ref->id);

    assert(s);
    for (size_t i = 0; i < n; i++)
        if (!slice_eq(setting[i].key, SLICE("title")) || setting[i].value.n >= sizeof s->title)
            return err_set(e, ERR_USAGE, "", "set: no such setting");
    for (size_t i = 0; i < n; i++)
        snprintf(s->title, sizeof s->title, "%.*s", SLICE_ARG(setting[i].value));
    return ERR_OK;
}

const struct store_ops memory_ops = {
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
};
