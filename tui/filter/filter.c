#include "tui/filter/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"

enum {
    /* the few higher scores share the last place and get the thorough score */
    SCORES = 4096,
    THOROUGH = 256, /* more than any screen shows */
    /* The cost of scoring a session, in rejected ones, and the cost that one frame has time for. */
    COST_SCORED = 12,
    COST_REGEX = 10 * COST_SCORED,
    COST_STEP = COST_SCORED * 6000,
    COST_SHORT = COST_STEP / 5, /* for a frame that has sorted the list */
};

bool filter_reserve(struct filter *f, size_t n)
{
    if (n > f->cap) {
        size_t cap = n + n / 2;
        struct filter_slot *slot = reallocarray(f->slot, cap, sizeof *slot);

        if (!slot)
            return false;
        f->slot = slot;
        for (size_t i = 0; i < TITLE_KEYS; i++) {
            uint64_t *front = reallocarray(f->front[i], cap, sizeof *front);

            if (!front)
                return false;
            f->front[i] = front;
        }
        for (size_t entry = f->cap; entry < cap; entry++)
            f->front[0][entry] = TITLE_NONE;

        memset(slot + f->cap, 0, (cap - f->cap) * sizeof *slot);
        f->cap = cap;
    }
    if (n > f->slots)
        f->slots = n;
    return true;
}

bool filter_set(struct filter *f, uint32_t entry, const struct session_row *row)
{
    struct filter_slot *slot = &f->slot[entry];
    uint64_t key[TITLE_KEYS];

    f->fresh = false;
    f->front[0][entry] = TITLE_NONE;
    slot->archived = row && row->flags & SESSION_ARCHIVED;
    slot->doc = row ? doc_new(row, &f->docs, slot->kept, &slot->room) : NULL;
    if (!slot->doc)
        return row == NULL;
    slot->kept = slot->doc;
    slot->sets = slot->doc->sets;

    struct fuzzy_haystack title = doc_haystack(slot->doc, DOC_TITLE);

    fold_title_keys((struct slice){ title.text, title.n }, key);
    for (size_t i = 0; i < TITLE_KEYS; i++)
        f->front[i][entry] = key[i];

    return true;
}

void filter_invalidate(struct filter *f)
{
    f->fresh = false;
}

void filter_fini(struct filter *f)
{
    query_fini(&f->query);
    arena_fini(&f->docs);
    free(f->slot);
    for (size_t i = 0; i < TITLE_KEYS; i++)
        free(f->front[i]);
    free(f->text);
    free(f->hit);
    free(f->fits);
    free(f->score);
    free(f->left);
    *f = (struct filter){ 0 };
}

static bool reserve_hits(struct filter *f, size_t n)
{
    if (n <= f->room)
        return true;
    size_t room = n + n / 4;
    uint32_t *hit = reallocarray(f->hit, room, sizeof *hit);

    if (hit)
        f->hit = hit;
    uint32_t *fits = reallocarray(f->fits, room, sizeof *fits);

    if (fits)
        f->fits = fits;
    int *score = reallocarray(f->score, room, sizeof *score);

    if (score)
        f->score = score;
    uint32_t *left = reallocarray(f->left, room, sizeof *left);

    if (left)
        f->left = left;
    if (!hit || !fits || !score || !left)
        return false;
    f->room = room;
    return true;
}

/* A single letter, the most frequent query, needs only the sets. */
static bool filter_is_letter(const struct query *q)
{
    return q->n == 1 && q->term[0].kind == TERM_FUZZY && q->term[0].needle.n == 1 &&
           !q->term[0].needle.keep_case && !q->term[0].negate;
}

/* Scores the entries that are left until the cost of a step is reached. */
static void score_entries(struct filter *f, const bool *marked)
{
    enum { AHEAD = 12, LINE = 64 };
    const struct query *q = &f->query;

    /* The letters that a session must have in some text. */
    uint64_t letters = 0;
    bool regex = false;

    for (size_t i = 0; i < q->n; i++) {
        const struct term *t = &q->term[i];
        bool lone = !t->or_before && (i + 1 == q->n || !q->term[i + 1].or_before);

        if (lone && !t->negate && (t->kind == TERM_FUZZY || t->kind == TERM_EXACT))
            letters |= t->needle.signature;
        regex |= t->kind == TERM_REGEX;
    }

    bool letter = filter_is_letter(q);
    size_t fits = f->fit_count, i = f->left_at;
    int enough = f->busy ? COST_SHORT : COST_STEP;

    f->busy = false;
    for (int cost = 0; i < f->left_end && cost < enough; i++, cost++) {
        uint32_t entry = f->left[i];
        const struct filter_slot *slot = &f->slot[entry];
        int score;

        /* The sessions of a sorted list are scattered in memory: those a few steps ahead are
         * prefetched while this one is scored. */
        const uint32_t *order = f->left;
        size_t n = f->left_end;

        if (i + AHEAD < n) {
            prefetch(&f->slot[order[i + AHEAD]]);
            const char *doc = (const char *)f->slot[order[i + AHEAD / 2]].doc;

            for (size_t at = 0; doc && at < 4 * LINE; at += LINE)
                prefetch(doc + at);
        }

        if (!slot->doc || ((slot->sets.all | slot->sets.names) & letters) != letters)
            continue;
        if (letter) {
            score = doc_letter_score(slot->sets, letters);
        } else {
            score = doc_score(slot->doc, q, marked && marked[entry], DOC_EFFORT_QUICK);
            cost += regex ? COST_REGEX : COST_SCORED;
        }
        if (score == FUZZY_NO_MATCH)
            continue;
        f->fits[fits] = entry;
        f->score[fits++] = score < SCORES ? score : SCORES - 1;
    }
    f->fit_count = fits;
    f->left_at = i;
    for (size_t k = 0; k < q->n; k++)
        if (q->term[k].kind == TERM_REGEX && grep_match_gave_up(q->term[k].matcher))
            snprintf(f->query.problem, sizeof f->query.problem,
                     "the expression takes too long; not all sessions were tried");
}

