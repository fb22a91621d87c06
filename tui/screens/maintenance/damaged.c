#include "tui/screens/maintenance/maintenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "store/api/store.h"
#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

/* One row for each item of damage; below them, the path of the selected one and the full reason. */
enum { DAMAGE_TEXT = FINDING_TEXT, DAMAGED_ROWS_Y = 2 };

enum {
    AGE_W = HUMAN_AGE_COLUMNS,
    SYSTEM_W = 8,
    GAP = 2,
    AGE_COLS = 70, /* ages are shown from this width on */
    ID_W = 8,      /* the beginning of an id, by which the list finds it */
    ID_COLS = 90,
    PANEL_H = 4, /* a rule, the path, two lines of why */
    TALL_ROWS = 16,
    WIDE_COLS = 120,
};

static int damaged_panel_height(int rows)
{
    return rows < TALL_ROWS ? PANEL_H - 1 : PANEL_H;
}

static struct list_area damaged_area(const struct model *m, int rows, int cols)
{
    int fit = rows - DAMAGED_ROWS_Y - damaged_panel_height(rows) - 1;

    return (struct list_area){ { DAMAGED_ROWS_Y, 0, fit > 1 ? fit : 1, cols }, m->damaged->n };
}

static void damaged_move_cursor(struct model *m, size_t at)
{
    list_cursor_move(&m->damaged->pick, damaged_area(m, m->rows, m->cols), (int64_t)at);
}

void damaged_fini(struct damaged_view *v)
{
    findings_free(v->store_findings);
    ref_list_free(v->to_fix);
    free(v->item);
    *v = (struct damaged_view){ .entry = ENTRY_NONE, .sought = ENTRY_NONE };
}

/* ---- what there is ---- */

static bool add_damage(struct damaged_view *v, enum damage_source source, size_t i, int64_t time_ms)
{
    if (!array_reserve(v->item, v->cap, v->n + 1))
        return false;
    v->item[v->n++] = (struct damage){ source, (uint32_t)i, time_ms };
    return true;
}

static bool collect_damage(struct model *m)
{
    struct damaged_view *v = m->damaged;
    const struct session_table *r = &m->list->sessions;
    const struct problem_list *p = m->list->problems;
    bool ok = true;

    v->n = 0;
    for (size_t i = 0; ok && p && i < p->n; i++)
        ok = add_damage(v, DAMAGE_PROBLEM, i, TIME_NONE);
    for (size_t i = 0; ok && v->store_findings && i < v->store_findings->list.n; i++) {
        const char *path = v->store_findings->list.finding[i].path;
        const uint32_t entry = session_table_find(r, slice_of(path));
        bool listed = entry != ENTRY_NONE && r->entry[entry].damaged;

        /* Damage that the listing or a row reports already is not listed twice. */
        for (size_t k = 0; p && k < p->n; k++)
            listed |= strcmp(p->problem[k].err.path, path) == 0;
        ok = listed || add_damage(v, DAMAGE_STORE, i, TIME_NONE);
    }
    size_t files = v->n;

    for (size_t i = 0; ok && i < r->n; i++)
        ok = !r->entry[i].damaged ||
             add_damage(v, DAMAGE_SESSION, i, session_entry_time(&r->entry[i]));
    v->sessions = v->n - files;
    return ok;
}

/* Files first: they are few, and may hide more than one session. Then sessions, the newest first. */
static int compare_damage(const void *pa, const void *pb)
{
    const struct damage *a = pa, *b = pb;

    if (a->source != b->source)
        return (a->source > b->source) - (a->source < b->source);
    if (a->time_ms != b->time_ms)
        return (a->time_ms < b->time_ms) - (a->time_ms > b->time_ms);
    return (a->i > b->i) - (a->i < b->i);
}

/* Actions apply to the session under the cursor. */
static void note_selected(struct model *m)
{
    struct damaged_view *v = m->damaged;
    const struct damage *d = v->n > 0 ? &v->item[v->pick.at] : NULL;

    if (d && d->source == DAMAGE_SESSION)
        v->entry = d->i;
    else
        list_untrack(m->list, &v->entry);
}

