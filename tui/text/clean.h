#ifndef TUI_TEXT_CLEAN_H
#define TUI_TEXT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The width of characters and the boundaries of clusters, on which clean.c builds.
 *
 * ncurses counts columns with the C library's wcwidth, one character at a time; if a terminal
 * counts differently, every column after the character is misplaced. So a width is only useful if
 * both agree. Therefore utf8proc decides whether a character is shown and wcwidth how wide it is,
 * each in the installed version, and sequences on whose width terminals disagree are not passed on
 * at all (see clean_next). A C locale knows no letters beyond ASCII: there, and in tests without a
 * locale, utf8proc's width is used. */

/* 1 or 2; 0 for a mark that sits on the character before it; -1 for characters that are never shown
 * as themselves: controls, format characters, surrogates, unassigned characters and those newer
 * than one of the libraries. */
int text_width(uint32_t cp);

/* Returns true if `next` begins a new cluster. state is 0 at the start of a text. */
bool text_width_breaks(uint32_t before, uint32_t next, int32_t *state);

/* Returns true for a pictograph, which a skin tone or a joiner may follow. */
bool text_width_pictograph(uint32_t cp);

/* The sanitiser: it turns any bytes into text that cannot act on a terminal and whose width is
 * certain. Everything that reaches a screen or a plain output line goes through clean_next.
 *
 *   C0 and DEL                       ^[  ^G  ^?     (newline and tab: one blank)
 *   C1                               <9B>
 *   bidi, zero-width, tag, format,
 *   unassigned characters            <U+202E>
 *   broken bytes, lone surrogates    U+FFFD, one for each maximal broken part
 *   a mark without a base            on a dotted circle
 *
 * Terminals do not agree on how wide a cluster of several spacing characters is (some draw a family joined
 * by U+200D in two columns, some in eight; a skin tone or a variation selector may or may not count). So the
 * joiners, selectors and skin tones of a well-formed cluster are left out, and what remains has the same
 * width everywhere: a joined family is shown as its members side by side. Joiners that Arabic and Indic
 * words are spelt with are left out too. Anywhere else they are signs. A base keeps at most four marks,
 * which is what a cell of ncurses holds. */

enum { GLYPH_BYTES = 20 };

enum glyph_kind {
    GLYPH_TEXT,
    GLYPH_BLANK, /* a space, a tab */
    GLYPH_NEWLINE,
    GLYPH_SIGN, /* ASCII in place of something that is not shown: one column a byte */
};

/* How a piece of the input is shown: one spacing character with its marks, or a sign. */
struct glyph {
    char bytes[GLYPH_BYTES]; /* valid UTF-8, clean */
    uint8_t len;
    uint8_t width; /* 1 or 2; the length of a sign */
    bool joined;   /* belongs to the cluster of the previous glyph: no line break between them */
    enum glyph_kind kind;
    size_t at; /* where in the text it begins */
};

/* A walk over a text. */
struct clean {
    struct slice text;
    size_t at;
    uint32_t before; /* the last character of the cluster we are in */
    int32_t state;
};

void clean_begin(struct clean *c, struct slice text);
/* Reads the next glyph. Returns false at the end. */
bool clean_next(struct clean *c, struct glyph *g);
/* The width of the cluster that begins here (its glyph and those joined to it); 0 at the end. */
size_t clean_cluster_width(const struct clean *c);

/* Returns true if the character, outside a well-formed cluster, acts on a terminal or is invisible. */
bool clean_is_sign(uint32_t cp);

/* The number of bytes at `at` that are of no interest to a reader: the CR of a CRLF, and the colour
 * escapes in the output of programs. Any other escape is shown as a sign. */
size_t clean_noise(struct slice text, size_t at);

/* Columns of a whole text on one line. */
size_t clean_width(struct slice text);
/* Appends the text as one clean line. Text from disk reaches stdout and stderr only through this
 * function. */
MUST_CHECK enum err_code clean_add(struct buf *out, struct slice text);

/* Returns false if bytes outside ASCII would be other characters or controls in this locale. */
bool clean_locale_is_utf8(void);
/* From now on, UTF-8 is written and read regardless of the locale; used only by the static program. */
void clean_assume_utf8(void);
/* The replacement in such a locale: the base of an accented letter, the plain form of a quotation
 * mark or a dash, else '?'. */
char clean_ascii_fallback(struct slice character);
/* clean_add restricted to ASCII; each character keeps its width. */
MUST_CHECK enum err_code clean_add_ascii(struct buf *out, struct slice text);

/* The path with the home directory written as ~. The result is in out, or is the path itself. */
struct slice text_path_short(struct slice path, struct slice home, char *out, size_t cap);
/* The last part of a path, without slashes; the whole of it for "/". The path may be one of Windows (D:\x). */
struct slice text_path_last(struct slice path);

#endif
