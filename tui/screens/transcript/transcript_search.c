#include "lite/base/array.h"
#include "store/show/tool_call.h"
#include "tui/screens/transcript/transcript_internal.h"

#include <stdlib.h>

/* Searching: a worker finds the blocks that contain the needle and counts the occurrences in each;
 * this file finds the lines that show an occurrence, which may be folded away or broken across
 * lines. A step goes to an occurrence of a hit, never to "the next line that shows it", so that
 * each occurrence is visited once and has a number. */

enum { HITS_MAX = 1 << 18 };

static struct slice needle(const struct transcript_view *v)
{
    return buf_slice(&v->search.needle);
}

static void clear_hits(struct transcript_search *s)
{
    s->n = s->total = s->at = 0;
    s->nth = 0;
    s->done = s->limited = s->jump = s->wanted = s->again = false;
}

void transcript_view_search_fini(struct transcript_search *s)
{
    buf_fini(&s->needle);
    free(s->hit);
    *s = (struct transcript_search){ .n = 0 };
}

void transcript_view_search_cancel(struct transcript_view *v, struct effects *fx)
{
    effect_cancel(fx, v->requester, &v->search.asked);
    transcript_view_search_fini(&v->search);
}

void transcript_view_search_begin(struct transcript_view *v)
{
    v->search.typing = true;
    v->search.from = v->cursor;
    v->search.needle.n = 0;
    v->search.asked = 0; /* hits that still come belong to the words before */
    clear_hits(&v->search);
}

void transcript_view_search_return(struct transcript_view *v)
{
    /* A later reading of the file may have fewer messages. */
    if (transcript_view_position_cmp(v->cursor, v->search.from) == 0 ||
        v->search.from.message >= transcript_view_count(v))
        return;
    transcript_view_go_to(v, v->search.from);
    transcript_view_show_cursor(v, 3);
}

static void transcript_search_request_search(struct transcript_view *v, struct effects *fx)
{
    struct transcript_search *s = &v->search;
    struct buf text = { 0 };

    if (buf_add(&text, needle(v))) {
        transcript_view_notify_no_memory(v);
        return;
    }
    struct effect *e = effect_add(fx, EFFECT_SEARCH, v->requester);

    e->conversation = conversation_retain(v->conversation);
    e->text = text;
    s->asked = e->generation;
}

void transcript_view_search_typed(struct transcript_view *v, struct effects *fx)
{
    struct transcript_search *s = &v->search;

    clear_hits(s);
    effect_cancel(fx, v->requester, &s->asked);
    if (s->needle.n == 0 && s->typing)
        transcript_view_search_return(v);
    if (s->needle.n == 0 || !v->conversation)
        return;
    s->jump = true;
    transcript_search_request_search(v, fx);
}

void transcript_view_search_for(struct transcript_view *v, struct slice text, struct effects *fx)
{
    struct transcript_search *s = &v->search;

    transcript_view_search_cancel(v, fx);
    if (text.n == 0)
        return;
    if (buf_add(&s->needle, text)) {
        transcript_view_notify_no_memory(v);
        return;
    }
    s->waits = !v->conversation || v->conversation->transcript->partial;
    if (!s->waits)
        transcript_view_search_typed(v, fx);
}

void transcript_view_search_in(struct transcript_view *v, struct slice agent, struct slice text,
                               bool last, struct effects *fx)
{
    if (text.n && agent.n)
        transcript_view_open_agent(v, agent, (struct slice){ NULL, 0 }, fx);
    if (text.n && agent.n && v->inner)
        v = v->inner;
    transcript_view_search_for(v, text, fx);
    v->search.last = last && text.n;
}

bool transcript_view_search_ends(const struct transcript_view *v, struct slice text, int direction)
{
    const struct transcript_search *s = &v->search;

    if (v->inner)
        return transcript_view_search_ends(v->inner, text, direction);
    if (!s->done || s->typing || !slice_eq(needle(v), text))
        return false;
    if (s->n == 0 || !s->at || v->raw.shown || v->choice.names)
        return s->n == 0;
    return direction > 0 ? s->at == s->n && s->nth + 1 >= s->hit[s->at - 1].count
                         : s->at == 1 && s->nth == 0;
}

/* ---- answers ---- */

static int hit_cmp(const struct search_hit *a, const struct search_hit *b)
{
    if (a->message != b->message)
        return a->message < b->message ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->result == b->result ? 0 : b->result ? -1 : 1;
}

