#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/rewind/diff/linediff.h"
#include "tui/app/view.h"
#include "tui/data/preview.h"
#include "tui/screens/list/list.h"
#include "tui/screens/overview/overview.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/markdown.h"

/* The tree of a turn: its directories and files on the left or above, the text of the selected one or its diff to another
 * turn beside or below them. */

enum {
    TREE_HEAD_H = 4,
    TREE_WIDE = 100,
    TREE_AROUND = 3,
    TREE_MOST_LINES = 5000,
    TREE_SENTENCE_W = 74,
};

static struct list_area tree_area(const struct tree_view *v, int rows, int cols)
{
    const int h = rows - TREE_HEAD_H - 1 > 1 ? rows - TREE_HEAD_H - 1 : 1;
    const int third = h / 3 > 3 ? h / 3 : 3;
    const int n = v->rows < (size_t)third ? (int)v->rows : third;
    const struct rect wide = { TREE_HEAD_H, 0, h, cols * 2 / 5 },
                      narrow = { TREE_HEAD_H, 0, n > 1 ? n : 1, cols };

    return (struct list_area){ cols >= TREE_WIDE ? wide : narrow, v->rows };
}

static struct rect tree_content(const struct tree_view *v, int rows, int cols)
{
    const struct rect r = tree_area(v, rows, cols).r;

    if (cols >= TREE_WIDE)
        return (struct rect){ r.y, r.w + 2, r.h, cols - r.w - 3 };
    return (struct rect){ r.y + r.h + 1, 1, rows - 2 - r.y - r.h, cols - 2 };
}

static const struct turn_file *tree_file(const struct tree_view *v)
{
    const struct tree_row *row = v->pick.at < v->rows ? &v->row[v->pick.at] : NULL;

    return row && !row->is_dir ? &v->files->file[row->file] : NULL;
}

/* Returns true if the file is somewhere below the row's directory. */
static bool tree_is_in(const struct tree_view *v, const struct tree_row *row, size_t file)
{
    const struct slice path = v->files->file[file].path;
    const size_t n = row->name + row->name_n;

    return path.n >= n && memcmp(path.p, v->files->file[row->file].path.p, n) == 0;
}

/* The next file below the row's directory, from this number on, that exists in A; their count after the last one. */
static size_t tree_next_below(const struct tree_view *v, const struct tree_row *row, size_t at)
{
    while (at < v->files->n && tree_is_in(v, row, at) && !v->files->file[at].state[0].exists)
        at++;
    return at < v->files->n && tree_is_in(v, row, at) ? at : v->files->n;
}

/* ---- which rows there are ---- */

/* The directories first, then the files. Files outside the project are rows of its root, with their whole paths. */
static void tree_list_rows(struct model *m)
{
    struct tree_view *v = m->tree;

    free(v->row);
    v->rows = 0;
    v->row = calloc((v->files ? v->files->n : 0) + 1, sizeof *v->row);
    if (!v->row) {
        toast_no_memory(&m->toast);
        return;
    }
    for (int pass = 0; v->files && pass < 2; pass++)
        for (size_t i = 0; i < v->files->n; i++) {
            const struct turn_file *f = &v->files->file[i];
            const size_t at = v->differing ? 0 : v->dir.n;
            const char *slash;

            if (v->differing ? !f->differs
                             : !f->state[0].exists || f->path.n <= v->dir.n ||
                                   (v->dir.n && memcmp(f->path.p, v->dir.p, v->dir.n) != 0))
                continue;

            slash = v->differing || f->path.p[0] == '/'
                        ? NULL
                        : memchr(f->path.p + at, '/', f->path.n - at);
            if ((slash != NULL) != (pass == 0))
                continue;

            /* The files of a directory follow each other, so its row is the last one if it exists. */
            const size_t n = slash ? (size_t)(slash - f->path.p) + 1 - at : f->path.n - at;
            const struct tree_row *last = v->rows ? &v->row[v->rows - 1] : NULL;

            if (slash && last &&
                slice_eq(
                    (struct slice){ f->path.p + at, n },
                    (struct slice){ v->files->file[last->file].path.p + last->name, last->name_n }))
                continue;
            v->row[v->rows++] = (struct tree_row){ i, at, n, slash != NULL };
        }
    list_cursor_move(&v->pick, tree_area(v, m->rows, m->cols), (int64_t)v->pick.at);
}

/* ---- what the selected row stands for ---- */

