#include "lite/needle.h"

#include <assert.h>
#include <string.h>

#include "lite/block_avx2.h"

enum {
    NONE = 255,
    KEY_END = 4,
    VALUE =
        3, /* from the quote over the colon and one byte more: the quote or blank a value begins with */
    VALUE_FRONT = 2, /* bytes of the value that are looked at */
};

/* ---- needles ---- */

static size_t hash(const char *key_end)
{
    uint32_t bytes;

    memcpy(&bytes, key_end, sizeof bytes);
    return (bytes * UINT32_C(2654435761)) >> 24;
}

/* One of 64 bits. */
static uint64_t value_bit(const char *value)
{
    uint16_t bytes;

    memcpy(&bytes, value, sizeof bytes);
    return UINT64_C(1) << ((bytes * UINT32_C(2654435761)) >> 26);
}

static uint64_t eight(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

static size_t key_hash(const struct needle_set *set, size_t i)
{
    return hash(set->needle[i].p + set->quote[i] + 1 - KEY_END);
}

/* What may follow where this needle stands. */
static uint64_t may_follow(const struct needle_set *set, size_t i)
{
    size_t value = set->quote[i] + (size_t)VALUE;

    return value + VALUE_FRONT <= set->needle[i].n ? value_bit(set->needle[i].p + value)
                                                   : ~UINT64_C(0);
}

void needle_set_init(struct needle_set *set, const struct slice needles[], size_t n)
{
    assert(n >= 1 && n <= NEEDLE_MAX);
    set->n = n;
    memset(set->first, NONE, sizeof set->first);
    memset(set->may, 0, sizeof set->may);
    for (size_t i = 0; i < n; i++) {
        const char *pair = memmem(needles[i].p, needles[i].n, "\":", 2);
        size_t quote = pair ? (size_t)(pair - needles[i].p) : 0;

        assert(needles[i].n >= NEEDLE_SHORTEST && quote + 1 >= KEY_END && quote < NONE);
        uint8_t *first = &set->first[hash(pair + 1 - KEY_END)];

        set->needle[i] = needles[i];
        set->back[i] = eight(needles[i].p + needles[i].n - sizeof set->back[i]);
        set->quote[i] = (uint8_t)quote;
        set->next[i] = *first;
        *first = (uint8_t)i;
        set->may[key_hash(set, i)] |= may_follow(set, i);
    }
}

/* Which of the needles with one hash has its pair here, if any. */
static bool needle_at(const struct needle_walk *w, size_t i, size_t quote, size_t *which)
{
    const struct needle_set *set = w->set;

    for (; i != NONE; i = set->next[i]) {
        size_t begin = quote - set->quote[i], end = begin + set->needle[i].n;

        if (quote >= set->quote[i] && end <= w->text.n && !(w->off >> i & 1) &&
            eight(w->text.p + end - sizeof(uint64_t)) == set->back[i] &&
            memcmp(w->text.p + begin, set->needle[i].p, set->needle[i].n) == 0) {
            *which = i;
            return true;
        }
    }
    return false;
}

/* ---- pairs of quote and colon: goes on to the next ones that may be in a needle; false at the front ---- */

/* Too near to the front there is no room for a key. */
static bool find_pair(struct needle_walk *w)
{
    const char *p = w->text.p, *colon;

    while (w->base > KEY_END - 1 && (colon = memrchr(p + KEY_END, ':', w->base - KEY_END + 1))) {
        w->base = (size_t)(colon - p) - 1;
        if (colon[-1] != '"')
            continue;
        w->pair[0] = 0;
        w->n = 1;
        return true;
    }
    w->base = 0;
    return false;
}

#if defined(__x86_64__)
/* The pairs of a stretch, first to last. */
WITH_AVX2 static unsigned find_all(const char *p, size_t stretch, uint16_t *pair)
{
    const __m256i quote = _mm256_set1_epi8('"'), colon = _mm256_set1_epi8(':');
    unsigned n = 0;

    for (unsigned at = 0; at < stretch; at += BLOCK) {
        struct block here = block_load(p + at), behind = block_load(p + at + 1);
        uint64_t left = block_bits(_mm256_and_si256(_mm256_cmpeq_epi8(here.low, quote),
                                                    _mm256_cmpeq_epi8(behind.low, colon)),
                                   _mm256_and_si256(_mm256_cmpeq_epi8(here.high, quote),
                                                    _mm256_cmpeq_epi8(behind.high, colon)));
        unsigned count = (unsigned)__builtin_popcountll(left);

        /* A few at once, which the next ones overwrite where there are none: how many there are cannot be
         * guessed, and seldom are there more. */
        unsigned i = 0;

        do {
            for (unsigned j = 0; j < NEEDLE_SPARE; j++, left &= left - 1)
                pair[n + i + j] = (uint16_t)(at + (unsigned)_tzcnt_u64(left));
            i += NEEDLE_SPARE;
        } while (__builtin_expect(i < count, 0));
        n += count;
    }
    return n;
}

/* Those that may be in a needle. Without a branch, since nobody could guess it. */
static unsigned keep_likely(const struct needle_walk *w, const char *p, uint16_t *pair, unsigned n)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < n; i++) {
        const char *quote = p + pair[i];
        uint64_t may = w->may[hash(quote + 1 - KEY_END)] & value_bit(quote + VALUE);

        pair[kept] = pair[i];
        kept += may != 0;
    }
    return kept;
}

/* Stretch by stretch; the last pairs, behind which a value might not have room, and the first few bytes are
 * left to the plain search. */
WITH_AVX2 static bool find_pairs_avx2(struct needle_walk *w)
{
    while (w->base >= BLOCK + KEY_END && w->text.n - w->base >= VALUE + VALUE_FRONT) {
        size_t stretch = (w->base - KEY_END) / BLOCK * BLOCK;

        if (stretch > NEEDLE_STRETCH)
            stretch = NEEDLE_STRETCH;
        w->base -= stretch;
        const char *p = w->text.p + w->base;

        w->n = keep_likely(w, p, w->pair, find_all(p, stretch, w->pair));
        if (w->n)
            return true;
    }
    return find_pair(w);
}
#endif

static needle_find_fn *find_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return find_pairs_avx2;
#endif
    return find_pair;
}

void needle_walk_init(struct needle_walk *w, const struct needle_set *set, struct slice text)
{
    w->set = set;
    w->find = find_best();
    w->text = text;
    w->base = text.n ? text.n - 1 : 0;
    w->off = 0;
    w->n = 0;
    memcpy(w->may, set->may, sizeof w->may);
}

bool needle_walk_next(struct needle_walk *w, size_t *at, size_t *which)
{
    do {
        while (w->n) {
            size_t quote = w->base + w->pair[--w->n];
            size_t first = w->set->first[hash(w->text.p + (quote + 1 - KEY_END))];

            if (first != NONE && needle_at(w, first, quote, which)) {
                *at = quote - w->set->quote[*which];
                return true;
            }
        }
    } while (w->find(w));
    return false;
}

void needle_walk_drop(struct needle_walk *w, size_t which)
{
    const struct needle_set *set = w->set;
    size_t key = key_hash(set, which);

    w->off |= UINT32_C(1) << which;
    w->may[key] = 0;
    for (size_t i = set->first[key]; i != NONE; i = set->next[i])
        if (!(w->off >> i & 1))
            w->may[key] |= may_follow(set, i);
}
