#include <stdio.h>
#include <string.h>

#include "tui/screens/rewind/rewind_internal.h"

/* The questions before files are changed and before a rule is lifted. The first choice is the safe
 * one. */

static void fill_apply_question(const struct rewind_view *v, struct dialog *d,
                                dialog_answer_fn *answer)
{
    struct rewind_tally t = rewind_tally(v);
    const struct checkpoint *c = rewind_turn(v);
    size_t listed = v->rows - t.files;
    char what[120];

    rewind_tally_text(&t, what, sizeof what);
    dialog_begin(d,
                 v->mode == REWIND_TURN ? "Undo only this turn and keep the later ones?"
                 : c && c->after        ? "Rewind to the end of this turn?"
                                        : "Rewind to before this turn?",
                 answer);

    dialog_line(d, "%s", what);
    if (t.files > 0)
        dialog_line(d, "+%u -%u lines; an undo record is kept", t.insertions, t.deletions);
    if (t.has_conversation)
        dialog_line(d, "%zu message%s of the conversation stay%s; %s",
                    rewind_conversation_of(v)->kept,
                    rewind_conversation_of(v)->kept == 1 ? "" : "s",
                    rewind_conversation_of(v)->kept == 1 ? "s" : "",
                    t.files > 0 ? "one undo restores both" : "an undo record is kept");
    if (t.consented > 0)
        dialog_line(d,
                    "%zu of them with your consent; the present content is kept in the undo record",
                    t.consented);
    if (t.partial > 0)
        dialog_line(d, "%zu of them in part: only the ticked hunks", t.partial);
    if (listed > 0)
        dialog_line(d, "%zu file%s not ticked and stay%s as %s", listed,
                    listed == 1 ? " is" : "s are", listed == 1 ? "s" : "",
                    listed == 1 ? "it is" : "they are");
    if (t.held_open > 0)
        dialog_line(d, "%zu of them %s open in a program: what it writes goes to the old file%s",
                    t.held_open, t.held_open == 1 ? "is" : "are", t.held_open == 1 ? "" : "s");
    if (v->at.live)
        dialog_line(d, "An agent has this session open, and may be writing files right now.");

    dialog_offer(d, CHOICE_CANCEL, "cancel");
    dialog_offer(d, CHOICE_DO, "%s", what);
}

static void fill_consent_question(const struct rewind_view *v, struct dialog *d,
                                  dialog_answer_fn *answer)
{
    const struct rewind_entry *x = rewind_file(v);
    char room[512];
    struct slice path = rewind_path(v, x, room, sizeof room);

    dialog_begin(d,
                 x->later || x->by_command        ? "Changed since the last snapshot"
                 : x->rule == REWIND_RULE_EDITED  ? "Edited since the last snapshot"
                 : x->rule == REWIND_RULE_UNKNOWN ? "Not known to be the session's work"
                 : x->rule == REWIND_RULE_OUTSIDE ? "Outside the session's project"
                                                  : "Programs run or trust this file",
                 answer);
    dialog_line(d, "%.*s", (int)(path.n < 200 ? path.n : 200), path.p);
    dialog_line(d, "%s", x->why);
    if (x->rule == REWIND_RULE_UNKNOWN)
        dialog_line(d, "Its present content would be replaced. You can undo this.");
    if (x->edited && x->seen.exists)
        dialog_line(d, x->later || x->by_command
                           ? "That change would be replaced. You can undo this."
                           : "Your later edit would be replaced. You can undo this.");
    dialog_offer(d, CHOICE_CANCEL, "exclude the file");
    if (x->rule == REWIND_RULE_SENSITIVE)
        dialog_want_yes(d);
    else
        dialog_offer(d, CHOICE_DO, "include the file");
}

void rewind_view_question(const struct rewind_view *v, struct dialog *d, dialog_answer_fn *answer)
{
    if (v->question == QUESTION_APPLY)
        fill_apply_question(v, d, answer);
    else
        fill_consent_question(v, d, answer);
}

/* The actions of the rewind view. */

/* ---- why not ---- */

