#ifndef TUI_WIDGETS_TEXT_WRAP_H
#define TUI_WIDGETS_TEXT_WRAP_H

#include "tui/widgets/styled_text.h"

/* Styled text on its way into lines: cleaned, and wrapped between words (or, where no blank helps,
 * between clusters; ideographs are words of their own). A cluster is never cut in two unless it is wider
 * than the line.
 *
 *     text_wrap_begin -> { text_wrap_add, text_wrap_break }... -> text_wrap_fini */

/* What precedes each line: list marks, quote bars. */
enum { TEXT_MARGIN_RUNS = 12 };

struct text_margin {
    struct run run[TEXT_MARGIN_RUNS]; /* texts are borrowed until text_wrap_fini */
    size_t n;
    int width;
};

/* Adds a run; left out where there is no room for more. The text must be clean. */
void text_margin_add(struct text_margin *m, enum style style, const char *text);

enum text_wrap_mode {
    TEXT_WRAP_WORDS,
    TEXT_WRAP_VERBATIM, /* blanks stay, lines break where they are full, tabs go to the next stop */
};

struct text_wrap {
    struct styled_text *styled_text;
    int width; /* of the line, margin included */
    enum text_wrap_mode mode;
    struct text_margin first, rest; /* of the first line and of those below */
    size_t max_lines;               /* 0: no limit. Behind it nothing is added any more */
    size_t lines;                   /* so far */
    bool narrow;                    /* any width will do: a column of a table */

    struct styled_line line, blanks, word;
    bool wrapped; /* the present line began where the one before was full */
    bool wide;    /* the word ends in an ideograph: a line may break behind it */
};

/* Uses the target, width, mode and margins that the caller set. */
void text_wrap_begin(struct text_wrap *f);
/* Returns how many bytes were taken: fewer than there are when max_lines is reached. */
size_t text_wrap_add(struct text_wrap *f, enum style style, struct slice text);
void text_wrap_break(struct text_wrap *f);
/* Ends the last line, if one was begun; frees. */
void text_wrap_fini(struct text_wrap *f);

/* Words in a rectangle, with a sign where some are left out; returns the lines taken. */
int text_wrap_draw(struct frame *f, struct rect r, enum style style, struct slice text);
int text_wrap_height(struct slice text, int w); /* so many, if there is room for all */

#endif
