#include "tui/app/view.h"

/* The whole-screen transcript as a view of the stack; what it shows and how it moves is transcript.c's. */

static enum key_context transcript_screen_key_context(const struct model *m)
{
    return transcript_view_key_context(m->viewer);
}

static struct rect area(int rows, int cols)
{
    return (struct rect){ 0, 0, rows - 1, cols }; /* the last line is the footer */
}

static void draw_transcript_screen(const struct model *m, struct frame *f)
{
    transcript_view_draw(m->viewer, f, area(f->rows, f->cols));
}

static bool transcript_screen_act(struct model *m, enum action a)
{
    switch (transcript_view_act(m->viewer, a, &m->fx)) {
    case TRANSCRIPT_DONE: return true;
    case TRANSCRIPT_BACK:
        transcript_view_close(m->viewer, &m->fx);
        list_untrack(&m->list, &m->viewed);
        view_pop(m);
        return true;
    case TRANSCRIPT_IGNORED: break;
    }
    return false;
}

static void transcript_screen_key(struct model *m, struct key k)
{
    transcript_view_key(m->viewer, k, &m->fx);
}

static void transcript_screen_paste(struct model *m, struct slice text)
{
    transcript_view_paste(m->viewer, text, &m->fx);
}

static void transcript_screen_mouse(struct model *m, struct mouse event)
{
    switch (event.event) {
    case MOUSE_WHEEL_UP: transcript_view_scroll(m->viewer, -3, &m->fx); return;
    case MOUSE_WHEEL_DOWN: transcript_view_scroll(m->viewer, 3, &m->fx); return;
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK: transcript_view_click(m->viewer, event.y, event.x, &m->fx); return;
    }
}

const struct view_ops view_transcript = {
    .name = "transcript",
    .place = transcript_screen_key_context,
    .draw = draw_transcript_screen,
    .act = transcript_screen_act,
    .key = transcript_screen_key,
    .paste = transcript_screen_paste,
    .mouse = transcript_screen_mouse,
};
