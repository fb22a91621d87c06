#include <stdio.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"

/* A change that only the agent of the session can make:
 *
 *     key -> (prompt for a title) -> EFFECT_CHANGE -> MSG_CHANGED with the command -> dialog
 *         -> EFFECT_CHANGE, confirmed -> MSG_CHANGED */

void agent_flow_clear(struct model *m)
{
    struct pending_change *c = m->pending_change;

    ref_list_free(c->asked);
    buf_fini(&c->asked_text);
    c->asked = NULL;
}

static unsigned abilities(const struct model *m, size_t i)
{
    return store_agent_abilities(m->pending_change->refs->ref[i].store->ops);
}

bool agent_flow_wants(struct model *m, enum action a)
{
    struct pending_change *c = m->pending_change;
    unsigned ability = list_required_ability(a);
    bool wants = false;

    if (a != ACT_RENAME && a != ACT_ARCHIVE && a != ACT_TRASH)
        return false;
    for (size_t i = 0; i < c->refs->n; i++)
        wants |= (abilities(m, i) & ability) != 0;
    if (!wants || c->refs->n == 1)
        return wants;
    toast_note(&m->toast, m->now_ms,
               "sessions that only their agent can change are changed one at a time");
    change_flow_clear(m);
    return true;
}

/* A copy of the session stays for the second request. */
void agent_flow_begin(struct model *m, enum change_request request, struct slice text)
{
    struct pending_change *c = m->pending_change;

    agent_flow_clear(m);
    c->asked = ref_list_copy(c->refs);
    c->asked_request = request;
    if (!c->asked || buf_add(&c->asked_text, text))
        change_flow_fail(m);
    else
        change_flow_submit(m, request, text);
}

static void run_answer(struct model *m, enum dialog_choice choice)
{
    struct pending_change *c = m->pending_change;
    struct name_list *line = choice == CHOICE_DO && c->asked ? name_list_new() : NULL;

    if (line && name_list_add(line, slice_of(c->asked_line))) {
        change_flow_clear(m);
        c->refs = c->asked;
        c->titles = line;
        c->asked = NULL;
        struct effect *e = change_flow_submit(m, c->asked_request, buf_slice(&c->asked_text));

        if (e)
            e->confirmed = true;
    } else if (line) {
        name_list_free(line);
        change_flow_fail(m);
    }
    agent_flow_clear(m);
}

/* A command that cannot be shown whole is not run. */
void agent_flow_ask(struct model *m, const struct change_result *r)
{
    struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;
    struct slice line = buf_slice(&r->text);

    if (!c->asked)
        return;
    if (line.n >= sizeof c->asked_line) {
        toast_note(&m->toast, m->now_ms, "the command is too long to be shown");
        agent_flow_clear(m);
        return;
    }
    snprintf(c->asked_line, sizeof c->asked_line, "%.*s", SLICE_ARG(line));
    dialog_begin(d, "Only the agent can do this. Run its command?", run_answer);
    dialog_line(d, "%s", c->asked_line);
    dialog_line(d, "%s", r->where);
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "run it");
    view_push(m, VIEW_DIALOG);
}