static const char *no_preview(const struct rewind_view *v)
{
    if (v->asked_rewind)
        return "files are being changed";
    if (v->turns && v->turns->n == 0)
        return "this session has no checkpoints";
    if (rewind_turn(v) && rewind_turn_why(v, rewind_turn(v)))
        return "this turn cannot be restored";
    if (v->preview_error.code)
        return "the preview failed";
    return rewind_is_current(v) ? NULL : "the files are still being checked";
}

static const char *no_file(const struct rewind_view *v)
{
    const char *why = no_preview(v);

    if (why || v->rows > 0)
        return why;
    return v->mode == REWIND_CONVERSATION ? "conversation only: files are not changed"
                                          : "the files already match";
}

static const char *no_tick(const struct rewind_view *v)
{
    const char *why = no_file(v);

    if (why)
        return why;
    if (v->pane == PANE_TURNS)
        return "go to the files in the next pane first";
    const struct rewind_entry *x = rewind_file(v);

    return x->action == REWIND_REFUSED && !rewind_may_consent(x) ? x->why : NULL;
}

static const char *no_hunk(const struct rewind_view *v)
{
    const char *why = no_file(v);

    if (why)
        return why;
    const struct rewind_entry *x = rewind_file(v);

    if (v->changes.styled_text.n == 0)
        return "this file has no hunks";
    if (rewind_has_kind(x))
        return "links and directories are restored as a whole";
    if (x->action == REWIND_REFUSED && !rewind_selection_at(v, v->file.at)->consent)
        return "the file is held back: including it shows why";
    return rewind_action_of(x) == REWIND_RESTORE ? NULL
                                                 : "the file is created or deleted as a whole";
}

/* ---- moving ---- */

static size_t moved_index(size_t at, int64_t by, size_t n)
{
    int64_t to = (int64_t)at + by;

    return to < 0 || n == 0 ? 0 : (size_t)to < n ? (size_t)to : n - 1;
}

static void move_in(struct rewind_view *v, enum rewind_pane pane, int64_t by, struct effects *fx)
{
    size_t before;

    switch (pane) {
    case PANE_TURNS:
        before = v->turn.at;
        v->turn.at = moved_index(v->turn.at, by, v->turns ? v->turns->n : 0);
        if (v->turn.at != before)
            rewind_turn_changed(v, fx);
        break;
    case PANE_FILES:
        before = v->file.at;
        v->file.at = moved_index(v->file.at, by, v->rows);
        if (v->file.at != before)
            rewind_file_changed(v, fx);
        break;
    default:
        v->changes.cursor.at = moved_index(v->changes.cursor.at, by, v->changes.styled_text.n);
        break;
    }
}

static long rewind_act_page_of(const struct rewind_view *v, enum rewind_pane pane)
{
    struct rewind_layout l = rewind_layout(v, v->h, v->w);
    int h = pane == PANE_TURNS ? l.turns.h : pane == PANE_FILES ? l.files.h : l.changes.h;

    return h > 2 ? h - 1 : 1;
}

static bool rewind_act_moving(struct rewind_view *v, enum action a, struct effects *fx)
{
    int64_t by;

    if (list_cursor_steps(a, rewind_act_page_of(v, v->pane), &by)) {
        move_in(v, v->pane, by, fx);
        return true;
    }
    switch (a) {
    case ACT_PREVIEW_UP:
        move_in(v, PANE_CHANGES, -(rewind_act_page_of(v, PANE_CHANGES) + 1), fx);
        return true;
    case ACT_PREVIEW_DOWN:
        move_in(v, PANE_CHANGES, rewind_act_page_of(v, PANE_CHANGES) + 1, fx);
        return true;
    default: return false;
    }
}

/* Moves to the head of the next hunk, of this one, or of the one before. */
static void to_hunk(struct rewind_view *v, int direction)
{
    const struct styled_text *s = &v->changes.styled_text;
    size_t at = v->changes.cursor.at;

    while (direction > 0 ? at + 1 < s->n : at > 0) {
        at = direction > 0 ? at + 1 : at - 1;
        if (at == 0 || s->line[at].block != s->line[at - 1].block) {
            v->changes.cursor.at = at;
            v->changes.cursor.top = at; /* the hunk is shown from its head */
            break;
        }
    }
    v->pane = PANE_CHANGES;
}

/* ---- ticking ---- */

