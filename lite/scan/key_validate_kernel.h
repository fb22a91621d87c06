#ifndef LITE_SCAN_KEY_VALIDATE_KERNEL_H
#define LITE_SCAN_KEY_VALIDATE_KERNEL_H

/* The exact scan over blocks of 64 bytes. Each of the files keyscan_exact_*.c makes one engine of it, with the
 * instructions whose header it took before this one.
 *
 * What strings hold is checked by masks, and everything outside of them goes through the grammar token by token. A token
 * is a bracket, a colon, a comma, the quote that opens a string, or the first byte of anything else. One row has a
 * hundred of them in three thousand bytes, which is why this is fast. */

#if defined(__x86_64__)

#include <string.h>

#include "lite/json/json.h"
#include "lite/scan/key_scan.h"
#ifndef LITE_BASE_SIMD_BLOCK_AVX512_H
#include "lite/base/simd_block_avx2.h"
#endif

enum token { SCALAR, STRING, OPEN_OBJECT, OPEN_ARRAY, END_OBJECT, END_ARRAY, COLON, COMMA, TOKENS };

/* What has just been seen: in an object (O) or in an array (A). */
enum state { O_BEGIN, O_COMMA, O_KEY, O_COLON, O_VALUE, A_BEGIN, A_COMMA, A_VALUE, STATES };

/* What a block is taken apart by, so that all that is known between two of them stays in registers. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { WRONG = STATES, ENDS = 0, LEVELS = 64 };

static const uint8_t token_of[256] = {
    ['"'] = STRING,    ['{'] = OPEN_OBJECT, ['['] = OPEN_ARRAY, ['}'] = END_OBJECT,
    [']'] = END_ARRAY, [':'] = COLON,       [','] = COMMA,
};

/* The next state. Behind a closing bracket it is that of the level below. */
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
    uint64_t at;        /* of object.p[0] in the line */
    uint64_t in_object; /* a bit for each level below the present one: is it an object? */
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

/* One token; false when the grammar has nothing more to say: the object ended, or it is wrong. */
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

/* The digits of four-digit escapes, as far as the block goes: what it lacks the next one has to have. `u` are the bytes
 * that say that four follow. */
WITH_BLOCKS ALWAYS_INLINE bool digits_valid(struct grammar *g, struct simd_block b, uint64_t u)
{
    uint64_t digits = g->hex | u << 1 | u << 2 | u << 3 | u << 4;

    g->hex = (uint8_t)(u >> 63 | u >> 62 | u >> 61 | u >> 60);
    return !(digits & ~block_hex_digits(b));
}

/* What strings hold is right: no control bytes, and of what backslashes stand before (`escaped`) only the known. Most
 * blocks have such, but not all: without a branch that is guessed wrong the look costs less. */
WITH_BLOCKS ALWAYS_INLINE bool strings_valid(struct grammar *g, struct simd_block b,
                                             uint64_t inside, uint64_t escaped, uint64_t known)
{
    known |= block_escape_letters(b);
    uint64_t u = escaped & block_equal(b, 'u');

    if ((inside & block_up_to(b, 0x1f)) | (escaped & ~known))
        return false;
    return !(u | g->hex) || digits_valid(g, b, u);
}

/* The tokens of a block, as their first bytes; notes whether its last byte is inside of one. */
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

/* False when the line is done with. n < BLOCK: `bytes` is a copy with blanks behind. */
WITH_BLOCKS ALWAYS_INLINE bool validate_block(struct grammar *g, const char *bytes, size_t block,
                                              unsigned n)
{
    struct simd_block b = block_load(bytes);
    uint64_t slashes = block_equal(b, '\\');
    uint64_t escaped = block_escaped(slashes, n, &g->escaped);
    uint64_t quotes = block_equal(b, '"'), quote = quotes & ~escaped;
    /* Most blocks lie within one string. */
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
