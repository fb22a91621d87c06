#include "store/systems/exathena/tool_history.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/log/logfile.h"
#include "store/systems/exathena/event.h"

/* Results contain the id of their call, and the call is in an earlier message of the agent. */
struct call {
    struct slice id, name, path;
};

struct write_search {
    struct tool_history *tool_history;
    const char *project;
    struct arena scratch; /* of one line */
    struct arena calls;   /* of one message of the agent */
    struct call *call;
    size_t n;
    size_t line;
    struct index_line span;          /* where the bytes of that line are */
    struct tool_history_write *want; /* fill in only this write instead of listing all */
    struct arena *into;
};

static bool is_writer(struct slice name)
{
    return slice_eq(name, SLICE("write")) || slice_eq(name, SLICE("edit")) ||
           slice_eq(name, SLICE("apply_patch"));
}

static const char *absolute(struct write_search *t, struct slice path)
{
    const char *text = arena_copy(&t->scratch, path).p;

    return text ? path_normalize(t->project, text, &t->tool_history->arena) : NULL;
}

/* ---- writes ---- */

static enum err_code add_write(struct write_search *t, struct slice path, bool known)
{
    struct tool_history *s = t->tool_history;
    struct tool_history_write *list;

    if (!path.n || memchr(path.p, '\0', path.n))
        return ERR_OK;
    list = arena_grow(&s->arena, s->write, s->writes, sizeof *list);
    if (!list)
        return ERR_NOMEM;
    s->write = list;
    list[s->writes] = (struct tool_history_write){ .path = absolute(t, path),
                                                   .line = t->line,
                                                   .at = t->span.offset,
                                                   .length = t->span.length,
                                                   .known = known };
    s->writes += list[s->writes].path != NULL;
    return list[s->writes - 1].path ? ERR_OK : ERR_NOMEM;
}

/* The texts of the write that was requested. */
static enum err_code fill_write_texts(struct write_search *t, struct slice payload,
                                      struct slice path)
{
    struct slice before, after;
    const char *full = path_normalize(t->project, path.p ? path.p : "", &t->scratch);

    if (!full)
        return ERR_NOMEM;
    if (t->want->before.p || strcmp(full, t->want->path) != 0)
        return ERR_OK;
    if (!event_text(payload, "before", &t->scratch, &before) ||
        !event_text(payload, "after", &t->scratch, &after))
        return ERR_NOMEM;
    t->want->before = arena_copy(t->into, before);
    t->want->after = arena_copy(t->into, after);
    return t->want->before.p && t->want->after.p ? ERR_OK : ERR_NOMEM;
}

static enum err_code take_diff(struct write_search *t, struct slice payload)
{
    struct slice path, before, after;

    if (!event_text(payload, "path", &t->scratch, &path))
        return ERR_NOMEM;
    path = arena_copy(&t->scratch, path);
    if (!path.p)
        return ERR_NOMEM;
    event_member(payload, "before", &before);
    event_member(payload, "after", &after);
    if (t->want)
        return fill_write_texts(t, payload, path);
    return add_write(t, path, json_type(before) == JSON_STRING && json_type(after) == JSON_STRING);
}

static enum err_code take_patch(struct write_search *t, struct slice payload)
{
    struct slice files, key, file, path;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    event_member(payload, "files", &files);
    if (json_type(files) != JSON_ARRAY || !json_iter_open(&it, files))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &file)) {
        if (!event_text(file, "path", &t->scratch, &path))
            return ERR_NOMEM;
        rc = add_write(t, path, false);
    }
    return rc;
}

static enum err_code take_silent(struct write_search *t, struct slice result)
{
    struct slice id;

    if (!event_text(result, "tool_call_id", &t->scratch, &id))
        return ERR_NOMEM;
    for (size_t i = 0; i < t->n; i++)
        if (slice_eq(t->call[i].id, id) && is_writer(t->call[i].name))
            return add_write(t, t->call[i].path, false);
    return ERR_OK;
}

static enum err_code take_result(struct write_search *t, struct slice result)
{
    struct slice failed, ui, payload, kind;

    event_member(result, "is_error", &failed);
    if (json_type(failed) == JSON_TRUE)
        return ERR_OK;
    event_member(result, "ui_payload", &ui);
    event_member(ui, "payload", &payload);
    if (!event_text(ui, "kind", &t->scratch, &kind))
        return ERR_NOMEM;
    if (slice_eq(kind, SLICE("diff")))
        return take_diff(t, payload);
    if (t->want)
        return ERR_OK;
    return slice_eq(kind, SLICE("patch")) ? take_patch(t, payload) : take_silent(t, result);
}

/* ---- calls ---- */

static enum err_code take_call(struct write_search *t, struct slice value)
{
    struct slice arguments;
    struct call call, *list;
    struct tool_history *s = t->tool_history;

    event_member(value, "arguments", &arguments);
    if (!event_text(value, "id", &t->calls, &call.id) ||
        !event_text(value, "name", &t->calls, &call.name) ||
        !event_text(arguments, "path", &t->calls, &call.path))
        return ERR_NOMEM;
    call.id = arena_copy(&t->calls, call.id);
    call.name = arena_copy(&t->calls, call.name);
    call.path = arena_copy(&t->calls, call.path);
    list = arena_grow(&t->calls, t->call, t->n, sizeof *list);
    if (!list || !call.id.p || !call.name.p || !call.path.p)
        return ERR_NOMEM;
    t->call = list;
    list[t->n++] = call;
    if (!slice_eq(call.name, SLICE("bash")))
        return ERR_OK;
    size_t *shell = arena_grow(&s->arena, s->shell, s->shells, sizeof *shell);

