#include "tui/screens/maintenance/maintenance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/styled_text.h"

enum { ROWS_Y = 2, PANEL_H = 4, TALL_ROWS = 16, LINE_W = 12, KIND_W = 17, WIDE_COLS = 90 };

static size_t finding_count(const struct doctor_view *v)
{
    return v->findings ? v->findings->list.n : 0;
}

static int doctor_panel_height(int rows)
{
    return rows < TALL_ROWS ? PANEL_H - 1 : PANEL_H;
}

static struct list_area doctor_area(const struct model *m, int rows, int cols)
{
    int fit = rows - ROWS_Y - doctor_panel_height(rows) - 1;

    return (struct list_area){ { ROWS_Y, 0, fit > 1 ? fit : 1, cols }, finding_count(m->doctor) };
}

static void keep_cursor(struct model *m)
{
    struct list_cursor *c = &m->doctor->pick;

    list_cursor_move(c, doctor_area(m, m->rows, m->cols), (int64_t)c->at);
}

void doctor_fini(struct doctor_view *v)
{
    findings_free(v->findings);
    v->findings = NULL;
    v->error = (struct err){ 0 };
}

static const char *doctor_unavailable(const struct model *m, enum action a)
{
    const struct doctor_view *v = m->doctor;

    if (a != ACT_FIX)
        return list_session_unavailable(m, a, LIST_NO_SESSION);
    if (v->asked != 0)
        return "the session is still being checked";
    return v->findings && findings_fixable(v->findings) > 0 ? NULL
                                                            : "nothing here is safe to repair";
}

static int64_t doctor_wake_ms(const struct model *m)
{
    const struct doctor_view *v = m->doctor;

    return v->asked != 0 ? frame_spinner_wake_ms(v->asked_ms, m->now_ms) : TIME_NONE;
}

/* ---- what is wrong ---- */

/* Good to know, but no damage. */
static bool is_notice(const struct finding *f)
{
    return f->kind == FINDING_EXPIRES || f->kind == FINDING_HIDDEN ||
           f->kind == FINDING_CONCURRENT || f->kind == FINDING_SETTINGS;
}

static int compare_findings(const void *pa, const void *pb)
{
    const struct finding *a = pa, *b = pb;

    if (is_notice(a) != is_notice(b))
        return is_notice(a) - is_notice(b);
    if (a->line != b->line)
        return (a->line > b->line) - (a->line < b->line);
    return (int)a->kind - (int)b->kind;
}

static void request_session_check(struct model *m)
{
    struct doctor_view *v = m->doctor;
    const struct session_entry *entry = &m->list->sessions.entry[v->entry];
    struct ref_list *refs = ref_list_one(&entry->ref, (struct slice){ 0 });

    if (!refs) {
        toast_no_memory(&m->toast);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_CHECK_SESSION, REQUESTER_DAMAGED);

    e->refs = refs;
    e->scope = m->list->scope;
    if (v->asked == 0)
        v->asked_ms = m->now_ms;
    v->asked = e->generation;
}

/* Opens the doctor for the session that actions apply to in the present view. */
static bool doctor_perform(struct model *m, enum action a)
{
    if (a != ACT_DOCTOR)
        return false;
    if (!view_is_open(m, VIEW_DOCTOR)) {
        m->doctor->entry = view_entry(m);
        m->doctor->pick = (struct list_cursor){ 0 };
        view_push(m, VIEW_DOCTOR);
        request_session_check(m);
    }
    return true;
}

static void doctor_refresh(struct model *m)
{
    if (view_is_open(m, VIEW_DOCTOR) && m->doctor->entry != ENTRY_NONE)
        request_session_check(m);
}

static bool doctor_message(struct model *m, const struct msg *msg)
{
    struct doctor_view *v = m->doctor;

    if (!msg_answers(msg, v->asked, MSG_FINDINGS))
        return false;
    v->asked = 0;
    doctor_fini(v);
    if (msg->kind == MSG_FINDINGS) {
        /* Damage first, in the order of the file. (All findings are of one system.) */
        struct findings *found = msg->u.findings;

        v->findings = found;
        if (found->list.n > 1)
            qsort(found->list.finding, found->list.n, sizeof *found->list.finding,
                  compare_findings);
    } else
        v->error = msg->u.error;
    keep_cursor(m);
    return true;
}

