#ifndef LITE_BASE_SIMD_BLOCK_H
#define LITE_BASE_SIMD_BLOCK_H

/* 64 bytes of JSON at a time as masks of 64 bits, bit i for byte i: what can be said about masks, whatever
 * instructions they were made with. Only for machines with CLMUL, which key_scan_best asks for. */

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { BLOCK = 64 };

#define EVEN_PLACES UINT64_C(0x5555555555555555)

/* The characters that may follow a backslash, other than a quote and a backslash: the low half of
 * the byte selects the only one that has it; b shares its half with r. */
#define BLOCK_LETTERS_BY_LOW                                                                       \
    _mm_setr_epi8(-1, 0, 'r', 0, 't', 'u', 'f', 0, 0, 0, 0, 0, 0, 0, 'n', '/')
/* The digits that four-digit escapes are written with, of either case: by the low half of the byte the high halves it
 * may come with (3: 0-9, 4 and 6: A-F), as bits that are in both. */
#define BLOCK_DIGITS_BY_LOW _mm_setr_epi8(1, 3, 3, 3, 3, 3, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0)
#define BLOCK_DIGITS_BY_HIGH _mm_setr_epi8(0, 0, 0, 1, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/* Bit i of the result: the bits 0 to i of `bits` are odd in number. */
__attribute__((target("pclmul"))) static inline uint64_t block_prefix_xor(uint64_t bits)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8(-1), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The places right behind a run of backslashes of odd length. Adding a run's first bit to it carries to
 * that place, so the runs that begin at even places are added apart from those at odd ones: where such
 * a sum ends at the other kind of place, the length was odd. *escaped: whether byte 0 is, and then
 * whether the byte behind the block is. n < BLOCK: only so many bytes are there. */
static inline uint64_t block_escaped(uint64_t slashes, unsigned n, bool *escaped)
{
    uint64_t first = *escaped; /* byte 0 is taken by the block before: it begins no run */
    uint64_t runs = slashes & ~first;
    uint64_t starts = runs & ~(runs << 1), from_odd, to_odd, to_even;

    to_odd = (runs + (starts & EVEN_PLACES)) & ~runs & ~EVEN_PLACES;
    *escaped = __builtin_add_overflow(runs, starts & ~EVEN_PLACES, &from_odd);
    to_even = from_odd & ~runs & EVEN_PLACES;
    if (n < BLOCK)
        *escaped = (to_odd | to_even) >> n & 1;
    return to_odd | to_even | first;
}

#endif
#endif
