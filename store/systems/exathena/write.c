#include <fcntl.h>
#include <limits.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/journal/append_journal.h"
#include "store/journal/change.h"
#include "store/systems/exathena/event.h"
#include "store/systems/exathena/exathena.h"

/* A new session as the library writes it: a log with its session_start. It has no place for title,
 * model and parent; with additional keys the library would drop the line, and its rewind would
 * fail. */

enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755 };

static enum err_code write_start_event(int64_t now_ms, struct buf *out)
{
    char now[EVENT_TIME], id[EXATHENA_EVENT_ID + 1];
    AUTO_BUF data = { 0 };
    struct jsonout j;
    const struct event_order order = event_order_default();

    event_time(now_ms, now);
    exathena_generate_id(id, EXATHENA_EVENT_ID);
    const struct slice ts = slice_of(now);

    jsonout_init(&j, &data);
    jsonout_open(&j, '{');
    jsonout_member(&j, "ts", ts);
    jsonout_bool_member(&j, "resumed", false);
    jsonout_close(&j, '}');
    TRY(j.rc);
    const struct event_draft draft = { .kind = SLICE("session_start"),
                                       .data = buf_slice(&data),
                                       .ts = ts,
                                       .id = { id, EXATHENA_EVENT_ID } };

    return event_write(&draft, &order, out);
}

static enum err_code exathena_write_new(const struct exathena *x, const char *name,
                                        struct slice bytes, struct err *e)
{
    enum err_code rc = disk_make_dir(x->jsonl.folder, DIRECTORY_MODE, e);

    disk_new_sweep(x->jsonl.folder); /* temporary files that a crash left */
    return rc ? rc : disk_create_file(x->jsonl.folder, name, bytes, FILE_MODE, e);
}

/* A session belongs to the project of its store, whatever directory was requested. */
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
    AUTO_BUF line = { 0 };
    struct host_created made = { .id = req->id, .unsaved = unsaved(x, req) };

    exathena_generate_id(drawn, EXATHENA_ID);
    if (!made.id.n)
        made.id = (struct slice){ drawn, EXATHENA_ID };
    if (!exathena_is_id(made.id))
        return err_set(e, ERR_USAGE, "", "create: not an ExAthena session id");
    made.id = arena_copy(a, made.id);
    NEED(made.id.p);
    const char *name = arena_format(a, "%s" JSONL_SUFFIX, made.id.p);

    NEED(name);
    NEED(made.path.p = arena_format(a, "%s/%s", x->jsonl.folder, name));
    made.path.n = strlen(made.path.p);
    NEED(!write_start_event(env_now_ms(st->env), &line));
    TRY(exathena_write_new(x, name, buf_slice(&line), e));
    *out = made;
    return ERR_OK;
}

/* Events of a host. A complete event is written as it was passed. One without a time or an id gets
 * it, and a bare message ({role, content, ...}) becomes the event that the library would write for
 * it. */

struct appending {
    const struct session_ref *ref;
    struct arena *a;
    struct event_order order;
    char now[EVENT_TIME];
};

/* The order of the last complete event near the end. */
static enum err_code read_order(struct appending *w, struct err *e)
{
    CLEANUP(window_fini) struct window win = { .bytes = NULL };
    struct slice rest, line;
    struct event ev;
    bool torn;

    TRY(window_init(&win, e));
    w->order = event_order_default();
    TRY(window_open(&win, AT_FDCWD, w->ref->path.p, 0, e));
    for (rest = win.tail; slice_last_line(&rest, &line, &torn);)
        if (event_read(line, w->a, &ev) && ev.kind.n) {
            w->order = event_order_of(line);
            break;
        }
    return ERR_OK;
}