struct ranked {
    uint32_t place; /* in fits: the order of the list decides between equal scores */
    int score;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* The rows on the screen get the thorough score. */
static void sort_front(struct filter *f, const bool *marked)
{
    struct ranked front[THOROUGH];
    size_t n = f->hits < THOROUGH ? f->hits : THOROUGH;

    for (size_t i = 0; i < n; i++) {
        uint32_t e = f->fits[f->hit[i]];
        const struct doc *doc = f->slot[e].doc; /* NULL: it has vanished since it was scored */
        int score =
            doc ? doc_score(doc, &f->query, marked && marked[e], DOC_EFFORT_BEST) : FUZZY_NO_MATCH;

        front[i] = (struct ranked){ .place = f->hit[i], .score = score };
    }
    qsort(front, n, sizeof *front, by_rank);
    for (size_t i = 0; i < n; i++)
        f->hit[i] = front[i].place;
}

static void copy_entries(uint32_t *to, const uint32_t *from, size_t n)
{
    if (n > 0)
        memmove(to, from, n * sizeof *to);
}

bool filter_start(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                  int64_t now_ms, bool by_score)
{
    struct query next;

    if (!reserve_hits(f, n) || !query_parse(&next, text, now_ms))
        return false;
    /* If only letters were added, only the previous matches can match; but a word that has become long enough for the
     * beginning of an id matches more than before. */
    size_t last = f->query.n ? f->query.n - 1 : 0;
    bool is_prefix = f->query.n > 0 && next.n > last &&
                     f->query.term[last].needle.n < DOC_NAME_LEAST &&
                     next.term[last].needle.n >= DOC_NAME_LEAST;
    bool only_matches = f->fresh && !is_prefix && f->query.narrows && next.narrows &&
                        text.n >= f->text_n && f->text_n > 0 &&
                        memcmp(text.p, f->text, f->text_n) == 0;

    query_fini(&f->query);
    f->query = next;

    char *copy = malloc(text.n ? text.n : 1);

    if (!copy)
        return false;
    if (text.n > 0)
        memcpy(copy, text.p, text.n);
    free(f->text);
    f->text = copy;
    f->text_n = text.n;

    f->by_score = by_score;
    f->fresh = next.n > 0;
    f->shown = false;
    if (f->fresh) {
        /* The entries to score: the previous matches and those that were not scored yet, or all
         * entries. */
        if (only_matches) {
            size_t rest = f->left_end - f->left_at;

            if (rest > 0)
                copy_entries(f->left + f->fit_count, f->left + f->left_at, rest);
            copy_entries(f->left, f->fits, f->fit_count);
            f->left_end = f->fit_count + rest;
        } else {
            copy_entries(f->left, order, n);
            f->left_end = n;
        }
        f->left_at = f->fit_count = 0;
    } else { /* all match except archived sessions */
        f->hits = 0;
        for (size_t i = 0; i < n; i++) {
            f->hit[f->hits] = order[i];
            f->hits += !f->slot[order[i]].archived;
        }
        f->left_at = f->left_end = 0;
    }
    return true;
}

bool filter_pending(const struct filter *f)
{
    return f->left_at < f->left_end;
}

/* The matches so far, in their order. */
static void show_matches(struct filter *f, const bool *marked)
{
    f->hits = f->fit_count;
    if (!f->by_score) {
        copy_entries(f->hit, f->fits, f->hits);
        return;
    }

    /* A stable sort, highest first. hit then contains indexes of fits, not entries. */
    size_t start[SCORES + 1] = { 0 };

    for (size_t i = 0; i < f->fit_count; i++)
        start[SCORES - 1 - f->score[i] + 1]++;
    for (size_t s = 1; s <= SCORES; s++)
        start[s] += start[s - 1];
    for (size_t i = 0; i < f->fit_count; i++)
        f->hit[start[SCORES - 1 - f->score[i]]++] = (uint32_t)i;

    if (!filter_is_letter(&f->query))
        sort_front(f, marked);
    for (size_t i = 0; i < f->hits; i++)
        f->hit[i] = f->fits[f->hit[i]];
}

bool filter_step(struct filter *f, const bool *marked)
{
    score_entries(f, marked);
    if (filter_pending(f) && (f->quiet || f->shown))
        return false;
    if (f->query.n > 0)
        show_matches(f, marked);
    f->shown = true;
    return true;
}

bool filter_run(struct filter *f, struct slice text, const uint32_t *order, size_t n,
                const bool *marked, int64_t now_ms, bool by_score)
{
    if (!filter_start(f, text, order, n, now_ms, by_score))
        return false;
    do
        filter_step(f, marked);
    while (filter_pending(f));
    return true;
}
