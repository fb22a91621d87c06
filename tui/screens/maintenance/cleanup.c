#include "tui/screens/maintenance/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/view.h"
#include "tui/screens/dialogs/dialog.h"
#include "tui/screens/flows/flows.h"
#include "tui/screens/list/list.h"
#include "tui/text/human.h"
#include "tui/widgets/frame.h"
#include "tui/widgets/list_cursor.h"

/* A cleanup moves many sessions at once, so the person must have seen exactly those that go:
 *
 *     rules -> sweep (a worker) -> lines and ticks -> question -> change -> rules
 *
 * The ticks are in the items of the sweep. Sessions that the person unticked are found in the next
 * sweep by their paths, because items have other numbers there. The cursor counts the rules and
 * then the shown lines, so a function that changes the lines has to end with cleanup_move_to(),
 * which keeps the cursor on one of them. The answer to the question checks again that no newer
 * sweep is awaited or has come, and then gives away the sweep that was shown: the worker may keep a
 * session that was used meanwhile, but it never adds one. */

static void cleanup_free_sweep(struct cleanup *c)
{
    if (c->sweep)
        sweep_fini(c->sweep);
    free(c->sweep);
    free(c->line);
    free(c->shown);
    c->sweep = NULL;
    c->line = NULL;
    c->shown = NULL;
    c->lines = c->shown_n = 0;
    c->error = (struct err){ 0 };
}

void cleanup_fini(struct cleanup *c)
{
    cleanup_free_sweep(c);
    c->counted = false;
    name_list_fini(&c->opened);
}

/* ---- the cursor ---- */

static void cleanup_move_to(struct model *m, int64_t at)
{
    struct cleanup *c = m->cleanup;
    size_t last = CLEANUP_RULE_COUNT + c->shown_n - 1, fit = cleanup_fit(m->rows);

    c->at = at < 0 ? 0 : (size_t)at < last ? (size_t)at : last;
    size_t line = c->at >= CLEANUP_RULE_COUNT ? c->at - CLEANUP_RULE_COUNT : 0;

    c->top = list_cursor_top(c->top, line, c->shown_n, fit);
}

static bool on_rule(const struct cleanup *c)
{
    return c->at < CLEANUP_RULE_COUNT;
}

/* The line under the cursor, which is not on a rule. */
static size_t cursor_line(const struct cleanup *c)
{
    return c->shown[c->at - CLEANUP_RULE_COUNT];
}

/* ---- which sessions ---- */

static void request_sweep(struct model *m)
{
    struct cleanup *c = m->cleanup;
    struct effect *e = effect_add(&m->fx, EFFECT_SWEEP, REQUESTER_CLEANUP);

    e->scope = c->rules.scope;
    e->rule = cleanup_rules_to_sweep(&c->rules, m->now_ms);
    e->n = !c->counted; /* also count old undo records */
    if (c->asked == 0)
        c->asked_ms = m->now_ms;
    c->asked = e->generation;
}

/* What was ticked by hand without a rule does not survive a rule. */
static void request_other_sweep(struct model *m)
{
    m->cleanup->rules_changed = true;
    request_sweep(m);
}

static bool cleanup_perform(struct model *m, enum action a)
{
    if (a != ACT_CLEANUP)
        return false;
    if (view_base(m) != VIEW_CLEANUP) {
        m->cleanup->rules = (struct cleanup_rules){
            .scope = m->list->scope, .older = "30d", .keep_tagged = true, .keep_named = true
        };
        m->cleanup->at = CLEANUP_RULE_OLDER;
        m->cleanup->top = 0;
        view_push(m, VIEW_CLEANUP);
        request_sweep(m);
    }
    return true;
}

static void cleanup_refresh(struct model *m)
{
    if (view_base(m) == VIEW_CLEANUP)
        request_sweep(m);
}

static void close_cleanup(struct model *m)
{
    struct cleanup *c = m->cleanup;

    effect_cancel(&m->fx, REQUESTER_CLEANUP, &c->asked);
    cleanup_fini(c);
    view_pop(m);
}

static int cleanup_compare_slices(const void *pa, const void *pb)
{
    const struct slice *a = pa, *b = pb;
    int direction = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

    return direction ? direction : (a->n > b->n) - (a->n < b->n);
}

