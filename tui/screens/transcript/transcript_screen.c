#include "tui/app/view.h"
#include "tui/screens/list/list.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/screens/transcript/transcript.h"

/* The whole-screen transcript as a view of the stack; transcript.c implements its content and
 * movement. */

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

/* Shows a session of the list, at a hit if the conversations are being searched. */
static bool show_session(struct model *m, uint32_t entry, bool last)
{
    const struct session_entry *e = &m->list->sessions.entry[entry];
    const struct content_hit *hit = list_content_hit(m->list, entry);
    struct slice none = { NULL, 0 };

    if (!transcript_view_open(m->viewer, &e->ref, session_entry_title(e), session_entry_cwd(e),
                              &m->fx)) {
        toast_no_memory(&m->toast);
        return false;
    }
    transcript_view_search_in(m->viewer, hit ? hit->agent : none, list_content_text(m->list), last,
                              &m->fx);
    m->viewed = entry;
    return true;
}

/* n after the last hit of a session continues in the next session of the list, N before the first
 * hit in the one above. */
static bool go_on_in_list(struct model *m, int direction)
{
    struct list *l = m->list;
    struct slice text = list_content_text(l);
    size_t at = 0;

    if (!text.n || m->viewed == ENTRY_NONE || l->filter.hits < 2 ||
        !transcript_view_search_ends(m->viewer, text, direction))
        return false;
    while (at < l->filter.hits && l->filter.hit[at] != m->viewed)
        at++;
    if (at == l->filter.hits)
        return false;
    at = (at + (direction > 0 ? 1 : l->filter.hits - 1)) % l->filter.hits;
    list_move_to(l, at, &m->fx);
    if (show_session(m, l->filter.hit[at], direction < 0))
        toast_note(&m->toast, m->now_ms, "session %zu of %zu", at + 1, l->filter.hits);
    return true;
}

static bool transcript_screen_act(struct model *m, enum action a)
{
    if ((a == ACT_SEARCH_NEXT || a == ACT_SEARCH_PREV) &&
        go_on_in_list(m, a == ACT_SEARCH_NEXT ? 1 : -1))
        return true;
    switch (transcript_view_act(m->viewer, a, &m->fx)) {
    case TRANSCRIPT_DONE: return true;
    case TRANSCRIPT_BACK:
        transcript_view_close(m->viewer, &m->fx);
        list_untrack(m->list, &m->viewed);
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

/* Esc is meant to put away the reason why nothing was done. */
static bool transcript_screen_takes(struct model *m, struct key k)
{
    return k.code == KEYCODE_ESC && k.mods == 0 && transcript_view_dismiss(m->viewer);
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

static void open_viewer(struct model *m)
{
    if (!view_is_open(m, VIEW_TRANSCRIPT) && show_session(m, view_entry(m), false))
        view_push(m, VIEW_TRANSCRIPT);
}

/* There is only one viewer: if it is already below, its session is replaced. */
static void leave_to_viewer(struct model *m)
{
    while (view_is_open(m, VIEW_TRANSCRIPT) && view_top(m) != VIEW_TRANSCRIPT) {
        if (view_top(m) == VIEW_REWIND)
            rewind_view_close(m->rewind, &m->fx);
        view_pop(m);
    }
    if (view_top(m) != VIEW_TRANSCRIPT)
        view_push(m, VIEW_TRANSCRIPT);
}

void transcript_screen_show(struct model *m, const struct session_ref *ref, struct slice title,
                            struct slice cwd, struct id128 message)
{
    uint32_t entry = session_table_find(&m->list->sessions, ref->path);

    if (entry != ENTRY_NONE) {
        title = session_entry_title(&m->list->sessions.entry[entry]);
        cwd = session_entry_cwd(&m->list->sessions.entry[entry]);
    }
    if (!transcript_view_open(m->viewer, ref, title.n ? title : ref->id, cwd, &m->fx)) {
        toast_no_memory(&m->toast);
        return;
    }
    if (!id128_none(message))
        transcript_view_go_to_message(m->viewer, message);
    m->viewed = entry;
    leave_to_viewer(m);
}

static bool transcript_screen_perform(struct model *m, enum action a)
{
    if (a == ACT_VIEW)
        open_viewer(m);
    return a == ACT_VIEW;
}

static const char *transcript_screen_unavailable(const struct model *m, enum action a)
{
    const char *why = list_session_unavailable(m, a, LIST_NO_SESSION);

    return why ? why : transcript_view_unavailable(m->viewer, a);
}

static void transcript_screen_resized(struct model *m)
{
    transcript_view_resize(m->viewer, m->rows - 1, m->cols, &m->fx);
}

static bool transcript_screen_message(struct model *m, const struct msg *msg)
{
    return transcript_view_msg(m->viewer, msg, &m->fx);
}

static const enum action *transcript_screen_footer(const struct model *m)
{
    static const enum action of_raw[] = { ACT_BACK, ACT_COPY, ACT_DOWN, ACT_PAGE_DOWN, ACT_NONE };

    return transcript_view_shows_raw(m->viewer) ? of_raw : NULL;
}

const struct view_ops view_transcript = {
    .name = "transcript",
    .place = transcript_screen_key_context,
    .draw = draw_transcript_screen,
    .act = transcript_screen_act,
    .takes = transcript_screen_takes,
    .key = transcript_screen_key,
    .paste = transcript_screen_paste,
    .mouse = transcript_screen_mouse,
    .perform = transcript_screen_perform,
    .unavailable = transcript_screen_unavailable,
    .resized = transcript_screen_resized,
    .message = transcript_screen_message,
    .footer = transcript_screen_footer,
};
