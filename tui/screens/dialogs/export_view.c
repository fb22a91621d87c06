#include "tui/screens/dialogs/dialog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

enum { BOX_W = 72, BOX_W_MOST = 110, LABEL_W = 14 };

void export_view_fini(struct export_view *v)
{
    ref_list_free(v->session);
    v->session = NULL;
}

static bool is_several(const struct export_view *v)
{
    return v->session->n > 1;
}

/* ---- the rows ---- */

/* The reason why a row cannot be changed; NULL if it can. */
static const char *fixed_reason(const struct export_view *v, enum export_row row)
{
    bool rows = v->format == EXPORT_JSONL, subagents = false;

    for (size_t i = 0; i < v->session->n; i++)
        subagents |= v->session->ref[i].store->ops->subagent != NULL;
    switch (row) {
    case EXPORT_ROW_TOOLS: return rows ? "as they are" : NULL;
    case EXPORT_ROW_THINKING: return rows ? "as it is" : NULL;
    case EXPORT_ROW_SUBAGENTS: return subagents ? NULL : "none in this system";
    case EXPORT_ROW_MESSAGES: return id128_none(v->message) ? "all" : NULL;
    default: return NULL;
    }
}

static const char *export_view_value_of(const struct export_view *v, enum export_row row)
{
    static const char *const formats[] = { "Markdown", "HTML", "text", "JSONL: the rows" };
    static const char *const tools[] = { "folded", "left out", "in full" };
    static const char *const messages[] = { "all", "from this one on", "up to this one" };
    const char *fixed = fixed_reason(v, row);

    if (fixed)
        return fixed;
    switch (row) {
    case EXPORT_ROW_FORMAT: return formats[v->format];
    case EXPORT_ROW_TOOLS: return tools[v->tools];
    case EXPORT_ROW_THINKING: return v->thinking ? "included" : "left out";
    case EXPORT_ROW_SUBAGENTS: return v->subagents ? "included" : "left out";
    case EXPORT_ROW_SECRETS: return v->keep_secrets ? "kept" : "replaced";
    case EXPORT_ROW_MESSAGES: return messages[v->messages];
    default: return "";
    }
}

/* Suggests a name in the directory where reprise was started, unless the person chose one. */
static void name_file(struct export_view *v)
{
    const struct session_ref *ref = &v->session->ref[0];
    const struct store_env *env = ref->store->env;
    struct arena a = { 0 };
    char *name;

    v->exists = false;
    if (v->named)
        return;
    if (is_several(v)) {
        snprintf(v->path, sizeof v->path, "%s/", env && env->cwd && env->cwd[1] ? env->cwd : "");
        return;
    }
    name = export_file_name_for(
        &(struct export_request){ .format = v->format, .redact = !v->keep_secrets },
        slice_of(v->title), ref->id, &a);
    snprintf(v->path, sizeof v->path, "%s/%s", env && env->cwd && env->cwd[1] ? env->cwd : "",
             name ? name : "session");
    arena_fini(&a);
}

static unsigned step_value(unsigned value, unsigned n, int by)
{
    return (value + n + (unsigned)(by < 0 ? (int)n - 1 : 1)) % n;
}

static void export_view_change_value(struct export_view *v, int by)
{
    enum export_row row = (enum export_row)v->at;

    if (fixed_reason(v, row))
        return;
    switch (row) {
    case EXPORT_ROW_FORMAT:
        v->format = (enum export_format)step_value(v->format, EXPORT_FORMATS, by);
        name_file(v);
        break;
    case EXPORT_ROW_TOOLS: v->tools = (enum export_tools)step_value(v->tools, 3, by); break;
    case EXPORT_ROW_THINKING: v->thinking = !v->thinking; break;
    case EXPORT_ROW_SUBAGENTS: v->subagents = !v->subagents; break;
    case EXPORT_ROW_SECRETS: v->keep_secrets = !v->keep_secrets; break;
    case EXPORT_ROW_MESSAGES:
        v->messages = (enum export_messages)step_value(v->messages, 3, by);
        break;
    default: break;
    }
}

/* ---- the file ---- */

/* "~/x" as a shell reads it. */
static const char *set_typed_path(struct model *m, struct slice text)
{
    struct export_view *v = m->export;
    const struct store_env *env = v->session->ref[0].store->env;
    bool tilde = text.n > 1 && text.p[0] == '~' && text.p[1] == '/' && env && env->home;

    if (text.n == 0)
        return "a name is needed";
    if (memchr(text.p, '\0', text.n) || text.n + (tilde ? strlen(env->home) : 0) >= sizeof v->path)
        return "not a valid file name";
    if (tilde)
        text = (struct slice){ text.p + 1, text.n - 1 };
    snprintf(v->path, sizeof v->path, "%s%.*s", tilde ? env->home : "", SLICE_ARG(text));
    v->named = true;
    v->exists = false;
    return NULL;
}

