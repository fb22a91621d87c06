#include "tui/screens/rewind/rewind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/blame/blame_view.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/rewind/rewind_internal.h"
#include "tui/screens/transcript/transcript.h"
#include "tui/text/clean.h"
#include "tui/widgets/styled_text.h"

/* Drawing, keys and mouse of the rewind view are in separate files, and all of them need the same
 * two facts: what is selected, and where it is on the screen. Both are computed here. The layout is
 * never stored: it follows from the view and its size, so that a click always hits what was drawn.
 *
 *     selected turn -> (rest) -> preview -> listed files -> selected file -> its changes
 *
 * A preview takes longer than a key. While the cursor moves through the turns, the old preview
 * remains on the screen, and `preview_turn` is then not the selected turn. Whoever acts on the
 * preview must therefore check rewind_is_current() first. Closing the view cancels its questions,
 * but not a rewind that was begun; its result is accepted even if the view is closed. */

enum { SLOW_MS = 150 };

const struct checkpoint *rewind_turn(const struct rewind_view *v)
{
    return v->turns && v->turn.at < v->turns->n ? &v->turns->checkpoint[v->turn.at] : NULL;
}

const struct rewind_entry *rewind_entry_at(const struct rewind_view *v, size_t row)
{
    return v->preview && row < v->rows ? &v->preview->preview.entry[v->row[row]] : NULL;
}

const struct rewind_entry *rewind_file(const struct rewind_view *v)
{
    return rewind_entry_at(v, v->file.at);
}

struct rewind_selection *rewind_selection_at(const struct rewind_view *v, size_t row)
{
    return &v->selection->pick[v->row[row]];
}

const char *rewind_turn_why(const struct rewind_view *v, const struct checkpoint *turn)
{
    return v->mode == REWIND_CONVERSATION ? NULL : turn->why;
}

const struct rewind_conversation *rewind_conversation_of(const struct rewind_view *v)
{
    return v->preview && v->preview->plan.conversation.change ? &v->preview->plan.conversation
                                                              : NULL;
}

bool rewind_is_current(const struct rewind_view *v)
{
    return v->preview && v->preview_turn == v->turn.at && v->due_ms == TIME_NONE &&
           !v->asked_preview;
}

bool rewind_is_slow(const struct rewind_view *v)
{
    return v->now_ms - v->asked_ms >= SLOW_MS;
}

enum rewind_action rewind_action_of(const struct rewind_entry *x)
{
    return rewind_may_consent(x) ? x->would : x->action;
}

struct slice rewind_path(const struct rewind_view *v, const struct rewind_entry *x, char *out,
                         size_t cap)
{
    struct slice path = slice_of(x->target->path);
    const char *root = v->preview->plan.root;
    size_t n = root ? strlen(root) : 0;

    if (n > 0 && path.n > n + 1 && slice_starts(path, root) && path.p[n] == '/')
        return (struct slice){ path.p + n + 1, path.n - n - 1 };
    return text_path_short(path, v->settings->home, out, cap);
}

/* ---- numbers ---- */

static void add_to_tally(struct rewind_tally *t, const struct rewind_view *v, size_t i)
{
    const struct rewind_entry *x = &v->preview->preview.entry[i];
    const struct rewind_selection *pick = &v->selection->pick[i];
    enum rewind_action action = rewind_action_of(x);
    bool partial = rewind_is_partial(pick);

    if (!pick->ticked)
        return;
    t->files++;
    t->restored += action == REWIND_RESTORE;
    t->created += action == REWIND_CREATE;
    t->deleted += action == REWIND_DELETE;
    t->partial += partial;
    t->consented += pick->consent;
    t->held_open += x->held_open;
    t->insertions += partial ? v->partial[i].insertions : x->insertions;
    t->deletions += partial ? v->partial[i].deletions : x->deletions;
}

struct rewind_tally rewind_tally(const struct rewind_view *v)
{
    struct rewind_tally t = { 0 };

    const struct rewind_conversation *conversation = rewind_conversation_of(v);

    for (size_t i = 0; v->preview && i < v->preview->preview.n; i++)
        add_to_tally(&t, v, i);
    t.has_conversation = conversation != NULL;
    t.dropped = conversation ? conversation->dropped : 0;
    return t;
}

