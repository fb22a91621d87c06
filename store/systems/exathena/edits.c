#include "store/systems/exathena/exathena.h"

#include <fcntl.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "store/api/edit.h"
#include "store/fs/path.h"
#include "store/log/logfile.h"
#include "store/systems/common/edits/tool_edits.h"
#include "store/systems/exathena/event.h"

/* Results contain the id of their call, and the call is in an earlier message of the agent. */
struct call {
    struct slice id, name, path;
};

struct history_reader {
    struct exathena_history *history;
    const char *project;
    struct arena scratch; /* owns the texts of one line */
    struct arena calls;   /* owns the calls of one message of the agent */
    struct call *call;
    size_t n;
    size_t line;
    struct index_line span;     /* where the bytes of that line are */
    struct exathena_edit *want; /* read only the texts of this edit */
    struct arena *into;
};

static bool is_edit_tool(struct slice name)
{
    return slice_eq(name, SLICE("write")) || slice_eq(name, SLICE("edit")) ||
           slice_eq(name, SLICE("apply_patch"));
}

/* ---- edits ---- */

/* The absolute form of the path that a row names; NULL if it is not a path or out of memory. */
static const char *exathena_absolute(struct history_reader *t, struct slice path, struct arena *a)
{
    const char *text =
        path.n && !memchr(path.p, '\0', path.n) ? arena_copy(&t->scratch, path).p : NULL;

    return text ? path_normalize(t->project, text, a) : NULL;
}

static void exathena_add_edit(struct history_reader *t, struct slice path, bool known)
{
    struct exathena_history *s = t->history;
    struct exathena_edit *list = arena_grow(&s->arena, s->edit, s->edits, sizeof *list);
    const char *full = exathena_absolute(t, path, &s->arena);

    if (!list || !full)
        return;
    s->edit = list;
    list[s->edits++] = (struct exathena_edit){ .path = full,
                                               .line = t->line,
                                               .at = t->span.offset,
                                               .length = t->span.length,
                                               .known = known };
}

static void read_wanted_texts(struct history_reader *t, struct slice payload, struct slice path)
{
    const char *full = exathena_absolute(t, path, &t->scratch);

    if (!full || t->want->before.p || strcmp(full, t->want->path) != 0)
        return;
    t->want->before = arena_copy(t->into, event_text(payload, "before", &t->scratch));
    t->want->after = arena_copy(t->into, event_text(payload, "after", &t->scratch));
}

static void exathena_read_result(struct history_reader *t, struct slice result)
{
    struct slice ui = event_member(result, "ui_payload"), payload = event_member(ui, "payload"),
                 kind = event_text(ui, "kind", &t->scratch);

    if (json_type(event_member(result, "is_error")) == JSON_TRUE)
        return;
    if (slice_eq(kind, SLICE("diff"))) {
        struct slice path = event_text(payload, "path", &t->scratch);

        if (t->want)
            read_wanted_texts(t, payload, path);
        else
            exathena_add_edit(t, path,
                              json_type(event_member(payload, "before")) == JSON_STRING &&
                                  json_type(event_member(payload, "after")) == JSON_STRING);
    } else if (!t->want && slice_eq(kind, SLICE("patch"))) {
        struct slice key, file;
        struct json_iter it;

        if (event_list(payload, "files", &it))
            while (json_iter_next(&it, &key, &file))
                exathena_add_edit(t, event_text(file, "path", &t->scratch), false);
    } else if (!t->want) {
        struct slice id = event_text(result, "tool_call_id", &t->scratch);
        size_t i = 0;

        while (i < t->n && !(slice_eq(t->call[i].id, id) && is_edit_tool(t->call[i].name)))
            i++;
        if (i < t->n)
            exathena_add_edit(t, t->call[i].path, false);
    }
}

/* ---- calls ---- */

static struct slice exathena_copy_text(struct slice object, const char *name, struct arena *a)
{
    return arena_copy(a, event_text(object, name, a));
}

static void exathena_read_call(struct history_reader *t, struct slice value)
{
    struct exathena_history *s = t->history;
    struct call *list = arena_grow(&t->calls, t->call, t->n, sizeof *list);
    size_t *shell = arena_grow(&s->arena, s->shell, s->shells, sizeof *shell);

    if (!list || !shell)
        return;
    t->call = list;
    s->shell = shell;
    list[t->n] = (struct call){ .id = exathena_copy_text(value, "id", &t->calls),
                                .name = exathena_copy_text(value, "name", &t->calls),
                                .path = exathena_copy_text(event_member(value, "arguments"), "path",
                                                           &t->calls) };
    if (slice_eq(list[t->n++].name, SLICE("bash")))
        shell[s->shells++] = t->line;
}

static void each_member(struct history_reader *t, struct slice message, const char *name,
                        void fn(struct history_reader *t, struct slice value))
{
    struct slice key, value;
    struct json_iter it;

    if (event_list(message, name, &it))
        while (json_iter_next(&it, &key, &value))
            fn(t, value);
}

/* ---- lines ---- */

static void exathena_read_prompt(struct history_reader *t, const struct event *ev)
{
    struct exathena_history *s = t->history;
    struct exathena_prompt *list = arena_grow(&s->arena, s->prompt, s->prompts, sizeof *list);
    struct slice text = event_message_text(ev, &t->scratch);

    if (!list)
        return;
    s->prompt = list;
    list[s->prompts] = (struct exathena_prompt){ .id = arena_copy(&s->arena, ev->id),
                                                 .text = arena_copy(&s->arena, text),
                                                 .line = t->line };
    if (!time_parse(ev->ts, &list[s->prompts].time_ms))
        list[s->prompts].time_ms = TIME_NONE;
    s->prompts++;
}

