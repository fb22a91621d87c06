#include "store/blame/blame.h"

#include <stdlib.h>

#include "lite/base/time.h"
#include "store/library/call.h"

struct reprise_lines {
    struct arena arena;
    struct reprise_line *line;
    size_t n;
};

static struct reprise_line library_copy_line(const struct blame *b, size_t i, struct arena *a)
{
    static const struct edit nothing = { .time_ms = TIME_NONE };
    const struct blame_event *event = blame_event_of(b, i);
    const struct session_ref *ref = blame_session_of(b, i);
    const struct edit *edit = event ? &event->edit : &nothing;

    return (struct reprise_line){
        .size = sizeof(struct reprise_line),
        .text = call_copy(a, b->line[i]),
        .text_length = b->line[i].n,
        .system = ref ? ref->store->ops->name : "",
        .session = ref ? call_copy(a, ref->id) : "",
        .path = ref ? call_copy(a, ref->path) : "",
        .agent = call_copy(a, edit->agent),
        .turn = call_copy(a, edit->turn),
        .message = call_copy(a, edit->message),
        .tool = call_copy(a, edit->tool),
        .prompt = call_copy(a, edit->prompt),
        .time_ms = edit->time_ms == TIME_NONE ? REPRISE_TIME_UNKNOWN : edit->time_ms,
        .incomplete = ref || !b->stopped ? "" : b->stopped,
    };
}

static enum err_code copy_lines(const struct blame *b, struct reprise_lines *out, struct err *e)
{
    out->line = arena_zalloc(&out->arena, (b->lines + 1) * sizeof *out->line);
    for (size_t i = 0; out->line && i < b->lines; i++)
        out->line[i] = library_copy_line(b, i, &out->arena);
    out->n = b->lines;
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code blame(const struct reprise *r, const char *file,
                           const struct reprise_query *sessions, struct reprise_lines *out,
                           struct err *e)
{
    struct blame_query q = { .paths = 0 };
    struct blame_paths paths;
    struct blame b = { .lines = 0 };

    if (!file || file[0] != '/')
        return err_set(e, ERR_USAGE, file ? file : "", "blame: the path is not absolute");
    enum err_code rc = call_query(sessions, &out->arena, &q.sessions, e);

    if (!rc)
        rc = blame_paths_of("/", file, &out->arena, &paths, e);
    if (rc)
        return rc;
    q.path = paths.path;
    q.paths = paths.n;
    rc = blame_file(r->store, r->n, &q, &b, e);
    if (!rc)
        rc = copy_lines(&b, out, e);
    blame_fini(&b);
    return rc;
}

int reprise_blame(const struct reprise *r, const char *file, const struct reprise_query *sessions,
                  struct reprise_lines **out, struct reprise_error *error)
{
    if (!r || !file || !out)
        return call_refuse(error);

    struct reprise_lines *lines = calloc(1, sizeof *lines);
    struct call c;

