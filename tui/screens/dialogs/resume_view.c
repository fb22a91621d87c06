#include "tui/screens/dialogs/dialog.h"

#include <stdio.h>
#include <string.h>

#include "store/api/store.h"
#include "tui/app/view.h"
#include "tui/config/shell.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"
#include "tui/widgets/styled_text.h"

enum { BOX_W = 72, LABEL_W = 18, ADDED_MOST = 2 };

static size_t rows_of(const struct resume_view *v)
{
    return v->choices + 2;
}

/* ---- values ---- */

static size_t known_values(const struct resume_choice *c)
{
    size_t n = c->values[0] != '\0';

    for (const char *p = c->values; *p; p++)
        n += *p == '|';
    return n;
}

/* Empty: as configured. */
static struct slice resume_view_value_of(const struct resume_view *v, size_t i)
{
    const struct resume_choice *c = v->choice[i];
    size_t at = v->value[i];
    const char *p = c->values;

    if (at == 0)
        return (struct slice){ 0 };
    if (at > known_values(c))
        return slice_of(v->typed[i]);
    while (--at > 0)
        p += strcspn(p, "|") + 1;
    return (struct slice){ p, strcspn(p, "|") };
}

static void resume_view_change_value(struct resume_view *v, int by)
{
    if (v->at >= v->choices)
        return;
    size_t n = known_values(v->choice[v->at]) + 1 + (v->typed[v->at][0] != '\0');

    v->value[v->at] = (v->value[v->at] + n + (size_t)(by < 0 ? (int)n - 1 : 1)) % n;
}

/* ---- typed values ---- */

static const char *set_typed_value(struct model *m, struct slice text)
{
    struct resume_view *v = m->resume_view;

    if (text.n >= RESUME_TEXT || memchr(text.p, '\0', text.n))
        return "the text is too long";
    snprintf(v->typed[v->at], RESUME_TEXT, "%.*s", SLICE_ARG(text));
    v->value[v->at] = text.n ? known_values(v->choice[v->at]) + 1 : 0;
    return NULL;
}

static const char *set_typed_flags(struct model *m, struct slice text)
{
    struct arena a = { 0 };
    char **words;
    bool ok = text.n == 0 || shell_split(text, NULL, 0, &a, &words, NULL) == ERR_OK;

    arena_fini(&a);
    if (!ok)
        return "a quote is not closed";
    if (text.n >= RESUME_TEXT || memchr(text.p, '\0', text.n))
        return "the text is too long";
    snprintf(m->resume_view->flags, RESUME_TEXT, "%.*s", SLICE_ARG(text));
    return NULL;
}

/* ---- resuming ---- */

static bool resume_view_add_words(const struct resume_view *v, struct name_list *words)
{
    struct arena a = { 0 };
    char **flag = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < v->choices; i++)
        if (v->value[i])
            ok = name_list_add(words, slice_of(v->choice[i]->flag)) &&
                 name_list_add(words, resume_view_value_of(v, i));
    if (v->flags[0])
        ok = ok && shell_split(slice_of(v->flags), NULL, 0, &a, &flag, NULL) == ERR_OK;
    for (; ok && flag && *flag; flag++)
        ok = name_list_add(words, slice_of(*flag));
    arena_fini(&a);
    return ok;
}

static void resume_so(struct model *m)
{
    const struct session_entry *e = list_selection_session(m);
    struct name_list *words = name_list_new();

    view_pop(m);
    if (!words || !resume_view_add_words(m->resume_view, words)) {
        name_list_free(words);
        toast_no_memory(&m->toast);
    } else if (!e || !slice_eq(e->ref.id, slice_of(m->resume_view->session))) {
        name_list_free(words);
        toast_note(&m->toast, m->now_ms, "the list was reloaded meanwhile: please choose again");
    } else {
        resume_flow_begin(m, ACT_RESUME, words);
    }
}

/* ---- the view ---- */

static void draw_command(const struct model *m, struct frame *f, struct rect r)
{
    const struct session_entry *e = list_selection_session(m);
    const char *line = e ? resume_configured(m->settings->config, &e->ref) : NULL;
    const char *id = line ? strstr(line, "{id}") : NULL;
    struct buf text = { 0 };

    if (id && !buf_addf(&text, "%.*s%.*s%s", (int)(id - line), line, SLICE_ARG(e->ref.id),
                        id + strlen("{id}")))
        frame_text_cut(f, r.y, r.x, r.w, STYLE_DIM, buf_slice(&text));
    buf_fini(&text);
}