void rewind_tally_text(const struct rewind_tally *t, char *out, size_t cap)
{
    const struct {
        const char *verb;
        size_t n;
    } part[] = {
        { "restore", t->restored },
        { "re-create", t->created },
        { "delete", t->deleted },
    };
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].n > 0 && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s %zu%s", used ? ", " : "",
                                     part[i].verb, part[i].n,
                                     used             ? ""
                                     : part[i].n == 1 ? " file"
                                                      : " files");
    if (t->has_conversation && used < cap)
        snprintf(out + used, cap - used, "%sdrop %zu message%s", used ? ", " : "", t->dropped,
                 t->dropped == 1 ? "" : "s");
}

enum {
    LEFT_MIN = 34,
    LEFT_MAX = 90,
    NOTE_FROM_H = 14,
    HEAD_EDGES_W = 5, /* the ends of the line above the changes */
    HUNKS_W = 16,     /* " hunk 12/34 " in it */
};

static int rewind_view_clamp(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}

/* The note on the selected turn is below the turns. It gets as many lines as it needs, up to half
 * of the height, or all that the turns leave free. */
static void split_left(struct rewind_layout *l, const struct rewind_view *v, struct rect r)
{
    l->turns = r;
    if (r.h < NOTE_FROM_H)
        return;
    int usual = rewind_view_clamp(r.h / 4 + 1, 4, 10);
    int h = rewind_view_clamp(rewind_note_height(v, r.w, false), usual, r.h / 2);
    int turns = v->turns && v->turns->n < (size_t)r.h ? (int)v->turns->n : r.h;

    if (r.h - turns > h)
        h = rewind_view_clamp(rewind_note_height(v, r.w, true), h, r.h - turns);
    l->turns.h = r.h - h;
    l->note = (struct rect){ r.y + l->turns.h, r.x, h, r.w };
}

const char *rewind_file_warning(const struct rewind_view *v)
{
    const struct rewind_entry *x = rewind_file(v);

    if (!x || x->why)
        return x ? x->why : NULL;
    return x->held_open && !x->target->other
               ? "open in a program: what it writes goes to the old file"
               : NULL;
}

/* The files get the lines they need, up to two fifths; their changes get the rest. */
static void split_right(struct rewind_layout *l, const struct rewind_view *v, struct rect r)
{
    int rows = (int)(v->rows < 1000 ? v->rows : 1000) + (v->unchanged > 0);

    if ((v->mode == REWIND_CONVERSATION || v->mode == REWIND_BOTH) && r.h > 4) {
        l->conversation = (struct rect){ r.y, r.x, 1, r.w };
        r.y++;
        r.h--;
    }
    l->files = r;
    l->files.h = rewind_view_clamp(rows, 1, rewind_view_clamp(r.h * 2 / 5, 3, r.h));
    if (r.h - l->files.h < 3)
        return;
    l->head = (struct rect){ r.y + l->files.h, r.x, 1, r.w };
    const char *warning = rewind_file_warning(v);
    const struct comparison *c = v->changes.comparison;
    const int hunks_w = c && c->diff.hunks > 1 ? HUNKS_W : 0;
    int rest = r.h - l->files.h - 1, warned = 0;

    /* The warning is below the head if it does not fit in there. */
    if (warning && frame_width(slice_of(warning)) > r.w - HEAD_EDGES_W - hunks_w)
        warned = text_wrap_height(slice_of(warning), r.w - 3);
    l->warning = (struct rect){ l->head.y + 1, r.x, rewind_view_clamp(warned, 0, rest - 1), r.w };
    l->changes = (struct rect){ l->warning.y + l->warning.h, r.x, rest - l->warning.h, r.w };
}

struct rewind_layout rewind_layout(const struct rewind_view *v, int h, int w)
{
    struct rewind_layout l = { .edge = -1, .result = v->result[0] ? h - 1 : -1 };
    struct rect body = { 1, 0, h - 1 - (l.result >= 0), w };

    if (w < REWIND_SPLIT_W) { /* one side at a time */
        if (v->pane == PANE_TURNS)
            split_left(&l, v, body);
        else
            split_right(&l, v, body);
        return l;
    }
    l.edge = rewind_view_clamp(w * 2 / 5, LEFT_MIN, LEFT_MAX);
    split_left(&l, v, (struct rect){ body.y, 0, body.h, l.edge });
    split_right(&l, v, (struct rect){ body.y, l.edge + 1, body.h, w - l.edge - 1 });
    return l;
}

