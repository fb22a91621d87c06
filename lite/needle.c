#include "lite/needle.h"

#include <assert.h>
#include <string.h>

#include "lite/block_avx2.h"

enum { NONE = 255, KEY_END = 4 };

/* ---- needles ---- */

static size_t hash(const char *key_end)
{
    uint32_t bytes;

    memcpy(&bytes, key_end, sizeof bytes);
    return (bytes * UINT32_C(2654435761)) >> 24;
}

static uint64_t eight(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

void needle_set_init(struct needle_set *set, const struct slice needles[], size_t n)
{
    assert(n >= 1 && n <= NEEDLE_MAX);
    set->n = n;
    memset(set->first, NONE, sizeof set->first);
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

/* ---- pairs of quote and colon: goes on to the next places that have one; false at the front ---- */

static bool find_pair(struct needle_walk *w)
{
    const char *p = w->text.p, *colon;

    while (w->base > 0 && (colon = memrchr(p + 1, ':', w->base))) {
        w->base = (size_t)(colon - p) - 1;
        w->quotes = colon[-1] == '"';
        if (w->quotes)
            return true;
    }
    w->base = 0;
    return false;
}

#if defined(__x86_64__)
WITH_AVX2 static bool find_pairs_avx2(struct needle_walk *w)
{
    const __m256i quote = _mm256_set1_epi8('"'), colon = _mm256_set1_epi8(':');

    while (w->base >= BLOCK) {
        w->base -= BLOCK;
        struct block here = block_load(w->text.p + w->base);
        struct block behind = block_load(w->text.p + w->base + 1);
        __m256i low = _mm256_and_si256(_mm256_cmpeq_epi8(here.low, quote),
                                       _mm256_cmpeq_epi8(behind.low, colon));
        __m256i high = _mm256_and_si256(_mm256_cmpeq_epi8(here.high, quote),
                                        _mm256_cmpeq_epi8(behind.high, colon));

        /* Inside of long texts there mostly is none. */
        if (_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1)))
            continue;
        w->quotes = block_bits(low, high);
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
    *w = (struct needle_walk){
        .set = set, .find = find_best(), .text = text, .base = text.n ? text.n - 1 : 0
    };
}

/* Too near to the front there is no room for a key. */
static bool find(struct needle_walk *w)
{
    bool found = w->find(w);

    if (w->base < KEY_END - 1)
        w->quotes &= ~(uint64_t)0 << (KEY_END - 1 - w->base);
    return found;
}

bool needle_walk_next(struct needle_walk *w, size_t *at, size_t *which)
{
    do {
        while (w->quotes) {
            unsigned bit = 63u - (unsigned)__builtin_clzll(w->quotes);
            size_t quote = w->base + bit;
            size_t first = w->set->first[hash(w->text.p + (quote + 1 - KEY_END))];

            w->quotes ^= (uint64_t)1 << bit;
            if (first != NONE && needle_at(w, first, quote, which)) {
                *at = quote - w->set->quote[*which];
                return true;
            }
        }
    } while (find(w));
    return false;
}

void needle_walk_drop(struct needle_walk *w, size_t which)
{
    w->off |= UINT32_C(1) << which;
}
