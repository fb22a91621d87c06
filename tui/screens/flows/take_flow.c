#include <stdio.h>
#include <stdlib.h>

#include "tui/app/view.h"
#include "tui/data/preview.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/screens/overview/overview.h"
#include "tui/text/clean.h"

/* A file of one of two compared sessions, into the work tree:
 *
 *     key -> EFFECT_TAKE -> MSG_PREVIEW -> dialog -> EFFECT_REWIND -> MSG_REWIND_DONE -> toast
 *                                            |              ^
 *                                            v              |
 *              EFFECT_COMPARE -> MSG_COMPARISON -> hunks are chosen in the view
 *
 * For hunks of a file that programs run or trust there is a second question, before the last effect. */

const char *take_flow_unavailable(const struct compared_file *f, size_t side)
{
    if (!f)
        return "choose a file";
    if (!f->side[side].changed)
        return "that session did not change the file";
    return f->side[side].known ? NULL : "that session does not record the whole text of the file";
}

/* NULL: out of memory, which is reported. */
static struct effect *take_flow_request(struct model *m, enum effect_kind kind, unsigned *asked)
{
    struct ref_list *refs = ref_list_copy(m->compare->refs);
    struct effect *e = refs ? effect_add(&m->fx, kind, REQUESTER_COMPARE) : NULL;

    if (!e) {
        toast_no_memory(&m->toast);
        return NULL;
    }
    e->refs = refs;
    e->at_ms = m->now_ms;
    *asked = e->generation;
    return e;
}

void take_flow_begin(struct model *m, const struct compared_file *f, size_t side)
{
    struct compare_view *v = m->compare;

    if (!f || v->asked_rewind)
        return;
    effect_cancel(&m->fx, REQUESTER_COMPARE, &v->asked_take);
    effect_cancel(&m->fx, REQUESTER_COMPARE,
                  &v->asked_hunks); /* of the file that was chosen before */
    struct effect *e = take_flow_request(m, EFFECT_TAKE, &v->asked_take);

    if (!e)
        return;
    e->first = side;
    v->side = side;
    v->in_part = false;
    if (buf_add(&e->text, f->path))
        toast_no_memory(&m->toast);
}

void take_flow_leave(struct compare_view *v)
{
    preview_comparison_free(v->hunks);
    free(v->taken);
    v->hunks = NULL;
    v->taken = NULL;
    v->hunk = 0;
}

/* Takes the file, or the chosen ones of its hunks. */
static void take_flow_submit(struct model *m)
{
    struct compare_view *v = m->compare;
    struct preview_selection *selection = preview_selection_new(v->preview->preview.n);
    struct effect *e;
    const size_t n = v->hunks ? v->hunks->diff.hunks : 0;
    bool *hunk = selection && n ? preview_selection_hunks(selection, 0, n) : NULL;

    if (!selection || (n && !hunk)) {
        preview_selection_free(selection);
        toast_no_memory(&m->toast);
        return;
    }
    for (size_t i = 0; i < n; i++)
        hunk[i] = v->taken[i];
    selection->pick[0].ticked = true;
    selection->pick[0].consent = v->preview->preview.entry[0].action == REWIND_REFUSED;
    e = take_flow_request(m, EFFECT_REWIND, &v->asked_rewind);
    if (!e) {
        preview_selection_free(selection);
        return;
    }
    e->preview = preview_retain(v->preview);
    e->selection = selection;
}

static void take_flow_answer(struct model *m, enum dialog_choice choice)
{
    struct compare_view *v = m->compare;

    if (choice == CHOICE_CANCEL || !v->preview)
        return;
    if (choice == CHOICE_DO) {
        take_flow_submit(m);
        return;
    }
    struct effect *e = take_flow_request(m, EFFECT_COMPARE, &v->asked_hunks);

    if (e)
        e->preview = preview_retain(v->preview);
}

static void take_flow_choose_hunks(struct model *m, struct comparison *c)
{
    struct compare_view *v = m->compare;

    take_flow_leave(v);
    v->taken = calloc(c->diff.hunks + 1, sizeof *v->taken);
    if (!v->taken) {
        preview_comparison_free(c);
        toast_no_memory(&m->toast);
        return;
    }
    v->hunks = c;
    compare_lay_out(m);
}

static void take_flow_hunks(struct model *m)
{
    take_flow_submit(m);
    m->compare->in_part = true;
    take_flow_leave(m->compare);
    compare_lay_out(m);
}

static void take_flow_hunks_answer(struct model *m, enum dialog_choice choice)
{
    if (choice == CHOICE_DO && m->compare->hunks)
        take_flow_hunks(m);
}

static void take_flow_ask_hunks(struct model *m, size_t taken)
{
    const struct rewind_entry *x = &m->compare->preview->preview.entry[0];
    struct dialog *d = m->dialog;
    char title[80], room[DIALOG_TEXT];
    const struct slice path =
        text_path_short(slice_of(x->target->path), m->settings->home, room, sizeof room);

    snprintf(title, sizeof title, "Take %zu of the %zu hunks?", taken,
             m->compare->hunks->diff.hunks);
    dialog_begin(d, title, take_flow_hunks_answer);
    dialog_line(d, "%.*s", SLICE_ARG(path));
    dialog_line(d, "It is held back: %s.", x->why);
    dialog_line(d, "You can undo this.");
    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_want_yes(d);
    view_push(m, VIEW_DIALOG);
}

static bool take_flow_needs_yes(const struct rewind_entry *x)
{
    return x->action == REWIND_REFUSED && x->rule == REWIND_RULE_SENSITIVE;
}

