#include <fcntl.h>

#include "lite/base/slice.h"
#include "lite/io/window.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/journal/append_journal.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/read/event.h"
#include "store/systems/exathena/write/event_line.h"
#include "store/systems/exathena/write/jason.h"

/* Events of a host. A whole event is written as it was handed in. One that lacks a time or an id gets it, and a bare
 * message ({role, content, ...}) becomes the event that the library would write for it. */

struct appending {
    const struct store *st;
    const struct session_ref *ref;
    struct arena *a;
    struct event_order order;
    char now[EVENT_TIME];
};

/* From the last whole event near the end. */
static enum err_code read_order(struct appending *w, struct err *e)
{
    struct window win;
    struct slice rest, line;
    struct event ev;
    bool torn;
    enum err_code rc = window_init(&win, e);

    if (rc)
        return rc;
    w->order = event_order_default();
    rc = window_open(&win, AT_FDCWD, w->ref->path.p, 0, e);
    for (rest = win.tail; !rc && slice_last_line(&rest, &line, &torn);)
        if (event_read(line, w->a, &ev) && ev.kind.n) {
            w->order = event_order_of(line);
            break;
        }
    window_fini(&win);
    return rc;
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

/* A line of ours, in the bytes that the library would have written. */
static enum err_code write_event(struct appending *w, const struct event_draft *d, struct buf *out)
{
    struct buf line = { 0 };
    enum err_code rc = event_write(d, &w->order, &line);

    if (!rc)
        rc = jason_compact(out, buf_slice(&line), w->a);
    buf_fini(&line);
    return rc ? rc : buf_add_byte(out, '\n');
}

/* A person's message has two keys; the others always have all five. */
static enum err_code write_message(struct slice row, bool user, struct buf *out)
{
    static const char *const always[] = { "content", "name", "tool_calls", "tool_results" };
    struct json_edit lacking[4];
    struct slice there;
    size_t n = 0;

    for (size_t i = 0; i < 4 && !user; i++)
        if (!json_get(row, always[i], &there))
            lacking[n++] = (struct json_edit){ .name = always[i], .value = SLICE("null") };
    return n ? json_edit(out, row, lacking, n) : buf_add(out, row);
}

static enum err_code add_message_event(struct appending *w, struct slice row, struct slice role,
                                       struct event_draft *d, struct buf *out, struct err *e)
{
    const char *kind = event_kind_of_role(role);
    struct buf data = { 0 };

    if (!kind)
        return err_set(e, ERR_USAGE, "", "append: a message of role %.*s", SLICE_ARG(role));
    d->kind = slice_of(kind);
    enum err_code rc = buf_add(&data, SLICE("{\"message\":"));

    if (!rc)
        rc = write_message(row, slice_eq(role, SLICE("user")), &data);
    if (!rc)
        rc = buf_add_byte(&data, '}');
    d->data = buf_slice(&data);
    if (!rc)
        rc = write_event(w, d, out);
    buf_fini(&data);
    return rc ? err_nomem(e) : ERR_OK;
}

static enum err_code add_event(struct appending *w, struct slice row, const struct event *ev,
                               struct event_draft *d, struct buf *out, struct err *e)
{
    bool whole = ev->id.n && ev->ts.n && ev->data.n;

    d->kind = ev->kind;
    d->data = ev->data.n ? ev->data : SLICE("{}");
    d->rest = row;
    if (ev->ts.n)
        d->ts = ev->ts;
    if (whole ? buf_add(out, row) || buf_add_byte(out, '\n') : write_event(w, d, out))
        return err_nomem(e);
    return ERR_OK;
}

static enum err_code add_event_row(struct appending *w, struct slice row,
                                   struct append_rows_item *made, struct buf *out, struct err *e)
{
    char drawn[EXATHENA_EVENT_ID + 1];
    struct event_draft d = { .ts = slice_of(w->now) };
    struct event ev;
    struct slice role;

    exathena_generate_id(drawn, EXATHENA_EVENT_ID);
    if (!event_read(row, w->a, &ev) || !event_text(row, "role", w->a, &role))
        return err_nomem(e);
    made->drawn = ev.id.n == 0;
    made->id = arena_copy(w->a, made->drawn ? (struct slice){ drawn, EXATHENA_EVENT_ID } : ev.id);
    if (!made->id.p)
        return err_nomem(e);
    d.id = made->id;
    if (ev.kind.n)
        return add_event(w, row, &ev, &d, out, e);
    if (role.n)
        return add_message_event(w, row, role, &d, out, e);
    return err_set(e, ERR_USAGE, "", "append: neither an event nor a message");
}

enum err_code exathena_append(const struct store *st, const struct session_ref *ref,
                              const struct host_append *req, struct arena *a,
                              struct host_appended *out, struct err *e)
{
    struct appending w = { .st = st, .ref = ref, .a = a };
    struct append_rows rows = { .row = arena_zalloc(a, req->n * sizeof *rows.row), .n = req->n };

    if (req->transcript)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "append: exathena sessions have one stream only");
    event_time(env_now_ms(st->env), w.now);
    enum err_code rc = rows.row ? read_order(&w, e) : err_nomem(e);

    for (size_t i = 0; i < req->n && !rc; i++) {
        rc = add_event_row(&w, req->row[i], &rows.row[i], &rows.lines, e);
        rows.row[i].end = rows.lines.n;
    }
    if (!rc)
        rc = append_rows_write(st->env, ref->path.p, &rows, a, e);
    if (!rc)
        *out = (struct host_appended){ .n = req->n,
                                       .present = rows.present,
                                       .id = append_rows_ids(&rows, a) };
    if (!rc && !out->id)
        rc = err_nomem(e);
    buf_fini(&rows.lines);
    return rc;
}
