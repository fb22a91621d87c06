#include "tui/screens/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/size.h"
#include "tui/spinner.h"
#include "tui/state.h"
#include "tui/words.h"

static void forget_sweep(struct cleanup *c)
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
    forget_sweep(c);
    name_list_fini(&c->opened);
}

/* ---- the cursor ---- */

static void move_to(struct model *m, int64_t at)
{
    struct cleanup *c = &m->cleanup;
    size_t last = RULE_COUNT + c->shown_n - 1, fit = cleanup_fit(m->rows);

    c->at = at < 0 ? 0 : (size_t)at < last ? (size_t)at : last;
    size_t line = c->at >= RULE_COUNT ? c->at - RULE_COUNT : 0;

    if (line < c->top)
        c->top = line;
    else if (line >= c->top + fit)
        c->top = line - fit + 1;
    if (c->top + fit > c->shown_n)
        c->top = c->shown_n > fit ? c->shown_n - fit : 0;
}

static bool on_rule(const struct cleanup *c)
{
    return c->at < RULE_COUNT;
}

/* The line under the cursor, which stands on none of the rules. */
static size_t line_at(const struct cleanup *c)
{
    return c->shown[c->at - RULE_COUNT];
}

/* ---- which sessions ---- */

static void ask(struct model *m)
{
    struct cleanup *c = &m->cleanup;
    struct effect *e = effect_add(&m->fx, EFFECT_SWEEP, ASKER_CLEANUP);

    e->scope = c->rules.scope;
    e->rule = rules_make(&c->rules, m->now_ms);
    if (c->asked == 0)
        c->asked_ms = m->now_ms;
    c->asked = e->generation;
}

void cleanup_open(struct model *m)
{
    if (view_base(m) == VIEW_CLEANUP)
        return;
    rules_begin(&m->cleanup.rules, m->list.scope);
    m->cleanup.at = RULE_OLDER;
    m->cleanup.top = 0;
    view_push(m, VIEW_CLEANUP);
    ask(m);
}

void cleanup_refresh(struct model *m)
{
    if (view_base(m) == VIEW_CLEANUP)
        ask(m);
}

static void close_view(struct model *m)
{
    struct cleanup *c = &m->cleanup;

    if (c->asked != 0)
        effect_add(&m->fx, EFFECT_CANCEL, ASKER_CLEANUP)->generation = c->asked;
    c->asked = 0;
    cleanup_fini(c);
    view_pop(m);
}

static int by_bytes(const void *pa, const void *pb)
{
    const struct slice *a = pa, *b = pb;
    int way = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

    return way ? way : (a->n > b->n) - (a->n < b->n);
}

/* What a person has unticked stays so while rules change. */
static bool keep_ticks(const struct sweep *before, struct sweep *now)
{
    struct slice *unticked = calloc(before->n + 1, sizeof *unticked);
    size_t n = 0;

    if (!unticked)
        return false;
    for (size_t i = 0; i < before->n; i++)
        if (!before->item[i].chosen && !before->item[i].stays)
            unticked[n++] = before->item[i].ref.path;
    qsort(unticked, n, sizeof *unticked, by_bytes);
    for (size_t i = 0; i < now->n && n > 0; i++)
        if (bsearch(&now->item[i].ref.path, unticked, n, sizeof *unticked, by_bytes))
            now->item[i].chosen = false;
    free(unticked);
    return true;
}

/* Without a rule nobody has said that anything should go. */
static void untick_all(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n; i++)
        sweep->item[i].chosen = false;
}

static void take_sweep(struct model *m, struct sweep *sweep)
{
    struct cleanup *c = &m->cleanup;
    bool ruled = rules_limit(&c->rules);
    bool ok = !c->sweep || !c->ruled || keep_ticks(c->sweep, sweep);

    if (!ruled)
        untick_all(sweep);
    forget_sweep(c);
    c->sweep = sweep;
    c->ruled = ruled;
    if (!cleanup_arrange(c) || !ok)
        toast_no_memory(&m->toast);
    move_to(m, (int64_t)c->at);
}

bool cleanup_msg(struct model *m, const struct msg *msg)
{
    struct cleanup *c = &m->cleanup;

    if (!msg_answers(msg, c->asked, MSG_SWEEP))
        return false;
    c->asked = 0;
    if (msg->kind == MSG_SWEEP) {
        take_sweep(m, msg->u.sweep);
        return true;
    }
    forget_sweep(c);
    c->error = msg->u.error;
    move_to(m, (int64_t)c->at);
    return true;
}

int64_t cleanup_wake_ms(const struct cleanup *c, int64_t now_ms)
{
    return c->asked != 0 ? spinner_wake_ms(c->asked_ms, now_ms) : TIME_NONE;
}

