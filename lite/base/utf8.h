#ifndef LITE_BASE_UTF8_H
#define LITE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/slice.h"

enum { UTF8_REPLACEMENT = 0xFFFD };

/* Cuts the next code point off the front of *rest (which must not be empty). Broken input gives U+FFFD
 * for each maximal broken part (WHATWG). With wtf set, an encoded lone surrogate passes as itself. */
uint32_t utf8_next(struct slice *rest, bool wtf);
/* Writes one code point (surrogates too) and answers the byte count, 1 to 4. */
size_t utf8_encode(char out[4], uint32_t cp);
bool utf8_valid(struct slice text);
/* How many bytes at the front are valid. */
size_t utf8_valid_prefix(struct slice text);
/* Valid UTF-8 with U+FFFD for what was broken; borrows when nothing was. False without memory. */
bool utf8_repair(struct slice bytes, struct arena *a, struct slice *text);

/* UTF-16: several formats count in it. */
size_t utf8_utf16_length(struct slice text);
/* The longest front of the text with at most `units` UTF-16 units; never splits a pair (a half pair is
 * dropped, as the vendor does). */
struct slice utf8_utf16_prefix(struct slice text, size_t units);

/* JavaScript's trim: white space and line ends, U+00A0, U+FEFF, U+2028 and Zs among them. */
struct slice utf8_js_trim(struct slice text);
bool utf8_is_js_space(uint32_t cp);

/* Normal form C through utf8proc; borrows when nothing changes. False without memory. */
bool utf8_nfc(struct slice text, struct arena *a, struct slice *out);

#endif