static void export_view_write_file(struct model *m)
{
    struct export_view *v = m->export;
    struct effect *e = effect_add(&m->fx, EFFECT_EXPORT, REQUESTER_EXPORT);

    e->refs = ref_list_copy(v->session);
    if (!e->refs || buf_add(&e->text, slice_of(v->path)) || !buf_cstr(&e->text)) {
        toast_no_memory(&m->toast);
        return;
    }
    e->export = (struct export_request){ .format = v->format,
                                         .tools = v->tools,
                                         .thinking = v->thinking,
                                         .subagents = v->subagents,
                                         .redact = !v->keep_secrets,
                                         .leaf = v->leaf };
    if (v->messages == EXPORT_FROM_MESSAGE)
        e->export.first = v->message;
    else if (v->messages == EXPORT_TO_MESSAGE)
        e->export.last = v->message;
    e->replaces = v->exists;
    v->writing = e->generation;
}

static void export_view_accept(struct model *m)
{
    struct export_view *v = m->export;

    if (v->writing)
        return;
    if (v->at == EXPORT_ROW_FILE)
        dialog_prompt(m, is_several(v) ? "directory " : "file ", slice_of(v->path), set_typed_path);
    else if (v->at == EXPORT_ROW_WRITE)
        export_view_write_file(m);
    else
        export_view_change_value(v, 1);
}

/* ---- the view ---- */

static const char *export_view_write_label(const struct export_view *v)
{
    return v->writing      ? "writing; going back cancels"
           : v->exists     ? "Replace the file"
           : is_several(v) ? "Write the files"
                           : "Write the file";
}

/* The path as the screen names it: "~/code/shop/title.md". */
static struct slice export_view_path(const struct model *m, char *out, size_t cap)
{
    return text_path_short(slice_of(m->export->path), m->settings->home, out, cap);
}

static void export_view_draw_row(const struct model *m, struct frame *f, struct rect r, size_t i)
{
    const struct export_view *v = m->export;
    static const char *const labels[] = { "Format",  "Tools",    "Thinking", "Sub-agents",
                                          "Secrets", "Messages", "File" };
    int x = r.x + 2 + LABEL_W, w = r.w - LABEL_W - 3;
    bool fixed = fixed_reason(v, (enum export_row)i) != NULL;
    char path[PATH_MAX];

    if (i == EXPORT_ROW_WRITE) {
        frame_puts(f, r.y, r.x + 2, r.w - 3, v->exists ? STYLE_WARN : STYLE_STRONG,
                   export_view_write_label(v));
    } else {
        frame_puts(f, r.y, r.x + 2, LABEL_W, STYLE_DIM,
                   i == EXPORT_ROW_FILE && is_several(v) ? "Directory" : labels[i]);
        if (i == EXPORT_ROW_FILE)
            frame_text_middle(f, r.y, x, w, STYLE_TEXT, export_view_path(m, path, sizeof path));
        else
            frame_puts(f, r.y, x, w, fixed ? STYLE_DIM : STYLE_TEXT,
                       export_view_value_of(v, (enum export_row)i));
    }
    if (i == v->at)
        frame_point(f, r);
}

static void draw_export(const struct model *m, struct frame *f)
{
    const struct export_view *v = m->export;
    char path[PATH_MAX];
    int wish = LABEL_W + 5 + frame_width(export_view_path(m, path, sizeof path));

    wish = wish < BOX_W ? BOX_W : wish < BOX_W_MOST ? wish : BOX_W_MOST;
    int w = f->cols - 4 < wish ? f->cols - 4 : wish;
    char heading[40] = "Export the session";

    if (is_several(v))
        snprintf(heading, sizeof heading, "Export %zu sessions", v->session->n);

    struct rect r = frame_box(f, EXPORT_ROWS + 2, w, slice_of(heading));
    size_t fit = r.h > 0 ? (size_t)r.h : 1;
    size_t top = list_cursor_top(0, v->at, EXPORT_ROWS, fit);
    char hint[100];

    for (size_t i = 0; i < fit && top + i < EXPORT_ROWS; i++)
        export_view_draw_row(m, f, (struct rect){ r.y + (int)i, r.x, 1, r.w }, top + i);

    /* A low screen has no line for the hint. */
    if (fit < EXPORT_ROWS + 2)
        return;
    const char *says =
        v->exists ? "The file exists. Writing again replaces it for good."
        : v->at == EXPORT_ROW_SECRETS && !v->keep_secrets
            ? "Not looked for: pictures, encoded or split text, bare hex."
            : keymap_text(&m->settings->keys, IN_DIALOG, f->ascii,
                          f->ascii ? "Left and Right change a value; {accept} chooses."
                                   : "← and → change a value; {accept} chooses.",
                          hint, sizeof hint);
    const int above = frame_width(slice_of(says)) > r.w - 3; /* it takes the blank line, too */

    text_wrap_draw(f, (struct rect){ r.y + EXPORT_ROWS + 1 - above, r.x + 2, 2, r.w - 3 },
                   v->exists ? STYLE_WARN : STYLE_DIM, slice_of(says));
}

