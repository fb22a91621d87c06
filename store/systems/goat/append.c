#include "store/log/append.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lite/json.h"
#include "store/disk.h"
#include "store/host/host.h"
#include "store/log/filelock.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/gojson.h"
#include "store/systems/goat/members.h"
#include "store/systems/goat/mutate.h"

/* Rows of a host, in the dialect of the session: wrapped or flat, the id and the time in front (goat.md B2). What the host
 * wrote in them stays as it is. Hosts hold their lock only while they write, and so do we; the log itself is only ever
 * appended to, as a running host keeps it open (B5). */

struct appending {
    const struct session_ref *ref;
    struct arena *a;
    bool flat;
    struct slice now; /* as a JSON value */
};

static enum err_code no_memory(const struct appending *w, struct err *e)
{
    return err_set(e, ERR_NOMEM, w->ref->path.p, "append: out of memory");
}

static enum err_code draw_id(struct appending *w, struct slice *raw)
{
    char id[HOST_ID];
    char *text;

    host_draw_id(id);
    text = arena_format(w->a, "\"%s\"", id);
    *raw = (struct slice){ text, text ? HOST_ID + 1 : 0 };
    return text ? ERR_OK : ERR_NOMEM;
}

/* Members of an object but those that are written apart. */
static enum err_code add_members(struct buf *out, struct slice object, const char *const apart[],
                                 size_t n, bool first)
{
    struct json_iter it;
    struct slice key, value;
    enum err_code rc = ERR_OK;

    for (bool more = json_iter_open(&it, object);
         !rc && more && json_iter_next(&it, &key, &value);) {
        bool skip = false;

        for (size_t i = 0; i < n; i++)
            skip |= goat_key_is(key, apart[i]);
        if (skip)
            continue;
        if (!first)
            rc = buf_add_byte(out, ',');
        first = false;
        if (!rc)
            rc = buf_add(out, key);
        if (!rc)
            rc = buf_add_byte(out, ':');
        if (!rc)
            rc = gojson_compact(out, value);
    }
    return rc;
}

static enum err_code add_front(struct buf *out, const char *key, struct slice value, bool first)
{
    enum err_code rc = buf_addf(out, "%s\"%s\":", first ? "{" : ",", key);

    return rc ? rc : gojson_compact(out, value);
}

static enum err_code write_message(struct appending *w, struct slice row,
                                   const struct goat_entry *entry, struct buf *out)
{
    static const char *const wrapping[] = { "uuid", "timestamp", "message" };
    struct slice said = entry->shape == GOAT_NESTED ? entry->message : row;
    enum err_code rc = add_front(out, "uuid", entry->uuid, true);

    if (!rc)
        rc = add_front(out, "timestamp", entry->timestamp.p ? entry->timestamp : w->now, false);
    if (!rc && !w->flat)
        rc = buf_add(out, SLICE(",\"message\":{"));
    if (!rc)
        rc = add_members(out, said, wrapping, 2, !w->flat);
    if (!rc && !w->flat)
        rc = buf_add_byte(out, '}');
    if (!rc && entry->shape == GOAT_NESTED)
        rc = add_members(out, row, wrapping, 3, false);
    return rc ? rc : buf_add(out, SLICE("}\n"));
}

static enum err_code write_event(struct appending *w, struct slice row,
                                 const struct goat_entry *entry, struct buf *out)
{
    static const char *const in_front[] = { "uuid", "session_id" };
    struct buf session = { 0 };
    enum err_code rc = add_front(out, "uuid", entry->uuid, true);

    if (!rc)
        rc = gojson_text(&session, w->ref->id);
    if (!rc)
        rc = add_front(out, "session_id", buf_slice(&session), false);
    if (!rc)
        rc = add_members(out, row, in_front, 2, false);
    buf_fini(&session);
    return rc ? rc : buf_add(out, SLICE("}\n"));
}

static enum err_code write_row(struct appending *w, struct slice row, bool stream, struct buf *out,
                               struct slice *id, struct err *e)
{
    struct goat_entry entry;
    size_t before = out->n;
    enum err_code rc = ERR_OK;

    goat_entry_read(row, &entry);
    if (stream ? entry.shape != GOAT_STREAM
               : entry.shape == GOAT_NOTHING || entry.shape == GOAT_STREAM ||
                     json_type(entry.role) != JSON_STRING)
        return err_set(e, ERR_USAGE, "", "append: a row %s",
                       stream ? "without a type is none of the SDK's stream"
                              : "without a role is no message");
    if (json_type(entry.uuid) != JSON_STRING)
        rc = draw_id(w, &entry.uuid);
    if (!rc)
        rc = stream ? write_event(w, row, &entry, out) : write_message(w, row, &entry, out);
    if (rc || !json_text(entry.uuid, w->a, id) || !(*id = arena_copy(w->a, *id)).p)
        return no_memory(w, e);
    return out->n - before > GOAT_LINE_MAX
               ? err_set(e, ERR_USAGE, "",
                         "append: a row of more than 10 MiB: the agent could not load the "
                         "session any more")
               : ERR_OK;
}

/* The log is there, be it empty. */
static enum err_code make_log(const char *path, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);

    if (fd < 0)
        return errno == ELOOP ? err_set(e, ERR_UNSAFE, path, "append: it is a link")
                              : err_sys(e, path, "append");
    close(fd);
    return ERR_OK;
}

static enum err_code write_rows(struct appending *w, const char *name, struct slice rows,
                                struct err *e)
{
    const char *path = goat_path(w->ref, name, w->a), *dir = goat_path(w->ref, "", w->a);
    const char *lock = path ? arena_format(w->a, "%s" GOAT_LOCK_SUFFIX, path) : NULL;
    struct appended done;
    int held = -1;

    if (!lock || !dir)
        return no_memory(w, e);
    enum err_code rc = filelock_take(lock, &held, e);

    if (!rc && access(path, F_OK) && !(rc = make_log(path, e)))
        rc = disk_sync_dir(dir, e);
    if (!rc)
        rc = log_append(path, rows, 0, &done, e);
    filelock_drop(held);
    return rc;
}

static enum err_code append_rows(struct appending *w, const struct host_append *req,
                                 struct host_appended *out, struct err *e)
{
    struct slice *id = arena_zalloc(w->a, (req->n + 1) * sizeof *id);
    struct buf rows = { 0 };
    enum err_code rc = id ? ERR_OK : no_memory(w, e);

    for (size_t i = 0; i < req->n && !rc; i++)
        rc = write_row(w, req->row[i], req->transcript, &rows, &id[i], e);
    if (!rc)
        rc = write_rows(w, req->transcript ? GOAT_TRANSCRIPT_LOG : GOAT_MESSAGES_LOG,
                        buf_slice(&rows), e);
    buf_fini(&rows);
    if (!rc)
        *out = (struct host_appended){ .n = req->n, .id = id };
    return rc;
}

enum err_code goat_append(const struct store *st, const struct session_ref *ref,
                          const struct host_append *req, struct arena *a, struct host_appended *out,
                          struct err *e)
{
    struct appending w = { .ref = ref, .a = a };
    struct goat_document d;
    struct buf now = { 0 };
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    w.flat = goat_dialects[d.m.dialect].flat;
    goat_document_close(&d);
    if (gojson_time(&now, st->env->now_ms * 1000000))
        rc = no_memory(&w, e);
    w.now = buf_slice(&now);
    if (!rc)
        rc = append_rows(&w, req, out, e);
    buf_fini(&now);
    return rc;
}
