#ifndef LITE_BASE_SIMD_BLOCK_AVX512_H
#define LITE_BASE_SIMD_BLOCK_AVX512_H

/* Blocks (lite/base/simd_block.h) with AVX-512, which key_validate_best checks for. The names are
 * the same as in lite/base/simd_block_avx2.h; a file includes one or the other. Comparing returns
 * the mask itself, which halves the work. */

#if defined(__x86_64__)

#include "lite/base/simd_block.h"

#define WITH_BLOCKS __attribute__((target("avx512f,avx512bw,avx2,pclmul,bmi,lzcnt,popcnt")))

struct simd_block {
    __m512i bytes;
};

WITH_BLOCKS static inline struct simd_block block_load(const char *p)
{
    return (struct simd_block){ _mm512_loadu_si512((const void *)p) };
}

WITH_BLOCKS static inline uint64_t block_equal(struct simd_block b, char c)
{
    return _mm512_cmpeq_epi8_mask(b.bytes, _mm512_set1_epi8(c));
}

WITH_BLOCKS static inline uint64_t block_bracket(struct simd_block b, char brace)
{
    return _mm512_cmpeq_epi8_mask(_mm512_or_si512(b.bytes, _mm512_set1_epi8(0x20)),
                                  _mm512_set1_epi8(brace));
}

WITH_BLOCKS static inline uint64_t block_up_to(struct simd_block b, char limit)
{
    return _mm512_cmple_epu8_mask(b.bytes, _mm512_set1_epi8(limit));
}

/* Replaces each byte by the one of sixteen that its low half selects. */
WITH_BLOCKS static inline __m512i block_look_up(__m128i sixteen, __m512i bytes)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(sixteen), bytes);
}

WITH_BLOCKS static inline uint64_t block_escape_letters(struct simd_block b)
{
    const __m128i by_low = BLOCK_LETTERS_BY_LOW;

    return _mm512_cmpeq_epi8_mask(block_look_up(by_low, b.bytes), b.bytes) |
           _mm512_cmpeq_epi8_mask(b.bytes, _mm512_set1_epi8('b'));
}

WITH_BLOCKS static inline uint64_t block_hex_digits(struct simd_block b)
{
    const __m128i by_low = BLOCK_DIGITS_BY_LOW, by_high = BLOCK_DIGITS_BY_HIGH;
    const __m512i half = _mm512_set1_epi8(0x0f);
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(b.bytes, 4), half);

    return _mm512_test_epi8_mask(block_look_up(by_low, _mm512_and_si512(b.bytes, half)),
                                 block_look_up(by_high, high));
}

#endif
#endif