/* The person moved. */
static void follow_cursor(struct model *m)
{
    note_selected(m);
    m->damaged->sought = m->damaged->entry;
}

/* The cursor stays on its session even while the session is read again and its damage is briefly
 * unknown. */
static void rebuild_damaged(struct model *m)
{
    struct damaged_view *v = m->damaged;
    size_t at = v->pick.at;

    v->made = m->list->rebuilt;
    v->stale = false;
    if (!collect_damage(m))
        toast_no_memory(&m->toast);
    if (v->n > 1)
        qsort(v->item, v->n, sizeof *v->item, compare_damage);
    for (size_t i = 0; v->sought != ENTRY_NONE && i < v->n; i++)
        if (v->item[i].source == DAMAGE_SESSION && v->item[i].i == v->sought)
            at = i;
    damaged_move_cursor(m, at);
    note_selected(m);
}

static void damaged_tick(struct model *m)
{
    const struct damaged_view *v = m->damaged;

    if (view_is_open(m, VIEW_DAMAGED) && (v->stale || v->made != m->list->rebuilt))
        rebuild_damaged(m);
}

static void request_store_check(struct model *m)
{
    struct damaged_view *v = m->damaged;
    struct effect *e = effect_add(&m->fx, EFFECT_CHECK_STORE, REQUESTER_DAMAGED);

    e->scope = m->list->scope;
    if (v->asked == 0)
        v->asked_ms = m->now_ms;
    v->asked = e->generation;
}

static bool damaged_perform(struct model *m, enum action a)
{
    if (a != ACT_DAMAGED)
        return false;
    if (!view_is_open(m, VIEW_DAMAGED)) {
        m->damaged->pick = (struct list_cursor){ 0 };
        m->damaged->stale = true;
        view_push(m, VIEW_DAMAGED);
        request_store_check(m);
    }
    return true;
}

static void damaged_refresh(struct model *m)
{
    if (view_is_open(m, VIEW_DAMAGED))
        request_store_check(m);
}

static bool damaged_message(struct model *m, const struct msg *msg)
{
    struct damaged_view *v = m->damaged;

    if (!msg_answers(msg, v->asked, MSG_FINDINGS))
        return false;
    v->asked = 0;
    findings_free(v->store_findings);
    v->store_findings = msg->kind == MSG_FINDINGS ? msg->u.findings : NULL;
    v->error = msg->kind == MSG_FAILED ? msg->u.error : (struct err){ 0 };
    v->stale = true;
    if (msg->kind == MSG_FAILED)
        toast_error(&m->toast, &v->error);
    return true;
}

static int64_t damaged_wake_ms(const struct model *m)
{
    const struct damaged_view *v = m->damaged;

    return v->asked != 0 ? frame_spinner_wake_ms(v->asked_ms, m->now_ms) : TIME_NONE;
}

/* The reason why an action on a session is not possible for the selected row; NULL if it is. */
static const char *no_session(const struct damaged_view *v, enum action a)
{
    if (v->n == 0)
        return "nothing is selected";
    if (v->entry != ENTRY_NONE || a == ACT_COPY || a == ACT_EDIT)
        return NULL;
    return "this is a file, not a session: open it in the editor";
}

/* The number of the selected finding, if it can be repaired here; else SIZE_MAX. */
static size_t fixable_finding(const struct damaged_view *v)
{
    const struct damage *d = v->n > 0 ? &v->item[v->pick.at] : NULL;
    const struct findings *fs = v->store_findings;

    if (!d || d->source != DAMAGE_STORE || !fs->list.finding[d->i].fixable || !fs->store[d->i])
        return SIZE_MAX;
    return d->i;
}

static const char *damaged_unavailable(const struct model *m, enum action a)
{
    if (a == ACT_FIX)
        return fixable_finding(m->damaged) != SIZE_MAX ? NULL
               : m->damaged->entry != ENTRY_NONE       ? "the doctor of the session repairs it"
                                                       : "nothing here is safe to repair";
    return list_session_unavailable(m, a, no_session(m->damaged, a));
}

