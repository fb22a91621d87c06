#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "tui/screens/list/list.h"

/* When a session is searched. */
enum { TURN_NEVER, TURN_FIRST, TURN_LATER };

enum {
    AHEAD = 8,
    SLICE_FIRST = 256, /* sessions: each next slice is larger, up to */
    SLICE_MOST = 4096,
    TEXT_MIN = 2, /* one letter is in every conversation */
    /* Letters that arrive together are one text: the first hit is awaited from here on. */
    PAUSE_MS = 5,
};

struct slice list_content_text(const struct list *l)
{
    struct slice text = { l->filter.query.words, l->filter.query.words_n };

    return text.n >= TEXT_MIN ? text : (struct slice){ NULL, 0 };
}

static void forget_hits(struct list_content *c)
{
    arena_fini(&c->arena);
    if (c->hit)
        memset(c->hit, 0, c->cap * sizeof *c->hit);
    c->sessions = c->lines = 0;
    c->stale = false;
}

static void end_search(struct list *l, struct effects *fx)
{
    effect_cancel(fx, REQUESTER_LIST, &l->content.asked);
    l->content.ask_ms = TIME_NONE;
    l->content.complete = false;
}

void list_content_typed(struct list *l, struct effects *fx)
{
    struct list_content *c = &l->content;
    struct slice text = list_content_text(l);

    if (slice_eq(text, buf_slice(&c->text)))
        return;
    if (text.n == 0) {
        end_search(l, fx);
        forget_hits(c);
        c->text.n = 0;
        return;
    }
    if (c->ask_ms == TIME_NONE)
        c->ask_ms = *l->now_ms + PAUSE_MS;
}

/* Those that match the filter come first. Returns false if out of memory. */
static bool decide_turns(struct list *l, bool only_hits)
{
    struct list_content *c = &l->content;
    const struct query *q = &l->filter.query;

    if (!array_reserve(c->turn, c->turn_cap, l->sessions.n))
        return false;
    c->turns = l->sessions.n;
    c->to_search = 0;
    memset(c->turn, TURN_NEVER, c->turn_cap * sizeof *c->turn);
    for (size_t i = 0; i < l->order.n; i++) {
        uint32_t entry = l->order.entry[i];

        if (only_hits && !list_content_hit(l, entry))
            continue;
        const struct doc *doc = l->filter.slot[entry].doc;
        const bool marked = entry < l->marked_cap && l->marked[entry];

        c->turn[entry] =
            q->n == 0 || (doc && doc_score(doc, q, marked, DOC_EFFORT_QUICK) != FUZZY_NO_MATCH)
                ? TURN_FIRST
                : TURN_LATER;
        c->to_search++;
    }
    return true;
}

/* The next sessions to search; none if all have had their turn. NULL if out of memory. */
static struct ref_list *next_slice(struct list *l)
{
    struct list_content *c = &l->content;
    struct ref_list *refs = ref_list_new();

    if (refs && !ref_list_reserve(refs, c->slice)) {
        ref_list_free(refs);
        return NULL;
    }
    for (uint8_t turn = TURN_FIRST; turn <= TURN_LATER; turn++)
        for (size_t i = 0; refs && i < l->order.n && refs->n < c->slice; i++) {
            uint32_t entry = l->order.entry[i];

            if (entry >= c->turns || c->turn[entry] != turn)
                continue;
            /* Their texts are scattered over the memory, and the search waits for this. */
            if (i + 2 * AHEAD < l->order.n)
                prefetch(&l->sessions.entry[l->order.entry[i + 2 * AHEAD]].ref);
            if (i + AHEAD < l->order.n)
                prefetch(l->sessions.entry[l->order.entry[i + AHEAD]].ref.path.p);
            c->turn[entry] = TURN_NEVER;
            if (!ref_list_add(refs, &l->sessions.entry[entry].ref, entry)) {
                ref_list_free(refs);
                return NULL;
            }
        }
    c->slice = c->slice * 2 < SLICE_MOST ? c->slice * 2 : SLICE_MOST;
    return refs;
}

/* Takes the refs over. */
static void request_slice(struct list *l, struct ref_list *refs, struct effects *fx)
{
    struct list_content *c = &l->content;
    struct buf asked = { 0 };

    if (!refs || buf_add(&asked, buf_slice(&c->text))) {
        ref_list_free(refs);
        snprintf(c->problem, sizeof c->problem, ERR_NOMEM_TEXT);
        return;
    }
    struct effect *e = effect_add(fx, EFFECT_GREP, REQUESTER_LIST);

    e->refs = refs;
    e->text = asked;
    c->asked = e->generation;
}