static void scroll_to_cursor(struct list_cursor *c, size_t n, int h)
{
    c->top = list_cursor_top(c->top, c->at, n, h > 0 ? (size_t)h : 0);
}

void rewind_keep_in_panes(struct rewind_view *v)
{
    struct rewind_layout l = rewind_layout(v, v->h, v->w);
    size_t turns = v->turns ? v->turns->n : 0;

    scroll_to_cursor(&v->turn, turns, l.turns.h);
    scroll_to_cursor(&v->file, v->rows, l.files.h - (v->unchanged > 0));
    scroll_to_cursor(&v->changes.cursor, v->changes.styled_text.n, l.changes.h);
}

/* The life of the view. */

enum { TURN_MS = 100 };

struct rewind_view *rewind_view_new(const struct settings *settings)
{
    struct rewind_view *v = calloc(1, sizeof *v);

    if (v) {
        v->settings = settings;
        v->due_ms = TIME_NONE;
    }
    return v;
}

/* A rewind that is under way is not cancelled: it is completed whether or not a view waits for the
 * result. */
void rewind_view_close(struct rewind_view *v, struct effects *fx)
{
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_turns);
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_lines);
    rewind_clear_preview(v, fx);
    ref_list_free(v->session);
    preview_checkpoints_free(v->turns);
    arena_fini(&v->texts);
    *v = (struct rewind_view){
        .settings = v->settings, .now_ms = v->now_ms, .h = v->h, .w = v->w, .due_ms = TIME_NONE
    };
}

void rewind_view_free(struct rewind_view *v)
{
    struct effects none = { 0 };

    if (!v)
        return;
    rewind_view_close(v, &none);
    free(v);
}

bool rewind_view_open(struct rewind_view *v, const struct session_ref *ref, struct slice title,
                      struct rewind_start at, int64_t now_ms, struct effects *fx)
{
    rewind_view_close(v, fx);
    v->now_ms = now_ms;
    v->at = at;
    v->session = ref_list_one(ref, SLICE(""));
    v->title = arena_copy(&v->texts, title);
    if (v->session && v->title.p && rewind_request(v, EFFECT_CHECKPOINTS, &v->asked_turns, fx))
        return true;
    rewind_view_close(v, fx);
    return false;
}

static void rewind_screen_tick(struct model *m)
{
    struct rewind_view *v = m->rewind;

    v->now_ms = m->now_ms;
    if (v->session && v->due_ms != TIME_NONE && v->now_ms >= v->due_ms)
        rewind_request_preview(v, &m->fx);
}

static int64_t rewind_screen_wake_ms(const struct model *m)
{
    const struct rewind_view *v = m->rewind;

    if (!v->session)
        return TIME_NONE;
    if (v->due_ms != TIME_NONE)
        return v->due_ms;
    if (!v->asked_turns && !v->asked_preview && !v->asked_changes && !v->asked_rewind)
        return TIME_NONE;
    return rewind_is_slow(v) ? v->now_ms + TURN_MS : v->asked_ms + SLOW_MS;
}

/* The rewind view as a view of the stack; rewind_*.c implement its content and movement. */

static void draw_rewind_screen(const struct model *m, struct frame *f)
{
    rewind_view_draw(m->rewind, f, (struct rect){ 0, 0, f->rows - 1, f->cols });
}

static void rewind_dialog_answer(struct model *m, enum dialog_choice choice)
{
    rewind_view_answer(m->rewind, choice == CHOICE_DO, &m->fx);
}

static const char *rewind_bisect(struct model *m, struct slice command)
{
    return bisect_view_begin(m, m->rewind->session, command);
}

void rewind_bisected(struct model *m, struct slice turn)
{
    struct rewind_view *v = m->rewind;

    for (size_t i = 0; turn.n && v->turns && i < v->turns->n; i++) {
        if (!slice_eq(v->turns->checkpoint[i].id, turn))
            continue;
        v->pane = PANE_TURNS;
        v->turn.at = i;
        rewind_turn_changed(v, &m->fx);
        rewind_keep_in_panes(v);
        toast_info(&m->toast, m->now_ms, "the first bad turn is selected; o shows what it changed");
    }
}

