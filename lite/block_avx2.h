#ifndef LITE_BLOCK_AVX2_H
#define LITE_BLOCK_AVX2_H

/* 64 bytes of JSON at a time as masks of 64 bits, bit i for byte i: what the engines of the key scan have
 * in common. Only for machines with AVX2 and CLMUL, which keyscan_best asks for. */

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define WITH_AVX2 __attribute__((target("avx2,pclmul,bmi,lzcnt,popcnt")))

enum { BLOCK = 64 };

#define EVEN_PLACES UINT64_C(0x5555555555555555)

struct block {
    __m256i low, high;
};

WITH_AVX2 static inline struct block block_load(const char *p)
{
    return (struct block){ _mm256_loadu_si256((const __m256i *)(const void *)p),
                           _mm256_loadu_si256((const __m256i *)(const void *)(p + 32)) };
}

/* One bit from each byte: its highest. */
WITH_AVX2 static inline uint64_t block_bits(__m256i low, __m256i high)
{
    uint32_t l = (uint32_t)_mm256_movemask_epi8(low), h = (uint32_t)_mm256_movemask_epi8(high);

    return l | (uint64_t)h << 32;
}

WITH_AVX2 static inline uint64_t block_equal(struct block b, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);

    return block_bits(_mm256_cmpeq_epi8(b.low, wanted), _mm256_cmpeq_epi8(b.high, wanted));
}

/* '[' and '{' differ in one bit only, and so do ']' and '}': either of the two. */
WITH_AVX2 static inline uint64_t block_bracket(struct block b, char brace)
{
    __m256i bit = _mm256_set1_epi8(0x20);

    return block_equal((struct block){ _mm256_or_si256(b.low, bit), _mm256_or_si256(b.high, bit) },
                       brace);
}

/* Bit i of the answer: the bits 0 to i of `bits` are odd in number. */
WITH_AVX2 static inline uint64_t block_prefix_xor(uint64_t bits)
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
