#include "lite/json/scan.h"

#include <string.h>

#include "lite/base/simd_block_avx2.h"

/* Returns true if the byte at p is escaped, which it is if an odd number of backslashes precedes
 * it. */
static bool escaped(const char *begin, const char *p)
{
    const char *run = p;

    while (run > begin && run[-1] == '\\')
        run--;
    return (p - run) % 2 != 0;
}

/* Going from one quote to the next is the fastest way through a long text, because quotes are rarer
 * than escapes. */
static const char *hop_to_end(const char *begin, const char *p, const char *end)
{
    for (const char *at = p; at < end; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at || !escaped(begin, at))
            return at;
    }
    return NULL;
}

#if defined(__x86_64__)
/* The same without a call for each quote. */
WITH_AVX2 static const char *blocks_to_end(const char *p, const char *end)
{
    const __m256i quote = _mm256_set1_epi8('"');
    const char *begin = p;

    for (; end - p >= BLOCK; p += BLOCK) {
        struct simd_block b = block_load(p);
        __m256i low = _mm256_cmpeq_epi8(b.low, quote), high = _mm256_cmpeq_epi8(b.high, quote);

        for (uint64_t quotes = block_bits(low, high); quotes; quotes &= quotes - 1) {
            const char *at = p + __builtin_ctzll(quotes);

            if (!escaped(begin, at))
                return at;
        }
    }
    return hop_to_end(begin, p, end);
}
#endif

const char *scan_long_string_end(const char *p, const char *end)
{
#if defined(__x86_64__)
    if (end - p >= BLOCK && __builtin_cpu_supports("avx2"))
        return blocks_to_end(p, end);
#endif
    return hop_to_end(p, p, end);
}
