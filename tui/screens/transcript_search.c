#include "tui/screens/transcript_state.h"

#include <stdlib.h>

/* Searching: a worker finds the blocks that hold the needle, in order; on the screen the lines that show it are
 * looked for again, since a needle may lie behind a fold, or be broken by a line's end. */

enum { HITS_MAX = 1 << 18 };

static struct slice needle(const struct transcript_view *v)
{
    return buf_slice(&v->search.needle);
}

static void forget_hits(struct search *s)
{
    s->n = s->total = s->wanted = 0;
    s->done = s->limited = s->jump = false;
}

void view_search_fini(struct search *s)
{
    buf_fini(&s->needle);
    free(s->hit);
    *s = (struct search){ .n = 0 };
}

void view_search_cancel(struct transcript_view *v, struct effects *fx)
{
    if (v->search.asked)
        effect_add(fx, EFFECT_CANCEL, v->asker)->generation = v->search.asked;
    view_search_fini(&v->search);
}

void view_search_begin(struct transcript_view *v)
{
    v->search.typing = true;
    v->search.from = v->cursor;
    v->search.needle.n = 0;
    forget_hits(&v->search);
}

static void ask(struct transcript_view *v, struct effects *fx)
{
    struct search *s = &v->search;
    struct buf text = { 0 };

    if (buf_add(&text, needle(v))) {
        view_say(v, "out of memory");
        return;
    }
    struct effect *e = effect_add(fx, EFFECT_SEARCH, v->asker);

    e->conversation = conversation_hold(v->conversation);
    e->text = text;
    s->asked = e->generation;
}

void view_search_typed(struct transcript_view *v, struct effects *fx)
{
    struct search *s = &v->search;

    forget_hits(s);
    if (s->asked)
        effect_add(fx, EFFECT_CANCEL, v->asker)->generation = s->asked;
    s->asked = 0;
    if (s->needle.n == 0 || !v->conversation)
        return;
    s->jump = true;
    ask(v, fx);
}

/* ---- answers ---- */

static bool keep(struct search *s, struct hit hit)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 256;
        struct hit *p = cap > HITS_MAX ? NULL : reallocarray(s->hit, cap, sizeof *p);

        if (!p)
            return false;
        s->hit = p;
        s->cap = cap;
    }
    s->hit[s->n++] = hit;
    return true;
}

/* The first hit at or behind a message. */
static size_t hit_from(const struct search *s, size_t message)
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

/* While it is typed, the cursor goes to the first hit behind where it was; round to the top when all is
 * searched and there was none. */
static void jump(struct search *s)
{
    size_t at = hit_from(s, s->from.message);

    if (at < s->n)
        s->wanted = 1 + at;
    else if (s->done && s->n > 0)
        s->wanted = 1;
    if (s->wanted || s->done)
        s->jump = false;
}

bool view_search_msg(struct transcript_view *v, const struct msg *msg)
{
    struct search *s = &v->search;

    if (!s->asked || msg->generation != s->asked)
        return false;
    if (msg->kind == MSG_FAILED) {
        s->asked = 0;
        s->done = true;
        return true;
    }
    if (msg->kind != MSG_FOUND)
        return msg->kind == MSG_PROGRESS;
    const struct hit_list *found = msg->u.found;

    for (size_t i = 0; i < found->n; i++) {
        s->total += found->hit[i].count;
        if (!keep(s, found->hit[i]))
            s->limited = true;
    }
    s->done = found->done;
    if (s->done)
        s->asked = 0;
    hit_list_free(msg->u.found);
    if (s->jump)
        jump(s);
    return true;
}

/* ---- on the screen ---- */

static bool line_holds(const struct sheet *sheet, size_t at, struct slice what, struct buf *scratch)
{
    const struct line *l = &sheet->line[at];
    size_t where, n;

    scratch->n = 0;
    for (uint32_t i = 0; i < l->runs; i++)
        if (buf_add(scratch, sheet->run[l->run + i].text))
            return false;
    return search_text(buf_slice(scratch), what, &where, &n);
}