/* Sessions that the person has ticked, or unticked, stay so when they are read again. */
static bool keep_ticks(const struct sweep *before, struct sweep *now, bool ticked)
{
    struct slice *by_hand = calloc(before->n + 1, sizeof *by_hand);
    size_t n = 0;

    if (!by_hand)
        return false;
    for (size_t i = 0; i < before->n; i++)
        if (before->item[i].chosen == ticked && !before->item[i].stays)
            by_hand[n++] = before->item[i].ref.path;
    qsort(by_hand, n, sizeof *by_hand, cleanup_compare_slices);
    for (size_t i = 0; i < now->n && n > 0; i++)
        if (!now->item[i].stays &&
            bsearch(&now->item[i].ref.path, by_hand, n, sizeof *by_hand, cleanup_compare_slices))
            now->item[i].chosen = ticked;
    free(by_hand);
    return true;
}

static void set_sweep(struct model *m, struct sweep *sweep)
{
    struct cleanup *c = m->cleanup;
    const struct cleanup_rules *r = &c->rules;
    bool ruled = r->older[0] || r->larger[0] || r->empty || r->archived || r->orphans, ok = true;

    /* Without a rule, nothing has been chosen, so only what was ticked by hand is. */
    for (size_t i = 0; i < sweep->n && !ruled; i++)
        sweep->item[i].chosen = false;
    if (c->sweep && (c->ruled || (!ruled && !c->rules_changed)))
        ok = keep_ticks(c->sweep, sweep, !c->ruled);
    c->rules_changed = false;
    cleanup_free_sweep(c);
    c->sweep = sweep;
    c->swept++;
    c->ruled = ruled;
    if (!c->counted) {
        c->undo_records = sweep->undo_records;
        c->undo_bytes = sweep->undo_bytes;
        c->old_snapshots = sweep->old_snapshots;
        c->held_snapshots = sweep->held_snapshots;
    }
    c->counted = true;
    if (!cleanup_arrange(c) || !ok)
        toast_no_memory(&m->toast);
    cleanup_move_to(m, (int64_t)c->at);
}

static bool cleanup_message(struct model *m, const struct msg *msg)
{
    struct cleanup *c = m->cleanup;

    if (!msg_answers(msg, c->asked, MSG_SWEEP))
        return false;
    c->asked = 0;
    if (msg->kind == MSG_SWEEP) {
        set_sweep(m, msg->u.sweep);
        return true;
    }
    cleanup_free_sweep(c);
    c->error = msg->u.error;
    cleanup_move_to(m, (int64_t)c->at);
    return true;
}

static int64_t cleanup_wake_ms(const struct model *m)
{
    const struct cleanup *c = m->cleanup;

    return c->asked != 0 ? frame_spinner_wake_ms(c->asked_ms, m->now_ms) : TIME_NONE;
}

/* Each part has keys of its own. */
static const enum action *cleanup_footer(const struct model *m)
{
    static const enum action of_rules[] = { ACT_VALUE_NEXT, ACT_VALUE_PREV, ACT_PANE,
                                            ACT_TRASH,      ACT_BACK,       ACT_NONE };
    static const enum action of_sessions[] = { ACT_MARK,     ACT_PANE, ACT_TRASH, ACT_SORT,
                                               ACT_MARK_ALL, ACT_UNDO, ACT_BACK,  ACT_NONE };

    return on_rule(m->cleanup) ? of_rules : of_sessions;
}

static const char *cleanup_unavailable(const struct model *m, enum action a)
{
    const struct cleanup *c = m->cleanup;

    if (a == ACT_PRUNE)
        return c->undo_records || c->old_snapshots ? NULL : "there are no old ones";
    if (a == ACT_PANE)
        return c->lines > 0 || c->asked != 0 ? NULL : "there are no sessions to go to";
    if (a != ACT_TRASH)
        return NULL;
    if (c->asked != 0)
        return "the sessions are still being checked";
    if (c->error.code)
        return "the sessions could not be checked";
    return cleanup_sum(c, 0, c->lines).ticked > 0 ? NULL : "nothing is ticked";
}