void list_content_request_search(struct list *l, struct effects *fx)
{
    struct list_content *c = &l->content;
    struct slice text = list_content_text(l);
    /* A longer text can only occur where the shorter one does, and each further word is required, too. This also holds for
     * capitals: they make their word case-sensitive, which never adds a session. */
    const bool narrows =
        c->complete && c->text.n && text.n > c->text.n && memcmp(text.p, c->text.p, c->text.n) == 0;
    bool ok = decide_turns(l, narrows);

    end_search(l, fx);
    c->text.n = 0;
    c->read_sessions = c->read_bytes = c->slice_sessions = c->slice_bytes = 0;
    c->slice = SLICE_FIRST;
    c->problem[0] = '\0';
    c->stale = true;
    ok = ok && buf_add(&c->text, text) == ERR_OK;
    request_slice(l, ok ? next_slice(l) : NULL, fx);
}

void list_content_renumbered(struct list *l, struct effects *fx)
{
    end_search(l, fx);
    forget_hits(&l->content);
    l->content.text.n = 0;
    if (list_content_text(l).n)
        l->content.ask_ms = *l->now_ms;
}

static bool keep_hit(struct list *l, const struct content_hit *hit)
{
    struct list_content *c = &l->content;
    size_t before = c->cap;

    if (hit->entry >= l->sessions.n)
        return true;
    if (!array_reserve(c->hit, c->cap, l->sessions.n))
        return false;
    memset(c->hit + before, 0, (c->cap - before) * sizeof *c->hit);
    /* A session may arrive again when more of it has been read. */
    c->sessions += c->hit[hit->entry].lines == 0;
    c->lines += hit->lines - c->hit[hit->entry].lines;
    c->hit[hit->entry] = *hit;
    c->hit[hit->entry].snippet = arena_copy(&c->arena, hit->snippet);
    c->hit[hit->entry].agent = arena_copy(&c->arena, hit->agent);
    return c->hit[hit->entry].snippet.p != NULL;
}

static void keep_hits(struct list *l, const struct content_hits *list, bool last)
{
    struct list_content *c = &l->content;
    bool kept = true;

    c->read_bytes = c->slice_bytes + list->bytes;
    c->read_sessions = c->slice_sessions + list->sessions;
    if (c->stale && (list->n || last)) /* those of the text before stay until then */
        forget_hits(c);
    for (size_t i = 0; kept && i < list->n; i++)
        kept = keep_hit(l, &list->hit[i]);
    if (!kept)
        snprintf(c->problem, sizeof c->problem, ERR_NOMEM_TEXT);
    if (list->done) {
        c->slice_bytes = c->read_bytes;
        c->slice_sessions = c->read_sessions;
        c->asked = 0;
        c->complete = last;
    }
}

bool list_content_msg(struct list *l, const struct msg *msg, struct effects *fx)
{
    struct list_content *c = &l->content;
    bool mine = c->asked != 0 && msg->generation == c->asked;

    if (msg->kind == MSG_FAILED && mine) {
        c->asked = 0;
        forget_hits(c);
        snprintf(c->problem, sizeof c->problem, "%s", msg->u.error.text);
        list_rebuild(l, fx);
        return true;
    }
    if (msg->kind != MSG_CONTENT)
        return false;

    /* The hits of an earlier search are only freed. */
    if (mine) {
        const struct content_hits *hits = msg->u.content;

        /* The sessions are searched in slices; when no session is left for the next one, the search is complete. */
        struct ref_list *next = hits->done ? next_slice(l) : NULL;
        bool last = hits->done && next && next->n == 0;

        keep_hits(l, hits, last);
        if (hits->n || last)
            list_arrange(l, fx);
        if (last)
            ref_list_free(next);
        else if (hits->done)
            request_slice(l, next, fx);
    }
    content_hits_free(msg->u.content);
    return true;
}

const uint32_t *list_content_entries(struct list *l, size_t *n)
{
    struct list_content *c = &l->content;

    *n = 0;
    if (!array_reserve(c->entry, c->entry_cap, l->order.n))
        return NULL;
    for (size_t i = 0; i < l->order.n; i++)
        if (list_content_hit(l, l->order.entry[i]))
            c->entry[(*n)++] = l->order.entry[i];
    return c->entry;
}

const struct content_hit *list_content_hit(const struct list *l, uint32_t entry)
{
    return entry < l->content.cap && l->content.hit[entry].lines ? &l->content.hit[entry] : NULL;
}

