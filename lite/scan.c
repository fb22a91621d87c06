#include "lite/scan.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool stops(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

static const char *scan_bytes(const char *p, const char *end)
{
    while (p < end && !stops(*p))
        p++;
    return p;
}

#if defined(__x86_64__)

/* A byte is below 0x20 exactly when the unsigned minimum of it and 0x1f is the byte itself. */
static unsigned stops_16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), control));
}

__attribute__((target("avx2"))) static __m256i stops_32(__m256i v)
{
    __m256i quote = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
    __m256i escape = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'));
    __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1f)), v);

    return _mm256_or_si256(_mm256_or_si256(quote, escape), control);
}

/* Stops in front of the block of 32 bytes that holds the answer, or that would pass the end. */
__attribute__((target("avx2"))) static const char *skip_wide(const char *p, const char *end)
{
    for (; end - p >= 32; p += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);

        if (_mm256_movemask_epi8(stops_32(v)))
            break;
    }
    return p;
}

const char *scan_string(const char *p, const char *end)
{
    /* Keys, ids and the text between two escapes end within a few blocks; only what is longer is
     * worth the question of what the machine has. */
    for (int near = 0; end - p >= 16; p += 16) {
        unsigned hit = stops_16(p);

        if (hit)
            return p + __builtin_ctz(hit);
        if (++near == 4 && __builtin_cpu_supports("avx2"))
            p = skip_wide(p + 16, end) - 16;
    }
    return scan_bytes(p, end);
}

#else

/* Eight bytes at once. A byte x is zero exactly where (x - 0x01) & ~x has its high bit and every lower
 * byte is clean, so the lowest mark is always right; higher ones may not be, and are not looked at. */
static uint64_t zero_bytes(uint64_t v)
{
    return (v - 0x0101010101010101u) & ~v & 0x8080808080808080u;
}

const char *scan_string(const char *p, const char *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t v;

        memcpy(&v, p, sizeof v);
        uint64_t hit = zero_bytes(v ^ 0x2222222222222222u) | zero_bytes(v ^ 0x5c5c5c5c5c5c5c5cu) |
                       zero_bytes(v & 0xe0e0e0e0e0e0e0e0u);
        if (hit)
            break;
    }
    return scan_bytes(p, end);
}

#endif

const char *scan_string_end(const char *p, const char *end)
{
    for (p = scan_string(p, end); p < end; p = scan_string(p, end)) {
        if (*p == '"')
            return p;
        size_t skip = *p == '\\' ? 2 : 1;

        if ((size_t)(end - p) <= skip)
            return NULL;
        p += skip;
    }
    return NULL;
}
