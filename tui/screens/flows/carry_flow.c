#include <stdio.h>
#include <string.h>

#include "store/export/export.h"
#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/clean.h"

/* A session that is continued in another agent, sessions in one file for another machine, and sessions that follow their
 * project:
 *
 *     key -> EFFECT_CHANGE without an agent -> MSG_CHANGED with the agents -> dialog, \
 *     key -> prompt for the file,                                                     |
 *     a place is chosen (resume_flow.c)                                               |
 *         -> EFFECT_CHANGE -> MSG_CHANGED with what would be made -> dialog  <--------/
 *         -> EFFECT_CHANGE, confirmed -> MSG_CHANGED */

static void carry_submit_again(struct model *m, struct slice text, bool confirmed, bool redacts)
{
    struct pending_change *c = m->pending_change;

    change_flow_clear(m);
    c->refs = c->asked;
    c->asked = NULL;
    struct effect *e = change_flow_submit(m, c->asked_request, text);

    if (!e)
        return;
    e->confirmed = confirmed;
    e->redacts = redacts;
}

static void carry_answer(struct model *m, enum dialog_choice choice)
{
    struct pending_change *c = m->pending_change;

    if (c->asked && choice != CHOICE_CANCEL)
        carry_submit_again(m, buf_slice(&c->asked_text), true, choice == CHOICE_REDACTED);
    agent_flow_clear(m);
}

/* ---- in which agent ---- */

/* The choices are the agents, after cancel. */
static void carry_agent_answer(struct model *m, enum dialog_choice choice)
{
    struct pending_change *c = m->pending_change;
    const size_t at = m->dialog->at;
    struct name_list agents = c->agents;

    c->agents = (struct name_list){ 0 };
    if (choice == CHOICE_DO && c->asked && at > 0 && at <= agents.n) {
        change_flow_clear(m);
        c->refs = c->asked;
        c->asked = NULL;
        agent_flow_begin(m, CHANGE_CONTINUE_IN, agents.name[at - 1]);
    } else {
        agent_flow_clear(m);
    }
    name_list_fini(&agents);
}

static void carry_ask_agent(struct model *m, const struct change_result *r)
{
    struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;

    dialog_begin(d, "Continue in which agent?", carry_agent_answer);
    dialog_line(d, "It gets a session of its own with this conversation. "
                   "What it keeps is shown before it is made.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    for (size_t i = 0; i < r->agents.n; i++) {
        const struct store_ops *ops = store_system(r->agents.name[i]);

        if (!name_list_add(&c->agents, r->agents.name[i])) {
            change_flow_fail(m);
            return;
        }
        dialog_offer(d, CHOICE_DO, "%s", ops && ops->label ? ops->label : c->agents.name[i].p);
    }
    d->at = 1;
    view_push(m, VIEW_DIALOG);
}

/* ---- what would be made ---- */

static void carry_lines(struct dialog *d, struct slice lines)
{
    while (lines.n) {
        const char *end = memchr(lines.p, '\n', lines.n);
        const size_t n = end ? (size_t)(end - lines.p) : lines.n;

        dialog_line(d, "%.*s", (int)n, lines.p);
        lines.p += n + (end != NULL);
        lines.n -= n + (end != NULL);
    }
}

static void carry_ask_agent_report(struct model *m, const struct change_result *r)
{
    struct dialog *d = m->dialog;
    const struct store_ops *ops = store_system(buf_slice(&m->pending_change->asked_text));
    char title[DIALOG_TEXT];

    snprintf(title, sizeof title, "Continue in %s?", ops && ops->label ? ops->label : "it");
    dialog_begin(d, title, carry_answer);
    carry_lines(d, buf_slice(&r->text));
    dialog_line(d, "The original is not changed; undo removes the new session.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "make the session");
    view_push(m, VIEW_DIALOG);
}

static void carry_ask_bundle(struct model *m, const struct change_result *r)
{
    struct dialog *d = m->dialog;

    dialog_begin(d, "Write this bundle?", carry_answer);
    const struct slice file = buf_slice(&m->pending_change->asked_text);
    char dir[512];

    if (file.n && file.p[0] != '/')
        dialog_line(
            d, "%.*s in %.*s", SLICE_ARG(file),
            SLICE_ARG(text_path_short(m->settings->project, m->settings->home, dir, sizeof dir)));
    else
        dialog_line(d, "%.*s", SLICE_ARG(file));
    carry_lines(d, buf_slice(&r->text));
    dialog_line(d, "On the other machine: reprise unbundle FILE");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_REDACTED, "write it, secrets replaced (without saved copies)");
    dialog_offer(d, CHOICE_DO, "write it as it is");
    view_push(m, VIEW_DIALOG);
}