static bool tick_file(struct rewind_view *v)
{
    const struct rewind_entry *x = rewind_file(v);
    struct rewind_selection *pick = rewind_selection_at(v, v->file.at);

    if (!pick->ticked && rewind_may_consent(x) && !pick->consent) {
        v->question = QUESTION_CONSENT;
        return true;
    }
    pick->ticked = !pick->ticked;
    return false;
}

/* Ticks all files that need no consent, or none if all of them are ticked. */
static void tick_all_files(struct rewind_view *v)
{
    bool on = false;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < v->rows; i++) {
            struct rewind_selection *pick = rewind_selection_at(v, i);
            const struct rewind_entry *x = &v->preview->preview.entry[v->row[i]];

            if (x->action == REWIND_REFUSED && !pick->consent)
                continue;
            if (pass == 0)
                on |= !pick->ticked;
            else
                pick->ticked = on;
        }
}

/* Ticks the selected file and no other. Returns true if it needs consent first. */
static bool tick_only(struct rewind_view *v)
{
    for (size_t i = 0; i < v->rows; i++)
        if (i != v->file.at)
            rewind_selection_at(v, i)->ticked = false;
    return !rewind_selection_at(v, v->file.at)->ticked && tick_file(v);
}

static void count_hunks(struct rewind_view *v, const struct rewind_selection *pick)
{
    const struct linediff *d = &v->changes.comparison->diff;
    struct lines_changed n = { 0 };

    for (size_t i = 0; i < d->hunks; i++)
        for (size_t k = 0; pick->hunk[i] && k < d->hunk[i].n; k++) {
            char sign = d->line[d->hunk[i].first + k].sign;

            n.insertions += sign == '+';
            n.deletions += sign == '-';
        }
    v->partial[v->row[v->file.at]] = n;
}

/* A file without a ticked hunk is unticked; ticking a hunk ticks it again. */
static void tick_hunk(struct rewind_view *v, struct toast *toast)
{
    struct rewind_selection *pick = rewind_selection_at(v, v->file.at);
    size_t n = v->changes.comparison->diff.hunks;
    size_t at = v->changes.styled_text.line[v->changes.cursor.at].block;
    bool *hunk = preview_selection_hunks(v->selection, v->row[v->file.at], n), any = false;

    if (!hunk) {
        toast_no_memory(toast);
        return;
    }
    if (pick->ticked) {
        hunk[at] = !hunk[at];
    } else {
        memset(hunk, false, n);
        hunk[at] = true;
    }
    for (size_t i = 0; i < n; i++)
        any |= hunk[i];
    pick->ticked = any;
    if (!any)
        memset(hunk, true, n); /* ticked again as a whole */
    count_hunks(v, pick);
}

/* ---- doing ---- */

static void report_no_memory(struct rewind_view *v)
{
    snprintf(v->result, sizeof v->result, ERR_NOMEM_TEXT ": nothing was changed");
    v->incomplete = true;
}

static void submit_rewind(struct rewind_view *v, struct effects *fx)
{
    struct preview_selection *selection = preview_selection_copy(v->selection);
    struct effect *e = selection ? rewind_request(v, EFFECT_REWIND, &v->asked_rewind, fx) : NULL;

    if (!e) {
        preview_selection_free(selection);
        report_no_memory(v);
        return;
    }
    e->preview = preview_retain(v->preview);
    e->selection = selection;
    v->operation = OPERATION_REWIND;
    v->done = v->total = 0;
}

/* A rewind is redone by undoing the record of its undo. */
static void submit_undo_rewind(struct rewind_view *v, enum rewind_operation deed,
                               struct name_list *taken, struct effects *fx)
{
    const char *record = deed == OPERATION_UNDO ? v->undo : v->redo;
    struct effect *e = rewind_request(v, EFFECT_UNDO_REWIND, &v->asked_rewind, fx);

    v->operation = deed;
    v->done = v->total = 0;
    if (e)
        e->names = taken;
    else
        name_list_free(taken);
    if (!e || buf_add(&e->text, slice_of(record)))
        report_no_memory(v);
}

void rewind_view_undo(struct rewind_view *v, struct name_list *taken, struct effects *fx)
{
    if (v->session)
        submit_undo_rewind(v, v->operation, taken, fx);
    else /* the view was left before the first answer came */
        name_list_free(taken);
}

