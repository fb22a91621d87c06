#include "lite/keyscan.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

/* 64 bytes at a time become masks of 64 bits, bit i for byte i. What is inside a string falls out of
 * one carry-less product (every quote flips all bits above it), and most blocks are then done with: they
 * lie inside of one string, or so deep that no bracket in them can lead back to the first level. */

#define WITH_AVX2 __attribute__((target("avx2,pclmul,bmi,lzcnt,popcnt")))

enum { BLOCK = 64 };

static const uint64_t EVEN_PLACES = 0x5555555555555555u;

struct block {
    __m256i low, high;
    uint64_t quote; /* not escaped */
    uint64_t outside;
};

WITH_AVX2 static inline uint64_t equal(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t l = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t h = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));

    return l | (uint64_t)h << 32;
}

/* '[' and '{' differ in one bit only, and so do ']' and '}'. */
WITH_AVX2 static inline uint64_t bracket(const struct block *b, char brace)
{
    __m256i bit = _mm256_set1_epi8(0x20);

    return equal(_mm256_or_si256(b->low, bit), _mm256_or_si256(b->high, bit), brace) & b->outside;
}

/* Bit i of the answer: the bits 0 to i of `bits` are odd in number. */
WITH_AVX2 static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8(-1), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The places right behind a run of backslashes of odd length. Adding a run's first bit to it carries to
 * that place, so the runs that begin at even places are added apart from those at odd ones: where such
 * a sum ends at the other kind of place, the length was odd. n < BLOCK: only so many bytes are there. */
static inline uint64_t behind_odd_runs(uint64_t slashes, unsigned n, bool *escaped)
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

static inline void note_quotes(struct keyscan *s, uint64_t at, uint64_t quotes)
{
    if (!quotes)
        return;
    unsigned last = 63u - (unsigned)__builtin_clzll(quotes);

    s->quote_before = s->quote;
    s->quote = at + last;
    quotes ^= (uint64_t)1 << last;
    if (quotes)
        s->quote_before = at + 63u - (unsigned)__builtin_clzll(quotes);
}

/* A block in which the first level may be reached: bracket by bracket and colon by colon. `left` is
 * what lies from the block's begin to the end of the piece. */
WITH_AVX2 static inline void walk(struct keyscan *s, uint64_t at, struct slice left,
                                  const struct block *b, uint64_t open, uint64_t close)
{
    uint64_t colon = equal(b->low, b->high, ':') & b->outside, quotes = b->quote;

    for (uint64_t todo = open | close | colon; todo; todo &= todo - 1) {
        unsigned i = (unsigned)__builtin_ctzll(todo);
        uint64_t bit = todo & -todo;

        if (bit & open) {
            s->depth++;
        } else if (bit & close) {
            if (--s->depth == 0) {
                keyscan_close(s, (struct slice){ left.p + i + 1, left.n - i - 1 });
                return;
            }
        } else if (s->depth == 1) {
            note_quotes(s, at, quotes & (bit - 1));
            quotes &= -bit;
            keyscan_member(s, at + i);
        }
    }
    note_quotes(s, at, quotes);
}

WITH_AVX2 static inline void feed_block(struct keyscan *s, uint64_t at, const char *bytes,
                                        unsigned n, struct slice left)
{
    struct block b = { .low = _mm256_loadu_si256((const __m256i *)(const void *)bytes),
                       .high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32)) };
    uint64_t slashes = equal(b.low, b.high, '\\');

    b.quote = equal(b.low, b.high, '"') & ~behind_odd_runs(slashes, n, &s->escaped);
    uint64_t inside = prefix_xor(b.quote) ^ s->in_string;

    s->in_string = -(inside >> 63);
    b.outside = ~inside;
    if (!(b.outside | b.quote))
        return;
    if (slashes & b.outside) {
        s->broken = true;
        return;
    }
    uint64_t open = bracket(&b, '{'), close = bracket(&b, '}');
    unsigned closes = (unsigned)__builtin_popcountll(close);

    if (s->depth > closes + 1)
        s->depth += (unsigned)__builtin_popcountll(open) - closes;
    else
        walk(s, at, left, &b, open, close);
}

WITH_AVX2 void keyscan_feed_avx2(struct keyscan *s, uint64_t at, struct slice piece)
{
    char last[BLOCK];

    if (s->ended) {
        keyscan_close(s, piece);
        return;
    }
    while (piece.n >= BLOCK && !s->ended && !s->broken) {
        feed_block(s, at, piece.p, BLOCK, piece);
        piece.p += BLOCK;
        piece.n -= BLOCK;
        at += BLOCK;
    }
    if (piece.n == 0 || s->ended || s->broken)
        return;
    memset(last, ' ', sizeof last);
    memcpy(last, piece.p, piece.n);
    feed_block(s, at, last, (unsigned)piece.n, (struct slice){ last, piece.n });
}

#endif
