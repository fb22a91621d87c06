#include "lite/base/array.h"
#include "tui/screens/transcript/transcript_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/human.h"

/* The part of the conversation that is read: slots around the viewport, laid out when they are
 * needed. It grows at either end as the viewport moves, and distant slots are dropped. */
enum {
    READ_ROWS = 64,    /* requested at once */
    READ_AHEAD = 64,   /* read ahead on either side of the screen */
    WINDOW_MAX = 4096, /* slots kept; more are held only while they are visible */
    BYTES_MAX = 64 << 20,
    PARTNER_ROWS = SEARCH_RESULT_DISTANCE,
    BEFORE_ROWS = 16, /* how far back the layout begins, for the blank lines between messages */
};

size_t transcript_view_count(const struct transcript_view *v)
{
    return v->conversation ? v->conversation->transcript->n : 0;
}

struct slot *transcript_window_slot(const struct transcript_window *w, size_t message)
{
    return message >= w->first && message - w->first < w->n ? &w->slot[message - w->first] : NULL;
}

static void slot_fini(struct slot *s)
{
    conversation_passage_fini(&s->passage);
    styled_text_fini(&s->styled_text);
    *s = (struct slot){ .stamp = 0 };
}

void transcript_window_clear(struct transcript_window *w)
{
    for (size_t i = 0; i < w->n; i++)
        slot_fini(&w->slot[i]);
    free(w->slot);
    *w = (struct transcript_window){ 0 };
}

/* ---- layout ---- */

static unsigned layout_stamp(const struct transcript_view *v)
{
    return 1 + v->sizes + v->folds.stamp;
}

/* Where a layout looks for the other half of a call. */
struct neighbours {
    const struct transcript_view *v;
    size_t message;
};

static const struct block *find_block(const struct slot *s, enum block_kind kind,
                                      struct slice call_id)
{
    const struct block_list *list = &s->passage.blocks;

    for (size_t i = 0; i < list->n; i++)
        if (list->block[i].kind == kind && slice_eq(list->block[i].call_id, call_id))
            return &list->block[i];
    return NULL;
}

static const struct block *transcript_window_find_result(const void *arg, struct slice call_id)
{
    const struct neighbours *n = arg;

    for (size_t i = 0; i <= PARTNER_ROWS && call_id.n; i++) {
        const struct slot *s = transcript_window_slot(&n->v->window, n->message + i);
        const struct block *b = s ? find_block(s, BLOCK_TOOL_RESULT, call_id) : NULL;

        if (b || !s)
            return b;
    }
    return NULL;
}

static bool has_call(const void *arg, struct slice call_id)
{
    const struct neighbours *n = arg;

    for (size_t i = 0; i <= PARTNER_ROWS && i <= n->message && call_id.n; i++) {
        const struct slot *s = transcript_window_slot(&n->v->window, n->message - i);

        if (!s)
            return false;
        if (find_block(s, BLOCK_TOOL_CALL, call_id))
            return true;
    }
    return false;
}

bool transcript_view_cut_line(const struct transcript_view *v, char out[CUT_LINE_TEXT])
{
    const struct transcript *t = v->conversation->transcript;
    char size[LAYOUT_SIZE_TEXT];

    if (!t->unfinished)
        return false;
    layout_size(t->relative_offsets ? 0 : t->size - t->unfinished_at, size);
    snprintf(out, CUT_LINE_TEXT, "the last line is cut short%s%s", t->relative_offsets ? "" : ": ",
             t->relative_offsets ? "" : size);
    return true;
}

enum { TOOK_TEXT = HUMAN_TOOK + sizeof ", " };

/* Appends the time from the prompt of the turn that ends here, if the prompt was read: ", 3m 20s". */
static void add_took(const struct transcript_view *v, size_t message, char *out)
{
    const struct message *all = v->conversation->transcript->message;
    const struct slot *s;
    size_t n = strlen(out);
    size_t i = message;

    while ((s = transcript_window_slot(&v->window, i)) != NULL &&
           !(s->passage.blocks.n && (s->passage.blocks.block[0].kind == BLOCK_PROMPT ||
                                     s->passage.blocks.block[0].kind == BLOCK_COMMAND))) {
        if (i-- == 0)
            return;
    }
    if (!s || all[i].time_ms == TIME_NONE || all[message].time_ms == TIME_NONE)
        return;
    const int64_t took_ms = all[message].time_ms - all[i].time_ms;
    char took[HUMAN_TOOK];

    if (took_ms < 1000 || took_ms >= INT64_C(1000) << 31)
        return;
    human_took(took_ms, took);
    snprintf(out + n, TOOK_TEXT, "%s%s", n ? ", " : "", took);
}

