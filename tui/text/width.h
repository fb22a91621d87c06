#ifndef TUI_TEXT_WIDTH_H
#define TUI_TEXT_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* How many columns a character takes, and where one cluster ends: the facts that clean.c builds on.
 *
 * ncurses counts columns with the C library's wcwidth, one character at a time, and a terminal that counts
 * differently sets every column behind it crooked. So a width is only worth something when both agree. The
 * rule here: utf8proc says what is shown at all, wcwidth how wide it is, each in the version that is installed, and
 * whatever terminals are known to disagree about is not passed on at all (clean.h). A C locale has no answer for
 * letters beyond ASCII, and shows none: there, and in tests without a locale, the width is utf8proc's. */

/* 1 or 2; 0 for a mark that sits on the character before it; -1 for what is never shown as itself: controls,
 * format characters, surrogates, unassigned characters and those younger than one of the libraries. */
int width_of(uint32_t cp);

/* Walks clusters: true when `next` begins a new one. state is 0 at the start of a text. */
bool width_breaks(uint32_t before, uint32_t next, int32_t *state);

/* A pictograph, on which a skin tone or a joiner may follow. */
bool width_pictograph(uint32_t cp);

#endif