static bool rewind_screen_back_quits(const struct model *m)
{
    return m->rewind_only;
}

static bool rewind_screen_act(struct model *m, enum action a)
{
    if (a == ACT_BISECT) {
        dialog_prompt(m, "command that fails now ", buf_slice(&m->bisect->command), rewind_bisect);
        return true;
    }
    if (a == ACT_TOUCHED) {
        blame_view_open(m, rewind_view_file(m->rewind));
        return true;
    }
    switch (rewind_view_act(m->rewind, a, &m->toast, &m->fx)) {
    case REWIND_VIEW_DONE: return true;
    case REWIND_VIEW_ASKS:
        rewind_view_question(m->rewind, m->dialog, rewind_dialog_answer);
        view_push(m, VIEW_DIALOG);
        return true;
    case REWIND_VIEW_BACK:
        rewind_view_close(m->rewind, &m->fx);
        if (m->rewind_only)
            view_quit(m);
        else
            view_pop(m);
        return true;
    case REWIND_VIEW_IGNORED: break;
    }
    return false;
}

static void rewind_screen_mouse(struct model *m, struct mouse e)
{
    switch (e.event) {
    case MOUSE_WHEEL_UP: rewind_view_scroll(m->rewind, e.y, e.x, -3, &m->fx); return;
    case MOUSE_WHEEL_DOWN: rewind_view_scroll(m->rewind, e.y, e.x, 3, &m->fx); return;
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK: rewind_view_click(m->rewind, e.y, e.x, &m->fx); return;
    }
}

static bool rewind_screen_perform(struct model *m, enum action a)
{
    if (a != ACT_REWIND && a != ACT_REWIND_AT)
        return false;

    /* In a transcript the message at the cursor is known; anywhere else the view begins at the
     * newest turn. */
    const struct session_entry *e = list_selection_session(m);
    struct rewind_start at = { .time_ms = TIME_NONE,
                               .live = e->row && e->row->flags & SESSION_LIVE };

    if (view_top(m) != VIEW_REWIND && view_is_open(m, VIEW_REWIND)) {
        toast_note(&m->toast, m->now_ms, "a rewind is open below: leave it first");
    } else if (view_top(m) != VIEW_REWIND) {
        if (a == ACT_REWIND_AT)
            transcript_view_message(m->viewer, &at.message, &at.time_ms);
        if (rewind_view_open(m->rewind, &e->ref, session_entry_title(e), at, m->now_ms, &m->fx))
            view_push(m, VIEW_REWIND);
        else
            toast_no_memory(&m->toast);
    }

    return true;
}

static const char *rewind_screen_unavailable(const struct model *m, enum action a)
{
    return rewind_view_unavailable(m->rewind, a);
}

static void rewind_screen_resized(struct model *m)
{
    struct rewind_view *v = m->rewind;
    int h = m->rows - 1;
    int w = m->cols;
    bool other_width = w != v->w;

    v->h = h;
    v->w = w;
    if (other_width)
        rewind_layout_changes(v);
    rewind_keep_in_panes(v);
}

static bool rewind_screen_message(struct model *m, const struct msg *msg)
{
    bool done = msg->kind == MSG_REWIND_DONE; /* taken over even if the view has been left */

    if (done && msg->generation == m->rewind->asked_rewind)
        undo_flow_rewound(m, &msg->u.rewind_summary);
    else if (done) /* the view shows another session by now */
        name_list_free(msg->u.rewind_summary.edited);
    return rewind_view_msg(m->rewind, msg, &m->fx) || done;
}

const struct view_ops view_rewind = {
    .name = "rewind",
    .context = IN_REWIND,
    .draw = draw_rewind_screen,
    .act = rewind_screen_act,
    .back_quits = rewind_screen_back_quits,
    .mouse = rewind_screen_mouse,
    .perform = rewind_screen_perform,
    .unavailable = rewind_screen_unavailable,
    .resized = rewind_screen_resized,
    .message = rewind_screen_message,
    .tick = rewind_screen_tick,
    .wake_ms = rewind_screen_wake_ms,
};
