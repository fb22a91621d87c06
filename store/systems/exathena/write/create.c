#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/write/event_line.h"

/* A session as the library begins it: a log with its session_start. Title, model and parent have no place there; keys
 * of our own would make the library drop the line, and its rewind fail. */

enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755 };

static enum err_code write_start_event(int64_t now_ms, struct buf *out)
{
    char now[EVENT_TIME], id[EXATHENA_EVENT_ID + 1];
    struct buf data = { 0 };
    struct jsonout j;
    const struct event_order order = event_order_default();

    event_time(now_ms, now);
    exathena_generate_id(id, EXATHENA_EVENT_ID);
    const struct slice ts = slice_of(now);

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "ts", ts);
    jsonout_key(&j, "resumed");
    jsonout_bool(&j, false);
    jsonout_close(&j, '}');
    const struct event_draft draft = { .kind = SLICE("session_start"),
                                       .data = buf_slice(&data),
                                       .ts = ts,
                                       .id = { id, EXATHENA_EVENT_ID } };
    enum err_code rc = j.rc ? j.rc : event_write(&draft, &order, out);

    buf_fini(&data);
    return rc;
}

static enum err_code write_new(const struct exathena *x, const char *name, struct slice bytes,
                               struct err *e)
{
    struct disk_new to;
    enum err_code rc = disk_make_dir(x->sessions, DIRECTORY_MODE, e);

    disk_new_sweep(x->sessions); /* what a crash left of an earlier one */
    if (!rc)
        rc = disk_new_open(x->sessions, FILE_MODE, &to, e);
    if (rc)
        return rc;
    rc = disk_write(to.fd, bytes, NULL, to.path, e);
    if (!rc)
        return disk_new_publish(&to, name, e);
    disk_new_discard(&to);
    return rc;
}

/* A session belongs to the project of its store, whatever else was asked for. */
static unsigned unsaved(const struct exathena *x, const struct host_create *req)
{
    bool elsewhere = !slice_eq(req->cwd, slice_of(x->project));

    return (elsewhere ? HOST_CWD : 0U) | (req->model.n ? HOST_MODEL : 0U) |
           (req->title.n ? HOST_TITLE : 0U) | (req->parent.n ? HOST_PARENT : 0U);
}

enum err_code exathena_create(const struct store *st, const struct host_create *req,
                              struct arena *a, struct host_created *out, struct err *e)
{
    const struct exathena *x = exathena_of(st);
    char drawn[EXATHENA_ID + 1];
    struct buf line = { 0 };
    struct host_created made = { .id = req->id, .unsaved = unsaved(x, req) };

    exathena_generate_id(drawn, EXATHENA_ID);
    if (!made.id.n)
        made.id = (struct slice){ drawn, EXATHENA_ID };
    if (!exathena_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not an ExAthena session id");
    made.id = arena_copy(a, made.id);
    const char *name = made.id.p ? arena_format(a, "%s" EXATHENA_SUFFIX, made.id.p) : NULL;

    made.path.p = name ? arena_format(a, "%s/%s", x->sessions, name) : NULL;
    enum err_code rc = !made.path.p || write_start_event(env_now_ms(st->env), &line)
                           ? err_nomem(e)
                           : write_new(x, name, buf_slice(&line), e);

    buf_fini(&line);
    if (rc)
        return rc;
    made.path.n = strlen(made.path.p);
    *out = made;
    return ERR_OK;
}
