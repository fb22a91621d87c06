#include <stdio.h>
#include <stdlib.h>

#include "tui/screens/rewind/rewind_internal.h"
#include "tui/text/human.h"
#include "tui/widgets/markdown.h"

/* The questions of the rewind view to the workers, and their answers. */

enum {
    REST_MS = 60,         /* time from selecting a turn to the request for its preview */
    CHANGES_LINES = 4000, /* the maximum that is laid out of one file */
    HEAD_MARGIN = 4,      /* before a hunk's head: its tick box is drawn there */
};

/* ---- asking ---- */

struct effect *rewind_request(struct rewind_view *v, enum effect_kind kind, unsigned *generation,
                              struct effects *fx)
{
    struct ref_list *refs = ref_list_one(&v->session->ref[0], SLICE(""));

    if (!refs)
        return NULL;
    struct effect *e = effect_add(fx, kind, REQUESTER_REWIND);

    e->refs = refs;
    e->at_ms = v->now_ms;
    *generation = e->generation;
    v->asked_ms = v->now_ms;
    return e;
}

static void clear_changes(struct rewind_view *v, struct effects *fx)
{
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_changes);
    preview_comparison_free(v->changes.comparison);
    styled_text_fini(&v->changes.styled_text);
    v->changes = (struct changes){ 0 };
    v->changes_error = (struct err){ 0 };
}

void rewind_clear_preview(struct rewind_view *v, struct effects *fx)
{
    clear_changes(v, fx);
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_preview);
    preview_free(v->preview);
    preview_selection_free(v->selection);
    free(v->partial);
    free(v->row);
    v->preview = NULL;
    v->selection = NULL;
    v->partial = NULL;
    v->row = NULL;
    v->rows = v->unchanged = v->file.at = v->file.top = 0;
    v->preview_error = (struct err){ 0 };
}

void rewind_request_preview(struct rewind_view *v, struct effects *fx)
{
    const struct checkpoint *turn = rewind_turn(v);

    v->due_ms = TIME_NONE;
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_preview);
    if (!turn || rewind_turn_why(v, turn))
        return;
    struct effect *e = rewind_request(v, EFFECT_PREVIEW, &v->asked_preview, fx);

    if (!e || buf_add(&e->text, turn->id))
        err_nomem(&v->preview_error);
    else
        e->mode = v->mode;
}

/* The old preview stays until the new one arrives, so that nothing flickers, but actions no longer
 * apply to it. */
void rewind_turn_changed(struct rewind_view *v, struct effects *fx)
{
    const struct checkpoint *turn = rewind_turn(v);

    v->result[0] = '\0';
    v->preview_error = (struct err){ 0 };
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_preview);
    v->asked_ms = v->now_ms;
    v->due_ms = v->now_ms + REST_MS;
    if (turn && rewind_turn_why(v, turn)) {
        rewind_clear_preview(v, fx);
        v->due_ms = TIME_NONE;
    }
}

void rewind_file_changed(struct rewind_view *v, struct effects *fx)
{
    const struct rewind_entry *x = rewind_file(v);

    clear_changes(v, fx);
    const enum rewind_action action = x ? rewind_action_of(x) : REWIND_UNCHANGED;

    /* Only files with text on at least one side are compared, and the texts of two links. */
    if (!x || x->binary || x->mode_only || action == REWIND_REFUSED || action == REWIND_UNCHANGED)
        return;
    struct effect *e = rewind_request(v, EFFECT_COMPARE, &v->asked_changes, fx);

    if (!e) {
        err_nomem(&v->changes_error);
        return;
    }
    e->preview = preview_retain(v->preview);
    e->first = v->row[v->file.at];
}

/* ---- the preview ---- */

/* Files that are held back come first, because they need attention. Unchanged files are only counted. */
static bool list_rows(struct rewind_view *v)
{
    const struct rewind_preview *p = &v->preview->preview;

    v->row = calloc(p->n + 1, sizeof *v->row);
    v->selection = preview_selection_new(p->n);
    v->partial = calloc(p->n + 1, sizeof *v->partial);
    if (!v->row || !v->selection || !v->partial)
        return false;
    for (int refused = 1; refused >= 0; refused--)
        for (size_t i = 0; i < p->n; i++) {
            bool is_refused = p->entry[i].action == REWIND_REFUSED;

            if (p->entry[i].action != REWIND_UNCHANGED && is_refused == (refused == 1))
                v->row[v->rows++] = i;
        }
    v->unchanged = p->n - v->rows;
    for (size_t i = 0; i < p->n; i++)
        v->selection->pick[i].ticked = p->entry[i].chosen && p->entry[i].action != REWIND_UNCHANGED;
    return true;
}