static void layout_slot(struct transcript_view *v, size_t message, enum message_layout_end before)
{
    struct slot *s = transcript_window_slot(&v->window, message);
    struct neighbours neighbours = { v, message };
    struct message_layout_context context = { .result = transcript_window_find_result,
                                              .has_call = has_call,
                                              .arg = &neighbours,
                                              .before = before };
    struct message_page page = { .message = &v->conversation->transcript->message[message],
                                 .blocks = &s->passage.blocks,
                                 .error = &s->passage.error };
    struct layout_options look = transcript_view_layout(v);
    const struct usage_sum *turn = conversation_usage_of(v->usage, page.message->offset);
    char usage[LAYOUT_USAGE_TEXT + TOOK_TEXT], cut[CUT_LINE_TEXT];
    const struct message *all = v->conversation->transcript->message;

    if (message > 0 && all[message].time_ms != TIME_NONE && all[message - 1].time_ms != TIME_NONE)
        page.gap_ms = all[message].time_ms - all[message - 1].time_ms;

    if (message + 1 == transcript_view_count(v) && transcript_view_cut_line(v, cut))
        page.cut = cut;
    if (turn) {
        layout_usage(turn, usage);
        add_took(v, message, usage);
        page.usage = usage;
    }

    /* The stamp depends on the width and the folds, so a change of them outdates this layout. */
    styled_text_fini(&s->styled_text);
    s->end = layout_message(&s->styled_text, &look, &v->folds, &page, &context);
    s->stamp = layout_stamp(v);
}

static bool is_laid(const struct transcript_view *v, size_t message)
{
    const struct slot *s = transcript_window_slot(&v->window, message);

    return s && s->stamp == layout_stamp(v);
}

size_t transcript_view_lines(struct transcript_view *v, size_t message)
{
    struct slot *s = transcript_window_slot(&v->window, message);
    size_t from = message;

    if (!s)
        return 0;
    while (from > v->window.first && message - from < BEFORE_ROWS && !is_laid(v, from))
        from--;
    for (; from <= message; from++) {
        const struct slot *above = from > 0 ? transcript_window_slot(&v->window, from - 1) : NULL;
        enum message_layout_end before = from == 0 ? LAYOUT_END_NOTHING : LAYOUT_END_TEXT;

        if (above && is_laid(v, from - 1))
            before = above->end;
        if (!is_laid(v, from))
            layout_slot(v, from, before);
    }
    return s->styled_text.n;
}

bool transcript_view_step(struct transcript_view *v, struct transcript_position *s, int direction)
{
    struct transcript_position at = *s;
    const size_t here = transcript_view_lines(v, at.message);

    if (direction > 0 && at.line + 1 < here) {
        s->line++;
        return true;
    }
    /* The end of a message that has not been read is any line beyond its last. */
    if (direction < 0 && at.line > 0 && here > 0) {
        s->line = (at.line < here ? at.line : here) - 1;
        return true;
    }
    for (;;) {
        if (direction < 0 && at.message == 0)
            return false;
        at.message = direction > 0 ? at.message + 1 : at.message - 1;
        if (!transcript_window_slot(&v->window, at.message))
            return false;
        size_t lines = transcript_view_lines(v, at.message);

        if (lines == 0)
            continue;
        *s = (struct transcript_position){ at.message, direction > 0 ? 0 : lines - 1 };
        return true;
    }
}

bool transcript_view_nearest_line(struct transcript_view *v, struct transcript_position *s)
{
    size_t lines = transcript_view_lines(v, s->message);

    if (lines > 0) {
        if (s->line >= lines)
            s->line = lines - 1;
        return true;
    }
    struct transcript_position at = { s->message, 0 };

    if (!transcript_view_step(v, &at, 1) && !transcript_view_step(v, &at, -1))
        return false;
    *s = at;
    return true;
}