/* ---- repairing it ---- */

static void fix_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO && m->doctor->entry != ENTRY_NONE)
        change_flow_request_fix(
            m, ref_list_one(&m->list->sessions.entry[m->doctor->entry].ref, SLICE("")));
}

static void confirm_fix(struct model *m)
{
    struct dialog *d = m->dialog;
    const struct session_entry *e = list_selection_session(m);
    size_t n = findings_fixable(m->doctor->findings);
    const char *s = n == 1 ? "" : "s";
    char title[DIALOG_TEXT];

    if (!e)
        return;
    snprintf(title, sizeof title, "Repair %zu of %zu finding%s?", n, finding_count(m->doctor),
             finding_count(m->doctor) == 1 ? "" : "s");
    dialog_begin(d, title, fix_answer);
    dialog_line(
        d, "%s",
        change_text_title(m, session_entry_title(e).n ? session_entry_title(e) : e->ref.id).text);
    dialog_line(d,
                "Each repair does what its row says, and the metadata is written again at the end. "
                "No other byte changes; undo restores them all.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "repair %zu finding%s", n, s);
    view_push(m, VIEW_DIALOG);
}

/* ---- how it looks ---- */

static size_t damage_count(const struct doctor_view *v)
{
    size_t n = 0;

    for (size_t i = 0; i < finding_count(v); i++)
        n += !is_notice(&v->findings->list.finding[i]);
    return n;
}

/* The width of the numbers of lines; 0 if no finding has one. */
static int doctor_line_width(const struct doctor_view *v)
{
    for (size_t i = 0; i < finding_count(v); i++)
        if (v->findings->list.finding[i].line > 0)
            return LINE_W;
    return 0;
}

/* The column of what was found. */
static int why_column(const struct doctor_view *v, int cols)
{
    return 3 + doctor_line_width(v) + (cols >= WIDE_COLS ? KIND_W : 0);
}

static void draw_doctor_title(const struct model *m, struct frame *f)
{
    const struct doctor_view *v = m->doctor;
    const struct session_entry *e =
        v->entry == ENTRY_NONE ? NULL : &m->list->sessions.entry[v->entry];
    char text[96] = "";
    int x = 1 + frame_puts(f, 0, 1, f->cols, STYLE_TITLE, "doctor") + 2, n = 0;
    size_t fixable = v->findings ? findings_fixable(v->findings) : 0;

    if (v->asked != 0 && frame_spinner_shows(v->asked_ms, m->now_ms))
        n = snprintf(text, sizeof text, "%s", frame_spinner_sign(m->now_ms, f->ascii));
    else if (v->findings && damage_count(v) == 0)
        n = snprintf(text, sizeof text, "not damaged");
    else if (v->findings)
        n = snprintf(text, sizeof text, "%zu finding%s", finding_count(v),
                     finding_count(v) == 1 ? "" : "s");
    if (v->asked == 0 && fixable > 0 && n > 0)
        snprintf(text + n, sizeof text - (size_t)n, ", %zu can be repaired", fixable);
    int w = frame_width(slice_of(text)), end = f->cols - w - 1;

    frame_puts(f, 0, end, w, STYLE_DIM, text);
    if (e)
        frame_text_cut(f, 0, x, end - x - 2, STYLE_TEXT,
                       session_entry_title(e).n ? session_entry_title(e) : e->ref.id);
}

struct slice doctor_finding_text(const struct finding *f, char *text, size_t n)
{
    const bool repair = f->repair && f->fixable && !f->fixed;

    snprintf(text, n, "%s%s%s%s", f->why, repair ? " (the repair " : "", repair ? f->repair : "",
             repair ? ")" : "");
    return slice_of(text);
}

static void draw_finding(const void *arg, struct frame *f, struct rect r, size_t row)
{
    const struct doctor_view *v = arg;
    const struct finding *finding = &v->findings->list.finding[row];
    const int y = r.y;
    char line[32] = "", text[FINDING_TEXT];
    int x = 3;

    if (finding->line > 0)
        snprintf(line, sizeof line, "line %" PRId64, finding->line);
    if (finding->fixable && !finding->fixed)
        frame_puts(f, y, 1, 1, STYLE_OK, "+");
    frame_puts(f, y, x, LINE_W - 1, STYLE_DIM, line);
    if (f->cols >= WIDE_COLS)
        frame_puts(f, y, x + doctor_line_width(v), KIND_W - 1, STYLE_SYSTEM,
                   finding_name(finding->kind));
    x = why_column(v, f->cols);
    frame_text_cut(f, y, x, f->cols - x - 1, is_notice(finding) ? STYLE_DIM : STYLE_TEXT,
                   doctor_finding_text(finding, text, sizeof text));
}

static void draw_panel(const struct model *m, struct frame *f)
{
    const struct doctor_view *v = m->doctor;
    const struct finding *finding = &v->findings->list.finding[v->pick.at];
    int h = doctor_panel_height(f->rows), y = f->rows - 1 - h;
    char path[512], text[FINDING_TEXT];

    frame_rule(f, y, 0, f->cols);
    frame_text_middle(
        f, y + 1, 2, f->cols - 3, STYLE_TEXT,
        text_path_short(slice_of(finding->path), m->settings->home, path, sizeof path));
    /* what the row cuts off */
    const struct slice why = doctor_finding_text(finding, text, sizeof text);

    if (frame_width(why) > f->cols - why_column(v, f->cols) - 1)
        text_wrap_draw(f, (struct rect){ y + 2, 2, h - 2, f->cols - 3 }, STYLE_WARN, why);
}

static void draw_doctor_empty(const struct model *m, struct frame *f)
{
    const struct doctor_view *v = m->doctor;
    struct rect r = { ROWS_Y + 1, 3, 4, f->cols - 4 };

    f->cursor_y = ROWS_Y;
    f->cursor_x = 0;
    if (v->error.code) {
        text_wrap_draw_error(f, r, &v->error);
    } else if (v->findings) {
        frame_puts(f, r.y, r.x, r.w, STYLE_STRONG, "This session is not damaged");
        frame_puts(f, r.y + 2, r.x, r.w, STYLE_DIM, "Every line was checked.");
    } else {
        frame_puts(f, r.y, r.x, r.w, STYLE_DIM, "Checking the session ...");
    }
}

static void draw_doctor(const struct model *m, struct frame *f)
{
    const struct doctor_view *v = m->doctor;

    draw_doctor_title(m, f);
    if (finding_count(v) == 0) {
        draw_doctor_empty(m, f);
        return;
    }
    list_cursor_draw(&v->pick, doctor_area(m, f->rows, f->cols), f, draw_finding, v);
    draw_panel(m, f);
}

/* ---- keys ---- */

static void close_doctor(struct model *m)
{
    struct doctor_view *v = m->doctor;

    effect_cancel(&m->fx, REQUESTER_DAMAGED, &v->asked);
    list_untrack(m->list, &v->entry);
    doctor_fini(v);
    view_pop(m);
}

static bool doctor_act(struct model *m, enum action a)
{
    struct doctor_view *v = m->doctor;

    switch (a) {
    case ACT_BACK: close_doctor(m); return true;
    case ACT_FIX: confirm_fix(m); return true;
    case ACT_REFRESH: doctor_refresh(m); return true;
    case ACT_VIEW:
        if (!view_is_open(m, VIEW_TRANSCRIPT))
            return false;
        close_doctor(m); /* it is read below */
        return true;
    default: return list_cursor_act(&v->pick, doctor_area(m, m->rows, m->cols), a);
    }
}

static void doctor_mouse(struct model *m, struct mouse event)
{
    list_cursor_mouse(&m->doctor->pick, doctor_area(m, m->rows, m->cols), event);
}

static uint32_t doctor_entry(const struct model *m)
{
    return m->doctor->entry;
}

const struct view_ops view_doctor = {
    .name = "doctor",
    .context = IN_DOCTOR,
    .draw = draw_doctor,
    .act = doctor_act,
    .mouse = doctor_mouse,
    .resized = keep_cursor,
    .perform = doctor_perform,
    .unavailable = doctor_unavailable,
    .entry = doctor_entry,
    .message = doctor_message,
    .refresh = doctor_refresh,
    .wake_ms = doctor_wake_ms,
};
