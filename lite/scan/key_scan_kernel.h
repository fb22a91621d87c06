#ifndef LITE_SCAN_KEY_SCAN_KERNEL_H
#define LITE_SCAN_KEY_SCAN_KERNEL_H

/* The scan over blocks of 64 bytes. Each of the files keyscan_avx*.c makes one engine of it, with the instructions whose
 * header it took before this one.
 *
 * What is inside a string falls out of one carry-less product (every quote flips all bits above it), and
 * most blocks are then done with: they lie inside of one string, or so deep that no bracket in them can
 * lead back to the first level. */

#if defined(__x86_64__)

#include <string.h>

#include "lite/scan/key_scan.h"
#ifndef LITE_BASE_SIMD_BLOCK_AVX512_H
#include "lite/base/simd_block_avx2.h"
#endif

struct marks {
    uint64_t quote;              /* not escaped */
    uint64_t open, close, colon; /* outside of strings */
};

static inline void note_quotes(struct key_scan *s, uint64_t at, uint64_t quotes)
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
WITH_BLOCKS static inline size_t skip_inner_blocks(struct key_scan *s, const char *p, size_t n,
                                                   unsigned valid, struct marks *m)
{
    uint64_t in_string = s->in_string;
    bool escaped = s->escaped;
    uint32_t depth = s->depth;
    size_t i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        struct simd_block b = block_load(p + i);
        uint64_t slashes = block_equal(b, '\\');
        uint64_t quote = block_equal(b, '"') & ~block_escaped(slashes, valid, &escaped);
        uint64_t inside = block_prefix_xor(quote) ^ in_string, outside = ~inside;

        in_string = -(inside >> 63);
        if (!(outside | quote))
            continue;
        uint64_t open = block_bracket(b, '{') & outside;
        uint64_t close = block_bracket(b, '}') & outside;
        unsigned closes = (unsigned)__builtin_popcountll(close);

        if (slashes & outside) {
            s->broken = true;
            break;
        }
        if (depth <= closes + 1) {
            *m = (struct marks){ quote, open, close, block_equal(b, ':') & outside };
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
static void scan_block_tokens(struct key_scan *s, uint64_t at, struct slice left,
                              const struct marks *m)
{
    uint64_t quotes = m->quote;

    for (uint64_t todo = m->open | m->close | m->colon; todo; todo &= todo - 1) {
        unsigned i = (unsigned)__builtin_ctzll(todo);
        uint64_t bit = todo & -todo;

        if (bit & m->open) {
            s->depth++;
        } else if (bit & m->close) {
            if (--s->depth == 0) {
                key_scan_end_object(s, (struct slice){ left.p + i + 1, left.n - i - 1 });
                return;
            }
        } else if (s->depth == 1) {
            note_quotes(s, at, quotes & (bit - 1));
            quotes &= -bit;
            key_scan_member(s, at + i);
        }
    }
    note_quotes(s, at, quotes);
}

/* Whole blocks; what is left of the piece. */
WITH_BLOCKS static struct slice scan_whole_blocks(struct key_scan *s, uint64_t at,
                                                  struct slice piece)
{
    while (piece.n >= BLOCK && !s->ended && !s->broken) {
        struct marks m;
        size_t n = skip_inner_blocks(s, piece.p, piece.n, BLOCK, &m);

        at += n;
        piece = (struct slice){ piece.p + n, piece.n - n };
        if (piece.n < BLOCK || s->broken)
            break;
        scan_block_tokens(s, at, piece, &m);
        at += BLOCK;
        piece = (struct slice){ piece.p + BLOCK, piece.n - BLOCK };
    }
    return piece;
}

WITH_BLOCKS static void scan_last_block(struct key_scan *s, uint64_t at, struct slice piece)
{
    char last[BLOCK];
    struct marks m;

    memset(last, ' ', sizeof last);
    memcpy(last, piece.p, piece.n);
    if (skip_inner_blocks(s, last, BLOCK, (unsigned)piece.n, &m) == 0 && !s->broken)
        scan_block_tokens(s, at, (struct slice){ last, piece.n }, &m);
}

WITH_BLOCKS static inline void scan_blocks(struct key_scan *s, uint64_t at, struct slice piece)
{
    if (s->ended) {
        key_scan_end_object(s, piece);
        return;
    }
    struct slice rest = scan_whole_blocks(s, at, piece);

    if (rest.n && !s->ended && !s->broken)
        scan_last_block(s, at + (uint64_t)(rest.p - piece.p), rest);
}

#endif
#endif
