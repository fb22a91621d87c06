#include "lite/json/json.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/simd_block_avx2.h"
#include "lite/json/scan.h"
#include "lite/scan/key_scan.h"

/* The validator makes one pass without recursion. Open brackets are one bit per level (set for an object), in a small
 * array first, so that only deeper texts use the heap. The functions that consume something return the position after
 * it, or NULL if it is not there. */

enum { WORD_BITS = 64, SMALL_WORDS = 8 };

/* From here on blocks are faster (lite/scan/key_scan.h). */
enum { LONG_TEXT = 256 };

struct nest {
    uint64_t small[SMALL_WORDS];
    uint64_t *word; /* small, or owned */
    size_t depth, words;
};

static bool nest_grow(struct nest *nest)
{
    bool first = nest->word == nest->small;
    uint64_t *word = realloc(first ? NULL : nest->word, nest->words * 2 * sizeof *word);

    if (!word)
        return false;
    if (first)
        memcpy(word, nest->small, sizeof nest->small);
    nest->word = word;
    nest->words *= 2;
    return true;
}

static bool nest_in_object(const struct nest *nest)
{
    size_t top = nest->depth - 1;

    return nest->word[top / WORD_BITS] >> top % WORD_BITS & 1;
}

static const char *skip_blank_bytes(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

static bool json_valid_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex_digit(char c)
{
    return json_valid_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* p is at the backslash. */
static const char *escape(const char *p, const char *end)
{
    if (end - p < 2)
        return NULL;
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return p + 2;
    case 'u': break;
    default: return NULL;
    }
    if (end - p < 6 || !is_hex_digit(p[2]) || !is_hex_digit(p[3]) || !is_hex_digit(p[4]) ||
        !is_hex_digit(p[5]))
        return NULL;
    return p + 6;
}

/* Handles the stops of one block, until the string ends (*done), is invalid (NULL) or leaves the block. */
static const char *block_rest(const char *p, const char *end, uint32_t stops, bool *done)
{
    const char *next = p + SCAN_BLOCK;

    while (stops) {
        unsigned at = scan_first(stops);
        const char *stop = p + at;

        *done = *stop == '"';
        if (*done)
            return stop + 1;
        const char *behind = *stop == '\\' ? escape(stop, end) : NULL;

        if (!behind || behind >= next)
            return behind;
        stops &= ~(uint32_t)0 << (behind - p);
    }
    return next;
}

/* p points after the opening quote. UTF-8 is not checked: a broken sequence cannot hide a quote or a backslash, and
 * U+FFFD is valid inside a string. */
static const char *string_rest(const char *p, const char *end)
{
    bool done = false;

    while (p && end - p >= SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        p = stops ? block_rest(p, end, stops, &done) : p + SCAN_BLOCK;
        if (done)
            return p;
    }
    while (p) {
        p = scan_string(p, end);
        if (p == end)
            return NULL;
        if (*p == '"')
            return p + 1;
        p = *p == '\\' ? escape(p, end) : NULL;
    }
    return NULL;
}

#if defined(__x86_64__)
/* The same for long strings, with masks: texts of several lines have an escape in almost every block, and each would be
 * a branch. An escape at the end of a block is completed in the next one. */
struct string_blocks {
    bool escaped; /* the first byte of the next block is escaped */
    uint64_t hex; /* its first bytes that have to be digits */
};

/* Returns the closing quote, as a bit. *wrong: an error precedes it. */
WITH_AVX2 static inline uint64_t string_block(struct string_blocks *s, const char *p, bool *wrong)
{
    struct simd_block b = block_load(p);
    uint64_t slashes = block_equal(b, '\\'), quotes = block_equal(b, '"'), close = quotes;
    uint64_t bad = block_up_to(b, 0x1f);

    if (slashes || s->escaped || s->hex) {
        uint64_t escaped = block_escaped(slashes, BLOCK, &s->escaped);
        uint64_t u = escaped & block_equal(b, 'u');
        uint64_t digits = s->hex | u << 1 | u << 2 | u << 3 | u << 4;

        close &= ~escaped;
        bad |= escaped & ~(quotes | slashes | block_escape_letters(b));
        if (digits)
            bad |= digits & ~block_hex_digits(b);
        s->hex = u >> 63 | u >> 62 | u >> 61 | u >> 60;
    }
    close &= -close;
    *wrong = (bad & (close | (close - 1))) != 0; /* all bytes count if no quote does */
    return close;
}

WITH_AVX2 static const char *string_rest_by_blocks(const char *p, const char *end)
{
    struct string_blocks s = { 0 };
    char last[BLOCK] = { 0 }; /* a zero is a fault: a string without an end has one */
    uint64_t close = 0;
    bool wrong = false;

    for (; end - p >= BLOCK; p += BLOCK) {
        close = string_block(&s, p, &wrong);
        if (close || wrong)
            return wrong ? NULL : p + __builtin_ctzll(close) + 1;
    }
    memcpy(last, p, (size_t)(end - p));
    close = string_block(&s, last, &wrong);
    return wrong || !close ? NULL : p + __builtin_ctzll(close) + 1;
}
#endif

const char *json_string_end(const char *p, const char *end)
{
#if defined(__x86_64__)
    /* Keys and short values end in the first block. */
    if (end - p >= SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        if (stops && p[scan_first(stops)] == '"')
            return p + scan_first(stops) + 1;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul"))
            return string_rest_by_blocks(p, end);
    }
#endif
    return string_rest(p, end);
}

static const char *json_valid_digits(const char *p, const char *end)
{
    if (p == end || !json_valid_is_digit(*p))
        return NULL;
    while (p < end && json_valid_is_digit(*p))
        p++;
    return p;
}

static const char *json_valid_number(const char *p, const char *end)
{
    if (*p == '-' && ++p == end)
        return NULL;
    p = *p == '0' ? p + 1 : json_valid_digits(p, end);
    if (p && p < end && *p == '.')
        p = json_valid_digits(p + 1, end);
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        p = json_valid_digits(p, end);
    }
    return p;
}

