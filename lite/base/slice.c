#include "lite/base/slice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/simd_block_avx2.h"

#if defined(__x86_64__)

/* The text that is searched, and its first and last byte 32 times. */
struct part {
    const char *p;
    size_t last; /* how far the last byte is from the first */
    __m256i begins, ends;
};

/* A byte of ones for each of the places p to p + 31 where the first and the last byte fit. */
WITH_AVX2 static inline __m256i match_ends(const struct part *part, const char *p)
{
    __m256i begin = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i end = _mm256_loadu_si256((const __m256i *)(const void *)(p + part->last));

    return _mm256_and_si256(_mm256_cmpeq_epi8(begin, part->begins),
                            _mm256_cmpeq_epi8(end, part->ends));
}

static inline const char *first_whole(const struct part *part, const char *p, uint64_t fit)
{
    for (; fit; fit &= fit - 1) {
        const char *at = p + __builtin_ctzll(fit);

        if (memcmp(at + 1, part->p + 1, part->last - 1) == 0)
            return at;
    }
    return NULL;
}

/* The part could begin at each of `places` places, 32 or more; the last 32 are looked at together, some
 * of them for the second time. */
WITH_AVX2 static const char *find_avx2(const char *p, size_t places, const char *bytes, size_t n)
{
    struct part part = { bytes, n - 1, _mm256_set1_epi8(bytes[0]), _mm256_set1_epi8(bytes[n - 1]) };
    const char *end = p + places, *found = NULL;

    for (; !found && end - p >= BLOCK; p += BLOCK) {
        __m256i low = match_ends(&part, p), high = match_ends(&part, p + 32);

        if (!_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1)))
            found = first_whole(&part, p, block_bits(low, high));
    }
    for (; !found && p < end; p += 32) {
        p = end - p < 32 ? end - 32 : p;
        found = first_whole(&part, p, block_bits(match_ends(&part, p), _mm256_setzero_si256()));
    }
    return found;
}
#endif

const char *slice_find(const char *p, size_t n, const char *part, size_t part_n)
{
#if defined(__x86_64__)
    if (part_n >= 2 && n >= part_n + 31 && __builtin_cpu_supports("avx2"))
        return find_avx2(p, n - part_n + 1, part, part_n);
#endif
    return n ? memmem(p, n, part, part_n) : NULL;
}

bool slice_last_line(struct slice *rest, struct slice *line, bool *torn)
{
    if (rest->n == 0)
        return false;
    bool ended = rest->p[rest->n - 1] == '\n';
    size_t end = rest->n - (ended ? 1 : 0);
    const char *nl = end ? memrchr(rest->p, '\n', end) : NULL;
    size_t start = nl ? (size_t)(nl - rest->p) + 1 : 0;

    *torn = !ended;
    *line = (struct slice){ rest->p + start, end - start };
    rest->n = start;
    return true;
}

static size_t hash_of(struct slice text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* The slot of the text, or the empty slot where it belongs. */
static uint32_t *find_slot(const struct slice_set *set, struct slice text)
{
    size_t i = hash_of(text) & (set->slots - 1);

    while (set->slot[i] != SLICE_SET_NONE && !slice_eq(set->text[set->slot[i]], text))
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

/* Half of the slots stay empty. */
static bool grow_slots(struct slice_set *set)
{
    if (!array_double_slots(&set->slot, &set->slots))
        return false;
    for (size_t i = 0; i < set->n; i++)
        *find_slot(set, set->text[i]) = (uint32_t)i;
    return true;
}

enum err_code slice_set_add(struct slice_set *set, struct slice text, uint32_t *number)
{
    if (set->n + 1 >= SLICE_SET_NONE || !array_reserve(set->text, set->cap, set->n + 1) ||
        (set->n + 1 > set->slots / 2 && !grow_slots(set)))
        return ERR_NOMEM;
    uint32_t *slot = find_slot(set, text);

    if (*slot == SLICE_SET_NONE) {
        *slot = (uint32_t)set->n;
        set->text[set->n++] = text;
    }
    *number = *slot;
    return ERR_OK;
}

uint32_t slice_set_find(const struct slice_set *set, struct slice text)
{
    return set->slots ? *find_slot(set, text) : SLICE_SET_NONE;
}

void slice_set_fini(struct slice_set *set)
{
    free(set->text);
    free(set->slot);
    *set = (struct slice_set){ 0 };
}
