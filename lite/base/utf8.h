#ifndef LITE_BASE_UTF8_H
#define LITE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/slice.h"

enum { UTF8_REPLACEMENT = 0xFFFD };

/* Cuts the next code point off the front of *rest, which must not be empty. Each maximal broken part becomes U+FFFD
 * (WHATWG). With wtf set, an encoded lone surrogate is returned as itself. */
uint32_t utf8_next(struct slice *rest, bool wtf);
/* Writes one code point (surrogates too) and returns how many bytes it took, 1 to 4. */
size_t utf8_encode(char out[4], uint32_t cp);
bool utf8_valid(struct slice text);
/* Returns how many bytes at the front are valid. */
size_t utf8_valid_prefix(struct slice text);
/* Replaces broken parts with U+FFFD. The result borrows if nothing was broken. Returns false if out of memory. */
bool utf8_repair(struct slice bytes, struct arena *a, struct slice *text);

/* Lengths in UTF-16 units, in which several formats count. */
size_t utf8_utf16_length(struct slice text);
/* Returns the longest front of the text with at most `units` UTF-16 units. A surrogate pair is never split: half a pair
 * is dropped, as in Claude Code. */
struct slice utf8_utf16_prefix(struct slice text, size_t units);

/* JavaScript's trim: it removes white space and line ends, among them U+00A0, U+FEFF, U+2028 and category Zs. */
struct slice utf8_js_trim(struct slice text);
bool utf8_is_js_space(uint32_t cp);

/* Converts to normal form C. The result borrows if nothing changes. Returns false if out of memory. */
bool utf8_nfc(struct slice text, struct arena *a, struct slice *out);

#endif
