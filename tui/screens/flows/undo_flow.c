#include <stdio.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/rewind/rewind.h"
#include "tui/text/clean.h"

/* From u to an undone change:
 *
 *     u -> EFFECT_CHANGE (what of this run needs no question) -> MSG_CHANGED: done -> toast
 *                                                             -> it asks -> dialog, one more for each file that
 *                                                                changed since -> EFFECT_CHANGE (with its id) -> ...
 *
 * In the rewind view the same with EFFECT_UNDO_REWIND and MSG_REWIND_DONE.
 *
 * A change of another instance or of an earlier run is never undone without a question. */

enum { SHOWN_BYTES = 200 }; /* the most bytes of a path in a line of ours */

void undo_flow_fini(struct undo_flow *u)
{
    name_list_free(u->edited);
    name_list_free(u->taken);
    *u = (struct undo_flow){ .at = 0 };
}

static void clear_question(struct undo_flow *u)
{
    name_list_free(u->edited);
    name_list_free(u->taken);
    u->edited = u->taken = NULL;
}

static void fail_undo(struct model *m)
{
    clear_question(m->undo_flow);
    toast_no_memory(&m->toast);
}

static void submit_undo(struct model *m)
{
    struct undo_flow *u = m->undo_flow;
    struct name_list *taken = u->taken;

    u->taken = NULL;
    if (u->in_view)
        rewind_view_undo(m->rewind, taken, &m->fx);
    else
        change_flow_request_undo(m, u->request, taken, slice_of(u->id));
    clear_question(u);
}

static void confirm_file(struct model *m);

static void file_answer(struct model *m, enum dialog_choice choice)
{
    struct undo_flow *u = m->undo_flow;

    if (choice == CHOICE_DO && !name_list_add(u->taken, u->edited->name[u->at])) {
        fail_undo(m);
        return;
    }
    u->at = choice == CHOICE_ANYWAY ? u->edited->n : u->at + 1;
    confirm_file(m);
}

static void confirm_file(struct model *m)
{
    struct undo_flow *u = m->undo_flow;
    struct dialog *d = m->dialog;

    if (u->at >= u->edited->n) {
        submit_undo(m);
        return;
    }
    struct slice path = u->edited->name[u->at];
    size_t more = u->edited->n - u->at - 1, cut = path.n > SHOWN_BYTES ? path.n - SHOWN_BYTES : 0;

    dialog_begin(d, "This file changed since. Undo it too?", file_answer);
    dialog_line(d, "%s%.*s", cut ? "..." : "", (int)(path.n - cut), path.p + cut);
    dialog_line(d, "Its present content is kept in the undo record.");
    dialog_offer(d, CHOICE_CANCEL, "skip this file");
    dialog_offer(d, CHOICE_DO, "undo it");
    if (more > 0)
        dialog_offer(d, CHOICE_ANYWAY, "skip this and %zu more", more);
    view_push(m, VIEW_DIALOG);
}

static void first_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO)
        confirm_file(m);
    else
        clear_question(m->undo_flow);
}

/* Returns false if the question cannot be asked; the reason is then shown. */
static bool begin_question(struct model *m, const struct name_list *edited)
{
    struct undo_flow *u = m->undo_flow;

    if (view_asks(m)) { /* perhaps this flow's own, which keeps what it is about */
        toast_note(&m->toast, m->now_ms, "nothing undone: another question is open");
        return false;
    }
    clear_question(u);
    u->at = 0;

    struct name_list *list = name_list_new();

    for (size_t i = 0; edited && i < edited->n && list; i++)
        if (!name_list_add(list, edited->name[i])) {
            name_list_free(list);
            list = NULL;
        }
    u->edited = list;

    u->taken = name_list_new();
    if (!u->edited || !u->taken)
        fail_undo(m);
    return u->edited != NULL;
}

static void add_edited_line(struct dialog *d, const struct undo_flow *u)
{
    if (u->edited->n > 0)
        dialog_line(d, "%zu file%s changed since; you are asked about each.", u->edited->n,
                    u->edited->n == 1 ? "" : "s");
}

void undo_flow_rewound(struct model *m, const struct rewind_summary *r)
{
    if (r->edited) {
        const struct name_list *edited = r->edited;
        struct dialog *d = m->dialog;

        if (begin_question(m, edited)) {
            m->undo_flow->in_view = true;
            dialog_begin(d, "Files changed since. Continue?", first_answer);
            add_edited_line(d, m->undo_flow);
            dialog_offer(d, CHOICE_CANCEL, "cancel");
            dialog_offer(d, CHOICE_DO, "continue");
            view_push(m, VIEW_DIALOG);
        }
    }
    name_list_free(r->edited);
}

void undo_flow_confirm(struct model *m, const struct change_result *c)
{
    struct undo_flow *u = m->undo_flow;
    struct dialog *d = m->dialog;
    struct slice text = buf_slice(&c->text);

    if (!begin_question(m, &c->edited))
        return;
    u->in_view = false;
    u->request = c->request;
    snprintf(u->id, sizeof u->id, "%s", c->id);
    const char *verb = c->request == CHANGE_UNDO ? "Undo" : "Redo";
    char dir[200];

    dialog_begin(d, verb, first_answer);
    dialog_line(d, "%s %.*s?", verb, (int)(text.n < 280 ? text.n : 280), text.p);
    if (c->where[0]) {
        struct slice where =
            text_path_short(slice_of(c->where), m->settings->home, dir, sizeof dir);

        dialog_line(d, "in %.*s%s", SLICE_ARG(where), c->spans ? ", and in other directories" : "");
    }
    add_edited_line(d, u);
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, c->request == CHANGE_UNDO ? "undo it" : "redo it");
    view_push(m, VIEW_DIALOG);
}