static void set_preview(struct rewind_view *v, struct preview *p, struct effects *fx)
{
    size_t file = v->preview && v->preview_turn == v->turn.at ? v->file.at : SIZE_MAX;

    v->asked_preview = 0;
    rewind_clear_preview(v, fx);
    v->preview = p;
    v->preview_turn = v->turn.at;
    if (!list_rows(v)) {
        rewind_clear_preview(v, fx);
        err_nomem(&v->preview_error);
        return;
    }
    /* Files that are held back are at the top, where they are seen; the cursor is on the first file that would change. */
    if (file >= v->rows)
        for (file = 0; file < v->rows; file++)
            if (rewind_entry_at(v, file)->action != REWIND_REFUSED)
                break;
    v->file.at = file < v->rows ? file : 0;
    rewind_file_changed(v, fx);
}

/* ---- the turns ---- */

static void set_turns(struct rewind_view *v, struct checkpoint_list *list, struct effects *fx)
{
    bool counts = v->session->ref[0].store->ops->count_lines;

    v->asked_turns = 0;
    preview_checkpoints_free(v->turns);
    v->turns = list;
    for (size_t i = 0; i < list->n; i++)
        counts |= list->checkpoint[i].snapped;
    if (list->n == 0)
        return;

    /* The turn of the message from which the view was opened: the turn that the message begins, or else the last one that
     * began before it. */
    size_t turn = list->n - 1, begun = list->n;

    for (size_t i = 0; !id128_none(v->at.message) && i < list->n && begun == list->n; i++)
        if (id128_eq(id128_of(list->checkpoint[i].message), v->at.message))
            begun = i;
    while (!id128_none(v->at.message) && turn > 0 && v->at.time_ms != TIME_NONE &&
           list->checkpoint[turn].time_ms > v->at.time_ms)
        turn--;
    v->turn.at = begun < list->n ? begun : turn;
    rewind_request_preview(v, fx);
    effect_cancel(fx, REQUESTER_REWIND, &v->asked_lines);
    if (counts) {
        int64_t asked_ms = v->asked_ms;

        rewind_request(v, EFFECT_TURN_LINES, &v->asked_lines, fx);
        v->asked_ms = asked_ms; /* the person does not wait for these */
    }
}

/* The same turns with their line counts; if the session was continued meanwhile, the shown turns
 * stay. */
static void set_turn_lines(struct rewind_view *v, struct checkpoint_list *list)
{
    v->asked_lines = 0;
    for (size_t i = 0; v->turns && i < v->turns->n && i < list->n; i++) {
        struct checkpoint *c = &v->turns->checkpoint[i];
        const struct checkpoint *counted = &list->checkpoint[i];

        if (!slice_eq(c->id, counted->id))
            continue;
        c->counted = counted->counted;
        c->insertions = counted->insertions;
        c->deletions = counted->deletions;
        c->removed = counted->removed;
    }
    preview_checkpoints_free(list);
}

/* ---- the changes of a file ---- */

static void layout_hunk(struct rewind_view *v, const struct linediff *diff, size_t i, int width)
{
    struct changes *c = &v->changes;
    struct hunks lines = { 0 };
    struct hunks_layout_options how = { .width = width, .ascii = v->settings->ascii };
    size_t room = c->styled_text.n < CHANGES_LINES ? CHANGES_LINES - c->styled_text.n : 0;

    if (room == 0) {
        c->left_out += diff->hunk[i].n;
        return;
    }
    how.max_lines = room;
    c->styled_text.stamp.block = (uint16_t)(i < UINT16_MAX ? i : UINT16_MAX);
    hunks_of_diff(&lines, diff, i);
    c->left_out += hunks_layout(&c->styled_text, &how, &lines);
    hunks_fini(&lines);
}

/* Lays out the changes for their pane, even while a narrow screen shows the turns instead. */
void rewind_layout_changes(struct rewind_view *v)
{
    struct changes *c = &v->changes;
    struct rewind_layout l = rewind_layout(v, v->h, v->w);
    int w = v->w - l.edge - 1; /* no edge, -1: all of it */

    styled_text_fini(&c->styled_text);
    c->styled_text = (struct styled_text){ 0 };
    c->left_out = 0;
    if (!c->comparison || w < 20)
        return;
    for (size_t i = 0; i < c->comparison->diff.hunks && !c->styled_text.rc; i++)
        layout_hunk(v, &c->comparison->diff, i, w - 2);
    if (c->cursor.at >= c->styled_text.n)
        c->cursor.at = c->styled_text.n ? c->styled_text.n - 1 : 0;
}

/* ---- what came of it ---- */

static size_t describe_part(char *out, size_t cap, size_t used, const char *verb, size_t n)
{
    if (n == 0 || used >= cap)
        return used;
    return used + (size_t)snprintf(out + used, cap - used, "%s%s %zu%s", used ? ", " : "", verb, n,
                                   used     ? ""
                                   : n == 1 ? " file"
                                            : " files");
}