bool take_flow_act(struct model *m, enum action a)
{
    struct compare_view *v = m->compare;
    const size_t n = v->hunks->diff.hunks;
    size_t taken = 0;

    for (size_t i = 0; i < n; i++)
        taken += v->taken[i];
    switch (a) {
    case ACT_UP:
    case ACT_HUNK_PREV: v->hunk -= v->hunk > 0; break;
    case ACT_DOWN:
    case ACT_HUNK_NEXT: v->hunk += v->hunk + 1 < n; break;
    case ACT_TICK:
    case ACT_HUNK: v->taken[v->hunk] = !v->taken[v->hunk]; break;
    case ACT_MARK_ALL:
        for (size_t i = 0; i < n; i++)
            /* The hunks are all ticked, or, if they already are, unticked. */
            v->taken[i] = taken < n;
        break;
    case ACT_ACCEPT:
    case ACT_APPLY:
        if (!taken) {
            toast_note(&m->toast, m->now_ms, "no hunk is ticked");
            return true;
        }
        if (take_flow_needs_yes(&v->preview->preview.entry[0]))
            take_flow_ask_hunks(m, taken);
        else
            take_flow_hunks(m);
        return true;
    case ACT_BACK: take_flow_leave(v); break;
    default: return false;
    }
    compare_lay_out(m);
    return true;
}

/* The only file of the preview, shown before it is taken. A file that is held back is replaced after the same question,
 * which says why. */
static void take_flow_ask(struct model *m, struct preview *p)
{
    const struct rewind_entry *x = p->preview.n ? &p->preview.entry[0] : NULL;
    const char side = m->compare->side ? 'B' : 'A';
    struct dialog *d = m->dialog;
    char title[80], room[DIALOG_TEXT];

    preview_free(m->compare->preview);
    m->compare->preview = p;

    if (!x || x->action == REWIND_UNCHANGED) {
        toast_note(&m->toast, m->now_ms, "the file is already as %c left it", side);
        return;
    }
    if (x->action == REWIND_REFUSED && !rewind_may_consent(x)) {
        toast_note(&m->toast, m->now_ms, "it stays as it is: %s", x->why);
        return;
    }

    /* A file that is held back is described by what would happen to it with consent. */
    const enum rewind_action does = x->action == REWIND_REFUSED ? x->would : x->action;

    snprintf(title, sizeof title, "Take the file as %c left it?", side);
    const struct slice path =
        text_path_short(slice_of(x->target->path), m->settings->home, room, sizeof room);

    dialog_begin(d, title, take_flow_answer);
    dialog_line(d, "%.*s", SLICE_ARG(path));
    if (does == REWIND_DELETE)
        dialog_line(d, "%c deleted it: it is removed.", side);
    else if (does == REWIND_CREATE)
        dialog_line(d, "It is created, with %u line%s.", x->insertions,
                    x->insertions == 1 ? "" : "s");
    else
        dialog_line(d, "+%u -%u, compared with the present file.", x->insertions, x->deletions);
    if (x->why)
        dialog_line(d, "It is held back: %s.", x->why);
    dialog_line(d, "You can undo this.");

    dialog_offer(d, CHOICE_CANCEL, "cancel");
    if (take_flow_needs_yes(x))
        dialog_want_yes(d);
    else
        dialog_offer(d, CHOICE_DO, x->why ? "replace it anyway" : "take it");

    /* Hunks need text on both sides. */
    if (does == REWIND_RESTORE && !x->binary && !rewind_has_kind(x))
        dialog_offer(d, CHOICE_HUNKS, "choose some of its hunks");
    view_push(m, VIEW_DIALOG);
}

bool take_flow_message(struct model *m, const struct msg *msg)
{
    struct compare_view *v = m->compare;
    char keys[2 * KEY_NAME];

    /* The progress of a single file is not shown. */
    if (msg->kind == MSG_PROGRESS && v->asked_rewind && msg->generation == v->asked_rewind)
        return true;
    if (msg_answers(msg, v->asked_take, MSG_PREVIEW)) {
        v->asked_take = 0;
        if (msg->kind == MSG_PREVIEW && view_asks(m)) {
            toast_note(&m->toast, m->now_ms, "nothing taken: another question is open");
            preview_free(msg->u.preview);
        } else if (msg->kind == MSG_PREVIEW)
            take_flow_ask(m, msg->u.preview);
        else
            toast_error(&m->toast, &msg->u.error);
        return true;
    }
    if (msg_answers(msg, v->asked_hunks, MSG_COMPARISON)) {
        v->asked_hunks = 0;
        if (msg->kind == MSG_COMPARISON)
            take_flow_choose_hunks(m, msg->u.comparison);
        else
            toast_error(&m->toast, &msg->u.error);
        return true;
    }

    if (!msg_answers(msg, v->asked_rewind, MSG_REWIND_DONE))
        return false;
    v->asked_rewind = 0;
    if (msg->kind == MSG_REWIND_DONE) {
        const struct rewind_summary *r = &msg->u.rewind_summary;

        undo_flow_rewound(m, r);
        keymap_menu_keys(&m->settings->keys, IN_LIST, ACT_UNDO, m->settings->ascii, keys);
        if (r->skipped)
            toast_error_text(&m->toast, slice_of(r->skipped_why ? r->skipped_why
                                                                : "the file changed meanwhile"));
        else
            toast_info(&m->toast, m->now_ms, "the %s as %c left %s; %s in the list undoes it",
                       v->in_part ? "hunks are" : "file is", v->side ? 'B' : 'A',
                       v->in_part ? "them" : "it", keys);
    } else
        toast_error(&m->toast, &msg->u.error);
    return true;
}