static uint32_t damaged_entry(const struct model *m)
{
    return m->damaged->entry;
}

/* ---- in words ---- */

/* One of them in words; the texts live as long as the model is not changed, or in `room`. */
struct damage_words {
    const char *system; /* "" if it is about no system */
    struct slice name;  /* a title, else the end of the path */
    struct slice id;    /* the id of a session; empty if it has none */
    struct slice path;
    struct slice why;
    char room[DAMAGE_TEXT];
};

struct reason {
    bool is;
    const char *why;
};

/* The damage that a row reports, in one line. */
static struct slice row_words(const struct session_row *row, char out[DAMAGE_TEXT])
{
    const bool torn = row->flags & SESSION_TORN && !(row->flags & SESSION_LIVE);
    const struct reason reasons[] = {
        { row->hidden == HIDDEN_DAMAGED, row->problem },
        { row->hidden == HIDDEN_UNREADABLE, "a link, or a file that cannot be opened" },
        { row->flags & SESSION_DAMAGED, "a line cannot be read" },
        { torn, "its last line is cut short" },
        { row->flags & SESSION_CHANGED, "it was truncated or replaced while being read" },
    };
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && n < DAMAGE_TEXT; i++)
        if (reasons[i].is && reasons[i].why)
            n += (size_t)snprintf(out + n, DAMAGE_TEXT - n, "%s%s", n ? "; " : "", reasons[i].why);
    return slice_of(out);
}

static void describe_damage(const struct model *m, const struct damage *d, struct damage_words *out)
{
    *out = (struct damage_words){ .system = "" };
    switch (d->source) {
    case DAMAGE_PROBLEM: {
        const struct problem *p = &m->list->problems->problem[d->i];
        struct err err = p->err;

        err.path[0] = '\0'; /* the path is shown separately */
        err_sentence(&err, out->room, sizeof out->room);
        out->system = p->system ? p->system : "";
        out->path = slice_of(p->err.path);
        out->name = text_path_last(out->path);
        out->why = slice_of(out->room);
    } break;
    case DAMAGE_STORE: {
        const struct findings *fs = m->damaged->store_findings;
        size_t i = d->i;
        const struct finding *f = &fs->list.finding[i];

        out->system = fs->system[i];
        out->path = slice_of(f->path);
        out->id = f->session;
        out->name = text_path_last(out->path);
        out->why = doctor_finding_text(f, out->room, sizeof out->room);
    } break;
    case DAMAGE_SESSION: {
        const struct session_entry *e = &m->list->sessions.entry[d->i];

        out->system = e->ref.store->ops->name;
        out->name = session_entry_title(e).n ? session_entry_title(e) : e->ref.id;
        out->id = e->ref.id;
        out->path = e->ref.path;
        if (e->row)
            out->why = row_words(e->row, out->room);
    } break;
    }
}

/* ---- how it looks ---- */

/* The title shows the scope and the amount of damage. */
static void draw_damaged_title(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = m->damaged;
    size_t files = v->n - v->sessions;
    char text[96] = "";
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "damaged") + 2, n = 0;

    if (v->sessions > 0)
        n = snprintf(text, sizeof text, "%zu session%s", v->sessions, v->sessions == 1 ? "" : "s");
    if (files > 0 && n >= 0)
        snprintf(text + n, sizeof text - (size_t)n, "%s%zu problem%s", n ? ", " : "", files,
                 files == 1 ? "" : "s");
    int w = frame_width(slice_of(text)), end = f->cols - w - 1;

    frame_puts(f, 0, end, w, STYLE_DIM, text);
    if (list_busy(m->list) || (v->asked != 0 && frame_spinner_shows(v->asked_ms, m->now_ms))) {
        end -= 2;
        frame_puts(f, 0, end, 1, STYLE_KEY, frame_spinner_sign(m->now_ms, f->ascii));
    }
    list_draw_scope(m->list, f, (struct rect){ 0, x, 1, end - x - 2 });
}