void rewind_view_answer(struct rewind_view *v, bool yes, struct effects *fx)
{
    enum rewind_question question = v->question;

    v->question = QUESTION_NONE;
    if (!yes || !rewind_is_current(v))
        return;
    if (question == QUESTION_APPLY)
        submit_rewind(v, fx);
    if (question == QUESTION_CONSENT) {
        rewind_selection_at(v, v->file.at)->consent = true;
        rewind_selection_at(v, v->file.at)->ticked = true;
    }
    rewind_keep_in_panes(v);
}

/* One step back: from the changes to the files, to the turns, out. */
static enum rewind_view_result rewind_step_back(struct rewind_view *v, struct toast *toast)
{
    if (v->asked_rewind) {
        toast_info(toast, v->now_ms, "please wait: files are being changed");
        return REWIND_VIEW_DONE;
    }
    if (v->pane == PANE_TURNS)
        return REWIND_VIEW_BACK;
    v->pane--;
    return REWIND_VIEW_DONE;
}

/* Another mode is another plan, so its ticks are set by the rules again. The same mode once more returns to files. */
static void change_mode(struct rewind_view *v, enum rewind_mode mode, struct effects *fx)
{
    v->mode = mode == v->mode ? REWIND_CODE : mode;
    if (v->pane == PANE_CHANGES)
        v->pane = PANE_FILES;
    rewind_turn_changed(v, fx);
    v->due_ms = TIME_NONE;
    rewind_request_preview(v, fx);
}

static enum rewind_view_result run_rewind_action(struct rewind_view *v, enum action a,
                                                 struct toast *toast, struct effects *fx)
{
    switch (a) {
    case ACT_PANE:
        v->pane = (v->pane + 1) % PANE_COUNT;
        if (v->pane == PANE_FILES && v->rows == 0)
            v->pane = PANE_TURNS;
        if (v->pane == PANE_CHANGES && v->changes.styled_text.n == 0)
            v->pane = PANE_TURNS;
        break;
    case ACT_PANE_PREV: v->pane -= v->pane > PANE_TURNS; break;
    case ACT_ACCEPT:
        if (v->pane == PANE_FILES)
            return tick_only(v) ? REWIND_VIEW_ASKS : REWIND_VIEW_DONE;

        const char *why = rewind_view_unavailable(v, ACT_APPLY);

        if (v->pane == PANE_TURNS && v->rows > 0)
            v->pane = PANE_FILES;
        else if (v->pane == PANE_FILES && v->changes.styled_text.n > 0)
            v->pane = PANE_CHANGES;
        else if (why)
            toast_note(toast, v->now_ms, "%s", why);
        else
            toast_info(toast, v->now_ms, "press a to rewind (asks first)");

        break;
    case ACT_MARK_ALL: tick_all_files(v); break;
    case ACT_TICK:
        if (v->pane != PANE_CHANGES || no_hunk(v))
            return tick_file(v) ? REWIND_VIEW_ASKS : REWIND_VIEW_DONE;
        tick_hunk(v, toast);
        break;
    case ACT_HUNK:
        if (v->pane == PANE_CHANGES)
            tick_hunk(v, toast);
        v->pane = PANE_CHANGES; /* there the selected hunk is visible */
        break;
    case ACT_HUNK_NEXT: to_hunk(v, 1); break;
    case ACT_HUNK_PREV: to_hunk(v, -1); break;
    case ACT_APPLY: v->question = QUESTION_APPLY; return REWIND_VIEW_ASKS;
    case ACT_UNDO: submit_undo_rewind(v, OPERATION_UNDO, NULL, fx); break;
    case ACT_REDO: submit_undo_rewind(v, OPERATION_REDO, NULL, fx); break;
    case ACT_MODE: change_mode(v, v->mode < REWIND_BOTH ? v->mode + 1 : REWIND_CODE, fx); break;
    case ACT_ONLY: change_mode(v, REWIND_TURN, fx); break;
    case ACT_INFERRED: change_mode(v, REWIND_INFERRED, fx); break;
    case ACT_REFRESH: rewind_request_preview(v, fx); break;
    case ACT_BACK: return rewind_step_back(v, toast);
    default: return REWIND_VIEW_IGNORED;
    }
    return REWIND_VIEW_DONE;
}

