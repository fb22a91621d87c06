#ifndef LITE_BASE_SIMD_BLOCK_AVX2_H
#define LITE_BASE_SIMD_BLOCK_AVX2_H

/* Blocks (lite/base/simd_block.h) with AVX2, which key_scan_best checks for. */

#if defined(__x86_64__)

#include "lite/base/simd_block.h"

#define WITH_AVX2 __attribute__((target("avx2,pclmul,bmi,lzcnt,popcnt")))
#define WITH_BLOCKS WITH_AVX2

struct simd_block {
    __m256i low, high;
};

WITH_AVX2 static inline struct simd_block block_load(const char *p)
{
    return (struct simd_block){ _mm256_loadu_si256((const __m256i *)(const void *)p),
                                _mm256_loadu_si256((const __m256i *)(const void *)(p + 32)) };
}

/* The highest bit of each byte. */
WITH_AVX2 static inline uint64_t block_bits(__m256i low, __m256i high)
{
    uint32_t l = (uint32_t)_mm256_movemask_epi8(low), h = (uint32_t)_mm256_movemask_epi8(high);

    return l | (uint64_t)h << 32;
}

WITH_AVX2 static inline uint64_t block_equal(struct simd_block b, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);

    return block_bits(_mm256_cmpeq_epi8(b.low, wanted), _mm256_cmpeq_epi8(b.high, wanted));
}

/* Finds either bracket: '[' and '{' differ in one bit only, and so do ']' and '}'. */
WITH_AVX2 static inline uint64_t block_bracket(struct simd_block b, char brace)
{
    __m256i bit = _mm256_set1_epi8(0x20);

    return block_equal(
        (struct simd_block){ _mm256_or_si256(b.low, bit), _mm256_or_si256(b.high, bit) }, brace);
}

/* Finds bytes that are at most `limit`. */
WITH_AVX2 static inline uint64_t block_up_to(struct simd_block b, char limit)
{
    __m256i most = _mm256_set1_epi8(limit);

    return block_bits(_mm256_cmpeq_epi8(_mm256_min_epu8(b.low, most), b.low),
                      _mm256_cmpeq_epi8(_mm256_min_epu8(b.high, most), b.high));
}

/* Replaces each byte by the one of sixteen that its low half selects, or by 0 if it is above
 * 0x7f. */
WITH_AVX2 static inline __m256i block_look_up(__m128i sixteen, __m256i bytes)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(sixteen), bytes);
}

WITH_AVX2 static inline __m256i block_half_letters(__m256i bytes)
{
    const __m128i by_low = BLOCK_LETTERS_BY_LOW;

    return _mm256_or_si256(_mm256_cmpeq_epi8(block_look_up(by_low, bytes), bytes),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('b')));
}

WITH_AVX2 static inline uint64_t block_escape_letters(struct simd_block b)
{
    return block_bits(block_half_letters(b.low), block_half_letters(b.high));
}

WITH_AVX2 static inline __m256i block_half_no_digits(__m256i bytes)
{
    const __m128i by_low = BLOCK_DIGITS_BY_LOW, by_high = BLOCK_DIGITS_BY_HIGH;
    const __m256i half = _mm256_set1_epi8(0x0f);
    __m256i low = block_look_up(by_low, _mm256_and_si256(bytes, half));
    __m256i high = block_look_up(by_high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));

    return _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());
}

WITH_AVX2 static inline uint64_t block_hex_digits(struct simd_block b)
{
    return ~block_bits(block_half_no_digits(b.low), block_half_no_digits(b.high));
}

#endif
#endif