/* The description of the damage gets the most space. */
static void draw_damage(const void *arg, struct frame *f, struct rect r, size_t row)
{
    const struct model *m = arg;
    const struct damage *d = &m->damaged->item[row];
    const int y = r.y;
    struct damage_words w;
    char age[HUMAN_AGE];
    int x = 1;

    describe_damage(m, d, &w);
    if (d->source == DAMAGE_STORE && m->damaged->store_findings->list.finding[d->i].fixable)
        frame_puts(f, y, 1, 1, STYLE_OK, "+");

    if (f->cols >= AGE_COLS) {
        if (d->source == DAMAGE_SESSION) {
            human_age(m->now_ms, d->time_ms, age);
            frame_puts(f, y, x + AGE_W - (int)strlen(age), AGE_W, STYLE_AGE, age);
        }
        x += AGE_W;
    }
    x += GAP;
    frame_puts(f, y, x, SYSTEM_W, STYLE_SYSTEM, w.system);
    x += SYSTEM_W + GAP;

    if (f->cols >= ID_COLS) {
        frame_text(f, y, x, ID_W, STYLE_DIM, w.id);
        x += ID_W + GAP;
    }
    int room = f->cols - x - 1, name_w = f->cols >= WIDE_COLS ? room / 2 : room * 2 / 5;

    frame_text_cut(f, y, x, name_w, d->source == DAMAGE_SESSION ? STYLE_TEXT : STYLE_STRONG,
                   w.name);
    frame_text_cut(f, y, x + name_w + GAP, room - name_w - GAP, STYLE_WARN, w.why);
}

static void draw_damage_panel(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = m->damaged;
    int h = damaged_panel_height(f->rows), y = f->rows - 1 - h;
    struct damage_words w;
    char path[DAMAGE_TEXT];

    frame_rule(f, y, 0, f->cols);
    describe_damage(m, &v->item[v->pick.at], &w);
    frame_text_middle(f, y + 1, 2, f->cols - 3, STYLE_TEXT,
                      text_path_short(w.path, m->settings->home, path, sizeof path));
    text_wrap_draw(f, (struct rect){ y + 2, 2, h - 2, f->cols - 3 }, STYLE_WARN, w.why);
}

static void draw_damaged_empty(const struct model *m, struct frame *f)
{
    struct rect r = { DAMAGED_ROWS_Y + 1, 3, 2, f->cols - 4 };
    char text[160], menu_keys[KEYMAP_MENU_KEYS], name[KEY_NAME];
    size_t n = m->list->sessions.n;
    struct key key;

    f->cursor_y = DAMAGED_ROWS_Y;
    f->cursor_x = 0;
    if (!list_settled(m->list) || m->damaged->asked != 0) {
        frame_puts(f, r.y, r.x, r.w, STYLE_DIM, "Checking ...");
        return;
    }

    frame_puts(f, r.y, r.x, r.w, STYLE_STRONG, "Nothing here is damaged");
    keymap_menu_keys(&m->settings->keys, IN_LIST, ACT_DOCTOR, f->ascii, menu_keys);
    snprintf(
        text, sizeof text,
        "The beginning and the end of %zu session%s were checked. %s in the list checks all of "
        "one session.",
        n, n == 1 ? "" : "s", menu_keys);
    r.y += 2;
    r.y +=
        text_wrap_draw(f, r, STYLE_DIM, slice_of(n ? text : "There is no session to check.")) + 1;

    if (m->list->scope != SCOPE_ALL) {
        if (!keymap_key_of(&m->settings->keys, IN_DAMAGED, ACT_SCOPE, &key))
            return;
        key_label(key, f->ascii, name);
        frame_puts(f, r.y, 3, 6, STYLE_KEY, name);
        frame_puts(f, r.y, 10, f->cols - 11, STYLE_TEXT, "check more projects");
    }
}

static void draw_damaged(const struct model *m, struct frame *f)
{
    const struct damaged_view *v = m->damaged;

    draw_damaged_title(m, f);
    if (v->n == 0) {
        draw_damaged_empty(m, f);
        return;
    }
    list_cursor_draw(&v->pick, damaged_area(m, f->rows, f->cols), f, draw_damage, m);
    draw_damage_panel(m, f);
}

