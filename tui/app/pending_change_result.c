#include <stdio.h>

#include "tui/app/change_text.h"
#include "tui/app/state.h"
#include "tui/widgets/spinner.h"

/* What came of a change: said, and shown in every view that it may have touched. */

static void report_done(struct model *m, const struct change_result *c)
{
    struct change_text done = change_text_done(m, c), back = { "" };

    if (c->request != CHANGE_EMPTY)
        back = change_text_undo_key(m, c->request == CHANGE_UNDO ? ACT_REDO : ACT_UNDO);
    toast_info(&m->toast, m->now_ms, "%s%s", done.text, back.text);
}

static void report_failed(struct model *m, const struct change_result *c)
{
    bool nothing =
        c->error.code == ERR_NOT_FOUND && (c->request == CHANGE_UNDO || c->request == CHANGE_REDO);

    if (nothing) /* no trouble, just nothing there */
        toast_note(&m->toast, m->now_ms, "%s", c->error.text);
    else
        toast_error(&m->toast, &c->error);
}

static bool lists_entry(const struct change_result *c, const struct session_entry *e)
{
    for (size_t i = 0; i < c->sessions.n; i++)
        if (slice_eq(c->sessions.name[i], e->ref.id))
            return true;
    return false;
}

/* The session that is read went to the trash: there is nothing to go on reading. */
static void close_views_of_deleted(struct model *m, const struct change_result *c)
{
    if ((c->request != CHANGE_TRASH && c->request != CHANGE_SWEEP) || m->viewed == ENTRY_NONE ||
        !lists_entry(c, &m->list.sessions.entry[m->viewed]))
        return;
    transcript_view_close(m->viewer, &m->fx);
    list_untrack(&m->list, &m->viewed);
    m->depth = 1;
}

/* Back in the list, on the copy: Enter goes on in it. */
static void show_copy(struct model *m, const struct change_result *c)
{
    if (m->viewed != ENTRY_NONE) {
        transcript_view_close(m->viewer, &m->fx);
        list_untrack(&m->list, &m->viewed);
    }
    m->depth = 1;
    list_unmark_all(&m->list);
    snprintf(m->list.seek, sizeof m->list.seek, "%s", c->copy);
}

void pending_change_finish(struct model *m, const struct change_result *c)
{
    m->pending_change.under_way -= m->pending_change.under_way > 0;
    if (c->asks) {
        if (c->request == CHANGE_RESTORE)
            trash_view_ask_join(m, c);
        else
            undo_flow_confirm(m, c);
        return;
    }
    undo_flow_note_rewind(m, c->record);
    if (c->error.code)
        report_failed(m, c);
    else
        report_done(m, c);
    if (!c->error.code && (c->request == CHANGE_TRASH || c->request == CHANGE_SWEEP))
        list_unmark_all(&m->list);
    close_views_of_deleted(m, c);
    if (!c->error.code && c->request == CHANGE_FORK)
        show_copy(m, c);
    if (!c->error.code && c->request == CHANGE_RESUME_AT)
        resume_flow_begin(m, ACT_RESUME);
    for (size_t i = 0; i < c->sessions.n; i++)
        session_table_invalidate(&m->list.sessions, c->sessions.name[i]);
    trash_view_refresh(m);
    damaged_refresh(m);
    doctor_refresh(m);
    cleanup_refresh(m);
    list_start(&m->list, &m->fx);
}

bool pending_change_draw(const struct model *m, struct frame *f, struct rect r)
{
    const struct pending_change *c = &m->pending_change;
    int x = r.x + 1;

    if (c->under_way == 0 || !spinner_shows(c->since_ms, m->now_ms))
        return false;
    x += frame_puts(f, r.y, x, r.w - 1, STYLE_KEY, spinner_sign(m->now_ms, f->ascii)) + 1;
    frame_puts(f, r.y, x, r.x + r.w - x, STYLE_DIM, change_text_doing(c->request));
    return true;
}