const char *cleanup_unavailable(const struct cleanup *c, enum action a)
{
    if (a != ACT_TRASH)
        return NULL;
    if (c->asked != 0)
        return "the sessions are still being checked";
    if (c->error.code)
        return "the sessions could not be checked";
    return cleanup_sum(c, 0, c->lines).ticked > 0 ? NULL : "nothing is ticked";
}

/* ---- the rules ---- */

static void step_rule(struct model *m, int way)
{
    struct cleanup *c = &m->cleanup;

    if (rule_step(&c->rules, (enum rule)c->at, way))
        ask(m);
}

/* Space on a rule: its next value, and after the last one the first. */
static void turn_rule(struct model *m)
{
    struct cleanup *c = &m->cleanup;

    if (!rule_step(&c->rules, (enum rule)c->at, 1))
        while (rule_step(&c->rules, (enum rule)c->at, -1))
            ;
    ask(m);
}

static const char *rule_typed(struct model *m, struct slice text)
{
    struct cleanup *c = &m->cleanup;
    const char *why = rule_type(&c->rules, (enum rule)c->at, text, m->now_ms);

    if (!why)
        ask(m);
    return why;
}

static void type_rule(struct model *m)
{
    const struct cleanup_rules *r = &m->cleanup.rules;
    const char *value = m->cleanup.at == RULE_OLDER ? r->older : r->larger;

    prompt_open(m,
                m->cleanup.at == RULE_OLDER ? "not used for (empty for any time) "
                                            : "larger than (empty for any size) ",
                slice_of(value), rule_typed);
}

/* ---- projects ---- */

/* As in a tree: the cursor stays on the head, or goes there from one of its sessions. */
static void open_project(struct model *m, bool open)
{
    struct cleanup *c = &m->cleanup;
    size_t head = cleanup_head_of(c, line_at(c));

    if (!c->line[head].head)
        return;
    if (!cleanup_open_project(c, head, open))
        toast_no_memory(&m->toast);
    if (!open)
        c->at = RULE_COUNT + cleanup_place_of(c, head);
    move_to(m, (int64_t)c->at);
}

/* ---- ticks ---- */

/* All of them between two lines, or none when all that may go are ticked. */
static void tick_lines(struct cleanup *c, size_t first, size_t end)
{
    struct cleanup_sum sum = cleanup_sum(c, first, end);
    bool on = sum.ticked < sum.n - sum.staying;

    for (size_t i = first; i < end; i++)
        if (!c->line[i].head && !c->sweep->item[c->line[i].item].stays)
            c->sweep->item[c->line[i].item].chosen = on;
}

static void tick(struct model *m, int way)
{
    struct cleanup *c = &m->cleanup;

    if (on_rule(c)) {
        turn_rule(m);
        return;
    }
    size_t at = line_at(c);
    const struct sweep_item *item = &c->sweep->item[c->line[at].item];

    if (c->line[at].head)
        tick_lines(c, at, cleanup_group_end(c, at));
    else if (item->stays)
        toast_note(&m->toast, m->now_ms, "stays: %s", item->stays);
    else
        tick_lines(c, at, at + 1);
    move_to(m, (int64_t)c->at + way);
}

/* ---- moving them ---- */

static void trash_answer(struct model *m, enum dialog_choice choice)
{
    struct cleanup *c = &m->cleanup;

    if (choice != CHOICE_DO || cleanup_unavailable(c, ACT_TRASH))
        return;
    struct sweep *sweep = c->sweep;

    c->sweep = NULL;
    forget_sweep(c);
    changing_ask_sweep(m, sweep); /* what is left is looked at when they are gone */
}

static void ask_trash(struct model *m)
{
    const struct cleanup *c = &m->cleanup;
    struct dialog *d = &m->dialog;
    struct cleanup_sum sum = cleanup_sum(c, 0, c->lines);
    const char *why = cleanup_unavailable(c, ACT_TRASH);
    bool orphans = c->rules.orphans;
    char size[SIZE_TEXT], title[DIALOG_TEXT], rules[200];

    if (why) {
        toast_note(&m->toast, m->now_ms, "%s: %s", action_title(ACT_TRASH), why);
        return;
    }
    size_text(sum.ticked_bytes, size);
    rules_text(&c->rules, rules, sizeof rules);
    snprintf(title, sizeof title, "Move %s%s%s, %s, to the trash?", orphans ? "what " : "",
             words_count(sum.ticked).text, orphans ? " left behind" : "", size);
    dialog_begin(d, title, trash_answer);
    dialog_line(d, "The ticked ones, %s.", rules);
    if (sum.n > sum.ticked)
        dialog_line(d, "Kept: %zu not ticked, %zu that cannot be deleted now.",
                    sum.n - sum.ticked - sum.staying, sum.staying);
    dialog_line(d, "%s in the trash until you empty it; undo brings %s back.",
                sum.ticked == 1 ? "It stays" : "They stay", sum.ticked == 1 ? "it" : "them");
    dialog_offer(d, CHOICE_CANCEL,
                 sum.ticked == 1 ? "leave it where it is" : "leave them where they are");
    if (orphans)
        dialog_offer(d, CHOICE_DO, "move it to the trash");
    else
        dialog_offer(d, CHOICE_DO, "move %s to the trash", words_count(sum.ticked).text);
    view_push(m, VIEW_DIALOG);
}