/* ---- reading ---- */

/* Calls and results on both sides of the boundary between old and new slots may belong together. */
static void invalidate_layout(struct transcript_view *v, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct slot *s = transcript_window_slot(&v->window, first + i);

        if (s)
            s->stamp = 0;
    }
}

static void move_slots(struct slot *slot, struct passage_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        slot[i] = (struct slot){ .passage = list->passage[i] };
    list->n = 0; /* they are ours now */
}

static void trim_front(struct transcript_window *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        slot_fini(&w->slot[i]);
    memmove(w->slot, w->slot + n, (w->n - n) * sizeof *w->slot);
    w->n -= n;
    w->first += n;
}

static void trim_back(struct transcript_window *w, size_t n)
{
    for (size_t i = w->n - n; i < w->n; i++)
        slot_fini(&w->slot[i]);
    w->n -= n;
}

/* The messages that must stay: those on the screen, and those read ahead. */
static void in_sight(const struct transcript_view *v, size_t *low, size_t *high)
{
    size_t first = v->rows ? v->row[0].message : v->top.message;
    size_t last = v->rows ? v->row[v->rows - 1].message : v->top.message;

    *low = first > READ_AHEAD ? first - READ_AHEAD : 0;
    *high = last + READ_AHEAD;
}

/* Drops slots far from the screen, at the end that does not grow. */
static void shrink(struct transcript_view *v, bool at_front)
{
    struct transcript_window *w = &v->window;
    size_t low, high, end = w->first + w->n;

    size_t bytes = 0;

    for (size_t i = 0; i < w->n; i++)
        bytes += w->slot[i].passage.bytes.n;
    if (w->n <= WINDOW_MAX && bytes <= BYTES_MAX)
        return;
    in_sight(v, &low, &high);
    if (at_front && low > w->first)
        trim_front(w, low - w->first < w->n ? low - w->first : w->n - 1);
    else if (!at_front && high < end)
        trim_back(w, end - high < w->n ? end - high : w->n - 1);
}

static void append_slots(struct transcript_view *v, struct passage_list *list)
{
    struct transcript_window *w = &v->window;
    size_t seam = w->first + w->n, n = list->n;

    move_slots(w->slot + w->n, list);
    w->n += n;
    invalidate_layout(v, seam > PARTNER_ROWS ? seam - PARTNER_ROWS : 0, PARTNER_ROWS);
    shrink(v, true);
    if (v->at_end) /* the cursor follows the end that is read later than the rest */
        v->placed = false;
}

static void prepend_slots(struct transcript_view *v, struct passage_list *list)
{
    struct transcript_window *w = &v->window;
    size_t seam = w->first, n = list->n;

    memmove(w->slot + n, w->slot, w->n * sizeof *w->slot);
    move_slots(w->slot, list);
    w->first -= n;
    w->n += n;
    invalidate_layout(v, seam, PARTNER_ROWS);
    shrink(v, false);
}

void transcript_view_set_rows(struct transcript_view *v, struct passage_list *list)
{
    struct transcript_window *w = &v->window;

    if (list->n > 0 && array_reserve(w->slot, w->cap, w->n + list->n)) {
        size_t first = list->passage[0].message;

        if (w->n == 0)
            w->first = first;
        if (first == w->first + w->n)
            append_slots(v, list);
        else if (first + list->n == w->first)
            prepend_slots(v, list);
        else if (first < w->first) /* only the first rows arrived: ask for fewer, so that the answer
                                      reaches the window */
            v->read_n = (v->read_n + 1) / 2;
    }
    conversation_passages_free(list);
}

static void transcript_window_request_rows(struct transcript_view *v, size_t first, size_t n,
                                           struct effects *fx)
{
    struct effect *e = effect_add(fx, EFFECT_READ, v->requester);

    e->conversation = conversation_retain(v->conversation);
    e->first = first;
    e->n = n;
    v->asked_read = e->generation;
    v->read_first = first;
    v->read_n = n;
}

