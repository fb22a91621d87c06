#include "lite/find.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lite/block_avx2.h"

#if defined(__x86_64__)

/* Of the places p to p + 31: does the part begin there? A place is looked at when its first byte and the
 * one where the part would end fit. last: how far the part's last byte is from its first. */
WITH_AVX2 static inline const char *among_32(const char *p, const char *part, size_t last)
{
    __m256i begin = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i end = _mm256_loadu_si256((const __m256i *)(const void *)(p + last));
    __m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(begin, _mm256_set1_epi8(part[0])),
                                    _mm256_cmpeq_epi8(end, _mm256_set1_epi8(part[last])));

    for (uint32_t fit = (uint32_t)_mm256_movemask_epi8(both); fit; fit &= fit - 1) {
        const char *at = p + __builtin_ctz(fit);

        if (memcmp(at + 1, part + 1, last - 1) == 0)
            return at;
    }
    return NULL;
}

/* n is so large that the part could begin at 32 places; the last 32 are looked at together, some of them
 * for the second time. */
WITH_AVX2 static const char *find_avx2(const char *p, size_t n, const char *part, size_t part_n)
{
    const char *end = p + (n - part_n + 1) - 32, *found = NULL;

    for (; !found && p < end; p += 32)
        found = among_32(p, part, part_n - 1);
    return found ? found : among_32(end, part, part_n - 1);
}
#endif

const char *find_bytes(const char *p, size_t n, const char *part, size_t part_n)
{
#if defined(__x86_64__)
    if (part_n >= 2 && n >= part_n + 31 && __builtin_cpu_supports("avx2"))
        return find_avx2(p, n, part, part_n);
#endif
    return n ? memmem(p, n, part, part_n) : NULL;
}
