#include "lite/base/slice.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/simd_block_avx2.h"

#if defined(__x86_64__)

/* The text that is searched for, and two of its bytes 32 times. A letter of either case is found by setting the bit
 * that differs. */
struct part {
    struct slice text;
    size_t at[2]; /* where the two bytes are in it */
    __m256i byte[2];
    __m256i fold[2]; /* the bit, or nothing */
    bool folded;
};

/* How common a byte is in English and in JSON. */
/* clang-format off */
static const uint8_t commonness[256] = {
    [' '] = 49, ['e'] = 48, ['t'] = 47, ['a'] = 46, ['o'] = 45, ['i'] = 44, ['n'] = 43,
    ['s'] = 42, ['h'] = 41, ['r'] = 40, ['d'] = 39, ['l'] = 38, ['c'] = 37, ['u'] = 36,
    ['m'] = 35, ['w'] = 34, ['f'] = 33, ['g'] = 32, ['y'] = 31, ['p'] = 30, ['b'] = 29,
    ['v'] = 28, ['"'] = 27, ['\\'] = 26, [','] = 25, ['.'] = 24, [':'] = 23, ['/'] = 22,
    ['_'] = 21, ['-'] = 20, ['('] = 19, [')'] = 18, ['{'] = 17, ['}'] = 16, ['k'] = 15,
    ['j'] = 14, ['x'] = 13, ['q'] = 12, ['z'] = 11, ['0'] = 10, ['1'] = 9, ['2'] = 8, ['3'] = 7,
    ['4'] = 6, ['5'] = 5, ['6'] = 4, ['7'] = 3, ['8'] = 2, ['9'] = 1,
};
/* clang-format on */

static bool slice_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The rarest two bytes leave the fewest positions to compare. */
static void choose_bytes(struct slice text, size_t at[2])
{
    unsigned best[2] = { UINT8_MAX, UINT8_MAX };

    for (size_t i = 0; i < text.n; i++) {
        unsigned now = commonness[(unsigned char)text.p[i]];

        if (now < best[0]) {
            best[1] = best[0];
            at[1] = at[0];
            best[0] = now;
            at[0] = i;
        } else if (now < best[1]) {
            best[1] = now;
            at[1] = i;
        }
    }
}

WITH_AVX2 static struct part slice_part_of(const char *bytes, size_t n, bool folded)
{
    struct part part = { .text = { bytes, n }, .folded = folded };

    choose_bytes(part.text, part.at);
    for (int i = 0; i < 2; i++) {
        char c = bytes[part.at[i]];

        part.byte[i] = _mm256_set1_epi8(c);
        part.fold[i] = _mm256_set1_epi8(folded && slice_is_lower(c) ? 0x20 : 0);
    }
    return part;
}

/* A byte of ones for each of the positions p to p + 31 at which both bytes match. */
WITH_AVX2 static inline __m256i match_bytes(const struct part *part, const char *p, bool folded)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(p + part->at[0]));
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + part->at[1]));

    if (folded) {
        a = _mm256_or_si256(a, part->fold[0]);
        b = _mm256_or_si256(b, part->fold[1]);
    }
    return _mm256_and_si256(_mm256_cmpeq_epi8(a, part->byte[0]),
                            _mm256_cmpeq_epi8(b, part->byte[1]));
}
#endif

static bool is_part_at(const char *p, const char *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != part[i] && !(part[i] >= 'a' && part[i] <= 'z' && (p[i] | 0x20) == part[i]))
            return false;
    return true;
}

#if defined(__x86_64__)

static inline const char *first_whole(const struct part *part, const char *p, uint64_t fit)
{
    for (; fit; fit &= fit - 1) {
        const char *at = p + __builtin_ctzll(fit);

        if (part->folded ? is_part_at(at, part->text.p, part->text.n)
                         : memcmp(at, part->text.p, part->text.n) == 0)
            return at;
    }
    return NULL;
}

/* Returns true if both bytes match nowhere in two blocks. */
WITH_AVX2 static inline bool blocks_differ(const struct part *part, const char *p, bool folded)
{
    __m256i a = match_bytes(part, p, folded), b = match_bytes(part, p + 32, folded);
    __m256i c = match_bytes(part, p + 64, folded), d = match_bytes(part, p + 96, folded);
    __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));

    return _mm256_testz_si256(any, any);
}

/* The part could begin at each of `places` positions, at least 32; the last 32 are examined together, some of them for
 * the second time. The inner loop has no calls, so that its bytes stay in registers. */
WITH_AVX2 static inline __attribute__((always_inline)) const char *
find_in_blocks(const char *p, size_t places, const struct part *part, bool folded)
{
    const char *end = p + places, *found = NULL;

    while (!found && end - p >= 2 * BLOCK) {
        while (blocks_differ(part, p, folded) && end - (p += 2 * BLOCK) >= 2 * BLOCK)
            continue;
        for (int i = 0; !found && i < 2 && end - p >= BLOCK; i++, p += BLOCK)
            found = first_whole(
                part, p,
                block_bits(match_bytes(part, p, folded), match_bytes(part, p + 32, folded)));
    }
    for (; !found && p < end; p += 32) {
        p = end - p < 32 ? end - 32 : p;
        found =
            first_whole(part, p, block_bits(match_bytes(part, p, folded), _mm256_setzero_si256()));
    }
    return found;
}