/* ---- the rules ---- */

/* Space on a rule sets its next value, and after the last one the first. */
static void turn_rule(struct model *m)
{
    struct cleanup *c = m->cleanup;

    if (!cleanup_rule_step(&c->rules, (enum cleanup_rule)c->at, 1))
        while (cleanup_rule_step(&c->rules, (enum cleanup_rule)c->at, -1))
            ;
    request_other_sweep(m);
}

static const char *rule_typed(struct model *m, struct slice text)
{
    struct cleanup *c = m->cleanup;
    const char *why = cleanup_rule_set_text(&c->rules, (enum cleanup_rule)c->at, text, m->now_ms);

    if (!why)
        request_other_sweep(m);
    return why;
}

static void type_rule(struct model *m)
{
    const struct cleanup_rules *r = &m->cleanup->rules;
    const char *value = m->cleanup->at == CLEANUP_RULE_OLDER ? r->older : r->larger;

    dialog_prompt(m,
                  m->cleanup->at == CLEANUP_RULE_OLDER ? "not used for (empty for any time) "
                                                       : "larger than (empty for any size) ",
                  slice_of(value), rule_typed);
}

/* ---- projects ---- */

/* Works as in a tree: the cursor stays on the head, or goes there from one of its sessions. */
static void maintenance_cleanup_open_project(struct model *m, bool open)
{
    struct cleanup *c = m->cleanup;
    size_t head = cleanup_head_of(c, cursor_line(c));

    if (!c->line[head].head)
        return;
    if (!cleanup_open_project(c, head, open))
        toast_no_memory(&m->toast);
    if (!open)
        c->at = CLEANUP_RULE_COUNT + cleanup_row_of(c, head);
    cleanup_move_to(m, (int64_t)c->at);
}

/* ---- ticks ---- */

/* Ticks all items between two lines, or unticks them if all deletable ones are ticked. */
static void tick_lines(struct cleanup *c, size_t first, size_t end)
{
    struct cleanup_sum sum = cleanup_sum(c, first, end);
    bool on = sum.ticked < sum.n - sum.kept;

    for (size_t i = first; i < end; i++)
        if (!c->line[i].head && !c->sweep->item[c->line[i].item].stays)
            c->sweep->item[c->line[i].item].chosen = on;
}

static void tick_at_cursor(struct model *m, int direction)
{
    struct cleanup *c = m->cleanup;

    if (on_rule(c)) {
        turn_rule(m);
        return;
    }
    size_t at = cursor_line(c);
    const struct sweep_item *item = &c->sweep->item[c->line[at].item];

    if (c->line[at].head)
        tick_lines(c, at, cleanup_group_end(c, at));
    else if (item->stays)
        toast_note(&m->toast, m->now_ms, "stays: %s", item->stays);
    else
        tick_lines(c, at, at + 1);
    cleanup_move_to(m, (int64_t)c->at + direction);
}

/* ---- moving them ---- */

static void cleanup_trash_answer(struct model *m, enum dialog_choice choice)
{
    struct cleanup *c = m->cleanup;

    if (choice != CHOICE_DO)
        return;
    if (c->asked || c->swept != c->in_question || !c->sweep) {
        toast_note(&m->toast, m->now_ms, "nothing moved: the sessions were read again meanwhile");
        return;
    }
    struct sweep *sweep = c->sweep;

    c->sweep = NULL;
    cleanup_free_sweep(c);
    cleanup_move_to(m, (int64_t)c->at);
    change_flow_request_sweep(m, sweep); /* the rest is read again after they were moved */
}

/* "2 sessions stay: tagged." */
static void add_staying(struct dialog *d, size_t n, const char *why)
{
    if (n > 0)
        dialog_line(d, "%s %s: %s.", change_text_count(n).text, n == 1 ? "stays" : "stay", why);
}

