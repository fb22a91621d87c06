#ifndef LITE_JSON_SCAN_H
#define LITE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The inner loop of everything that reads JSON: how far does a string go? Transcripts are mostly long
 * strings with an escape every few words, so the bytes are looked at a block at a time, and the answer
 * for a block is kept while its stops are worked off one by one. */

enum { SCAN_BLOCK = 16 };

/* Inside a string a quote, a backslash and a control character (below 0x20) need a look, the rest does
 * not. A newline is one of them: whoever walks lines never runs into the next one. */
static inline bool scan_stops(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

/* One bit for each of the SCAN_BLOCK bytes at p that needs a look; the lowest is the first. */
static inline uint32_t scan_block(const char *p)
{
#if defined(__SSE2__)
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i escape = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    /* Below 0x20 is what the (unsigned) minimum with 0x1f leaves as it is. */
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), control));
#else
    uint32_t stops = 0;

    for (int i = 0; i < SCAN_BLOCK; i++)
        stops |= (uint32_t)scan_stops(p[i]) << i;
    return stops;
#endif
}

/* One bit for each of them that is no ASCII. */
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

/* Place of the lowest bit; stops is not 0. */
static inline unsigned scan_first(uint32_t stops)
{
    return (unsigned)__builtin_ctz(stops);
}

/* The first byte in [p, end) that needs a look, or end. */
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

/* What scan_string_end does for strings that go on. */
const char *scan_long_string_end(const char *p, const char *end);

/* p stands behind an opening quote: answers the closing quote, or NULL when there is none before end.
 * Steps over escapes without looking at them and over raw control characters. */
static inline const char *scan_string_end(const char *p, const char *end)
{
    /* Keys and short values end in the first block: a call would cost more than the look. */
    if (end - p >= SCAN_BLOCK) {
        uint32_t stops = scan_block(p);

        if (stops && p[scan_first(stops)] == '"')
            return p + scan_first(stops);
    }
    return scan_long_string_end(p, end);
}

#endif