static size_t transcript_window_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void transcript_view_request_rows(struct transcript_view *v, struct effects *fx)
{
    const struct transcript_window *w = &v->window;
    size_t count = transcript_view_count(v), end = w->first + w->n;
    size_t low = v->rows ? v->row[0].message : v->top.message;
    size_t high = v->rows ? v->row[v->rows - 1].message : v->top.message;

    if (v->asked_read || count == 0)
        return;
    if (w->n == 0) {
        size_t back =
            v->at_end || v->top.message + READ_ROWS / 2 > count ? READ_ROWS : READ_ROWS / 2;
        size_t first = v->top.message > back ? v->top.message - back : 0;

        transcript_window_request_rows(v, first,
                                       transcript_window_smaller(2 * READ_ROWS, count - first), fx);
    } else if (end < count && (high + READ_AHEAD >= end || v->seek_prompt > 0)) {
        transcript_window_request_rows(v, end, transcript_window_smaller(READ_ROWS, count - end),
                                       fx);
    } else if (w->first > 0 && (low < w->first + READ_AHEAD || v->seek_prompt < 0)) {
        /* Fewer after an answer that did not reach the window. */
        const bool again = v->read_first < w->first && v->read_n > 0 && v->read_n < READ_ROWS;
        const size_t n = transcript_window_smaller(again ? v->read_n : READ_ROWS, w->first);

        transcript_window_request_rows(v, w->first - n, n, fx);
    }
}

void transcript_view_go_to(struct transcript_view *v, struct transcript_position s)
{
    if (!transcript_window_slot(&v->window, s.message)) {
        transcript_window_clear(&v->window);
        v->rows = 0;
        v->asked_read = 0; /* the open question is no longer wanted */
    }
    v->top = v->cursor = s;
    v->at_end = false;
    v->owed = 0;
    v->seek_prompt = 0;
}

/* ---- another reading of the same file ---- */

static bool is_same_message(const struct transcript *old, size_t message,
                            const struct transcript *t, size_t i)
{
    const struct message *a = &old->message[message], *b = &t->message[i];

    return old->relative_offsets || t->relative_offsets ? id128_eq(a->id, b->id)
                                                        : a->offset == b->offset;
}

/* The index in t of a message of the old reading; t->n if it is not in t. Both readings have the
 * same end, so the search starts where the row should be. */
static size_t moved_message(const struct transcript *old, const struct transcript *t,
                            size_t message)
{
    size_t from_end = message < old->n ? old->n - message : 0;
    size_t guess = from_end && from_end <= t->n ? t->n - from_end : t->n;

    if (message >= old->n || (guess < t->n && is_same_message(old, message, t, guess)))
        return guess;
    for (size_t i = t->n; i-- > 0;)
        if (is_same_message(old, message, t, i))
            return i;
    return t->n;
}

/* Keeps the slots if the new reading has the same rows in the same order. */
static bool keep_window(struct transcript_view *v, const struct transcript *old,
                        const struct transcript *t)
{
    struct transcript_window *w = &v->window;
    size_t first = moved_message(old, t, w->first);

    if (w->n == 0 || first + w->n > t->n)
        return false;
    for (size_t i = 0; i < w->n; i++)
        if (!is_same_message(old, w->first + i, t, first + i))
            return false;
    for (size_t i = 0; i < w->n; i++) {
        if (old->message[w->first + i].flags != t->message[first + i].flags)
            w->slot[i].stamp = 0;
        w->slot[i].passage.message = first + i;
    }
    w->first = first;
    return true;
}

void transcript_view_replace(struct transcript_view *v, struct conversation *c)
{
    struct conversation *was = v->conversation;
    const struct transcript *t = c->transcript;

    v->conversation = c;
    v->asked_read = 0;
    if (was && v->placed && t->n > 0) {
        size_t top = moved_message(was->transcript, t, v->top.message);
        size_t cursor = moved_message(was->transcript, t, v->cursor.message);

        if (!keep_window(v, was->transcript, t))
            transcript_window_clear(&v->window);
        v->placed = !v->at_end && top < t->n && cursor < t->n;
        v->top.message = top;
        v->cursor.message = cursor;
    } else {
        transcript_window_clear(&v->window);
        v->placed = false;
    }
    if (v->window.n == 0)
        v->rows = 0;
    conversation_free(was);
}
