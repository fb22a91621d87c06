#ifndef LITE_SCAN_H
#define LITE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* The inner loop of everything that reads JSON: how far does a string go? Transcripts are mostly long
 * strings, so this one is fast (32 bytes a step where the machine has AVX2, 16 with SSE2, 8 anywhere). */

/* The first quote, backslash or control character (below 0x20) in [p, end), or end. A newline stops it
 * too: whoever walks lines never runs into the next one. */
const char *scan_string(const char *p, const char *end);

/* p stands behind an opening quote: answers the closing quote, or NULL when there is none before end.
 * Steps over escapes without looking at them and over raw control characters. */
const char *scan_string_end(const char *p, const char *end);

#endif