/* The first line from `line` on, in this direction, that shows the needle. */
static bool find_line(struct transcript_view *v, size_t message, size_t line, int way, size_t *out)
{
    size_t lines = view_lines(v, message);
    const struct slot *s = window_slot(&v->window, message);
    struct buf scratch = { 0 };
    bool found = false;

    for (; s && line < lines && !found; line = way > 0 ? line + 1 : line - 1) {
        found = line_holds(&s->sheet, line, needle(v), &scratch);
        if (found)
            *out = line;
        if (line == 0 && way < 0)
            break;
    }
    buf_fini(&scratch);
    return found;
}

/* A result is shown under its call: which message and block that is. */
static void owner_of(struct transcript_view *v, size_t *message, uint32_t *block)
{
    const struct slot *s = window_slot(&v->window, *message);
    const struct block_list *list = &s->passage.blocks;

    if (*block >= list->n || list->block[*block].kind != BLOCK_TOOL_RESULT)
        return;
    struct slice id = list->block[*block].call_id;

    for (size_t m = *message + 1; id.n && m-- > v->window.first && *message - m < 64;) {
        const struct block_list *above = &window_slot(&v->window, m)->passage.blocks;

        for (size_t i = 0; i < above->n; i++)
            if (above->block[i].kind == BLOCK_TOOL_CALL && slice_eq(above->block[i].call_id, id)) {
                *message = m;
                *block = (uint32_t)i;
                return;
            }
    }
}

/* Opens what hides the needle: the block, then the rest of its text. */
static bool reveal(struct transcript_view *v, size_t message, uint32_t block, size_t *line)
{
    const struct message *m = &v->conversation->transcript->message[message];
    const struct slot *s = window_slot(&v->window, message);
    enum block_kind kind = s->passage.blocks.block[block].kind;

    if (find_line(v, message, 0, 1, line))
        return true;
    if (!folds_open(&v->folds, kind, m->offset, block, PART_BLOCK)) {
        folds_toggle(&v->folds, m->offset, block, PART_BLOCK);
        if (find_line(v, message, 0, 1, line))
            return true;
    }
    if (!folds_open(&v->folds, kind, m->offset, block, PART_MORE))
        folds_toggle(&v->folds, m->offset, block, PART_MORE);
    return find_line(v, message, 0, 1, line);
}

void view_search_settle(struct transcript_view *v)
{
    struct search *s = &v->search;

    if (!s->wanted || s->wanted > s->n)
        return;
    const struct hit *hit = &s->hit[s->wanted - 1];
    size_t message = hit->message, line = 0;
    uint32_t block = hit->block;

    if (message >= view_count(v)) {
        s->wanted = 0;
        return;
    }
    if (!window_slot(&v->window, message)) {
        if (v->top.message != message)
            view_go_to(v, (struct spot){ message, 0 });
        return; /* goes on when it is read */
    }
    s->wanted = 0;
    owner_of(v, &message, &block);
    if (block < window_slot(&v->window, message)->passage.blocks.n)
        reveal(v, message, block, &line);
    v->at_end = false;
    v->cursor = (struct spot){ message, line };
    view_show_cursor(v, 4);
}

void view_search_step(struct transcript_view *v, int way)
{
    struct search *s = &v->search;
    size_t line = 0;

    if (s->n == 0 ||
        (way < 0 && v->cursor.line == 0
             ? false
             : find_line(v, v->cursor.message, way > 0 ? v->cursor.line + 1 : v->cursor.line - 1,
                         way, &line))) {
        if (s->n > 0) {
            v->at_end = false;
            v->cursor.line = line;
            view_show_cursor(v, 4);
        }
        return;
    }
    size_t at = hit_from(s, way > 0 ? v->cursor.message + 1 : v->cursor.message);

    if (way > 0) {
        s->wanted = at < s->n ? 1 + at : 1;
        if (at == s->n)
            view_say(v, "went round to the first");
    } else {
        s->wanted = at > 0 ? at : s->n;
        if (at == 0)
            view_say(v, "went round to the last");
    }
}
