#ifndef LITE_BASE_SIMD_BLOCK_H
#define LITE_BASE_SIMD_BLOCK_H

/* 64 bytes of JSON at a time as 64-bit masks, bit i for byte i. This header contains the operations on masks that do
 * not depend on the instructions that made them. They require CLMUL, which key_scan_best checks for. */

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

enum { BLOCK = 64 };

#define EVEN_PLACES UINT64_C(0x5555555555555555)

/* The characters that may follow a backslash, other than a quote and a backslash, by the low half of the byte. b is
 * missing because its low half is that of r. */
#define BLOCK_LETTERS_BY_LOW                                                                       \
    _mm_setr_epi8(-1, 0, 'r', 0, 't', 'u', 'f', 0, 0, 0, 0, 0, 0, 0, 'n', '/')
/* Hexadecimal digits of either case, as two tables of bits, indexed by the low and by the high half of the byte (3:
 * 0-9, 4 and 6: A-F). A byte is a digit if its two entries have a bit in common. */
#define BLOCK_DIGITS_BY_LOW _mm_setr_epi8(1, 3, 3, 3, 3, 3, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0)
#define BLOCK_DIGITS_BY_HIGH _mm_setr_epi8(0, 0, 0, 1, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/* Bit i of the result is set if an odd number of the bits 0 to i of `bits` is set. */
__attribute__((target("pclmul"))) static inline uint64_t block_prefix_xor(uint64_t bits)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8(-1), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* Returns the positions right after a run of backslashes of odd length. Adding its first bit to a run carries into that
 * position, so the runs that begin at even positions are added separately from those at odd ones: if the sum ends at a
 * position of the other parity, the length is odd. On entry *escaped is true if byte 0 is escaped, on return if the
 * byte after the block is. If n < BLOCK, the block has only n bytes. */
static inline uint64_t block_escaped(uint64_t slashes, unsigned n, bool *escaped)
{
    uint64_t first = *escaped; /* byte 0 is escaped by the block before, so it begins no run */
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