static const char *word(const char *p, const char *end, struct slice want)
{
    if ((size_t)(end - p) < want.n || memcmp(p, want.p, want.n) != 0)
        return NULL;
    return p + want.n;
}

static const char *json_valid_scalar(const char *p, const char *end)
{
    switch (*p) {
    case '"': return json_string_end(p + 1, end);
    case 't': return word(p, end, SLICE("true"));
    case 'f': return word(p, end, SLICE("false"));
    case 'n': return word(p, end, SLICE("null"));
    default: return json_valid_number(p, end);
    }
}

/* "key" : and the blanks around; p is where the value begins. */
static const char *member_key(const char *p, const char *end)
{
    p = skip_blank_bytes(p, end);
    if (p == end || *p != '"')
        return NULL;
    p = json_string_end(p + 1, end);
    if (!p)
        return NULL;
    p = skip_blank_bytes(p, end);
    return p < end && *p == ':' ? skip_blank_bytes(p + 1, end) : NULL;
}

/* Called after a value: closes the brackets that end here. Returns the position of the next value, or the end of the
 * text with depth 0 if there are no more values. */
static const char *after_value(struct nest *nest, const char *p, const char *end)
{
    for (p = skip_blank_bytes(p, end); nest->depth; p = skip_blank_bytes(p + 1, end)) {
        bool object = nest_in_object(nest);

        if (p == end)
            return NULL;
        if (*p == ',')
            return object ? member_key(p + 1, end) : skip_blank_bytes(p + 1, end);
        if (*p != (object ? '}' : ']'))
            return NULL;
        nest->depth--;
    }
    return p == end ? p : NULL;
}

/* p is at an opening bracket. Returns true if only blanks precede the closing one. */
static bool json_valid_is_empty(const char *p, const char *end)
{
    const char *next = skip_blank_bytes(p + 1, end);

    return next < end && *next == (*p == '{' ? '}' : ']');
}

static bool valid(struct nest *nest, const char *p, const char *end)
{
    p = skip_blank_bytes(p, end);
    while (p && p < end) {
        if (*p == '{' || *p == '[') {
            bool empty = json_valid_is_empty(p, end);

            /* Each level has a bit, which is set for an object. */
            bool object = *p == '{';
            size_t i = nest->depth / WORD_BITS;
            uint64_t bit = (uint64_t)1 << nest->depth % WORD_BITS;

            if (i == nest->words && !nest_grow(nest))
                return false;
            nest->word[i] = object ? nest->word[i] | bit : nest->word[i] & ~bit;
            nest->depth++;

            p++;
            if (!empty) {
                p = object ? member_key(p, end) : skip_blank_bytes(p, end);
                continue;
            }
        } else {
            p = json_valid_scalar(p, end);
        }
        p = p ? after_value(nest, p, end) : NULL;
        if (nest->depth == 0)
            return p != NULL;
    }
    return false;
}

bool json_valid_plain(struct slice text)
{
    struct nest nest = { .word = nest.small, .words = SMALL_WORDS };

    if (text.n == 0)
        return false;
    bool ok = valid(&nest, text.p, text.p + text.n);

    if (nest.word != nest.small)
        free(nest.word);
    return ok;
}

bool json_valid(struct slice text)
{
    static const struct key_scan_names none = { 0 };
    struct key_scan_source source = { .held = text };
    struct key_scan s;

    if (text.n < LONG_TEXT || *text.p != '{')
        return json_valid_plain(text);
    key_scan_begin(&s, &none, &source);
    key_validate_best()(&s, 0, text);
    return s.ended && !s.broken;
}