static void tree_lay_text(struct tree_view *v, struct slice text, int width)
{
    struct text_wrap wrap = { .styled_text = &v->text,
                              .width = width,
                              .mode = TEXT_WRAP_VERBATIM,
                              .max_lines = TREE_MOST_LINES };
    struct slice line;
    bool torn;

    text_wrap_begin(&wrap);
    while (slice_line(&text, &line, &torn) && wrap.lines < TREE_MOST_LINES) {
        text_wrap_add(&wrap, STYLE_TEXT, line);
        text_wrap_break(&wrap);
    }
    text_wrap_fini(&wrap);
}

static void tree_lay_diff(struct tree_view *v, const struct turn_file *f, int width, bool ascii)
{
    const struct hunks_layout_options how = { .width = width, .ascii = ascii };
    CLEANUP(linediff_fini) struct linediff d = { 0 };
    struct err e = { 0 };

    if (linediff_make(f->state[0].text, f->state[1].text, TREE_AROUND, &d, &e)) {
        v->text.rc = e.code;
        return;
    }
    for (size_t i = 0; i < d.hunks && v->text.n < TREE_MOST_LINES; i++) {
        struct hunks lines = { 0 };

        hunks_of_diff(&lines, &d, i);
        (void)hunks_layout(&v->text, &how, &lines);
        hunks_fini(&lines);
    }
}

static const char *tree_state(const struct turn_file *f)
{
    return !f->differs           ? ""
           : !f->state[0].exists ? "made later"
           : !f->state[1].exists ? "deleted"
                                 : "changed";
}

static void tree_lay_out(struct model *m)
{
    struct tree_view *v = m->tree;
    const struct tree_row *row = v->pick.at < v->rows ? &v->row[v->pick.at] : NULL;
    const struct turn_file *f = tree_file(v);
    const int width = tree_content(v, m->rows, m->cols).w;
    const char *why;

    styled_text_fini(&v->text);
    v->text = (struct styled_text){ 0 };
    v->top = 0;
    v->below = 0;
    if (row && row->is_dir)
        for (size_t i = row->file; (i = tree_next_below(v, row, i)) < v->files->n; i++)
            v->below++;
    if (!f || width < 10)
        return;
    why = !f->was_planned ? v->why : f->state[0].why ? f->state[0].why : NULL;
    if (!why && v->differing)
        why = f->state[1].why;
    if (why)
        styled_text_add(&v->text, STYLE_DIM, why);
    else if (v->differing)
        tree_lay_diff(v, f, width, m->settings->ascii);
    else
        tree_lay_text(v, f->was_planned ? f->state[0].text : buf_slice(&v->present), width);
    if (v->text.rc)
        toast_no_memory(&m->toast);
}

/* The text of a file that is as it is now is read when it is selected. */
static void tree_selected(struct model *m)
{
    struct tree_view *v = m->tree;
    const struct turn_file *f = tree_file(v);

    effect_cancel(&m->fx, REQUESTER_TREE, &v->asked_text);
    v->present.n = 0;
    v->why = NULL;
    if (f && !f->was_planned && v->files->root) {
        struct effect *e = effect_add(&m->fx, EFFECT_TURN_FILE, REQUESTER_TREE);

        if (buf_addf(&e->text, "%s/%.*s", v->files->root, SLICE_ARG(f->path)))
            toast_no_memory(&m->toast);
        v->asked_text = e->generation;
    }
    tree_lay_out(m);
}

/* ---- how it looks ---- */

static void draw_tree_point(const struct model *m, struct frame *f, int which)
{
    const struct tree_view *v = m->tree;
    const struct rewind_shown s = rewind_view_shown(m->rewind);
    const struct checkpoint *c =
        s.turns && v->turn[which] < s.turns->n ? &s.turns->checkpoint[v->turn[which]] : NULL;
    char age[HUMAN_AGE];
    int x = 3;

    frame_puts(f, 1 + which, 1, 1, which && !v->differing ? STYLE_DIM : STYLE_STRONG,
               which ? "B" : "A");
    if (!c) {
        frame_puts(f, 1 + which, x, f->cols - x, STYLE_TEXT, "now");
        return;
    }
    human_age(m->now_ms, c->time_ms, age);
    const int end = frame_puts_right(f, 1 + which, f->cols - 1, STYLE_DIM, age) - 2;

    x += frame_puts(f, 1 + which, x, 7, STYLE_DIM, c->after ? "after" : "before") + 1;
    frame_text_cut(f, 1 + which, x, end - x, STYLE_PROMPT, c->prompt);
}

