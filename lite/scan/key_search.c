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
    memset(set->bucket, 0, sizeof set->bucket);
    unsigned keys = 0;

    for (size_t i = 0; i < n; i++) {
        const char *pair = memmem(needles[i].p, needles[i].n, "\":", 2);
        size_t quote = pair ? (size_t)(pair - needles[i].p) : 0;

        bool fits = needles[i].n >= KEY_SEARCH_MIN_BYTES && quote + 1 >= KEY_END && quote < NONE &&
                    !((pair[-1] | pair[-2]) & 0x80);

        set->needle[i] = needles[i];
        assert(fits);
        if (!fits) /* is never found */
            continue;
        uint8_t *first = &set->first[hash(pair + 1 - KEY_END)];

        set->back[i] = load_eight_bytes(needles[i].p + needles[i].n - sizeof set->back[i]);
        set->quote[i] = (uint8_t)quote;
        set->next[i] = *first;
        if (*first == NONE)
            set->bucket[i] = (uint8_t)(1u << keys++ % 8);
        else
            set->bucket[i] = set->bucket[*first];
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

/* ---- places of quotes ---- */

/* Finds the next pair of quote and colon. Returns false at the front, where a position leaves no room for a key. */
bool key_search_find_portable(struct key_search *w)
{
    const char *p = w->text.p, *colon;

    while (w->base > KEY_END - 1 && (colon = memrchr(p + KEY_END, ':', w->base - KEY_END + 1))) {
        w->base = (size_t)(colon - p) - 1;
        if (colon[-1] != '"')
            continue;
        w->place[0] = w->some = 1;
        return true;
    }
    w->base = 0;
    return false;
}

#if defined(__x86_64__)
/* A byte other than 0 for each of the places p to p + 31 where a quote follows the end of a key. */
WITH_AVX2 static inline __m256i key_ends(const char *p, __m256i last, __m256i before)
{
    __m256i quote = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p),
                                      _mm256_set1_epi8('"'));
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(p - 1));
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p - 2));

    return _mm256_and_si256(
        quote, _mm256_and_si256(_mm256_shuffle_epi8(last, a), _mm256_shuffle_epi8(before, b)));
}

/* Searches batch by batch, without a branch for each block, since it could not be predicted. The first few bytes are left to
 * the portable search. */
WITH_AVX2 bool key_search_find_avx2(struct key_search *w)
{
    const __m256i last =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)w->last));
    const __m256i before =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)w->before));
    const __m256i zero = _mm256_setzero_si256();

    while (w->base >= BLOCK + KEY_END) {
        size_t blocks = (w->base - KEY_END) / BLOCK;
        uint64_t some = 0;

        if (blocks > KEY_SEARCH_BLOCKS)
            blocks = KEY_SEARCH_BLOCKS;
        w->base -= blocks * BLOCK;
        const char *p = w->text.p + w->base;

        for (size_t i = 0; i < blocks; i++, p += BLOCK) {
            uint64_t none =
                block_bits(_mm256_cmpeq_epi8(key_ends(p, last, before), zero),
                           _mm256_cmpeq_epi8(key_ends(p + BLOCK / 2, last, before), zero));

            w->place[i] = ~none;
            some |= (uint64_t)(~none != 0) << i;
        }
        w->some = some;
        if (some)
            return true;
    }
    return key_search_find_portable(w);
}
#endif

key_search_find_fn *key_search_find_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return key_search_find_avx2;
#endif
    return key_search_find_portable;
}

/* Fills the tables of the last two bytes of the keys that are searched for. */
static void set_key_ends(struct key_search *w)
{
    const struct key_search_set *set = w->set;

    memset(w->last, 0, sizeof w->last);
    memset(w->before, 0, sizeof w->before);
    for (size_t i = 0; i < set->n; i++) {
        if ((w->off >> i & 1) || !set->bucket[i])
            continue;
        const char *quote = set->needle[i].p + set->quote[i];

        w->last[quote[-1] & 0x0f] |= set->bucket[i];
        w->before[quote[-2] & 0x0f] |= set->bucket[i];
    }
}

void key_search_begin(struct key_search *w, const struct key_search_set *set, struct slice text)
{
    w->set = set;
    w->find = key_search_find_best();
    w->text = text;
    w->base = text.n ? text.n - 1 : 0;
    w->off = 0;
    w->some = 0;
    memcpy(w->may, set->may, sizeof w->may);
    set_key_ends(w);
}

bool key_search_next(struct key_search *w, size_t *at, size_t *which)
{
    do {
        while (w->some) {
            /* Take the last place that was not tried yet. */
            unsigned block = 63u - (unsigned)__builtin_clzll(w->some);
            unsigned bit = 63u - (unsigned)__builtin_clzll(w->place[block]);

            w->place[block] ^= UINT64_C(1) << bit;
            if (!w->place[block])
                w->some ^= UINT64_C(1) << block;
            size_t quote = (w->base + (size_t)block * 64 + bit),
                   key = hash(w->text.p + (quote + 1 - KEY_END));

            if (!w->may[key] || (quote + VALUE + VALUE_FRONT <= w->text.n &&
                                 !(w->may[key] & value_bit(w->text.p + quote + VALUE))))
                continue;
            if (needle_at(w, w->set->first[key], quote, which)) {
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
    if (!w->may[key])
        set_key_ends(w);
}