static void accept(struct model *m)
{
    struct cleanup *c = &m->cleanup;

    if (!on_rule(c) && c->line[line_at(c)].head)
        open_project(m, !cleanup_is_open(c, line_at(c)));
    else if (!on_rule(c))
        ask_trash(m);
    else if (c->at == RULE_OLDER || c->at == RULE_LARGER)
        type_rule(m);
    else
        turn_rule(m);
}

/* ---- the view ---- */

static enum place_id place(const struct model *m)
{
    (void)m;
    return IN_CLEANUP;
}

/* The cursor stays with what it is on. */
static void next_sort(struct model *m)
{
    struct cleanup *c = &m->cleanup;
    bool follow = !on_rule(c);
    uint32_t item = follow ? c->line[line_at(c)].item : 0;

    c->sort = (c->sort + 1) % CLEANUP_SORTS;
    if (!cleanup_arrange(c))
        toast_no_memory(&m->toast);
    for (size_t i = 0; follow && i < c->lines; i++)
        if (!c->line[i].head && c->line[i].item == item)
            c->at = RULE_COUNT + cleanup_place_of(c, i);
    move_to(m, (int64_t)c->at);
}

static void step(struct model *m, int way)
{
    if (on_rule(&m->cleanup))
        step_rule(m, way);
    else
        open_project(m, way > 0);
}

/* From the rules to the sessions, and back to the first rule that is no place. */
static void next_part(struct model *m)
{
    move_to(m, on_rule(&m->cleanup) ? RULE_COUNT : RULE_OLDER);
}

static bool moves(struct model *m, enum action a)
{
    int64_t at = (int64_t)m->cleanup.at, page = (int64_t)cleanup_fit(m->rows);

    switch (a) {
    case ACT_UP: move_to(m, at - 1); return true;
    case ACT_DOWN: move_to(m, at + 1); return true;
    case ACT_PAGE_UP: move_to(m, at - page); return true;
    case ACT_PAGE_DOWN: move_to(m, at + page); return true;
    case ACT_FIRST: move_to(m, 0); return true;
    case ACT_LAST: move_to(m, INT64_MAX); return true;
    case ACT_PANE:
    case ACT_PANE_PREV: next_part(m); return true;
    default: return false;
    }
}

static bool act(struct model *m, enum action a)
{
    struct cleanup *c = &m->cleanup;

    switch (a) {
    case ACT_VALUE_NEXT: step(m, 1); return true;
    case ACT_VALUE_PREV: step(m, -1); return true;
    case ACT_MARK: tick(m, on_rule(c) ? 0 : 1); return true;
    case ACT_MARK_ALL: tick_lines(c, 0, c->lines); return true;
    case ACT_SORT: next_sort(m); return true;
    case ACT_REFRESH: ask(m); return true;
    case ACT_ACCEPT: accept(m); return true;
    case ACT_TRASH: ask_trash(m); return true;
    case ACT_BACK: close_view(m); return true;
    default: return moves(m, a);
    }
}

static void key(struct model *m, struct key k)
{
    (void)m;
    (void)k; /* no text is entered here */
}

static void mouse(struct model *m, struct mouse event)
{
    struct cleanup *c = &m->cleanup;
    int64_t at = (int64_t)c->at;

    switch (event.event) {
    case MOUSE_WHEEL_UP: move_to(m, at - 3); return;
    case MOUSE_WHEEL_DOWN: move_to(m, at + 3); return;
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK: /* looks at it; only a key acts */
        if (event.y >= CLEANUP_LIST_Y && c->top + (size_t)(event.y - CLEANUP_LIST_Y) < c->shown_n)
            move_to(m, RULE_COUNT + (int64_t)c->top + event.y - CLEANUP_LIST_Y);
        else if (event.y >= CLEANUP_RULES_Y && event.y < CLEANUP_RULES_Y + RULE_COUNT)
            move_to(m, event.y - CLEANUP_RULES_Y);
        return;
    }
}

static void resized(struct model *m)
{
    move_to(m, (int64_t)m->cleanup.at);
}

const struct view_ops view_cleanup = {
    .name = "cleanup",
    .place = place,
    .draw = cleanup_draw,
    .act = act,
    .key = key,
    .mouse = mouse,
    .resized = resized,
};
