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
    uint64_t quote;              /* not escaped */
    uint64_t open, close, colon; /* outside of strings */
};

WITH_AVX2 static inline uint64_t equal(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t l = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t h = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));

    return l | (uint64_t)h << 32;
}

/* '[' and '{' differ in one bit only, and so do ']' and '}'. */
WITH_AVX2 static inline uint64_t bracket(__m256i low, __m256i high, char brace)
{
    __m256i bit = _mm256_set1_epi8(0x20);

    return equal(_mm256_or_si256(low, bit), _mm256_or_si256(high, bit), brace);
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

/* Goes over whole blocks until one has to be walked, which is answered (n when none has). Nothing here
 * calls a function, so that all of it stays in registers. `valid`: bytes of the only block that are
 * there, or BLOCK. */
WITH_AVX2 static inline size_t skim(struct keyscan *s, const char *p, size_t n, unsigned valid,
                                    struct block *b)
{
    uint64_t in_string = s->in_string;
    bool escaped = s->escaped;
    uint32_t depth = s->depth;
    size_t i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
        __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + i + 32));
        uint64_t slashes = equal(low, high, '\\');
        uint64_t quote = equal(low, high, '"') & ~behind_odd_runs(slashes, valid, &escaped);
        uint64_t inside = prefix_xor(quote) ^ in_string, outside = ~inside;

        in_string = -(inside >> 63);
        if (!(outside | quote))
            continue;
        uint64_t open = bracket(low, high, '{') & outside;
        uint64_t close = bracket(low, high, '}') & outside;
        unsigned closes = (unsigned)__builtin_popcountll(close);

        if (slashes & outside) {
            s->broken = true;
            break;
        }
        if (depth <= closes + 1) {
            *b = (struct block){ quote, open, close, equal(low, high, ':') & outside };
            break;
        }
        depth += (unsigned)__builtin_popcountll(open) - closes;
    }
    s->in_string = in_string;
    s->escaped = escaped;
    s->depth = depth;
    return i;
}

/* A block in which the first level may be reached: bracket by bracket and colon by colon. `left` is
 * what lies from the block's begin to the end of the piece. */
static void walk(struct keyscan *s, uint64_t at, struct slice left, const struct block *b)
{
    uint64_t quotes = b->quote;

    for (uint64_t todo = b->open | b->close | b->colon; todo; todo &= todo - 1) {
        unsigned i = (unsigned)__builtin_ctzll(todo);
        uint64_t bit = todo & -todo;

        if (bit & b->open) {
            s->depth++;
        } else if (bit & b->close) {
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

/* Whole blocks; what is left of the piece. */
WITH_AVX2 static struct slice feed_blocks(struct keyscan *s, uint64_t at, struct slice piece)
{
    while (piece.n >= BLOCK && !s->ended && !s->broken) {
        struct block b;
        size_t n = skim(s, piece.p, piece.n, BLOCK, &b);

        at += n;
        piece = (struct slice){ piece.p + n, piece.n - n };
        if (piece.n < BLOCK || s->broken)
            break;
        walk(s, at, piece, &b);
        at += BLOCK;
        piece = (struct slice){ piece.p + BLOCK, piece.n - BLOCK };
    }
    return piece;
}

WITH_AVX2 static void feed_last(struct keyscan *s, uint64_t at, struct slice piece)
{
    char last[BLOCK];
    struct block b;

    memset(last, ' ', sizeof last);
    memcpy(last, piece.p, piece.n);
    if (skim(s, last, BLOCK, (unsigned)piece.n, &b) == 0 && !s->broken)
        walk(s, at, (struct slice){ last, piece.n }, &b);
}

WITH_AVX2 void keyscan_feed_avx2(struct keyscan *s, uint64_t at, struct slice piece)
{
    if (s->ended) {
        keyscan_close(s, piece);
        return;
    }
    struct slice rest = feed_blocks(s, at, piece);

    if (rest.n && !s->ended && !s->broken)
        feed_last(s, at + (uint64_t)(rest.p - piece.p), rest);
}

#endif