static void read_event(struct history_reader *t, struct slice line)
{
    struct event ev;

    arena_reset(&t->scratch);
    if (!event_read(line, &t->scratch, &ev) || !ev.message.n)
        return;
    if (slice_eq(ev.role, SLICE("assistant")) && !t->want) {
        arena_reset(&t->calls);
        t->call = NULL;
        t->n = 0;
        each_member(t, ev.message, "tool_calls", exathena_read_call);
    } else if (slice_eq(ev.role, SLICE("user")) && ev.id.n && !t->want) {
        exathena_read_prompt(t, &ev);
    } else {
        each_member(t, ev.message, "tool_results", exathena_read_result);
    }
}

/* The arenas keep the first failure. */
static bool has_failed(const struct history_reader *t)
{
    return t->scratch.failed || t->calls.failed || (t->into && t->into->failed) ||
           (t->history && t->history->arena.failed);
}

static void history_reader_fini(struct history_reader *t)
{
    arena_fini(&t->scratch);
    arena_fini(&t->calls);
}

enum err_code exathena_history_read(const struct session_ref *ref, const char *project,
                                    struct exathena_history *out, struct err *e)
{
    CLEANUP(exathena_history_fini) struct exathena_history s = { .prompts = 0 };
    CLEANUP(history_reader_fini) struct history_reader t = { .history = &s, .project = project };

    /* The events, in the order of the log. */
    struct logfile log;
    struct slice row;
    enum err_code rc = logfile_open(&log, ref->path.p, 0, &exathena_keys, NULL, e);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < log.index.n; i++) {
        if (log.index.line[i].state == LINE_BLANK || log.index.line[i].length == UINT32_MAX)
            continue;
        t.line = i;
        t.span = log.index.line[i];
        rc = logfile_row(&log, i, &row, e);
        if (!rc)
            read_event(&t, row);
        if (has_failed(&t))
            rc = err_nomem(e);
    }
    logfile_close(&log);
    TRY(rc);

    HAND_OVER(out, s);
    return ERR_OK;
}

void exathena_history_fini(struct exathena_history *s)
{
    arena_fini(&s->arena);
    *s = (struct exathena_history){ .prompts = 0 };
}

const struct exathena_edit *exathena_history_last_edit(const struct exathena_history *s,
                                                       const char *path)
{
    for (size_t i = s->edits; i > 0; i--)
        if (strcmp(s->edit[i - 1].path, path) == 0)
            return &s->edit[i - 1];
    return NULL;
}

const struct exathena_edit *exathena_history_first_edit(const struct exathena_history *s,
                                                        const char *path, size_t from)
{
    for (size_t i = 0; i < s->edits; i++)
        if (s->edit[i].line >= from && strcmp(s->edit[i].path, path) == 0)
            return &s->edit[i];
    return NULL;
}

enum err_code exathena_history_read_texts(const struct session_ref *ref, const char *project,
                                          struct exathena_edit *w, struct arena *a, struct err *e)
{
    struct history_reader t = { .project = project, .line = w->line, .want = w, .into = a };
    struct buf line = { 0 };
    struct file file;

    /* The line of the edit is read from where it was when the log was read. */
    TRY(file_open(AT_FDCWD, ref->path.p, 0, &file, e));
    enum err_code rc = err_at(e, file_read_part(&file, w->at, w->length, &line, e), ref->path.p);

    file_close(&file);
    if (!rc)
        read_event(&t, buf_slice(&line));
    if (!rc && has_failed(&t))
        rc = err_nomem(e);
    history_reader_fini(&t);
    buf_fini(&line);
    if (!rc && !w->before.p)
        rc = err_set(e, ERR_STALE, ref->path.p, "the session changed: read what was written");
    return rc;
}

/* ---- the edits for blame and the screen ---- */

static void fill_edit_texts(struct slice result, struct arena *a, struct edit *edit)
{
    struct slice ui = event_member(result, "ui_payload"), payload = event_member(ui, "payload"),
                 before = event_member(payload, "before"), after = event_member(payload, "after");

    if (!slice_eq(event_text(ui, "kind", a), SLICE("diff")) || json_type(before) != JSON_STRING ||
        json_type(after) != JSON_STRING)
        return;
    edit->before = event_text(payload, "before", a);
    edit->after = event_text(payload, "after", a);
    edit->before_known = EDIT_TEXT;
    edit->after_known = EDIT_TEXT;
}

static void exathena_fill_edit(struct slice row, struct arena *a, struct edit *edit, bool *counts)
{
    struct event ev;
    struct json_iter it;
    struct slice key, result;

    (void)counts;
    if ((edit->kind != EDIT_WRITE && edit->kind != EDIT_REPLACE) || !event_read(row, a, &ev) ||
        !event_list(ev.message, "tool_results", &it))
        return;
    while (json_iter_next(&it, &key, &result))
        if (slice_eq(event_text(result, "tool_call_id", a), edit->call))
            fill_edit_texts(result, a, edit);
}

enum err_code exathena_edits(const struct store *st, const struct session_ref *ref,
                             const struct edit_query *q, edit_fn *fn, void *arg, struct err *e)
{
    return tool_edits_files(st->ops, ref, q, exathena_fill_edit, fn, arg, e);
}