/* A name, cut in its middle, and its state at the end of the line, where it is always seen. */
static void draw_tree_name(struct frame *f, struct rect r, enum style style, struct slice name,
                           const char *state)
{
    int end = r.x + r.w;

    if (*state)
        end = frame_puts_right(f, r.y, end, STYLE_WARN, state) - 1;
    frame_text_middle(f, r.y, r.x, end - r.x, style, name);
}

static void draw_tree_row(const void *arg, struct frame *f, struct rect r, size_t at)
{
    const struct tree_view *v = arg;
    const struct tree_row *row = &v->row[at];
    const struct turn_file *file = &v->files->file[row->file];
    const struct slice name = { file->path.p + row->name, row->name_n };
    size_t differing = 0;
    char text[40] = "";

    for (size_t i = row->file; row->is_dir && i < v->files->n && tree_is_in(v, row, i); i++)
        differing += v->files->file[i].differs;
    if (differing)
        snprintf(text, sizeof text, "%zu differ%s", differing, differing == 1 ? "s" : "");
    draw_tree_name(f, (struct rect){ r.y, r.x + 2, 1, r.w - 3 },
                   row->is_dir ? STYLE_KEY : STYLE_TEXT, name,
                   row->is_dir ? text : tree_state(file));
}

/* The text of the selected file, or the names of the files in the selected directory. */
static void draw_tree_content(const struct tree_view *v, struct frame *f, struct rect r)
{
    const struct tree_row *row = v->below ? &v->row[v->pick.at] : NULL;
    const size_t lines = v->text.n + v->below;
    size_t file = row ? tree_next_below(v, row, row->file) : 0;

    for (size_t i = 0; row && i < v->top; i++)
        file = tree_next_below(v, row, file + 1);
    for (int i = 0; i < r.h && v->top + (size_t)i < lines; i++) {
        if (!row) {
            styled_text_draw_line(&v->text, v->top + (size_t)i, f, r.y + i, r.x, r.w);
            continue;
        }
        const struct turn_file *below = &v->files->file[file];
        const size_t from = row->name + row->name_n;

        draw_tree_name(f, (struct rect){ r.y + i, r.x, 1, r.w }, STYLE_DIM,
                       (struct slice){ below->path.p + from, below->path.n - from },
                       tree_state(below));
        file = tree_next_below(v, row, file + 1);
    }
    frame_scrollbar(f, (struct rect){ r.y, r.x, r.h, r.w + 1 }, v->top, lines, (size_t)r.h);
}

static void draw_tree(const struct model *m, struct frame *f)
{
    const struct tree_view *v = m->tree;
    const struct list_area area = tree_area(v, f->rows, f->cols);
    const struct rect r = tree_content(v, f->rows, f->cols);
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "tree") + 2;
    char text[400];
    size_t differing = 0;

    for (size_t i = 0; v->files && i < v->files->n; i++)
        differing += v->files->file[i].differs;
    if (v->asked && frame_spinner_shows(v->asked_ms, m->now_ms))
        frame_puts(f, 0, x, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    else if (v->files) {
        snprintf(text, sizeof text, "%zu file%s, %zu differ%s%s", v->files->n,
                 v->files->n == 1 ? "" : "s", differing, differing == 1 ? "s" : "",
                 v->files->is_cut ? "; the project has more" : "");
        const int end = frame_puts_right(f, 0, f->cols - 1, STYLE_TEXT, text) - 2;

        frame_text_cut(f, 0, x, end - x, STYLE_TEXT, rewind_view_shown(m->rewind).title);
    }

    for (int k = 0; k < 2; k++)
        draw_tree_point(m, f, k);
    if (v->differing)
        frame_puts(f, 3, 1, f->cols - 2, STYLE_DIM, "files that differ: - as in A, + as in B");
    else
        frame_text_middle(
            f, 3, 1, f->cols - 2, STYLE_DIM,
            v->dir.n ? buf_slice(&v->dir)
            : f->cols < TREE_SENTENCE_W
                ? SLICE("all files as in A")
                : SLICE("all files as in A; what the session did not change is as it is now"));

    if (v->error.code)
        text_wrap_draw_error(f, (struct rect){ TREE_HEAD_H, 1, 3, f->cols - 2 }, &v->error);
    if (!v->files)
        return;
    if (!v->rows)
        frame_puts(f, area.r.y, 2, f->cols - 3, STYLE_DIM,
                   v->differing ? "no file differs" : "no file is known");
    if (f->cols >= TREE_WIDE)
        frame_edge(f, r.y, r.x - 2, r.h);
    else
        frame_rule(f, r.y - 1, 0, f->cols);
    draw_tree_content(v, f, r);
    list_cursor_draw(&v->pick, area, f, draw_tree_row, v);
}