static bool export_act(struct model *m, enum action a)
{
    struct export_view *v = m->export;

    if (list_cursor_wrap(&v->at, EXPORT_ROWS, a))
        return true;
    switch (a) {
    case ACT_ACCEPT: export_view_accept(m); return true;
    case ACT_BACK:
        if (v->writing)
            toast_note(&m->toast, m->now_ms,
                       is_several(v) ? "cancelled: files that were complete are kept"
                                     : "cancelled: nothing was written");
        effect_cancel(&m->fx, REQUESTER_EXPORT, &v->writing);
        view_pop(m);
        return true;
    default: return false;
    }
}

static bool export_takes(struct model *m, struct key key)
{
    struct export_view *v = m->export;

    if (view_top(m) != VIEW_EXPORT || v->writing || key.mods != 0)
        return false;
    if (key.code != KEYCODE_LEFT && key.code != KEYCODE_RIGHT && key.code != ' ' &&
        key.code != 'h' && key.code != 'l')
        return false;
    export_view_change_value(v, key.code == KEYCODE_LEFT || key.code == 'h' ? -1 : 1);
    return true;
}

/* The marked sessions, or the one that is selected or read; *first is the first of them. NULL if out of memory. */
static struct ref_list *selected_sessions(const struct model *m, const struct session_entry **first)
{
    struct list_selection selection = list_selection_of(m);
    struct ref_list *sessions = ref_list_new();
    uint32_t entry;

    while (sessions && list_selection_next(&selection, &entry)) {
        const struct session_entry *e = &m->list->sessions.entry[entry];

        *first = sessions->n ? *first : e;
        if (ref_list_add(sessions, &e->ref, 0))
            continue;
        ref_list_free(sessions);
        sessions = NULL;
    }
    return sessions;
}

static void open_export(struct model *m)
{
    const struct session_entry *e = NULL;
    struct export_view *v = m->export;
    const struct export_view before = *v;
    struct ref_list *sessions = selected_sessions(m, &e);
    int64_t ignored;

    if (!sessions || sessions->n == 0) {
        ref_list_free(sessions);
        if (!sessions)
            toast_no_memory(&m->toast);
        return;
    }

    /* The choices of the last export are kept. */
    export_view_fini(v);
    *v = (struct export_view){ .session = sessions,
                               .format = before.format,
                               .tools = before.tools,
                               .thinking = before.thinking,
                               .subagents = before.subagents,
                               .keep_secrets = before.keep_secrets,
                               .at = EXPORT_ROW_WRITE };
    snprintf(v->title, sizeof v->title, "%.*s",
             (int)(session_entry_title(e).n < 120 ? session_entry_title(e).n : 120),
             session_entry_title(e).n ? session_entry_title(e).p : "");

    if (view_base(m) == VIEW_TRANSCRIPT) {
        v->leaf = transcript_view_leaf(m->viewer);
        (void)transcript_view_message(m->viewer, &v->message, &ignored);
    }

    name_file(v);
    view_push(m, VIEW_EXPORT);
}

static bool export_perform(struct model *m, enum action a)
{
    if (a != ACT_EXPORT)
        return false;
    open_export(m);
    return true;
}

static void report_written(struct model *m, const struct msg *msg)
{
    const struct export_view *v = m->export;
    char path[PATH_MAX], secrets[64] = "", what[64] = "";
    struct slice shown = export_view_path(m, path, sizeof path);

    if (!v->keep_secrets)
        snprintf(secrets, sizeof secrets, ", %zu secret%s replaced", msg->u.exported.secrets,
                 msg->u.exported.secrets == 1 ? "" : "s");
    if (msg->u.exported.failed)
        snprintf(what, sizeof what, "%zu of %zu files into ", msg->u.exported.files, v->session->n);
    else if (is_several(v))
        snprintf(what, sizeof what, "%zu files into ", msg->u.exported.files);
    toast_info(&m->toast, m->now_ms, "wrote %s%.*s, %" PRId64 " KB%s%s%s", what, SLICE_ARG(shown),
               (msg->u.exported.bytes + 1023) / 1024, secrets,
               msg->u.exported.unread ? ", without sub-agents that cannot be read" : "",
               msg->u.exported.failed ? "; the other sessions cannot be read" : "");
}

static bool export_message(struct model *m, const struct msg *msg)
{
    struct export_view *v = m->export;

    if (!msg_answers(msg, v->writing, MSG_EXPORTED))
        return false;
    v->writing = 0;
    if (msg->kind == MSG_EXPORTED) {
        report_written(m, msg);
        if (view_top(m) == VIEW_EXPORT)
            view_pop(m);
    } else if (msg->u.error.code == ERR_STALE && !v->exists) {
        v->exists = true;
    } else {
        toast_error(&m->toast, &msg->u.error);
    }
    return true;
}

const struct view_ops view_export = {
    .name = "export",
    .overlay = true,
    .context = IN_DIALOG,
    .draw = draw_export,
    .act = export_act,
    .perform = export_perform,
    .takes = export_takes,
    .message = export_message,
};