void list_content_preview(struct list *l, struct effects *fx)
{
    struct list_content *c = &l->content;
    const struct content_hit *hit = l->viewed == ENTRY_NONE ? NULL : list_content_hit(l, l->viewed);
    struct slice text = hit && hit->agent.n == 0 ? buf_slice(&c->text) : (struct slice){ NULL, 0 };
    bool typing = c->stale || c->ask_ms != TIME_NONE;

    if (l->viewed == ENTRY_NONE || (typing && c->preview_entry == l->viewed) ||
        (c->preview_entry == l->viewed && slice_eq(text, buf_slice(&c->previewed))))
        return;
    c->preview_entry = l->viewed;
    c->previewed.n = 0;
    if (typing || buf_add(&c->previewed, text))
        return;
    transcript_view_search_in(l->view, (struct slice){ NULL, 0 }, text, c->preview_last, fx);
    c->preview_last = false;
}

void list_content_step(struct list *l, int direction, struct effects *fx)
{
    struct list_content *c = &l->content;
    const bool shown = l->viewed != ENTRY_NONE && l->viewed == l->selected &&
                       c->preview_entry == l->viewed && c->previewed.n > 0;

    if (shown && (l->filter.hits < 2 ||
                  !transcript_view_search_ends(l->view, buf_slice(&c->previewed), direction))) {
        transcript_view_act(l->view, direction > 0 ? ACT_SEARCH_NEXT : ACT_SEARCH_PREV, fx);
    } else if (l->filter.hits > 1) {
        size_t last = l->filter.hits - 1;

        c->preview_last = direction < 0;
        list_move_to(l,
                     direction > 0 ? (l->at < last ? l->at + 1 : 0)
                     : l->at > 0   ? l->at - 1
                                   : last,
                     fx);
    }
}

/* The end of the character that begins at i, and the beginning of the one that ends there. */
static size_t after_char(struct slice text, size_t i)
{
    do
        i++;
    while (i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80);
    return i;
}

static size_t before_char(struct slice text, size_t i)
{
    do
        i--;
    while (i > 0 && ((unsigned char)text.p[i] & 0xc0) == 0x80);
    return i;
}

/* How much of n bytes may be left out so that no word is cut. More bytes without a blank are no word: they are writing
 * without blanks, or an address. */
static size_t snippet_word(size_t n)
{
    enum { SNIPPET_WORD = 24 };

    return n / 2 < SNIPPET_WORD ? n / 2 : SNIPPET_WORD;
}

static int width_between(struct slice text, size_t from, size_t to)
{
    return frame_width((struct slice){ text.p + from, to - from });
}

void list_content_fit(const struct content_hit *hit, int w, int sign, size_t *from, size_t *to)
{
    struct slice text = hit->snippet;
    size_t first = hit->ranges ? hit->range[0].from : 0, last = hit->ranges ? hit->range[0].to : 0;

    /* A third of the free columns is for the text before the first match; more if the text after it needs less. */
    int third = (w - width_between(text, first, last) - 2 * sign) / 3;
    int before = w - 2 * sign - width_between(text, first, text.n);

    before = before > third ? before : third;
    *from = first;
    while (*from > 0 && (before -= width_between(text, before_char(text, *from), *from)) >= 0)
        *from = before_char(text, *from);

    /* A cut within a word moves forward to the next word, if one begins before the match. */
    if (*from > 0 ? text.p[*from - 1] != ' ' : hit->cut_before) {
        const char *blank = memchr(text.p + *from, ' ', snippet_word(first - *from));

        *from = blank ? (size_t)(blank - text.p) + 1 : *from;
    }

    int room = w - sign * (*from > 0 || hit->cut_before) - width_between(text, *from, last);

    *to = text.n;
    if (width_between(text, last, text.n) + sign * hit->cut_after <= room)
        return;

    /* The end is cut, too, before a word that does not fit. */
    room -= sign;
    for (*to = last; *to < text.n; *to = after_char(text, *to))
        if ((room -= width_between(text, *to, after_char(text, *to))) < 0)
            break;
    for (size_t end = *to, least = *to - snippet_word(*to - last); end > least; end--)
        if (end < text.n && text.p[end] == ' ') {
            *to = end;
            return;
        }
}

void list_content_fini(struct list *l)
{
    buf_fini(&l->content.text);
    buf_fini(&l->content.previewed);
    arena_fini(&l->content.arena);
    free(l->content.hit);
    free(l->content.entry);
    free(l->content.turn);
}
