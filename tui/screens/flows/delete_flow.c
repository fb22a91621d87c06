#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/human.h"

/* Deleting first shows what will happen, then acts: it moves sessions to the trash, or deletes them
 * from the store of a team, which has no trash. */

static int compare_entries(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Marked sessions that the query hides are included, so the question has to mention them. */
static size_t hidden_by_query(const struct model *m)
{
    const struct ref_list *refs =
        m->pending_change->refs; /* by entry: list_selection_next goes upwards */
    const struct filter *filter = &m->list->filter;
    size_t shown = 0;

    if (view_base(m) != VIEW_LIST || m->list->marks == 0)
        return 0;
    for (size_t i = 0; i < filter->hits; i++)
        shown += bsearch(&filter->hit[i], refs->entry, refs->n, sizeof *refs->entry,
                         compare_entries) != NULL;
    return refs->n - shown;
}

static void delete_flow_trash_answer(struct model *m, enum dialog_choice choice)
{
    size_t unsure = m->pending_change->unsure;
    struct effect *e = NULL;

    if (choice == CHOICE_DO)
        e = change_flow_submit(m, CHANGE_TRASH, (struct slice){ 0 });
    else
        change_flow_clear(m);
    if (e)
        e->unsure = unsure > 0; /* the question mentioned it */
}

static void lines_about_others(struct dialog *d, const struct pending_change *c)
{
    if (c->running > 0)
        dialog_line(d, "%zu more %s: an agent has %s open.", c->running,
                    c->running == 1 ? "stays" : "stay", c->running == 1 ? "it" : "them");
    if (c->unsupported > 0)
        dialog_line(d, "%zu more %s cannot be deleted.", c->unsupported,
                    c->unsupported == 1 ? "stays: it" : "stay: they");
    if (c->partly > 1)
        dialog_line(d, "Part of %s stays; of one of them:", change_text_count(c->partly).text);
    if (c->partly > 0)
        dialog_line(d, "%c%s.", toupper((unsigned char)c->stays[0]), c->stays + 1);
}

/* The title of a single session, or how many are of which system. Systems are named if the list has several: two stores
 * may have sessions of the same title. */
static void lines_about_sessions(struct model *m)
{
    enum { NAMED = 6 };
    const struct ref_list *refs = m->pending_change->refs;
    const bool several = m->list->widths.several;
    struct dialog *d = m->dialog;
    struct {
        const char *name;
        size_t n;
    } of[NAMED] = { { NULL, 0 } };
    char text[DIALOG_TEXT];
    size_t used = 0;

    if (refs->n == 1) {
        struct change_text title = change_text_title(m, m->pending_change->titles->name[0]);

        if (several)
            dialog_line(d, "%s (%s)", title.text, refs->ref[0].store->ops->name);
        else
            dialog_line(d, "%s", title.text);
        return;
    }
    for (size_t i = 0; i < refs->n; i++) {
        const char *name = refs->ref[i].store->ops->name;
        size_t k = 0;

        while (k < NAMED && of[k].name && of[k].name != name)
            k++;
        if (k == NAMED) /* too many to be named */
            return;
        of[k].name = name;
        of[k].n++;
    }
    for (size_t k = 0; k < NAMED && of[k].name && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu of %s", k ? ", " : "",
                                 of[k].n, of[k].name);
    if (several)
        dialog_line(d, "%s.", text);
}

/* Filled in when the question is asked, and again when the exact numbers arrive. */
static void fill_trash_dialog(struct model *m)
{
    const struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;
    size_t at = d->at, n = c->refs->n, hidden = hidden_by_query(m);
    char size[HUMAN_SIZE], title[DIALOG_TEXT];

    human_size(c->bytes, size);
    snprintf(title, sizeof title, "Move %s, %s, to the trash?", change_text_count(n).text, size);
    dialog_begin(d, title, delete_flow_trash_answer);
    lines_about_sessions(m);
    if (hidden > 0)
        dialog_line(d, "%zu of them %s hidden by the filter.", hidden, hidden == 1 ? "is" : "are");
    lines_about_others(d, c);
    dialog_line(d, "%s in the trash until you empty it; undo brings %s back.",
                n == 1 ? "It stays" : "They stay", n == 1 ? "it" : "them");

    dialog_offer(d, CHOICE_CANCEL, "cancel");
    if (c->unsure > 0) {
        dialog_line(d, "Cannot tell whether an agent is still writing to %s.",
                    n == 1 ? "it" : change_text_count(c->unsure).text);
        dialog_line(d, "Quit the agent first, or what it writes from now on may be lost.");
        dialog_want_yes(d);
        return;
    }
    dialog_offer(d, CHOICE_DO, "move %s to the trash", change_text_count(n).text);

    /* The choice stays where it was when the numbers arrive. */
    d->at = at < d->choices ? at : 0;
}

static void begin_trash(struct model *m)
{
    struct pending_change *c = m->pending_change;
    struct ref_list *refs = ref_list_copy(c->refs);

    if (!refs) {
        change_flow_fail(m);
        return;
    }
    struct effect *e = effect_add(&m->fx, EFFECT_ESTIMATE_DELETE, REQUESTER_LIST);

    e->refs = refs;
    c->estimating = e->generation;
    m->dialog->at = 0;
    fill_trash_dialog(m);
    view_push(m, VIEW_DIALOG);
}

void delete_flow_estimate(struct model *m, const struct delete_estimate *w)
{
    struct pending_change *c = m->pending_change;

    c->estimating = 0;
    if (w->n == c->refs->n) {
        c->bytes = w->bytes;
        c->unsure = w->unsure;
        c->partly = w->partly;
        c->stays = w->stays;
        fill_trash_dialog(m);
    }
}

/* ---- deleting from the store of a team, which has no trash ---- */

static void remove_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO)
        change_flow_submit(m, CHANGE_REMOVE, (struct slice){ 0 });
    else
        change_flow_clear(m);
}