static void confirm_trash(struct model *m)
{
    struct cleanup *c = m->cleanup;
    struct dialog *d = m->dialog;
    struct cleanup_sum sum = cleanup_sum(c, 0, c->lines);
    const char *why = cleanup_unavailable(m, ACT_TRASH);
    bool orphans = c->rules.orphans;
    size_t tagged = c->sweep ? sweep_kept(c->sweep, SWEEP_TAGGED) : 0;
    size_t named = c->sweep ? sweep_kept(c->sweep, SWEEP_NAMED) : 0;
    char size[HUMAN_SIZE], title[DIALOG_TEXT], rules[200];

    if (why) {
        toast_note(&m->toast, m->now_ms, "%s: %s", action_title(ACT_TRASH), why);
        return;
    }
    c->in_question = c->swept;
    human_size(sum.ticked_bytes, size);
    cleanup_rules_text(&c->rules, rules, sizeof rules);
    snprintf(title, sizeof title, "Move %s%s%s, %s, to the trash?", orphans ? "what " : "",
             change_text_count(sum.ticked).text, orphans ? " left behind" : "", size);
    dialog_begin(d, title, cleanup_trash_answer);
    dialog_line(d, "The ticked ones, %s.", rules);
    add_staying(d, sum.n - sum.ticked - sum.kept, "not ticked");
    add_staying(d, tagged, "tagged");
    add_staying(d, named, "named by hand");
    add_staying(d, sum.kept - tagged - named, "in use, or cannot be deleted");
    dialog_line(d, "%s in the trash until you empty it; undo brings %s back.",
                sum.ticked == 1 ? "It stays" : "They stay", sum.ticked == 1 ? "it" : "them");
    dialog_offer(d, CHOICE_CANCEL,
                 sum.ticked == 1 ? "leave it where it is" : "leave them where they are");
    if (orphans)
        dialog_offer(d, CHOICE_DO, "move it to the trash");
    else
        dialog_offer(d, CHOICE_DO, "move %s to the trash", change_text_count(sum.ticked).text);
    view_push(m, VIEW_DIALOG);
}

static void prune_answer(struct model *m, enum dialog_choice choice)
{
    const struct cleanup *c = m->cleanup;

    if (choice == CHOICE_DO && (c->undo_records || c->old_snapshots))
        change_flow_request_prune(m, c->undo_records, c->old_snapshots);
}

static void confirm_prune(struct model *m)
{
    const struct cleanup *c = m->cleanup;
    const char *why = cleanup_unavailable(m, ACT_PRUNE);
    char old[CLEANUP_OLD_TEXT], title[DIALOG_TEXT];

    if (why) {
        toast_note(&m->toast, m->now_ms, "%s: %s", action_title(ACT_PRUNE), why);
        return;
    }
    snprintf(title, sizeof title, "Remove %s%s for good?", cleanup_old_text(c, old),
             c->old_snapshots ? "" : ",");
    dialog_begin(m->dialog, title, prune_answer);
    if (c->undo_records) {
        dialog_line(m->dialog,
                    "Undo records: after the newest 200, 90 days before the newest, over 1 GB.");
        dialog_line(m->dialog,
                    "The newest of each project stays. Those rewinds cannot be undone then.");
    }
    if (c->old_snapshots)
        dialog_line(
            m->dialog,
            "Snapshots: beyond the limits in [snapshots]. The newest of each project stays.");
    dialog_offer(m->dialog, CHOICE_CANCEL, "keep them");
    dialog_want_yes(m->dialog);
    view_push(m, VIEW_DIALOG);
}

static void cleanup_accept(struct model *m)
{
    struct cleanup *c = m->cleanup;

    if (!on_rule(c) && c->line[cursor_line(c)].head)
        maintenance_cleanup_open_project(m, !cleanup_is_open(c, cursor_line(c)));
    else if (!on_rule(c))
        confirm_trash(m);
    else if (c->at == CLEANUP_RULE_OLDER || c->at == CLEANUP_RULE_LARGER)
        type_rule(m);
    else
        turn_rule(m);
}

/* ---- the view ---- */

/* The cursor stays on the same item. */
static void next_sort(struct model *m)
{
    struct cleanup *c = m->cleanup;
    bool follow = !on_rule(c);
    uint32_t item = follow ? c->line[cursor_line(c)].item : 0;

    c->sort = (c->sort + 1) % CLEANUP_SORTS;
    if (!cleanup_arrange(c))
        toast_no_memory(&m->toast);
    for (size_t i = 0; follow && i < c->lines; i++)
        if (!c->line[i].head && c->line[i].item == item)
            c->at = CLEANUP_RULE_COUNT + cleanup_row_of(c, i);
    cleanup_move_to(m, (int64_t)c->at);
}

