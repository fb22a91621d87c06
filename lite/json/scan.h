#ifndef LITE_JSON_SCAN_H
#define LITE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The inner loop of everything that reads JSON: finding the end of a string. Transcripts are mostly long strings with
 * an escape every few words, so bytes are examined a block at a time, and the result for a block is kept while its
 * stops are handled one by one. */

enum { SCAN_BLOCK = 16 };

/* Inside a string only a quote, a backslash and a control character (below 0x20) need attention. A newline is a
 * control character, so a walk over lines never runs into the next line. */
static inline bool scan_stops(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

/* One bit for each of the SCAN_BLOCK bytes at p that needs attention; the lowest bit is the first byte. */
static inline uint32_t scan_block(const char *p)
{
#if defined(__SSE2__)
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    /* A byte below 0x20 is not changed by the (unsigned) minimum with 0x1f. */
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), control));
#else
    uint32_t stops = 0;

    for (int i = 0; i < SCAN_BLOCK; i++)
        stops |= (uint32_t)scan_stops(p[i]) << i;
    return stops;
#endif
}

/* One bit for each byte that is not ASCII. */
static inline uint32_t scan_beyond_ascii(const char *p)
{
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
    uint32_t beyond = 0;

    for (int i = 0; i < SCAN_BLOCK; i++)
        beyond |= (uint32_t)((unsigned char)p[i] >= 0x80) << i;
    return beyond;
#endif
}

/* The position of the lowest bit; stops is not 0. */
static inline unsigned scan_first(uint32_t stops)
{
    return (unsigned)__builtin_ctz(stops);
}

/* Returns the first byte in [p, end) that needs attention, or end. */
static inline const char *scan_string(const char *p, const char *end)
{
    for (; end - p >= SCAN_BLOCK; p += SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        if (stops)
            return p + scan_first(stops);
    }
    while (p < end && !scan_stops(*p))
        p++;
    return p;
}

/* scan_string_end for longer strings. */
const char *scan_long_string_end(const char *p, const char *end);

/* p points after an opening quote. Returns the closing quote, or NULL if the string does not end before `end`. Escapes
 * are skipped without decoding, and so are raw control characters. */
static inline const char *scan_string_end(const char *p, const char *end)
{
    /* Keys and short values end in the first block, where a call would cost more than the test. */
    if (end - p >= SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        if (stops && p[scan_first(stops)] == '"')
            return p + scan_first(stops);
    }
    return scan_long_string_end(p, end);
}

/* p is at an opening bracket. Returns the position after the one that closes it, or NULL. Brackets are only counted;
 * json_valid checks that their kinds match. */
const char *scan_nested_end(const char *p, const char *end);

#endif