    call_begin(&c);
    enum err_code rc = lines ? blame(r, file, sessions, lines, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_lines_free(lines);
    else
        *out = lines;
    return call_end(&c, rc, error);
}

size_t reprise_lines_count(const struct reprise_lines *lines)
{
    return lines ? lines->n : 0;
}

const struct reprise_line *reprise_lines_at(const struct reprise_lines *lines, size_t i)
{
    return lines && i < lines->n ? &lines->line[i] : NULL;
}

void reprise_lines_free(struct reprise_lines *lines)
{
    if (lines)
        arena_fini(&lines->arena);
    free(lines);
}

struct reprise_touches {
    struct arena arena;
    struct reprise_touch *touch;
    size_t n;
};

static struct reprise_touch copy_touch(const struct blame_touch *t, const struct session_ref *ref,
                                       struct arena *a)
{
    return (struct reprise_touch){
        .size = sizeof(struct reprise_touch),
        .file = call_copy(a, slice_of(t->path)),
        .to = t->to ? call_copy(a, slice_of(t->to)) : "",
        .system = ref->store->ops->name,
        .session = call_copy(a, ref->id),
        .path = call_copy(a, ref->path),
        .agent = call_copy(a, t->agent),
        .turn = call_copy(a, t->turn),
        .message = call_copy(a, t->message),
        .prompt = call_copy(a, t->prompt),
        .time_ms = t->time_ms == TIME_NONE ? REPRISE_TIME_UNKNOWN : t->time_ms,
        .edits = t->edits,
        .added = t->added,
        .removed = t->removed,
        .did = (t->did & BLAME_CREATED ? REPRISE_TOUCH_CREATED : 0u) |
               (t->did & BLAME_EDITED ? REPRISE_TOUCH_EDITED : 0u) |
               (t->did & BLAME_DELETED ? REPRISE_TOUCH_DELETED : 0u) |
               (t->did & BLAME_RENAMED ? REPRISE_TOUCH_RENAMED : 0u),
        .incomplete = t->stopped ? t->stopped : "",
    };
}

static enum err_code copy_touches(const struct blame_touches *t, struct reprise_touches *out,
                                  struct err *e)
{
    out->touch = arena_zalloc(&out->arena, (t->n + 1) * sizeof *out->touch);
    for (size_t i = 0; out->touch && i < t->n; i++)
        out->touch[i] = copy_touch(&t->touch[i], t->ref[t->touch[i].session], &out->arena);
    out->n = t->n;
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}

static int library_finish(struct call *c, enum err_code rc, struct blame_touches *t,
                          struct reprise_touches *touches, struct reprise_touches **out,
                          struct reprise_error *error)
{
    if (!rc) {
        rc = copy_touches(t, touches, &c->err);
        blame_touches_fini(t);
    }
    if (rc)
        reprise_touches_free(touches);
    else
        *out = touches;
    return call_end(c, rc, error);
}

/* ---- the files of a session ---- */

int reprise_files(const struct reprise_session *s, struct reprise_touches **out,
                  struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct reprise_touches *touches = calloc(1, sizeof *touches);
    struct blame_touches t = { .n = 0 };
    struct session_ref now;
    struct call c;

    call_begin(&c);
    enum err_code rc = touches ? session_now(s, &touches->arena, &now, &c.err) : err_nomem(&c.err);

    if (!rc)
        rc = blame_touches_of(&now, NULL, &t, &c.err);
    return library_finish(&c, rc, &t, touches, out, error);
}

/* ---- the sessions of a file ---- */

static enum err_code read_touched(const struct reprise *r, const char *path,
                                  const struct reprise_query *sessions, struct arena *a,
                                  struct blame_touches *t, struct err *e)
{
    struct blame_query q = { .paths = 0 };
    struct blame_paths paths;

    if (!path || path[0] != '/')
        return err_set(e, ERR_USAGE, path ? path : "", "touched: the path is not absolute");
    enum err_code rc = call_query(sessions, a, &q.sessions, e);

    if (!rc)
        rc = blame_paths_of("/", path, a, &paths, e);
    if (rc)
        return rc;
    q.path = paths.path;
    q.paths = paths.n;
    return blame_touches_read(r->store, r->n, &q, t, e);
}

int reprise_touched(const struct reprise *r, const char *path, const struct reprise_query *sessions,
                    struct reprise_touches **out, struct reprise_error *error)
{
    if (!r || !path || !out)
        return call_refuse(error);

    struct reprise_touches *touches = calloc(1, sizeof *touches);
    struct blame_touches t = { .n = 0 };
    struct call c;

    call_begin(&c);
    enum err_code rc =
        touches ? read_touched(r, path, sessions, &touches->arena, &t, &c.err) : err_nomem(&c.err);

    return library_finish(&c, rc, &t, touches, out, error);
}

size_t reprise_touches_count(const struct reprise_touches *touches)
{
    return touches ? touches->n : 0;
}

const struct reprise_touch *reprise_touches_at(const struct reprise_touches *touches, size_t i)
{
    return touches && i < touches->n ? &touches->touch[i] : NULL;
}

void reprise_touches_free(struct reprise_touches *touches)
{
    if (touches)
        arena_fini(&touches->arena);
    free(touches);
}