static void step_at_cursor(struct model *m, int direction)
{
    if (on_rule(m->cleanup)) {
        struct cleanup *c = m->cleanup;

        if (cleanup_rule_step(&c->rules, (enum cleanup_rule)c->at, direction))
            request_other_sweep(m);
    } else
        maintenance_cleanup_open_project(m, direction > 0);
}

static bool cleanup_act(struct model *m, enum action a)
{
    struct cleanup *c = m->cleanup;
    int64_t by;

    switch (a) {
    case ACT_VALUE_NEXT: step_at_cursor(m, 1); return true;
    case ACT_VALUE_PREV: step_at_cursor(m, -1); return true;
    case ACT_MARK: tick_at_cursor(m, on_rule(c) ? 0 : 1); return true;
    case ACT_MARK_ALL: tick_lines(c, 0, c->lines); return true;
    case ACT_SORT: next_sort(m); return true;
    case ACT_REFRESH: request_sweep(m); return true;
    case ACT_ACCEPT: cleanup_accept(m); return true;
    case ACT_TRASH: confirm_trash(m); return true;
    case ACT_PRUNE: confirm_prune(m); return true;
    case ACT_BACK: close_cleanup(m); return true;
    default:
        if (a == ACT_PANE || a == ACT_PANE_PREV) {
            /* The key goes from the rules to the sessions, and back to the first rule that is not
             * a scope. */
            cleanup_move_to(m, on_rule(m->cleanup) ? CLEANUP_RULE_COUNT : CLEANUP_RULE_OLDER);
        } else if (list_cursor_steps(a, (int64_t)cleanup_fit(m->rows), &by))
            cleanup_move_to(m, (int64_t)m->cleanup->at + by);
        else
            return false;
        return true;
    }
}

/* The rule in a line at a column: of several checkboxes, the one under the pointer. */
static enum cleanup_rule rule_under(const struct model *m, int line, int x)
{
    enum cleanup_rule found = CLEANUP_RULE_COUNT;

    for (int rule = 0; rule < CLEANUP_RULE_COUNT; rule++)
        if (cleanup_rule_line((enum cleanup_rule)rule) == line &&
            (found == CLEANUP_RULE_COUNT ||
             x >= cleanup_checkbox_x(m->cols, (enum cleanup_rule)rule)))
            found = (enum cleanup_rule)rule;
    return found;
}

static void cleanup_mouse(struct model *m, struct mouse event)
{
    struct cleanup *c = m->cleanup;
    int64_t at = (int64_t)c->at;

    switch (event.event) {
    case MOUSE_WHEEL_UP: cleanup_move_to(m, at - 3); return;
    case MOUSE_WHEEL_DOWN: cleanup_move_to(m, at + 3); return;
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK: /* only selects; a key acts */
        if (event.y >= CLEANUP_LIST_Y && c->top + (size_t)(event.y - CLEANUP_LIST_Y) < c->shown_n)
            cleanup_move_to(m, CLEANUP_RULE_COUNT + (int64_t)c->top + event.y - CLEANUP_LIST_Y);
        else if (event.y >= CLEANUP_RULES_Y && event.y < CLEANUP_RULES_Y + CLEANUP_RULE_LINES)
            cleanup_move_to(m, rule_under(m, event.y - CLEANUP_RULES_Y, event.x));
        return;
    }
}

static void cleanup_resized(struct model *m)
{
    cleanup_move_to(m, (int64_t)m->cleanup->at);
}

const struct view_ops view_cleanup = {
    .name = "cleanup",
    .context = IN_CLEANUP,
    .draw = cleanup_draw,
    .act = cleanup_act,
    .mouse = cleanup_mouse,
    .resized = cleanup_resized,
    .perform = cleanup_perform,
    .unavailable = cleanup_unavailable,
    .footer = cleanup_footer,
    .message = cleanup_message,
    .refresh = cleanup_refresh,
    .wake_ms = cleanup_wake_ms,
};
