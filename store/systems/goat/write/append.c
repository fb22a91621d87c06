#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lite/json/json.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/journal/append_journal.h"
#include "store/log/lease.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/read/entry.h"
#include "store/systems/goat/write/document.h"
#include "store/systems/goat/write/hostrow.h"

/* Rows of a host, in the dialect of the session (hostrow.h). Hosts hold their lock only while they write, and so do we; the log itself is only ever
 * appended to, as a running host keeps it open (B5). */

struct appending {
    const struct store_env *env;
    const struct session_ref *ref;
    struct arena *a;
    bool flat;
    struct slice now; /* as a JSON value */
};

static enum err_code draw_id(struct appending *w, struct slice *raw)
{
    char id[HOST_ID];
    char *text;

    host_generate_id(id);
    text = arena_format(w->a, "\"%s\"", id);
    *raw = (struct slice){ text, text ? HOST_ID + 1 : 0 };
    return text ? ERR_OK : ERR_NOMEM;
}

static enum err_code write_host_row(struct appending *w, struct slice row, bool stream,
                                    struct buf *out, struct append_rows_item *made, struct err *e)
{
    struct goat_entry entry;
    size_t before = out->n;
    enum err_code rc = ERR_OK;

    goat_entry_read(row, &entry);
    rc = goat_hostrow_check(&entry, stream, e);
    if (rc)
        return rc;
    struct slice time = json_type(entry.timestamp) == JSON_STRING ? entry.timestamp : w->now;

    made->drawn = json_type(entry.uuid) != JSON_STRING || json_string_is(entry.uuid, "");
    if (made->drawn)
        rc = draw_id(w, &entry.uuid);
    if (!rc)
        rc = stream ? goat_hostrow_event(row, &entry, w->ref->id, out)
                    : goat_hostrow_message(row, &entry, w->flat, time, out);
    if (rc || !json_text(entry.uuid, w->a, &made->id) || !(made->id = arena_copy(w->a, made->id)).p)
        return err_nomem(e);
    made->end = out->n;
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

static enum err_code write_rows(struct appending *w, const char *name, struct append_rows *rows,
                                struct err *e)
{
    const char *path = goat_path(w->ref, name, w->a), *dir = goat_path(w->ref, "", w->a);
    const char *lock = path ? arena_format(w->a, "%s" GOAT_LOCK_SUFFIX, path) : NULL;
    int held = -1;

    if (!lock || !dir)
        return err_nomem(e);
    enum err_code rc = log_lock_acquire(lock, &held, e);

    if (!rc && access(path, F_OK) && !(rc = make_log(path, e)))
        rc = disk_sync_dir(dir, e);
    if (!rc)
        rc = append_rows_write(w->env, path, rows, w->a, e);
    log_lock_release(held);
    return rc;
}

static enum err_code append_rows(struct appending *w, const struct host_append *req,
                                 struct host_appended *out, struct err *e)
{
    struct append_rows rows = { .row = arena_zalloc(w->a, req->n * sizeof *rows.row), .n = req->n };
    enum err_code rc = rows.row ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < req->n && !rc; i++) {
        rc = write_host_row(w, req->row[i], req->transcript, &rows.lines, &rows.row[i], e);
        if (rc == ERR_USAGE)
            err_wrap(e, rc, "row %zu", i + 1);
    }
    if (!rc)
        rc = write_rows(w, req->transcript ? GOAT_TRANSCRIPT_LOG : GOAT_MESSAGES_LOG, &rows, e);
    if (!rc)
        *out = (struct host_appended){ .n = req->n,
                                       .present = rows.present,
                                       .id = append_rows_ids(&rows, w->a) };
    if (!rc && !out->id)
        rc = err_nomem(e);
    buf_fini(&rows.lines);
    return rc;
}

enum err_code goat_append(const struct store *st, const struct session_ref *ref,
                          const struct host_append *req, struct arena *a, struct host_appended *out,
                          struct err *e)
{
    struct appending w = { .env = st->env, .ref = ref, .a = a };
    struct goat_document d;
    struct buf now = { 0 };
    enum err_code rc = goat_document_open(ref, &d, e);

    if (rc)
        return rc;
    w.flat = goat_dialects[d.m.dialect].flat;
    goat_document_close(&d);
    if (go_json_time(&now, env_now_ms(st->env) * 1000000))
        rc = err_nomem(e);
    w.now = buf_slice(&now);
    if (!rc)
        rc = append_rows(&w, req, out, e);
    buf_fini(&now);
    return rc;
}
