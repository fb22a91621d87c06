#include "tui/app/state.h"

/* The rewind view as a view of the stack; what it shows and how it moves is rewind_*.c's. */

static enum key_context rewind_key_context(const struct model *m)
{
    (void)m;
    return IN_REWIND;
}

static void draw_rewind_screen(const struct model *m, struct frame *f)
{
    rewind_view_draw(m->rewind, f, (struct rect){ 0, 0, f->rows - 1, f->cols });
}

static void leave_rewind_screen(struct model *m)
{
    rewind_view_close(m->rewind, &m->fx);
    if (m->rewind_only)
        model_quit(m);
    else
        view_pop(m);
}

static void rewind_dialog_answer(struct model *m, enum dialog_choice choice)
{
    rewind_view_answer(m->rewind, choice == CHOICE_DO, &m->fx);
}

static bool rewind_screen_act(struct model *m, enum action a)
{
    switch (rewind_view_act(m->rewind, a, &m->toast, &m->fx)) {
    case REWIND_VIEW_DONE: return true;
    case REWIND_VIEW_ASKS:
        rewind_view_question(m->rewind, &m->dialog, rewind_dialog_answer);
        view_push(m, VIEW_DIALOG);
        return true;
    case REWIND_VIEW_BACK: leave_rewind_screen(m); return true;
    case REWIND_VIEW_IGNORED: break;
    }
    return false;
}

static void rewind_screen_key(struct model *m, struct key k)
{
    (void)m;
    (void)k; /* no text is entered here */
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

/* Of the transcript the view knows the message; anywhere else it begins at the newest turn. */
void rewind_screen_open(struct model *m, enum action a)
{
    const struct session_entry *e = selection_session(m);
    struct rewind_start at = { .time_ms = TIME_NONE,
                               .live = e->row && e->row->flags & SESSION_LIVE };

    if (view_top(m) == VIEW_REWIND)
        return;
    if (a == ACT_REWIND_AT)
        transcript_view_message(m->viewer, &at.message, &at.time_ms);
    if (rewind_view_open(m->rewind, &e->ref, session_entry_title(e), at, m->now_ms, &m->fx))
        view_push(m, VIEW_REWIND);
    else
        toast_no_memory(&m->toast);
}

const struct view_ops view_rewind = {
    .name = "rewind",
    .place = rewind_key_context,
    .draw = draw_rewind_screen,
    .act = rewind_screen_act,
    .key = rewind_screen_key,
    .mouse = rewind_screen_mouse,
};