enum rewind_view_result rewind_view_act(struct rewind_view *v, enum action a, struct toast *toast,
                                        struct effects *fx)
{
    enum rewind_view_result outcome =
        rewind_act_moving(v, a, fx) ? REWIND_VIEW_DONE : run_rewind_action(v, a, toast, fx);

    if (outcome != REWIND_VIEW_BACK)
        rewind_keep_in_panes(v);
    return outcome;
}

struct rewind_shown rewind_view_shown(const struct rewind_view *v)
{
    return (struct rewind_shown){ v->session, v->title, v->turns, v->turn.at };
}

struct slice rewind_view_file(const struct rewind_view *v)
{
    const struct rewind_entry *x = v->rows ? rewind_file(v) : NULL;

    return slice_of(x ? x->target->path : "");
}

const char *rewind_view_unavailable(const struct rewind_view *v, enum action a)
{
    switch (a) {
    case ACT_PANE: return v->mode == REWIND_CONVERSATION ? "files are not changed" : NULL;
    case ACT_TICK: return no_tick(v);
    case ACT_MARK_ALL: return no_file(v);
    case ACT_ACCEPT: return v->pane == PANE_FILES ? no_tick(v) : NULL;
    case ACT_HUNK: return no_hunk(v);
    case ACT_HUNK_NEXT:
    case ACT_HUNK_PREV: return v->changes.styled_text.n ? NULL : "this file has no hunks";
    case ACT_APPLY: {
        const char *why = no_preview(v);

        /* A rewind of the conversation needs no ticked file. */
        if (why || rewind_conversation_of(v))
            return why;
        why = no_file(v);
        return why ? why : rewind_tally(v).files == 0 ? "no file is ticked" : NULL;
    }
    case ACT_BISECT: return v->turns && v->turns->n > 1 ? NULL : "there are not two turns";
    case ACT_TREE: return rewind_turn(v) ? rewind_turn(v)->why : "no turn is selected";
    case ACT_TOUCHED: return rewind_view_file(v).n ? NULL : "no file is selected";
    case ACT_UNDO:
    case ACT_REDO:
        if (v->asked_rewind)
            return "files are being changed";
        if (a == ACT_UNDO)
            return v->undo[0] ? NULL : "nothing has been rewound here yet";
        return v->redo[0] ? NULL : "no rewind was undone here";
    case ACT_ONLY: return v->asked_rewind ? "files are being changed" : NULL;
    case ACT_INFERRED:
        if (v->asked_rewind)
            return "files are being changed";
        return rewind_mode_unavailable(&v->session->ref[0], REWIND_INFERRED);
    case ACT_MODE:
        if (v->asked_rewind)
            return "files are being changed";
        return rewind_mode_unavailable(&v->session->ref[0], REWIND_CONVERSATION);
    default: return NULL;
    }
}

/* ---- mouse ---- */

void rewind_view_scroll(struct rewind_view *v, int y, int x, int lines, struct effects *fx)
{
    struct rewind_layout l = rewind_layout(v, v->h, v->w);

    move_in(v,
            frame_rect_has(l.turns, y, x)   ? PANE_TURNS
            : frame_rect_has(l.files, y, x) ? PANE_FILES
                                            : PANE_CHANGES,
            lines, fx);
    rewind_keep_in_panes(v);
}

void rewind_view_click(struct rewind_view *v, int y, int x, struct effects *fx)
{
    struct rewind_layout l = rewind_layout(v, v->h, v->w);

    size_t turns = v->turns ? v->turns->n : 0, row;

    if (list_cursor_row_at(&v->turn, (struct list_area){ l.turns, turns }, y, x, &row)) {
        v->pane = PANE_TURNS;
        move_in(v, PANE_TURNS, (int64_t)row - (int64_t)v->turn.at, fx);
    } else if (list_cursor_row_at(&v->file, (struct list_area){ l.files, v->rows }, y, x, &row)) {
        v->pane = PANE_FILES;
        move_in(v, PANE_FILES, (int64_t)row - (int64_t)v->file.at, fx);
    } else if (list_cursor_row_at(&v->changes.cursor,
                                  (struct list_area){ l.changes, v->changes.styled_text.n }, y, x,
                                  &row)) {
        v->pane = PANE_CHANGES;
        v->changes.cursor.at = row;
    }
    rewind_keep_in_panes(v);
}