static void describe_rewind_summary(struct rewind_view *v, const struct rewind_summary *r)
{
    char *out = v->result;
    size_t cap = sizeof v->result, used = 0;

    out[0] = '\0';
    used = describe_part(out, cap, used, "restored", r->restored);
    used = describe_part(out, cap, used, "re-created", r->created);
    used = describe_part(out, cap, used, "deleted", r->deleted);
    if (r->conversation_changed && used < cap) {
        const size_t n = r->added ? r->added : r->dropped;

        used += (size_t)snprintf(out + used, cap - used, "%s%s %zu message%s", used ? ", " : "",
                                 r->added ? "brought back" : "dropped", n, n == 1 ? "" : "s");
    }
    if (used == 0)
        used = (size_t)snprintf(out, cap, "nothing changed");
    if (r->skipped > 0 && used < cap)
        used += (size_t)snprintf(out + used, cap - used, "; %zu skipped: %s (%s)", r->skipped,
                                 r->skipped_name, r->skipped_why);
    if (r->record[0] && used < cap)
        snprintf(out + used, cap - used,
                 v->operation == OPERATION_UNDO ? " - U redo" : " - u undo");
    v->incomplete = r->skipped > 0;
}

static void set_rewind_summary(struct rewind_view *v, const struct rewind_summary *r,
                               struct effects *fx)
{
    char *to = v->operation == OPERATION_UNDO ? v->redo : v->undo;
    char *other = v->operation == OPERATION_UNDO ? v->undo : v->redo;

    v->asked_rewind = 0;
    if (r->needs_confirmation) /* the person is asked first */
        return;
    snprintf(to, sizeof v->undo, "%s", r->record);
    if (r->skipped == 0 || v->operation == OPERATION_REWIND) /* else the rest is still undoable */
        other[0] = '\0';
    describe_rewind_summary(v, r);
    if (r->conversation_changed) {
        /* A conversation that ends earlier has fewer turns. The selected turn is kept, or else the
         * last one before it. */
        const struct checkpoint *turn = rewind_turn(v);

        /* An undo returns to the turn at which the rewind began. */
        if (turn && v->operation != OPERATION_UNDO) {
            v->at.message = id128_of(turn->message);
            v->at.time_ms = turn->time_ms;
        }
        rewind_clear_preview(v, fx);
        effect_cancel(fx, REQUESTER_REWIND, &v->asked_turns);
        if (!rewind_request(v, EFFECT_CHECKPOINTS, &v->asked_turns, fx))
            err_nomem(&v->preview_error);
    } else
        rewind_request_preview(v, fx);
}

static void handle_rewind_failure(struct rewind_view *v, const struct msg *msg, struct effects *fx)
{
    const struct err *e = &msg->u.error;

    if (msg->generation == v->asked_turns) {
        v->asked_turns = 0;
        v->turns_error = *e;
    } else if (msg->generation == v->asked_lines) {
        v->asked_lines = 0; /* the turns are shown without line counts */
    } else if (msg->generation == v->asked_preview) {
        rewind_clear_preview(v, fx);
        v->asked_preview = 0;
        v->preview_error = *e;
    } else if (msg->generation == v->asked_changes) {
        v->asked_changes = 0;
        v->changes_error = *e;
    } else {
        v->asked_rewind = 0;
        err_sentence(e, v->result, sizeof v->result);
        v->incomplete = true;
        rewind_request_preview(v, fx); /* the preview may be outdated */
    }
}

bool rewind_view_msg(struct rewind_view *v, const struct msg *msg, struct effects *fx)
{
    const unsigned g = msg->generation;

    if (!g || (g != v->asked_turns && g != v->asked_lines && g != v->asked_preview &&
               g != v->asked_changes && g != v->asked_rewind))
        return false;
    v->now_ms = msg->now_ms;
    switch (msg->kind) {
    case MSG_CHECKPOINTS:
        if (msg->generation == v->asked_lines)
            set_turn_lines(v, msg->u.checkpoints);
        else
            set_turns(v, msg->u.checkpoints, fx);
        break;
    case MSG_PREVIEW: set_preview(v, msg->u.preview, fx); break;
    case MSG_COMPARISON: {
        struct comparison *c = msg->u.comparison;

        v->asked_changes = 0;
        preview_comparison_free(v->changes.comparison);
        v->changes.comparison = c;
        rewind_layout_changes(v);
    } break;
    case MSG_REWIND_DONE: set_rewind_summary(v, &msg->u.rewind_summary, fx); break;
    case MSG_FAILED: handle_rewind_failure(v, msg, fx); break;
    case MSG_PROGRESS:
        v->done = msg->u.progress.done;
        v->total = msg->u.progress.total;
        break;
    default: return false;
    }

    /* A pane may now have fewer rows than its cursor assumes. */
    rewind_keep_in_panes(v);
    return true;
}