/* ---- to where the project is now ---- */

static void carry_submit_move(struct model *m, const struct name_list *places, bool confirmed)
{
    struct pending_change *c = m->pending_change;

    c->titles = name_list_new();
    bool ok = c->titles;

    for (size_t i = 0; ok && i < places->n; i++)
        ok = name_list_add(c->titles, places->name[i]);
    if (!ok) {
        change_flow_fail(m);
        return;
    }
    struct effect *e = change_flow_submit(m, CHANGE_MOVE, (struct slice){ 0 });

    if (!e)
        return;
    e->confirmed = confirmed;
    c->asked_by = e->generation;
}

static void carry_move_answer(struct model *m, enum dialog_choice choice)
{
    struct pending_change *c = m->pending_change;

    if (choice == CHOICE_DO && c->asked && c->agents.n) {
        change_flow_clear(m);
        c->refs = c->asked;
        c->asked = NULL;
        carry_submit_move(m, &c->agents, true);
    }
    agent_flow_clear(m);
}

static void carry_ask_move(struct model *m, const struct change_result *r)
{
    struct pending_change *c = m->pending_change;
    struct dialog *d = m->dialog;
    char dir[512];

    for (size_t i = 0; i < r->agents.n; i++)
        if (!name_list_add(&c->agents, r->agents.name[i])) {
            change_flow_fail(m);
            return;
        }
    dialog_begin(d, "Let the sessions follow their project?", carry_move_answer);
    for (size_t i = 0; i < r->agents.n; i++)
        dialog_line(
            d, "%s %.*s", i ? "To  " : "From",
            SLICE_ARG(text_path_short(r->agents.name[i], m->settings->home, dir, sizeof dir)));
    carry_lines(d, buf_slice(&r->text));
    dialog_line(d, "Undo takes all of it back.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "move them");
    view_push(m, VIEW_DIALOG);
}

void carry_flow_move(struct model *m, uint32_t entry, const struct project_place *place)
{
    struct pending_change *c = m->pending_change;
    const struct session_ref *ref = &m->list->sessions.entry[entry].ref;
    struct name_list places = { 0 };

    agent_flow_clear(m);
    change_flow_clear(m);
    c->refs = ref_list_one(ref, (struct slice){ 0 });
    c->asked = c->refs ? ref_list_copy(c->refs) : NULL;
    c->asked_request = CHANGE_MOVE;
    if (c->asked && name_list_add(&places, slice_of(place->from)) &&
        name_list_add(&places, slice_of(place->to)))
        carry_submit_move(m, &places, false);
    else
        change_flow_fail(m);
    name_list_fini(&places);
}

void carry_flow_ask(struct model *m, const struct change_result *r)
{
    if (r->request == CHANGE_MOVE)
        carry_ask_move(m, r);
    else if (r->request == CHANGE_BUNDLE)
        carry_ask_bundle(m, r);
    else if (r->text.n || buf_slice(&m->pending_change->asked_text).n)
        carry_ask_agent_report(m, r);
    else
        carry_ask_agent(m, r);
}

/* ---- the ways in ---- */

static const char *carry_to_file(struct model *m, struct slice path)
{
    if (!path.n || memchr(path.p, '\0', path.n))
        return "this is not the name of a file";
    agent_flow_begin(m, CHANGE_BUNDLE, path);
    return NULL;
}

/* Suggests a name in the directory where reprise was started. */
void carry_flow_ask_file(struct model *m)
{
    static const struct export_request plain = { .format = EXPORT_MD };
    const struct pending_change *c = m->pending_change;
    struct arena a = { 0 };
    char name[LINE_EDITOR_MAX];
    const char *one = c->refs->n == 1
                          ? export_file_name_for(&plain, c->titles->name[0], c->refs->ref[0].id, &a)
                          : NULL;
    const char *end = one ? strrchr(one, '.') : NULL;

    int n = snprintf(name, sizeof name, "%.*s.tar.zst", end ? (int)(end - one) : 8,
                     end ? one : "sessions");

    arena_fini(&a);
    dialog_prompt(m, "file of the bundle ",
                  (struct slice){ name, n > 0 && n < (int)sizeof name ? (size_t)n : 0 },
                  carry_to_file);
}
