#ifndef LITE_SCAN_KEY_SCAN_KERNEL_H
#define LITE_SCAN_KEY_SCAN_KERNEL_H

/* The two scans over blocks of 64 bytes. Each of the files key_scan_avx*.c builds one engine from them, with the
 * instructions of the header that it includes before this one. */

#if defined(__x86_64__)

#include <string.h>

#include "lite/json/json.h"
#include "lite/scan/key_scan.h"
#ifndef LITE_BASE_SIMD_BLOCK_AVX512_H
#include "lite/base/simd_block_avx2.h"
#endif

/* ---- the structural scan ----
 *
 * One carry-less product shows what is inside a string (every quote flips all bits above it). Most blocks are then
 * finished: they are inside one string, or so deep that no bracket in them can lead back to the first level. */

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

/* Skips whole blocks up to the first that has to be walked, and returns its offset (n if no block has to be). Nothing
 * here calls a function, so that all of it stays in registers. `valid` is BLOCK, or the number of valid bytes of an
 * only block. */
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
        /* Nothing can begin or end in a block that is inside one string. */
        if (!(outside | quote))
            continue;
        uint64_t open = block_bracket(b, '{') & outside;
        uint64_t close = block_bracket(b, '}') & outside;
        unsigned closes = (unsigned)__builtin_popcountll(close);

        /* A backslash outside strings is never valid. */
        if (slashes & outside) {
            s->broken = true;
            break;
        }

        /* Wanted members are on the first level, which this block may return to. */
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

/* Walks a block in which the first level may be reached, bracket by bracket and colon by colon. `left` is the piece
 * from the beginning of the block on. */
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

/* Scans the whole blocks of a piece and returns the rest of it. */
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

/* ---- the exact scan ----
 *
 * Masks check the contents of strings, and everything outside strings goes through the grammar token by token. A token
 * is a bracket, a colon, a comma, the quote that opens a string, or the first byte of anything else. A row of three
 * thousand bytes has about a hundred tokens, which is why this is fast. */

enum token { SCALAR, STRING, OPEN_OBJECT, OPEN_ARRAY, END_OBJECT, END_ARRAY, COLON, COMMA, TOKENS };

/* What has just been seen: in an object (O) or in an array (A). */
enum state { O_BEGIN, O_COMMA, O_KEY, O_COLON, O_VALUE, A_BEGIN, A_COMMA, A_VALUE, STATES };

/* Blocks are taken apart by inlined functions, so that the state between two blocks stays in
 * registers. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { WRONG = STATES, ENDS = 0, LEVELS = 64 };

static const uint8_t token_of[256] = {
    ['"'] = STRING,    ['{'] = OPEN_OBJECT, ['['] = OPEN_ARRAY, ['}'] = END_OBJECT,
    [']'] = END_ARRAY, [':'] = COLON,       [','] = COMMA,
};

/* The next state. After a closing bracket it is that of the level below. */
/* clang-format off */
static const uint8_t next[STATES][TOKENS] = {
    /*             SCALAR   STRING   {        [        }      ]      :        ,     */
    [O_BEGIN] = { WRONG,   O_KEY,   WRONG,   WRONG,   ENDS,  WRONG, WRONG,   WRONG },
    [O_COMMA] = { WRONG,   O_KEY,   WRONG,   WRONG,   WRONG, WRONG, WRONG,   WRONG },
    [O_KEY]   = { WRONG,   WRONG,   WRONG,   WRONG,   WRONG, WRONG, O_COLON, WRONG },
    [O_COLON] = { O_VALUE, O_VALUE, O_BEGIN, A_BEGIN, WRONG, WRONG, WRONG,   WRONG },
    [O_VALUE] = { WRONG,   WRONG,   WRONG,   WRONG,   ENDS,  WRONG, WRONG,   O_COMMA },
    [A_BEGIN] = { A_VALUE, A_VALUE, O_BEGIN, A_BEGIN, WRONG, ENDS,  WRONG,   WRONG },
    [A_COMMA] = { A_VALUE, A_VALUE, O_BEGIN, A_BEGIN, WRONG, WRONG, WRONG,   WRONG },
    [A_VALUE] = { WRONG,   WRONG,   WRONG,   WRONG,   WRONG, ENDS,  WRONG,   A_COMMA },
};
/* clang-format on */

struct grammar {
    struct key_scan *s;
    struct slice object;
    uint64_t at;        /* the offset of object.p[0] in the line */
    uint64_t in_object; /* a bit for each level below the present one, set for an object */
    uint8_t state;
    bool escaped, in_scalar;
    uint8_t hex; /* bit i: byte i of the next block has to be a digit of a \u escape */
    uint64_t in_string;
    size_t last_quote; /* in object, as all places below */
    size_t key;        /* the opening quote of the last string on the first level */
    bool too_deep;
};

/* A number, true, false or null, from its first byte to a blank or the next token. */
static bool scalar_valid(struct slice object, size_t i)
{
    const char *p = object.p + i, *end = object.p + object.n, *q = p;

    while (q < end && *q >= '0' && *q <= '9')
        q++;
    if (q == p || (*p == '0' && q - p > 1) || (q < end && (*q == '.' || *q == 'e' || *q == 'E')))
        while (q < end && !key_scan_is_blank(*q) && token_of[(unsigned char)*q] == SCALAR)
            q++;
    else
        return q < end && (key_scan_is_blank(*q) || token_of[(unsigned char)*q] > STRING);
    return json_valid_plain((struct slice){ p, (size_t)(q - p) }) && (q == end || *q != '"');
}