static bool any_is_here(const struct model *m)
{
    const struct ref_list *refs = m->pending_change->refs;
    bool here = false;

    for (size_t i = 0; i < refs->n; i++)
        here |= m->list->sessions.entry[refs->entry[i]].ref.also != NULL;
    return here;
}

static void begin_remove(struct model *m, const struct store *st)
{
    const struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;
    size_t n = c->refs->n, hidden = hidden_by_query(m);
    char title[DIALOG_TEXT];

    snprintf(title, sizeof title, "Delete %s from %s for good?", change_text_count(n).text,
             st->ops->name);
    dialog_begin(d, title, remove_answer);
    if (n == 1)
        dialog_line(d, "%s", change_text_title(m, c->titles->name[0]).text);
    if (hidden > 0)
        dialog_line(d, "%zu of them %s hidden by the filter.", hidden, hidden == 1 ? "is" : "are");
    lines_about_others(d, c);
    dialog_line(d, "%s deleted for everyone who uses the store, with sub-agents.",
                n == 1 ? "It is" : "They are");
    dialog_line(d, "This cannot be undone.");
    if (any_is_here(m))
        dialog_line(d, "What is on this machine stays.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_want_yes(d);
    view_push(m, VIEW_DIALOG);
}

/* Sessions on this machine are moved to the trash; one question covers either those or the sessions
 * of one store. */
void delete_flow_begin(struct model *m)
{
    const struct ref_list *refs = m->pending_change->refs;
    const struct store *st = refs->ref[0].store;
    bool remote = st->ops->remote, mixed = false;

    for (size_t i = 1; i < refs->n; i++)
        mixed |= refs->ref[i].store != st && (remote || refs->ref[i].store->ops->remote);
    if (mixed) {
        toast_note(&m->toast, m->now_ms,
                   "sessions of this machine and of each store are deleted separately");
        change_flow_clear(m);
    } else if (remote) {
        begin_remove(m, st);
    } else {
        begin_trash(m);
    }
}