static void draw_resume(const struct model *m, struct frame *f)
{
    const struct resume_view *v = m->resume_view;
    int n = (int)rows_of(v), w = f->cols - 4 < BOX_W ? f->cols - 4 : BOX_W;
    struct buf added = { 0 };
    char hint[120];

    /* The flags that are added to the command as it is configured. Nothing is written if it adds
     * none, or out of memory. */
    struct name_list *words = name_list_new();
    bool ok = words && resume_view_add_words(v, words);

    if (ok && words->n)
        ok = buf_addf(&added, "adds") == ERR_OK;
    for (size_t i = 0; ok && i < words->n; i++)
        ok = buf_addf(&added, " ") == ERR_OK && shell_quote(&added, words->name[i]) == ERR_OK;
    added.n = ok ? added.n : 0;
    name_list_free(words);

    int lines = text_wrap_height(buf_slice(&added), w - 2 - 3);

    lines = lines < ADDED_MOST ? lines : ADDED_MOST;
    struct rect r = frame_box(f, n + 1 + lines + 2, w, SLICE("Resume once with other flags"));

    for (size_t i = 0; i < (size_t)n; i++) {
        struct rect line = { r.y + (int)i, r.x, 1, r.w };

        if (i + 1 < (size_t)n) {
            struct slice value = i < v->choices ? resume_view_value_of(v, i) : slice_of(v->flags);

            frame_puts(f, line.y, line.x + 2, LABEL_W, STYLE_DIM,
                       i < v->choices ? v->choice[i]->label : "Other flags");
            const int x = line.x + 2 + LABEL_W, w_left = line.w - 3 - LABEL_W;

            if (value.n)
                frame_text_cut(f, line.y, x, w_left, STYLE_TEXT, value);
            else
                frame_puts(f, line.y, x, w_left, STYLE_DIM,
                           i < v->choices ? "as configured" : "none");
        } else
            frame_puts(f, line.y, line.x + 2, line.w - 3, STYLE_STRONG,
                       m->settings->print ? "Print the command" : "Resume");
        if (i == v->at)
            frame_point(f, line);
    }
    struct rect below = { r.y + n, r.x + 2, 1, r.w - 3 };

    draw_command(m, f, below);
    below = (struct rect){ below.y + 1, below.x, lines, below.w };
    text_wrap_draw(f, below, STYLE_DIM, buf_slice(&added));
    buf_fini(&added);
    frame_puts(f, below.y + lines + 1, below.x, below.w, STYLE_DIM,
               keymap_text(&m->settings->keys, IN_DIALOG, f->ascii,
                           f->ascii ? "Left and Right change; {accept} types a value."
                                    : "← and → change; {accept} types a value.",
                           hint, sizeof hint));
}

static void resume_view_accept(struct model *m)
{
    struct resume_view *v = m->resume_view;

    if (v->at == v->choices)
        dialog_prompt(m, "flags ", slice_of(v->flags), set_typed_flags);
    else if (v->at < v->choices && v->choice[v->at]->open)
        dialog_prompt(m, "value ", resume_view_value_of(v, v->at), set_typed_value);
    else if (v->at < v->choices)
        resume_view_change_value(v, 1);
    else
        resume_so(m);
}

static bool resume_act(struct model *m, enum action a)
{
    struct resume_view *v = m->resume_view;

    if (list_cursor_wrap(&v->at, rows_of(v), a))
        return true;
    if (a == ACT_ACCEPT)
        resume_view_accept(m);
    else if (a == ACT_BACK)
        view_pop(m);
    return a == ACT_ACCEPT || a == ACT_BACK;
}

static bool resume_takes(struct model *m, struct key key)
{
    bool less = key.code == KEYCODE_LEFT || key.code == 'h';

    if (view_top(m) != VIEW_RESUME_OPTIONS || key.mods != 0 ||
        (!less && key.code != KEYCODE_RIGHT && key.code != 'l' && key.code != ' '))
        return false;
    resume_view_change_value(m->resume_view, less ? -1 : 1);
    return true;
}

static bool resume_view_resume_perform(struct model *m, enum action a)
{
    const struct session_entry *e = a == ACT_RESUME_WITH ? list_selection_session(m) : NULL;
    struct resume_view *v = m->resume_view;

    if (!e)
        return false;
    if (e->ref.id.n >= sizeof v->session) {
        toast_note(&m->toast, m->now_ms, "the id of this session is too long");
        return true;
    }
    *v = (struct resume_view){ 0 };
    v->choices = resume_choices(&e->ref, v->choice);
    v->at = v->choices + 1;
    snprintf(v->session, sizeof v->session, "%.*s", SLICE_ARG(e->ref.id));
    view_push(m, VIEW_RESUME_OPTIONS);
    return true;
}

const struct view_ops view_resume_options = {
    .name = "resume with",
    .overlay = true,
    .context = IN_DIALOG,
    .draw = draw_resume,
    .act = resume_act,
    .takes = resume_takes,
    .perform = resume_view_resume_perform,
};