    if (!shell)
        return ERR_NOMEM;
    s->shell = shell;
    shell[s->shells++] = t->line;
    return ERR_OK;
}

typedef enum err_code element_fn(struct write_search *t, struct slice value);

static enum err_code each(struct write_search *t, struct slice message, const char *name,
                          element_fn *fn)
{
    struct slice list, key, value;
    struct json_iter it;
    enum err_code rc = ERR_OK;

    event_member(message, name, &list);
    if (json_type(list) != JSON_ARRAY || !json_iter_open(&it, list))
        return ERR_OK;
    while (!rc && json_iter_next(&it, &key, &value))
        rc = fn(t, value);
    return rc;
}

/* ---- lines ---- */

static enum err_code take_prompt(struct write_search *t, const struct event *ev)
{
    struct tool_history *s = t->tool_history;
    struct slice said;
    struct tool_history_prompt *list = arena_grow(&s->arena, s->prompt, s->prompts, sizeof *list),
                               *p;

    if (!list || !event_said(ev, &t->scratch, &said))
        return ERR_NOMEM;
    s->prompt = list;
    p = &list[s->prompts++];
    *p = (struct tool_history_prompt){ .id = arena_copy(&s->arena, ev->id),
                                       .text = arena_copy(&s->arena, said),
                                       .line = t->line };
    if (!time_parse(ev->ts, &p->time_ms))
        p->time_ms = TIME_NONE;
    return p->id.p && p->text.p ? ERR_OK : ERR_NOMEM;
}

static enum err_code tell(struct write_search *t, struct slice line)
{
    struct event ev;

    arena_reset(&t->scratch);
    if (!event_read(line, &t->scratch, &ev) || !ev.message.n)
        return ERR_OK;
    if (t->want)
        return each(t, ev.message, "tool_results", take_result);
    if (slice_eq(ev.role, SLICE("assistant"))) {
        arena_reset(&t->calls);
        t->call = NULL;
        t->n = 0;
        return each(t, ev.message, "tool_calls", take_call);
    }
    if (slice_eq(ev.role, SLICE("user")) && ev.id.n)
        return take_prompt(t, &ev);
    return each(t, ev.message, "tool_results", take_result);
}

static enum err_code tell_lines(struct write_search *t, const struct session_ref *ref,
                                struct err *e)
{
    struct logfile log;
    struct slice row;
    enum err_code rc = logfile_open(&log, ref->path.p, 0, &exathena_keys, NULL, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK || log.index.line[i].length == UINT32_MAX)
            continue;
        t->line = i;
        t->span = log.index.line[i];
        rc = logfile_row(&log, i, &row, e);
        if (!rc && tell(t, row))
            rc = err_nomem(e);
    }
    logfile_close(&log);
    return rc;
}

static void telling_fini(struct write_search *t)
{
    arena_fini(&t->scratch);
    arena_fini(&t->calls);
}

enum err_code tool_history_read(const struct session_ref *ref, const char *project,
                                struct tool_history *out, struct err *e)
{
    struct tool_history s = { .prompts = 0 };
    struct write_search t = { .tool_history = &s, .project = project };
    enum err_code rc = tell_lines(&t, ref, e);

    telling_fini(&t);
    if (rc)
        tool_history_fini(&s);
    else
        *out = s;
    return rc;
}

void tool_history_fini(struct tool_history *s)
{
    arena_fini(&s->arena);
    *s = (struct tool_history){ .prompts = 0 };
}

const struct tool_history_write *tool_history_last_write(const struct tool_history *s,
                                                         const char *path)
{
    for (size_t i = s->writes; i > 0; i--)
        if (strcmp(s->write[i - 1].path, path) == 0)
            return &s->write[i - 1];
    return NULL;
}

const struct tool_history_write *tool_history_first_write(const struct tool_history *s,
                                                          const char *path, size_t from)
{
    for (size_t i = 0; i < s->writes; i++)
        if (s->write[i].line >= from && strcmp(s->write[i].path, path) == 0)
            return &s->write[i];
    return NULL;
}

/* The bytes of a write's line when the log was read. */
static enum err_code read_line(const struct session_ref *ref, const struct tool_history_write *w,
                               struct buf *line, struct err *e)
{
    struct file file;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &file, e);

    if (rc)
        return rc;
    rc = file_read_part(&file, w->at, w->length, line, e);
    file_close(&file);
    return err_at(e, rc, ref->path.p);
}

enum err_code tool_history_write_read(const struct session_ref *ref, const char *project,
                                      struct tool_history_write *w, struct arena *a, struct err *e)
{
    struct write_search t = { .project = project, .line = w->line, .want = w, .into = a };
    struct buf line = { 0 };
    enum err_code rc = read_line(ref, w, &line, e);

    if (!rc && tell(&t, buf_slice(&line)))
        rc = err_nomem(e);
    telling_fini(&t);
    buf_fini(&line);
    if (!rc && !w->before.p)
        rc = err_set(e, ERR_STALE, ref->path.p, "the session changed: read what was written");
    return rc;
}
