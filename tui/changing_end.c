#include <stdio.h>

#include "tui/spinner.h"
#include "tui/state.h"
#include "tui/words.h"

/* What came of a change: said, and shown in every view that it may have touched. */

static void say_done(struct model *m, const struct changed *c)
{
    struct words done = words_done(m, c), back = { "" };

    if (c->wish != WISH_EMPTY)
        back = words_back(m, c->wish == WISH_UNDO ? ACT_REDO : ACT_UNDO);
    toast_say(&m->toast, m->now_ms, "%s%s", done.text, back.text);
}

static void say_failed(struct model *m, const struct changed *c)
{
    bool nothing = c->error.code == ERR_NOT_FOUND && (c->wish == WISH_UNDO || c->wish == WISH_REDO);

    if (nothing) /* no trouble, just nothing there */
        toast_note(&m->toast, m->now_ms, "%s", c->error.text);
    else
        toast_error(&m->toast, &c->error);
}

static bool names_entry(const struct changed *c, const struct entry *e)
{
    for (size_t i = 0; i < c->sessions.n; i++)
        if (slice_eq(c->sessions.name[i], e->ref.id))
            return true;
    return false;
}

/* The session that is read went to the trash: there is nothing to go on reading. */
static void leave_deleted(struct model *m, const struct changed *c)
{
    if ((c->wish != WISH_TRASH && c->wish != WISH_SWEEP) || m->viewed == ENTRY_NONE ||
        !names_entry(c, &m->list.roster.entry[m->viewed]))
        return;
    transcript_view_close(m->viewer, &m->fx);
    list_let_go(&m->list, &m->viewed);
    m->depth = 1;
}

/* Back in the list, on the copy: Enter goes on in it. */
static void show_copy(struct model *m, const struct changed *c)
{
    if (m->viewed != ENTRY_NONE) {
        transcript_view_close(m->viewer, &m->fx);
        list_let_go(&m->list, &m->viewed);
    }
    m->depth = 1;
    list_unmark_all(&m->list);
    snprintf(m->list.seek, sizeof m->list.seek, "%s", c->copy);
}

void changing_end(struct model *m, const struct changed *c)
{
    m->changing.under_way -= m->changing.under_way > 0;
    if (c->asks) {
        if (c->wish == WISH_RESTORE)
            trash_view_ask_join(m, c);
        else
            undoing_ask(m, c);
        return;
    }
    undoing_note_made(m, c->record);
    if (c->error.code)
        say_failed(m, c);
    else
        say_done(m, c);
    if (!c->error.code && (c->wish == WISH_TRASH || c->wish == WISH_SWEEP))
        list_unmark_all(&m->list);
    leave_deleted(m, c);
    if (!c->error.code && c->wish == WISH_FORK)
        show_copy(m, c);
    if (!c->error.code && c->wish == WISH_RESUME_AT)
        choose_begin(m, ACT_RESUME);
    for (size_t i = 0; i < c->sessions.n; i++)
        roster_touch(&m->list.roster, c->sessions.name[i]);
    trash_view_refresh(m);
    damaged_refresh(m);
    doctor_refresh(m);
    cleanup_refresh(m);
    list_start(&m->list, &m->fx);
}

bool changing_draw(const struct model *m, struct frame *f, struct rect r)
{
    const struct changing *c = &m->changing;
    int x = r.x + 1;

    if (c->under_way == 0 || !spinner_shows(c->since_ms, m->now_ms))
        return false;
    x += frame_puts(f, r.y, x, r.w - 1, STYLE_KEY, spinner_sign(m->now_ms, f->ascii)) + 1;
    frame_puts(f, r.y, x, r.x + r.w - x, STYLE_DIM, words_doing(c->wish));
    return true;
}
