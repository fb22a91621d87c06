#include "lite/scan/field.h"

#include <assert.h>
#include <string.h>

#include "lite/base/simd_block_avx2.h"

enum {
    NONE = 255,
    KEY_END = 4,
    /* the quote, the colon and one more byte: the quote or blank with which a value begins */
    VALUE = 3,
    VALUE_FRONT = 2, /* bytes of the value that are examined */
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

static uint64_t load_eight_bytes(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

static size_t key_hash(const struct key_search_set *set, size_t i)
{
    return hash(set->needle[i].p + set->quote[i] + 1 - KEY_END);
}

/* The bits of the bytes that may follow this needle. */
static uint64_t may_follow(const struct key_search_set *set, size_t i)
{
    size_t value = set->quote[i] + (size_t)VALUE;

    return value + VALUE_FRONT <= set->needle[i].n ? value_bit(set->needle[i].p + value)
                                                   : ~UINT64_C(0);
}

void key_search_set_init(struct key_search_set *set, const struct slice needles[], size_t n)
{
    assert(n >= 1 && n <= KEY_SEARCH_MAX);
    if (n > KEY_SEARCH_MAX)
        n = KEY_SEARCH_MAX;
    set->n = n;
    memset(set->first, NONE, sizeof set->first);
    memset(set->may, 0, sizeof set->may);
    for (size_t i = 0; i < n; i++) {
        const char *pair = memmem(needles[i].p, needles[i].n, "\":", 2);
        size_t quote = pair ? (size_t)(pair - needles[i].p) : 0;

        bool fits = needles[i].n >= KEY_SEARCH_MIN_BYTES && quote + 1 >= KEY_END && quote < NONE;

        set->needle[i] = needles[i];
        assert(fits);
        if (!fits) /* is never found */
            continue;
        uint8_t *first = &set->first[hash(pair + 1 - KEY_END)];

        set->back[i] = load_eight_bytes(needles[i].p + needles[i].n - sizeof set->back[i]);
        set->quote[i] = (uint8_t)quote;
        set->next[i] = *first;
        *first = (uint8_t)i;
        set->may[key_hash(set, i)] |= may_follow(set, i);
    }
}

/* Finds the needle with this hash whose pair is here, if any. */
static bool needle_at(const struct key_search *w, size_t i, size_t quote, size_t *which)
{
    const struct key_search_set *set = w->set;

    for (; i != NONE; i = set->next[i]) {
        size_t begin = quote - set->quote[i], end = begin + set->needle[i].n;

        if (quote >= set->quote[i] && end <= w->text.n && !(w->off >> i & 1) &&
            load_eight_bytes(w->text.p + end - sizeof(uint64_t)) == set->back[i] &&
            memcmp(w->text.p + begin, set->needle[i].p, set->needle[i].n) == 0) {
            *which = i;
            return true;
        }
    }
    return false;
}

/* ---- pairs of quote and colon ---- */

/* Finds the next pair that may be in a needle. Returns false at the front, where a position leaves no room for a
 * key. */
bool key_search_find_portable(struct key_search *w)
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
typedef unsigned find_all_fn(const char *p, size_t stretch, uint16_t *pair);

WITH_AVX2 static unsigned find_all_avx2(const char *p, size_t stretch, uint16_t *pair)
{
    const __m256i quote = _mm256_set1_epi8('"'), colon = _mm256_set1_epi8(':');
    unsigned n = 0;

    for (unsigned at = 0; at < stretch; at += BLOCK) {
        struct simd_block here = block_load(p + at), behind = block_load(p + at + 1);
        uint64_t left = block_bits(_mm256_and_si256(_mm256_cmpeq_epi8(here.low, quote),
                                                    _mm256_cmpeq_epi8(behind.low, colon)),
                                   _mm256_and_si256(_mm256_cmpeq_epi8(here.high, quote),
                                                    _mm256_cmpeq_epi8(behind.high, colon)));
        unsigned count = (unsigned)__builtin_popcountll(left);

        /* Writes a few at once, perhaps more than there are; the next ones overwrite the excess. The count cannot be
         * predicted, and is rarely larger. */
        unsigned i = 0;

        do {
            for (unsigned j = 0; j < KEY_SEARCH_SPARE; j++, left &= left - 1)
                pair[n + i + j] = (uint16_t)(at + (unsigned)_tzcnt_u64(left));
            i += KEY_SEARCH_SPARE;
        } while (__builtin_expect(i < count, 0));
        n += count;
    }
    return n;
}

#define WITH_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt")))

/* All pairs of a block at once: it has room for 32. */
WITH_AVX512 static unsigned find_all_avx512(const char *p, size_t stretch, uint16_t *pair)
{
    static const uint8_t places[BLOCK] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    const __m512i quote = _mm512_set1_epi8('"'), colon = _mm512_set1_epi8(':');
    const __m512i place = _mm512_loadu_si512(places);
    unsigned n = 0;

    for (unsigned at = 0; at < stretch; at += BLOCK) {
        uint64_t quotes = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p + at), quote);
        uint64_t pairs = _mm512_mask_cmpeq_epi8_mask(quotes, _mm512_loadu_si512(p + at + 1), colon);
        __m256i found = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(pairs, place));

        _mm512_storeu_si512(
            pair + n, _mm512_add_epi16(_mm512_cvtepu8_epi16(found), _mm512_set1_epi16((short)at)));
        n += (unsigned)__builtin_popcountll(pairs);
    }
    return n;
}

/* Keeps those that may be in a needle. Without a branch, since it could not be predicted. */
static unsigned filter_candidates(const struct key_search *w, const char *p, uint16_t *pair,
                                  unsigned n)
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

/* Searches stretch by stretch. The last pairs, which may be too close to the end for a value, and the first few bytes
 * are left to the portable search. */
static inline bool find_pairs(struct key_search *w, find_all_fn *find_all)
{
    while (w->base >= BLOCK + KEY_END && w->text.n - w->base >= VALUE + VALUE_FRONT) {
        size_t stretch = (w->base - KEY_END) / BLOCK * BLOCK;

        if (stretch > KEY_SEARCH_BATCH_BYTES)
            stretch = KEY_SEARCH_BATCH_BYTES;
        w->base -= stretch;
        const char *p = w->text.p + w->base;

        w->n = filter_candidates(w, p, w->pair, find_all(p, stretch, w->pair));
        if (w->n)
            return true;
    }
    return key_search_find_portable(w);
}

bool key_search_find_avx2(struct key_search *w)
{
    return find_pairs(w, find_all_avx2);
}

bool key_search_find_avx512(struct key_search *w)
{
    return find_pairs(w, find_all_avx512);
}
#endif

key_search_find_fn *key_search_find_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2"))
        return key_search_find_avx512;
    if (__builtin_cpu_supports("avx2"))
        return key_search_find_avx2;
#endif
    return key_search_find_portable;
}

void key_search_begin(struct key_search *w, const struct key_search_set *set, struct slice text)
{
    w->set = set;
    w->find = key_search_find_best();
    w->text = text;
    w->base = text.n ? text.n - 1 : 0;
    w->off = 0;
    w->n = 0;
    memcpy(w->may, set->may, sizeof w->may);
}

bool key_search_next(struct key_search *w, size_t *at, size_t *which)
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

void key_search_ignore(struct key_search *w, size_t which)
{
    const struct key_search_set *set = w->set;
    size_t key = key_hash(set, which);

    w->off |= UINT32_C(1) << which;
    w->may[key] = 0;
    for (size_t i = set->first[key]; i != NONE; i = set->next[i])
        if (!(w->off >> i & 1))
            w->may[key] |= may_follow(set, i);
}