WITH_AVX2 static const char *find_avx2(const char *p, size_t places, struct slice text, bool folded)
{
    const struct part part = slice_part_of(text.p, text.n, folded);

    return folded ? find_in_blocks(p, places, &part, true)
                  : find_in_blocks(p, places, &part, false);
}
#endif

#if defined(__x86_64__)
#define WITH_AVX512 __attribute__((target("avx512f,avx512bw,bmi")))

/* The same with blocks twice as long, of 64 places or more. */
WITH_AVX512 static const char *find_avx512(const char *p, size_t places, struct slice text,
                                           const size_t at[2], bool folded)
{
    const struct part part = { .text = text, .folded = folded };
    const char *end = p + places, *found = NULL;
    __m512i byte[2], fold[2];

    for (int i = 0; i < 2; i++) {
        byte[i] = _mm512_set1_epi8(text.p[at[i]]);
        fold[i] = _mm512_set1_epi8(folded && slice_is_lower(text.p[at[i]]) ? 0x20 : 0);
    }
    for (; !found && p < end; p += BLOCK) {
        p = end - p < BLOCK ? end - BLOCK : p;
        __m512i a = _mm512_loadu_si512((const void *)(p + at[0]));
        __m512i b = _mm512_loadu_si512((const void *)(p + at[1]));
        uint64_t fit = _mm512_cmpeq_epi8_mask(_mm512_or_si512(a, fold[0]), byte[0]) &
                       _mm512_cmpeq_epi8_mask(_mm512_or_si512(b, fold[1]), byte[1]);

        if (fit)
            found = first_whole(&part, p, fit);
    }
    return found;
}

/* Returns true if the machine supports this and the text is long enough. */
static bool find_by_blocks(struct slice text, const char *part, size_t part_n, bool folded,
                           const char **found)
{
    size_t at[2], places = text.n - part_n + 1;

    if (part_n < 2 || text.n < part_n + 31 || !__builtin_cpu_supports("avx2"))
        return false;
    if (places < BLOCK || !__builtin_cpu_supports("avx512bw")) {
        *found = find_avx2(text.p, places, (struct slice){ part, part_n }, folded);
        return true;
    }
    choose_bytes((struct slice){ part, part_n }, at);
    *found = find_avx512(text.p, places, (struct slice){ part, part_n }, at, folded);
    return true;
}
#else
static bool find_by_blocks(struct slice text, const char *part, size_t part_n, bool folded,
                           const char **found)
{
    (void)text, (void)part, (void)part_n, (void)folded, (void)found;
    return false;
}
#endif

const char *slice_find(const char *p, size_t n, const char *part, size_t part_n)
{
    const char *found;

    if (find_by_blocks((struct slice){ p, n }, part, part_n, false, &found))
        return found;
    return n ? memmem(p, n, part, part_n) : NULL;
}

const char *slice_find_folded(const char *p, size_t n, const char *part, size_t part_n)
{
    const char *found;

    if (find_by_blocks((struct slice){ p, n }, part, part_n, true, &found))
        return found;
    for (size_t i = 0; part_n <= n && i <= n - part_n; i++)
        if (is_part_at(p + i, part, part_n))
            return p + i;
    return NULL;
}

struct slice slice_trim(struct slice s)
{
    while (s.n && (unsigned char)s.p[0] <= ' ')
        s = (struct slice){ s.p + 1, s.n - 1 };
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

int slice_hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEF0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) & 15 : -1;
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

static int slice_compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

void slice_sort(struct slice *text, size_t n)
{
    if (n > 1)
        qsort(text, n, sizeof *text, slice_compare_slices);
}

/* The slot of the text, or the empty slot where it belongs. */
static uint32_t *slice_find_slot(const struct slice_set *set, struct slice text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    /* The hash FNV-1a. */

    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * UINT64_C(1099511628211);
    size_t i = (size_t)(h ^ h >> 32) & (set->slots - 1);

    while (set->slot[i] != SLICE_SET_NONE && !slice_eq(set->text[set->slot[i]], text))
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

/* Half of the slots stay empty. */
static bool slice_double_slots(struct slice_set *set)
{
    if (!array_double_slots(&set->slot, &set->slots))
        return false;
    for (size_t i = 0; i < set->n; i++)
        *slice_find_slot(set, set->text[i]) = (uint32_t)i;
    return true;
}

enum err_code slice_set_add(struct slice_set *set, struct slice text, uint32_t *number)
{
    if (set->n + 1 >= SLICE_SET_NONE || !array_reserve(set->text, set->cap, set->n + 1) ||
        (set->n + 1 > set->slots / 2 && !slice_double_slots(set)))
        return ERR_NOMEM;
    uint32_t *slot = slice_find_slot(set, text);

    if (*slot == SLICE_SET_NONE) {
        *slot = (uint32_t)set->n;
        set->text[set->n++] = text;
    }
    *number = *slot;
    return ERR_OK;
}

uint32_t slice_set_find(const struct slice_set *set, struct slice text)
{
    return set->slots ? *slice_find_slot(set, text) : SLICE_SET_NONE;
}

void slice_set_fini(struct slice_set *set)
{
    free(set->text);
    free(set->slot);
    *set = (struct slice_set){ 0 };
}