/* Results are found after the rows between them and their calls, so they are inserted near the end. */
static bool insert_hit(struct transcript_view *v, struct search_hit hit)
{
    struct transcript_search *s = &v->search;
    size_t at = s->n;

    if (s->n == HITS_MAX || !array_reserve(s->hit, s->cap, s->n + 1))
        return false;
    while (at > 0 && hit_cmp(&s->hit[at - 1], &hit) > 0)
        at--;
    memmove(s->hit + at + 1, s->hit + at, (s->n++ - at) * sizeof *s->hit);
    s->hit[at] = hit;
    if (s->at > at)
        s->at++;
    if (s->again && hit.message < transcript_view_count(v) && hit.block == s->here_hit.block &&
        hit.result == s->here_hit.result &&
        v->conversation->transcript->message[hit.message].offset == s->here) {
        s->at = at + 1;
        if (s->nth >= hit.count)
            s->nth = hit.count - 1;
        s->again = false;
    }
    return true;
}

/* The first hit at or after a message. */
static size_t hit_from(const struct transcript_search *s, size_t message)
{
    size_t low = 0, n = s->n;

    while (n) {
        size_t half = n / 2;

        if (s->hit[low + half].message < message) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* While the needle is typed, the cursor goes to the first hit after its starting position or, if
 * the whole search finds no such hit, to the very first hit. */
static void jump_to_hit(struct transcript_search *s)
{
    size_t at = hit_from(s, s->from.message);

    if (s->last && !s->done)
        return;
    if (s->last && s->n)
        at = s->n - 1;
    if (at == s->n)
        at = 0;
    if (s->n == 0 || (at == 0 && !s->done && s->hit[0].message < s->from.message)) {
        s->jump = !s->done;
        return;
    }
    s->at = 1 + at;
    s->nth = s->last && s->hit[at].count ? s->hit[at].count - 1 : 0;
    s->wanted = true;
    s->jump = s->last = false;
}

bool transcript_view_search_msg(struct transcript_view *v, const struct msg *msg)
{
    struct transcript_search *s = &v->search;

    if (!s->asked || msg->generation != s->asked)
        return false;
    if (msg->kind == MSG_FAILED) {
        s->asked = 0;
        s->done = true;
        return true;
    }
    if (msg->kind != MSG_FOUND)
        return msg->kind == MSG_PROGRESS;
    const struct search_hits *found = msg->u.found;

    /* All are counted, even those that the list has no room for. */
    for (size_t i = 0; i < found->n; i++) {
        s->total += found->hit[i].count;
        if (!insert_hit(v, found->hit[i]))
            s->limited = true;
    }

    s->done = found->done;
    if (s->done)
        s->asked = 0;
    search_hits_free(msg->u.found);
    if (s->jump)
        jump_to_hit(s);
    if (s->done && s->n == 0 && s->typing)
        transcript_view_search_return(v);
    return true;
}

/* ---- another reading of the file ---- */

void transcript_view_search_keep(struct transcript_view *v)
{
    struct transcript_search *s = &v->search;

    if (!s->at || s->again || s->hit[s->at - 1].message >= v->conversation->transcript->n)
        return;
    s->here_hit = s->hit[s->at - 1];
    s->here = v->conversation->transcript->message[s->here_hit.message].offset;
}

void transcript_view_search_again(struct transcript_view *v, struct effects *fx)
{
    struct transcript_search was = v->search;

    if (was.waits) {
        v->search.waits = v->conversation->transcript->partial;
        if (!v->search.waits)
            transcript_view_search_typed(v, fx);
        return;
    }
    if (was.needle.n == 0 || (!was.asked && !was.done))
        return;
    transcript_view_search_typed(v, fx);
    v->search.jump = was.jump;
    v->search.again = was.at || was.again;
    v->search.nth = was.nth;
    v->search.wanted = was.wanted;
}

/* ---- on the screen ---- */

bool transcript_view_line_text(const struct styled_text *styled_text, size_t at, struct buf *out)
{
    const struct line *l = &styled_text->line[at];

    for (uint32_t i = l->margin; i < l->runs; i++)
        if (buf_add(out, styled_text->run[l->run + i].text))
            return false;
    return l->end != LINE_JOINS_BLANK || buf_add_byte(out, ' ') == ERR_OK;
}

/* The lines of a message that show a hit, and the line of its n-th occurrence among them. */
struct lookup {
    const struct styled_text *styled_text;
    struct slice needle;
    const struct search_hit *hit;
    bool head;    /* the folded line of a call counts, too */
    size_t nth;   /* the number of the wanted occurrence, from the part that is shown on */
    size_t n;     /* occurrences seen */
    size_t line;  /* the line of the n-th match, or of the last before it */
    size_t first; /* line of the block; SIZE_MAX: none */
};

/* Searches one text that the layout broke into lines, from `first` on. Returns the line after
 * it. */
static size_t find_in_paragraph(struct lookup *l, size_t first, struct buf *text)
{
    size_t line = first, end = first, at, n, done = 0, behind = 0;

    text->n = 0;
    do {
        if (!transcript_view_line_text(l->styled_text, end, text))
            return l->styled_text->n;
    } while (l->styled_text->line[end++].end != LINE_ENDS && end < l->styled_text->n);
    struct slice all = buf_slice(text), rest = all;
    struct buf one = { 0 };

    while (search_text(rest, l->needle, &at, &n)) {
        /* The line in which the occurrence begins; `behind` is where that line begins in the text. */
        for (; line < end; behind += one.n, line++) {
            one.n = 0;
            if (!transcript_view_line_text(l->styled_text, line, &one) ||
                done + at < behind + one.n)
                break;
        }
        if (l->n <= l->nth)
            l->line = line < end ? line : end - 1;
        l->n++;
        done += at + n;
        rest = (struct slice){ all.p + done, all.n - done };
    }
    buf_fini(&one);
    return end;
}

static void find_in_styled_text(struct lookup *l, bool head)
{
    struct buf text = { 0 };

    l->head = head;
    l->n = 0;
    for (size_t i = 0; i < l->styled_text->n;) {
        const struct line *line = &l->styled_text->line[i];
        const bool of_hit = line->block == l->hit->block && line->result == l->hit->result &&
                            line->runs > 0 && !line->rule && line->part == PART_BLOCK &&
                            (l->head || i != l->first);

        i = of_hit ? find_in_paragraph(l, i, &text) : i + 1;
    }
    buf_fini(&text);
}

/* The text of a hit that may be cut into parts: an output, or a text without a call. */
static struct slice hit_text(const struct transcript_view *v, const struct slot *s,
                             const struct search_hit *hit)
{
    const struct block *b = &s->passage.blocks.block[hit->block];
    const struct slot *below = transcript_window_slot(&v->window, hit->message + hit->distance);

    if (!hit->result)
        return b->kind == BLOCK_TOOL_CALL ? SLICE("") : b->text;
    for (size_t i = 0; below && i < below->passage.blocks.n; i++) {
        const struct block *result = &below->passage.blocks.block[i];

        if (result->kind == BLOCK_TOOL_RESULT && slice_eq(result->call_id, b->call_id))
            return tool_call_result(result);
    }
    return SLICE("");
}

/* Shows the part of a very long text that contains an occurrence. */
static bool turn_to_occurrence(struct transcript_view *v, const struct slot *s,
                               const struct search_hit *hit, size_t nth)
{
    struct slice text = hit_text(v, s, hit), rest = text;
    size_t at, n;

    for (; search_text(rest, needle(v), &at, &n); nth--) {
        if (nth == 0)
            return folds_set_part(&v->folds,
                                  v->conversation->transcript->message[hit->message].offset,
                                  hit->block, tool_part_at(text, text.n - rest.n + at));
        rest = (struct slice){ rest.p + at + n, rest.n - at - n };
    }
    return false;
}

/* Finds the line that shows an occurrence with the present folds. Returns false if no line does,
 * and *line is then the line it is folded into. The first line of an open call repeats what is
 * below it, and counts only if the lines below show too few occurrences. */
static bool line_of(struct transcript_view *v, const struct search_hit *hit, size_t nth,
                    size_t *line)
{
    size_t lines = transcript_view_lines(v, hit->message);
    const struct slot *s = transcript_window_slot(&v->window, hit->message);

    *line = 0;
    if (!s || lines == 0 || hit->block >= s->passage.blocks.n)
        return false;
    struct lookup l = { .styled_text = &s->styled_text,
                        .needle = needle(v),
                        .hit = hit,
                        .nth = nth,
                        .first = SIZE_MAX };

    /* The first line of the block. */
    for (size_t i = 0; i < l.styled_text->n && l.first == SIZE_MAX; i++) {
        const struct line *first = &l.styled_text->line[i];

        l.first = first->block == hit->block && first->runs > 0 && !first->rule ? i : SIZE_MAX;
    }
    enum block_kind kind = s->passage.blocks.block[hit->block].kind;
    bool repeats = kind == BLOCK_TOOL_CALL || kind == BLOCK_TOOL_RESULT;

    /* Occurrences in the parts before the one that is shown are on no line. */
    int part = folds_part(&v->folds, kind,
                          v->conversation->transcript->message[hit->message].offset, hit->block);
    size_t before =
        part > 0 ? search_count(tool_text_part(hit_text(v, s, hit), part).before, needle(v)) : 0;

    l.line = *line = l.first == SIZE_MAX ? 0 : l.first;
    if (nth < before)
        return false;
    l.nth = nth - before;

    find_in_styled_text(&l, !repeats);
    if (repeats && !hit->result && l.n < hit->count)
        find_in_styled_text(&l, true);
    *line = l.line;
    return l.nth < l.n;
}

/* Opens the folds that hide an occurrence: the block, then the rest of its text. */
static size_t unfold_hit(struct transcript_view *v, const struct search_hit *hit, size_t nth)
{
    int64_t offset = v->conversation->transcript->message[hit->message].offset;
    const struct slot *s = transcript_window_slot(&v->window, hit->message);
    size_t line;

    if (line_of(v, hit, nth, &line) || hit->block >= s->passage.blocks.n)
        return line;
    enum block_kind kind = s->passage.blocks.block[hit->block].kind;

    for (int part = PART_BLOCK; part <= PART_MORE; part++)
        if (!folds_open(&v->folds, kind, offset, hit->block, (enum line_part)part)) {
            folds_toggle(&v->folds, offset, hit->block, (enum line_part)part);
            if (line_of(v, hit, nth, &line))
                return line;
        }
    if (turn_to_occurrence(v, s, hit, nth))
        line_of(v, hit, nth, &line);
    return line;
}

void transcript_view_search_settle(struct transcript_view *v)
{
    struct transcript_search *s = &v->search;

    if (!s->wanted || !s->at)
        return;
    struct search_hit hit = s->hit[s->at - 1];

    if (hit.message + hit.distance >= transcript_view_count(v)) {
        s->wanted = false;
        return;
    }
    if (!transcript_window_slot(&v->window, hit.message) ||
        !transcript_window_slot(&v->window, hit.message + hit.distance)) {
        if (v->top.message != hit.message)
            transcript_view_go_to(v, (struct transcript_position){ hit.message, 0 });
        return; /* continues when it is read */
    }
    s->wanted = false;
    v->at_end = false;
    v->cursor = (struct transcript_position){ hit.message, unfold_hit(v, &hit, s->nth) };
    transcript_view_show_cursor(v, 4);
    s->shown = v->cursor;
}

/* Finds the first occurrence in the lines after the cursor, or, with `here`, also in the cursor's
 * own line. Returns its hit, or s->n if nothing is found. */
static size_t hit_from_cursor(struct transcript_view *v, bool here, uint32_t *nth)
{
    const struct transcript_search *s = &v->search;
    size_t at = hit_from(s, v->cursor.message), line;

    for (*nth = 0; at < s->n && s->hit[at].message == v->cursor.message; at++) {
        uint32_t low = 0, n = s->hit[at].count; /* lines of later occurrences are never higher */

        while (n) {
            line_of(v, &s->hit[at], low + n / 2, &line);
            if (line + here > v->cursor.line) {
                n /= 2;
            } else {
                low += n / 2 + 1;
                n -= n / 2 + 1;
            }
        }
        if (low < s->hit[at].count) {
            *nth = low;
            break;
        }
    }
    return at;
}

static void step_on(struct transcript_view *v, size_t at, uint32_t nth)
{
    struct transcript_search *s = &v->search;

    if (at == s->n && !s->done) {
        transcript_view_notify(v, "still searching the rest");
        return;
    }
    if (at == s->n) {
        transcript_view_notify(v, "wrapped to the first match");
        at = nth = 0;
    }
    s->at = at + 1;
    s->nth = nth;
    s->wanted = true;
}

/* Goes to the occurrence before this one. */
static void transcript_search_step_back(struct transcript_view *v, size_t at, uint32_t nth)
{
    struct transcript_search *s = &v->search;

    if (nth > 0) {
        nth--;
    } else {
        if (at == 0)
            transcript_view_notify(v, "wrapped to the last match");
        at = at > 0 ? at - 1 : s->n - 1;
        nth = s->hit[at].count - 1;
    }
    s->at = at + 1;
    s->nth = nth;
    s->wanted = true;
}

/* Steps from the current occurrence, or from the cursor if it was moved since. A preview has no cursor of its own. */
void transcript_view_search_step(struct transcript_view *v, int direction)
{
    struct transcript_search *s = &v->search;
    uint32_t nth = s->nth;
    bool there = s->at && (s->wanted || transcript_view_is_preview(v) ||
                           transcript_view_position_cmp(v->cursor, s->shown) == 0);
    size_t at = there ? s->at - 1 : 0;

    if (s->n == 0) {
        transcript_view_refuse(v, s->done ? "not found" : "still searching");
        return;
    }
    if (!there)
        at = hit_from_cursor(v, direction < 0, &nth);
    else if (direction > 0 && ++nth >= s->hit[at].count) {
        at++;
        nth = 0;
    }
    if (direction > 0)
        step_on(v, at, nth);
    else
        transcript_search_step_back(v, at, nth);
}
