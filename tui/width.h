#ifndef TUI_WIDTH_H
#define TUI_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* How many columns a character takes, and where one cluster ends: the facts that clean.c builds on.
 *
 * ncurses counts columns with the C library's wcwidth, one character at a time, and a terminal that counts
 * differently sets every column behind it crooked. So a width is only worth something when both agree. The
 * rule here: the width of a character is what wcwidth of glibc 2.36 says (a test compares all of Unicode),
 * and whatever terminals are known to disagree about is not passed on at all (clean.h). It is computed
 * from utf8proc and the few differences to it, never from the locale of the process: a C locale would
 * answer -1 for every letter beyond ASCII, and frames are made in tests and threads as well. */

/* 1 or 2; 0 for a mark that sits on the character before it; -1 for what is never shown as itself: controls,
 * format characters, surrogates, unassigned characters and those younger than Unicode 14. */
int width_of(uint32_t cp);

/* Walks clusters: true when `next` begins a new one. state is 0 at the start of a text. */
bool width_breaks(uint32_t before, uint32_t next, int32_t *state);

/* A pictograph, on which a skin tone or a joiner may follow. */
bool width_pictograph(uint32_t cp);

#endif