/* ---- what happens ---- */

void tree_view_fini(struct tree_view *v)
{
    turn_files_free(v->files);
    free(v->row);
    buf_fini(&v->dir);
    buf_fini(&v->present);
    styled_text_fini(&v->text);
    *v = (struct tree_view){ 0 };
}

static void tree_request(struct model *m)
{
    struct tree_view *v = m->tree;
    const struct rewind_shown s = rewind_view_shown(m->rewind);
    struct ref_list *session = ref_list_copy(s.session);
    struct name_list *points = name_list_new();
    bool ok = session && points && s.turns;

    for (size_t k = 0; ok && k < 2; k++)
        ok = name_list_add(points, v->turn[k] < s.turns->n ? s.turns->checkpoint[v->turn[k]].id
                                                           : SLICE(""));
    if (!ok) {
        ref_list_free(session);
        name_list_free(points);
        toast_no_memory(&m->toast);
        return;
    }
    effect_cancel(&m->fx, REQUESTER_TREE, &v->asked);
    struct effect *e = effect_add(&m->fx, EFFECT_TURN_FILES, REQUESTER_TREE);

    e->refs = session;
    e->names = points;
    v->asked = e->generation;
    v->asked_ms = m->now_ms;
    v->error = (struct err){ 0 };
}

static bool tree_perform(struct model *m, enum action a)
{
    if (a != ACT_TREE)
        return false;
    const struct rewind_shown s = rewind_view_shown(m->rewind);

    tree_view_fini(m->tree);
    m->tree->turn[0] = s.at;
    m->tree->turn[1] = s.turns ? s.turns->n : 0;
    view_push(m, VIEW_TREE);
    tree_request(m);
    return true;
}

static bool tree_message(struct model *m, const struct msg *msg)
{
    struct tree_view *v = m->tree;

    if (msg_answers(msg, v->asked_text, MSG_TURN_FILE)) {
        v->asked_text = 0;
        if (msg->kind == MSG_TURN_FILE) {
            buf_fini(&v->present);
            v->present = msg->u.turn_file.text;
            v->why = msg->u.turn_file.why;
        } else
            v->why = "it cannot be read";
        tree_lay_out(m);
        return true;
    }
    if (!msg_answers(msg, v->asked, MSG_TURN_FILES))
        return false;
    v->asked = 0;
    turn_files_free(v->files);
    v->files = msg->kind == MSG_TURN_FILES ? msg->u.turn_files : NULL;
    if (msg->kind == MSG_FAILED)
        v->error = msg->u.error;
    tree_list_rows(m);
    tree_selected(m);
    return true;
}

/* Compares with the next turn in that direction; after the last one there is the present. */
static void tree_step(struct model *m, int direction)
{
    struct tree_view *v = m->tree;
    const struct rewind_shown s = rewind_view_shown(m->rewind);
    const size_t n = s.turns ? s.turns->n : 0;
    size_t at = v->turn[1];

    do {
        if (direction > 0 ? at >= n : at == 0)
            return;
        at = direction > 0 ? at + 1 : at - 1;
    } while (at == v->turn[0] || (at < n && s.turns->checkpoint[at].why));
    v->turn[1] = at;
    v->differing = true;
    tree_request(m);
}

static void tree_open(struct model *m)
{
    struct tree_view *v = m->tree;
    const struct tree_row *row = v->pick.at < v->rows ? &v->row[v->pick.at] : NULL;

    if (!row || !row->is_dir)
        return;
    if (buf_add(&v->dir,
                (struct slice){ v->files->file[row->file].path.p + row->name, row->name_n })) {
        toast_no_memory(&m->toast);
        return;
    }
    v->pick = (struct list_cursor){ 0 };
    tree_list_rows(m);
    tree_selected(m);
}

/* Up one directory, with the one that was left selected; from the root, out. */
static void tree_back(struct model *m)
{
    struct tree_view *v = m->tree;

    if (v->differing || !v->dir.n) {
        effect_cancel(&m->fx, REQUESTER_TREE, &v->asked);
        effect_cancel(&m->fx, REQUESTER_TREE, &v->asked_text);
        tree_view_fini(v);
        view_pop(m);
        return;
    }
    const size_t left = v->rows ? v->row[v->pick.at].file : 0;

    v->dir.n--;
    while (v->dir.n && v->dir.p[v->dir.n - 1] != '/')
        v->dir.n--;
    tree_list_rows(m);
    for (size_t i = 0; i < v->rows; i++)
        if (v->row[i].file <= left && v->row[i].is_dir)
            list_cursor_move(&v->pick, tree_area(v, m->rows, m->cols), (int64_t)i);
    tree_selected(m);
}

