#ifndef STORE_EXPORT_EXPORT_CLEAN_H
#define STORE_EXPORT_EXPORT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* Splits a text of a session into pieces so that nothing in it acts on a reader's program or is hidden from the reader.
 * The pieces are valid UTF-8; a format still has to escape its special characters. The screen shows the same signs
 * (tui/text/clean.h):
 *
 *   C0 and DEL                                      ^[  ^G  ^H
 *   C1                                              <9B>
 *   bidi, zero-width, tag, format, unassigned       <U+202E>
 *   broken bytes, lone surrogates                   U+FFFD
 *   the CR of a CRLF, escapes that set a colour     left out
 *
 * Joiners and variation selectors stay where a cluster needs them: between the members of an emoji, and in scripts that
 * are spelt with them. */

enum export_piece_kind {
    EXPORT_PIECE_END,
    EXPORT_PIECE_TEXT,
    EXPORT_PIECE_SIGN,    /* ASCII in place of something else */
    EXPORT_PIECE_NEWLINE, /* "\n" */
};

struct export_walk {
    struct slice rest;
    uint32_t before; /* the character before, 0 at the beginning */
    char sign[16];
};

/* Reads the next piece. Its bytes are in the text or in the walk, until the next call. Tabs are text. */
enum export_piece_kind export_walk_next(struct export_walk *w, struct slice *piece);

/* Returns the text without blanks and line ends at its edges, and at most `max` bytes of it, without cutting a
 * character. */
struct slice export_trim_line(struct slice text, size_t max);
/* The length of the longest run of a character. */
size_t export_longest_run(struct slice text, char c);
/* Returns the text without blank lines and newlines at its end. */
struct slice export_trim_end(struct slice text);

#endif
