#include "store/blame/blame.h"

#include "lite/base/time.h"
#include "store/library/call.h"

ANSWER(lines, reprise_line);
ANSWER(touches, reprise_touch);

/* A query for a file; `what` names the operation in errors. */
static enum err_code library_file_query(const char *what, const char *file,
                                        const struct reprise_query *sessions, struct arena *a,
                                        struct blame_query *out, struct err *e)
{
    struct blame_paths *paths = arena_zalloc(a, sizeof *paths);

    NEED(paths);
    if (file[0] != '/')
        return err_set(e, ERR_USAGE, file, "%s: the path is not absolute", what);
    TRY(call_query(sessions, a, &out->sessions, e));
    TRY(blame_paths_of("/", file, a, paths, e));
    out->path = paths->path;
    out->paths = paths->n;
    return ERR_OK;
}

static struct reprise_line library_copy_line(const struct blame *b, const struct blame_notes *notes,
                                             size_t i, struct arena *a)
{
    static const struct blame_note no_note = { .commit = "" };
    const struct blame_note *note = notes->line && notes->line[i] ? notes->line[i] : &no_note;
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
        .note_commit = call_copy(a, slice_of(note->commit)),
        .note_tool = call_copy(a, note->tool),
        .note_session = call_copy(a, note->session),
        .note_model = call_copy(a, note->model),
        .note_author = call_copy(a, note->author),
    };
}

static enum err_code library_fill_lines(const struct reprise *r, const char *file,
                                        const struct reprise_query *sessions, struct answer *x,
                                        struct err *e)
{
    CLEANUP(blame_fini) struct blame b = { .lines = 0 };
    CLEANUP(blame_notes_fini) struct blame_notes notes = { .n = 0 };
    struct blame_query q = { .paths = 0 };

    TRY(library_file_query("blame", file, sessions, &x->arena, &q, e));
    TRY(blame_file(r->store, r->n, &q, &b, e));
    TRY(blame_notes_read(q.path[q.paths - 1], &b, &notes, e));
    for (size_t i = 0; i < b.lines; i++) {
        struct reprise_line *out = answer_add(x);

        NEED(out);
        *out = library_copy_line(&b, &notes, i, &x->arena);
    }
    return ERR_OK;
}

int reprise_blame(const struct reprise *r, const char *file, const struct reprise_query *sessions,
                  struct reprise_lines **out, struct reprise_error *error)
{
    if (!r || !file || !out)
        return call_refuse(error);
    ANSWER_RETURN(lines, reprise_line, out, error, library_fill_lines(r, file, sessions, x, e));
}

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

static enum err_code library_copy_touches(const struct blame_touches *t, struct answer *x,
                                          struct err *e)
{
    for (size_t i = 0; i < t->n; i++) {
        struct reprise_touch *out = answer_add(x);

        NEED(out);
        *out = copy_touch(&t->touch[i], t->ref[t->touch[i].session], &x->arena);
    }
    return ERR_OK;
}

static enum err_code library_fill_files(const struct reprise_session *s, struct answer *x,
                                        struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches t = { .n = 0 };
    struct session_ref now;

    TRY(session_now(s, &x->arena, &now, e));
    TRY(blame_touches_of(&now, NULL, &t, e));
    return library_copy_touches(&t, x, e);
}

int reprise_files(const struct reprise_session *s, struct reprise_touches **out,
                  struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(touches, reprise_touch, out, error, library_fill_files(s, x, e));
}

static enum err_code library_fill_touched(const struct reprise *r, const char *path,
                                          const struct reprise_query *sessions, struct answer *x,
                                          struct err *e)
{
    CLEANUP(blame_touches_fini) struct blame_touches t = { .n = 0 };
    struct blame_query q = { .paths = 0 };

    TRY(library_file_query("touched", path, sessions, &x->arena, &q, e));
    TRY(blame_touches_read(r->store, r->n, &q, &t, e));
    return library_copy_touches(&t, x, e);
}

int reprise_touched(const struct reprise *r, const char *path, const struct reprise_query *sessions,
                    struct reprise_touches **out, struct reprise_error *error)
{
    if (!r || !path || !out)
        return call_refuse(error);
    ANSWER_RETURN(touches, reprise_touch, out, error,
                  library_fill_touched(r, path, sessions, x, e));
}