static void tree_scroll(struct model *m, int direction)
{
    struct tree_view *v = m->tree;
    const int h = tree_content(v, m->rows, m->cols).h;
    const size_t shown = h > 0 ? (size_t)h : 1, page = shown > 2 ? shown - 2 : 1;
    const size_t lines = v->text.n + v->below, most = lines > shown ? lines - shown : 0;

    if (direction > 0)
        v->top = v->top + page < most ? v->top + page : most;
    else
        v->top = v->top > page ? v->top - page : 0;
}

static bool tree_act(struct model *m, enum action a)
{
    struct tree_view *v = m->tree;
    const size_t at = v->pick.at;

    switch (a) {
    case ACT_PREVIEW_DOWN: tree_scroll(m, 1); return true;
    case ACT_PREVIEW_UP: tree_scroll(m, -1); return true;
    case ACT_REFRESH: tree_request(m); return true;
    case ACT_ACCEPT: tree_open(m); return true;
    case ACT_BACK: tree_back(m); return true;
    case ACT_PROMPT_NEXT: tree_step(m, 1); return true;
    case ACT_PROMPT_PREV: tree_step(m, -1); return true;
    case ACT_PANE:
        v->differing = !v->differing;
        v->pick = (struct list_cursor){ 0 };
        tree_list_rows(m);
        tree_selected(m);
        return true;
    default: break;
    }
    if (!list_cursor_act(&v->pick, tree_area(v, m->rows, m->cols), a))
        return false;
    if (v->pick.at != at)
        tree_selected(m);
    return true;
}

static const char *tree_unavailable(const struct model *m, enum action a)
{
    const struct tree_view *v = m->tree;

    switch (a) {
    case ACT_ACCEPT:
        return v->pick.at < v->rows && v->row[v->pick.at].is_dir
                   ? NULL
                   : "the text of a file is shown already";
    case ACT_PANE:
    case ACT_PROMPT_NEXT:
    case ACT_PROMPT_PREV:
    case ACT_REFRESH:
    case ACT_PREVIEW_DOWN:
    case ACT_PREVIEW_UP: return NULL;
    default: return list_session_unavailable(m, a, LIST_NO_SESSION);
    }
}

static void tree_mouse(struct model *m, struct mouse event)
{
    struct tree_view *v = m->tree;
    const struct rect r = tree_content(v, m->rows, m->cols);
    const size_t at = v->pick.at;

    if (frame_rect_has(r, event.y, event.x) &&
        (event.event == MOUSE_WHEEL_UP || event.event == MOUSE_WHEEL_DOWN))
        tree_scroll(m, event.event == MOUSE_WHEEL_DOWN ? 1 : -1);
    else if (list_cursor_mouse(&v->pick, tree_area(v, m->rows, m->cols), event) &&
             event.event == MOUSE_DOUBLE_CLICK)
        tree_open(m);
    if (v->pick.at != at)
        tree_selected(m);
}

static void tree_resized(struct model *m)
{
    struct tree_view *v = m->tree;

    if (!view_is_open(m, VIEW_TREE))
        return;
    list_cursor_move(&v->pick, tree_area(v, m->rows, m->cols), (int64_t)v->pick.at);
    tree_lay_out(m);
}

static int64_t tree_wake_ms(const struct model *m)
{
    return m->tree->asked ? frame_spinner_wake_ms(m->tree->asked_ms, m->now_ms) : TIME_NONE;
}

static const enum action *tree_footer(const struct model *m)
{
    static const enum action in_tree[] = { ACT_ACCEPT,      ACT_PANE,         ACT_PROMPT_PREV,
                                           ACT_PROMPT_NEXT, ACT_PREVIEW_DOWN, ACT_PREVIEW_UP,
                                           ACT_BACK,        ACT_NONE };

    (void)m;
    return in_tree;
}

const struct view_ops view_tree = {
    .name = "tree",
    .context = IN_TREE,
    .draw = draw_tree,
    .act = tree_act,
    .perform = tree_perform,
    .unavailable = tree_unavailable,
    .message = tree_message,
    .mouse = tree_mouse,
    .resized = tree_resized,
    .wake_ms = tree_wake_ms,
    .footer = tree_footer,
};