static const char *event_kind_of_role(struct slice role)
{
    static const struct {
        const char *role, *kind;
    } kinds[] = {
        { "user", "user_message" },
        { "assistant", "assistant_message" },
        { "tool", "tool_result" },
        { "system", "system_message" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (slice_eq(role, slice_of(kinds[i].role)))
            return kinds[i].kind;
    return NULL;
}

/* A line of ours, in the bytes that the library would write. */
static enum err_code write_event(struct appending *w, const struct event_draft *d, struct buf *out)
{
    AUTO_BUF line = { 0 };

    TRY(event_write(d, &w->order, &line));
    TRY(event_compact(out, buf_slice(&line), w->a));
    return buf_add_byte(out, '\n');
}

static enum err_code add_message_event(struct appending *w, struct slice row, struct slice role,
                                       struct event_draft *d, struct buf *out, struct err *e)
{
    /* A person's message has two keys; all others always have five. */
    static const char *const always[] = { "content", "name", "tool_calls", "tool_results" };
    const char *kind = event_kind_of_role(role);
    AUTO_BUF data = { 0 };
    struct json_edit lacking[4];
    struct slice there;
    size_t n = 0;

    if (!kind)
        return err_set(e, ERR_USAGE, "", "append: %.*s is not a role of a message",
                       SLICE_ARG(role));
    for (size_t i = 0; i < 4 && !slice_eq(role, SLICE("user")); i++)
        if (!json_get(row, always[i], &there))
            lacking[n++] = (struct json_edit){ .name = always[i], .value = SLICE("null") };
    NEED(!buf_add(&data, SLICE("{\"message\":")));
    NEED(!(n ? json_edit(&data, row, lacking, n) : buf_add(&data, row)));
    NEED(!buf_add_byte(&data, '}'));
    d->kind = slice_of(kind);
    d->data = buf_slice(&data);
    NEED(!write_event(w, d, out));
    return ERR_OK;
}

static enum err_code add_event_row(struct slice row, struct append_rows_item *made, struct buf *out,
                                   void *arg, struct err *e)
{
    struct appending *w = arg;
    char drawn[EXATHENA_EVENT_ID + 1];
    struct event_draft d = { .ts = slice_of(w->now) };
    struct slice role = event_text(row, "role", w->a);
    struct event ev;

    exathena_generate_id(drawn, EXATHENA_EVENT_ID);
    if (!event_read(row, w->a, &ev) || w->a->failed)
        return err_nomem(e);
    made->drawn = ev.id.n == 0;
    made->id = arena_copy(w->a, made->drawn ? (struct slice){ drawn, EXATHENA_EVENT_ID } : ev.id);
    if (!made->id.p)
        return err_nomem(e);
    d.id = made->id;

    /* The row may be an event already. Only a complete one keeps its bytes. */
    if (ev.kind.n) {
        bool whole = ev.id.n && ev.ts.n && ev.data.n;

        d.kind = ev.kind;
        d.data = ev.data.n ? ev.data : SLICE("{}");
        d.rest = row;
        if (ev.ts.n)
            d.ts = ev.ts;
        if (whole ? buf_add(out, row) || buf_add_byte(out, '\n') : write_event(w, &d, out))
            return err_nomem(e);
        return ERR_OK;
    }
    if (role.n)
        return add_message_event(w, row, role, &d, out, e);
    return err_set(e, ERR_USAGE, "", "append: neither an event nor a message");
}

/* Writes the whole event, with its keys in the library's order, whatever the order in the log. */
enum err_code exathena_host_row(const struct store *st, struct slice row, bool transcript,
                                struct arena *a, struct slice *complete, struct slice *id,
                                struct err *e)
{
    struct appending w = { .a = a, .order = event_order_default() };
    struct append_rows_item made;
    AUTO_BUF line = { 0 };

    if (transcript)
        return err_set(e, ERR_UNSUPPORTED, "", "append: exathena sessions have one stream only");
    event_time(env_now_ms(st->env), w.now);

    TRY(add_event_row(row, &made, &line, &w, e));

    *id = made.id;
    *complete = arena_copy(a, (struct slice){ line.p, line.n - 1 });
    return complete->p ? ERR_OK : err_nomem(e);
}

enum err_code exathena_append(const struct store *st, const struct session_ref *ref,
                              const struct host_append *req, struct arena *a,
                              struct host_appended *out, struct err *e)
{
    struct appending w = { .ref = ref, .a = a };
    struct append_rows rows = { .n = 0 };

    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: exathena sessions have one stream only");
    event_time(env_now_ms(st->env), w.now);
    enum err_code rc = read_order(&w, e);

    if (!rc)
        rc = append_rows_make(&rows, req, add_event_row, &w, a, e);
    if (!rc)
        rc = append_rows_write(st->env, ref->path.p, &rows, a, out, e);
    buf_fini(&rows.lines);
    return rc;
}

/* The library cannot fork a log; this is an extension: the raw lines up to and including an event,
 * under a new id. The copy is a log like any other, and can be resumed. It has no place for a
 * title. */

struct forking {
    const struct exathena *x;
    const struct session_ref *ref;
    const struct fork_request *req;
    char id[EXATHENA_ID + 1];
    const char *dir, *name, *history; /* where it is staged; the source's saved files */
    struct fork_result made;
};

static enum err_code exathena_stage(const struct forking *f, struct err *e)
{
    CLEANUP(logfile_close) struct logfile log = { .file.fd = -1 };

    TRY(disk_private_dir(f->dir, e));
    TRY(logfile_open(&log, f->ref->path.p, 0, &exathena_keys, NULL, e));

    /* A last line that is torn is not copied, unless it was asked for: it may be incomplete. */
    size_t lines = log.index.n - log.index.torn_tail, line = lines - 1;
    struct jsonl_fork copied = { .log = &log };

    if (f->req->at.n)
        TRY(jsonl_find_row(&log, &exathena_format, f->req->at, &line, e));
    if (f->req->at.n || lines)
        copied = jsonl_fork_to(&log, line);
    return jsonl_fork_write(&copied, f->dir, f->name, e);
}

static enum err_code exathena_write_name_places(struct forking *f, struct arena *a, struct err *e)
{
    char forks[PATH_MAX];

    TRY(env_data_path(f->x->jsonl.base.env, "forks", forks, e));
    exathena_generate_id(f->id, EXATHENA_ID);
    f->dir = arena_format(a, "%s", forks);
    f->name = arena_format(a, "%s" JSONL_SUFFIX, f->id);
    f->history = arena_format(a, "%s/%.*s", f->x->history, SLICE_ARG(f->ref->id));
    f->made.staged = arena_format(a, "%s/%s" JSONL_SUFFIX, forks, f->id);
    f->made.staged_files = arena_format(a, "%s/%s.files", forks, f->id);
    f->made.path = arena_format(a, "%s/%s" JSONL_SUFFIX, f->x->jsonl.folder, f->id);
    f->made.id = arena_copy(a, (struct slice){ f->id, EXATHENA_ID });
    return f->dir && f->name && f->history && f->made.staged && f->made.staged_files &&
                   f->made.path && f->made.id.p
               ? ERR_OK
               : err_nomem(e);
}

enum err_code exathena_fork(const struct store *st, const struct session_ref *ref,
                            const struct fork_request *req, struct change *c,
                            struct fork_result *out, struct err *e)
{
    struct forking f = { .x = exathena_of(st), .ref = ref, .req = req };
    enum err_code rc = exathena_write_name_places(&f, &c->arena, e);
    bool files = !rc && req->with_files && path_is_real_dir(f.history);

    if (rc)
        return rc;
    rc = exathena_stage(&f, e);
    if (!rc && files)
        rc = copy_tree(f.history, f.made.staged_files, e);
    if (!rc) {
        /* The log comes last: when the session becomes visible, its files are there already. */
        struct step move = { .kind = STEP_MOVE, .path = f.made.staged_files, .made = true };

        if (files) {
            move.to = arena_format(&c->arena, "%s/%s", f.x->history, f.id);
            rc = move.to ? change_add(c, &move, e) : err_nomem(e);
        }
        move.path = f.made.staged;
        move.to = f.made.path;
        if (!rc)
            rc = change_add(c, &move, e);
    }
    if (rc) {
        change_discard_fork(&f.made);
        return rc;
    }
    if (!files)
        f.made.staged_files = NULL;
    *out = f.made;
    return ERR_OK;
}