/* Handles one token. Returns false if the object ended or is invalid. */
WITH_BLOCKS ALWAYS_INLINE bool validate_token(struct grammar *g, size_t i, uint64_t quotes_before,
                                              size_t block)
{
    uint8_t token = token_of[(unsigned char)g->object.p[i]], to = next[g->state][token];
    struct key_scan *s = g->s;

    if (to == WRONG || (token == SCALAR && !scalar_valid(g->object, i))) {
        s->broken = true;
        return false;
    }
    switch (token) {
    case OPEN_OBJECT:
    case OPEN_ARRAY:
        g->too_deep = s->depth == LEVELS;
        /* The new bit records whether the level that contains this one is an object. */
        g->in_object = g->in_object << 1 | (g->state < A_BEGIN);
        s->depth++;
        break;
    case END_OBJECT:
    case END_ARRAY:
        if (--s->depth == 0) {
            key_scan_end_object(s, (struct slice){ g->object.p + i + 1, g->object.n - i - 1 });
            return false;
        }
        to = g->in_object & 1 ? O_VALUE : A_VALUE;
        g->in_object >>= 1;
        break;
    case STRING:
        if (s->depth == 1)
            g->key = i;
        break;
    case COLON:
        if (s->depth != 1)
            break;
        /* The key ends at the last quote before the colon, in this block or in an earlier one. */
        s->quote = g->at + (quotes_before ? block + 63u - (unsigned)__builtin_clzll(quotes_before)
                                          : g->last_quote);
        s->quote_before = g->at + g->key;
        key_scan_member(s, g->at + i);
        break;
    default: break;
    }
    g->state = to;
    return !g->too_deep;
}

/* Checks the digits of four-digit escapes. Those that do not fit into the block are expected in the next one. `u` marks
 * the letters of \u escapes. */
WITH_BLOCKS ALWAYS_INLINE bool digits_valid(struct grammar *g, struct simd_block b, uint64_t u)
{
    uint64_t digits = g->hex | u << 1 | u << 2 | u << 3 | u << 4;

    g->hex = (uint8_t)(u >> 63 | u >> 62 | u >> 61 | u >> 60);
    return !(digits & ~block_hex_digits(b));
}

/* Returns true if the strings are valid: no control bytes, and after backslashes (`escaped`) only known characters.
 * Most blocks contain escapes, but not all: the check costs less without a branch that would be mispredicted. */
WITH_BLOCKS ALWAYS_INLINE bool strings_valid(struct grammar *g, struct simd_block b,
                                             uint64_t inside, uint64_t escaped, uint64_t known)
{
    known |= block_escape_letters(b);
    uint64_t u = escaped & block_equal(b, 'u');

    if ((inside & block_up_to(b, 0x1f)) | (escaped & ~known))
        return false;
    return !(u | g->hex) || digits_valid(g, b, u);
}

/* Returns the first bytes of the tokens in a block, and notes whether the block ends inside a scalar. */
WITH_BLOCKS ALWAYS_INLINE uint64_t token_starts(struct grammar *g, struct simd_block b,
                                                uint64_t quote, uint64_t inside)
{
    uint64_t outside = ~inside;
    uint64_t marks = (block_bracket(b, '{') | block_bracket(b, '}') | block_equal(b, ':') |
                      block_equal(b, ',')) &
                     outside;
    uint64_t blank =
        block_equal(b, ' ') | block_equal(b, '\t') | block_equal(b, '\r') | block_equal(b, '\n');
    uint64_t scalar = outside & ~(marks | quote | blank);
    uint64_t begins = scalar & ~(scalar << 1 | g->in_scalar);

    g->in_scalar = scalar >> 63;
    return marks | (quote & inside) | begins;
}

/* Returns false if the rest of the line need not be validated. If n < BLOCK, `bytes` is a copy padded with blanks. */
WITH_BLOCKS ALWAYS_INLINE bool validate_block(struct grammar *g, const char *bytes, size_t block,
                                              unsigned n)
{
    struct simd_block b = block_load(bytes);
    uint64_t slashes = block_equal(b, '\\');
    uint64_t escaped = block_escaped(slashes, n, &g->escaped);
    uint64_t quotes = block_equal(b, '"'), quote = quotes & ~escaped;
    /* Most blocks are within one string. */
    uint64_t inside = quote ? block_prefix_xor(quote) ^ g->in_string : g->in_string;

    if (n < BLOCK)
        escaped &= ((uint64_t)1 << n) - 1;
    g->in_string = -(inside >> 63);
    if (!strings_valid(g, b, inside, escaped, quotes | slashes)) {
        g->s->broken = true;
        return false;
    }
    if (!(~inside | quote))
        return true;
    for (uint64_t todo = token_starts(g, b, quote, inside); todo; todo &= todo - 1) {
        uint64_t below = (todo & -todo) - 1;

        if (!validate_token(g, block + (unsigned)__builtin_ctzll(todo), quote & below, block))
            return false;
    }
    if (quote)
        g->last_quote = block + 63u - (unsigned)__builtin_clzll(quote);
    return true;
}

WITH_BLOCKS ALWAYS_INLINE void validate_blocks(struct key_scan *s, uint64_t at, struct slice object)
{
    struct grammar g = { .s = s, .object = object, .at = at, .state = O_BEGIN };
    char last[BLOCK];
    size_t i = 1; /* the brace is known */
    bool more = true;

    for (; more && object.n - i >= BLOCK; i += BLOCK)
        more = validate_block(&g, object.p + i, i, BLOCK);
    if (more && i < object.n) {
        memset(last, ' ', sizeof last);
        memcpy(last, object.p + i, object.n - i);
        validate_block(&g, last, i, (unsigned)(object.n - i));
    }
    if (!g.too_deep)
        return;
    key_scan_begin(s, s->names, s->source);
    key_validate_portable(s, at, object);
}

#endif

#endif