/* ---- the view ---- */

/* The path of a file is copied or opened; a session is treated as in every view. */
static bool send_path(struct model *m, enum effect_kind kind)
{
    const struct damaged_view *v = m->damaged;
    struct damage_words w;

    if (v->n == 0 || v->entry != ENTRY_NONE)
        return false;
    describe_damage(m, &v->item[v->pick.at], &w);
    struct effect *e = effect_add(&m->fx, kind, REQUESTER_DAMAGED);

    if (buf_add(&e->text, w.path) || !buf_cstr(&e->text))
        toast_no_memory(&m->toast);
    return true;
}

static void damaged_fix_answer(struct model *m, enum dialog_choice choice)
{
    struct ref_list *session = m->damaged->to_fix;

    m->damaged->to_fix = NULL;
    if (choice == CHOICE_DO && session)
        change_flow_request_fix(m, session);
    else
        ref_list_free(session);
}

/* Asks about a session that its agent does not find where it is. */
static void damaged_confirm_fix(struct model *m)
{
    struct damaged_view *v = m->damaged;
    const size_t i = fixable_finding(v);
    struct damage_words w;

    describe_damage(m, &v->item[v->pick.at], &w);
    const struct session_ref ref = { .store = v->store_findings->store[i],
                                     .id = w.id,
                                     .path = w.path };

    ref_list_free(v->to_fix);
    v->to_fix = ref_list_one(&ref, SLICE(""));
    dialog_begin(m->dialog, "Put the session back?", damaged_fix_answer);
    dialog_line(m->dialog, "%.*s", SLICE_ARG(w.name));
    dialog_line(m->dialog, "The repair %s, with what belongs to it. Undo moves it back.",
                v->store_findings->list.finding[i].repair);
    dialog_offer(m->dialog, CHOICE_CANCEL, "cancel");
    dialog_offer(m->dialog, CHOICE_DO, "put it back");
    view_push(m, VIEW_DIALOG);
}

static bool damaged_act(struct model *m, enum action a)
{
    struct damaged_view *v = m->damaged;

    switch (a) {
    case ACT_BACK:
        effect_cancel(&m->fx, REQUESTER_DAMAGED, &m->damaged->asked);
        list_untrack(m->list, &m->damaged->entry);
        list_untrack(m->list, &m->damaged->sought);
        damaged_fini(m->damaged);
        view_pop(m);
        return true;
    case ACT_SCOPE:
        list_next_scope(m);
        request_store_check(m);
        return true;
    case ACT_REFRESH:
        list_start(m->list, &m->fx);
        request_store_check(m);
        return true;
    case ACT_COPY: return send_path(m, EFFECT_COPY);
    case ACT_EDIT: return send_path(m, EFFECT_EDIT);
    case ACT_FIX: damaged_confirm_fix(m); return true;
    default: break;
    }
    if (!list_cursor_act(&v->pick, damaged_area(m, m->rows, m->cols), a))
        return false;
    follow_cursor(m);
    return true;
}

static void damaged_mouse(struct model *m, struct mouse event)
{
    bool clicked = list_cursor_mouse(&m->damaged->pick, damaged_area(m, m->rows, m->cols), event);

    follow_cursor(m);
    if (clicked && event.event == MOUSE_DOUBLE_CLICK)
        update_perform(m, ACT_VIEW);
}

static void damaged_resized(struct model *m)
{
    damaged_move_cursor(m, m->damaged->pick.at);
}

const struct view_ops view_damaged = {
    .name = "damaged",
    .context = IN_DAMAGED,
    .draw = draw_damaged,
    .act = damaged_act,
    .mouse = damaged_mouse,
    .resized = damaged_resized,
    .perform = damaged_perform,
    .unavailable = damaged_unavailable,
    .entry = damaged_entry,
    .message = damaged_message,
    .tick = damaged_tick,
    .refresh = damaged_refresh,
    .wake_ms = damaged_wake_ms,
};
