#ifndef TUI_WIDGETS_TEXT_WRAP_H
#define TUI_WIDGETS_TEXT_WRAP_H

#include "tui/widgets/styled_text.h"

/* Breaks styled text into lines: the text is cleaned, and wrapped between words or, without a blank
 * to break at, between clusters; each ideograph is a word. A cluster is never split unless it is
 * wider than the line.
 *
 *     text_wrap_begin -> { text_wrap_add, text_wrap_break }... -> text_wrap_fini */

/* The prefix of each line: list marks, quote bars. */
enum { TEXT_MARGIN_RUNS = 12 };

struct text_margin {
    struct run run[TEXT_MARGIN_RUNS]; /* texts are borrowed until text_wrap_fini */
    size_t n;
    int width;
};

/* Adds a run, or drops it if the margin is full. The text must be clean. */
void text_margin_add(struct text_margin *m, enum style style, const char *text);

enum text_wrap_mode {
    TEXT_WRAP_WORDS,
    TEXT_WRAP_VERBATIM, /* keeps blanks, breaks lines where they are full, and expands tabs to the
                           next stop */
};

struct text_wrap {
    struct styled_text *styled_text;
    int width; /* of the line, margin included */
    enum text_wrap_mode mode;
    struct text_margin first, rest; /* of the first line and of those below */
    size_t max_lines;               /* 0: no limit; text beyond it is not added */
    size_t lines;                   /* so far */
    bool narrow;                    /* any width will do: a column of a table */

    struct styled_line line, blanks, word;
    bool wrapped; /* the current line began because the one before was full */
    bool wide;    /* the word ends in an ideograph: a line may break after it */
};

/* Uses the target, width, mode and margins that the caller set. */
void text_wrap_begin(struct text_wrap *f);
/* Returns the number of bytes consumed, which is less than given if max_lines is reached. */
size_t text_wrap_add(struct text_wrap *f, enum style style, struct slice text);
void text_wrap_break(struct text_wrap *f);
/* Ends the last line, if one was begun; frees. */
void text_wrap_fini(struct text_wrap *f);

/* Draws wrapped text in a rectangle, with a sign if it does not fit. Returns the number of lines
 * used. */
int text_wrap_draw(struct frame *f, struct rect r, enum style style, struct slice text);
int text_wrap_height(struct slice text, int w); /* the lines it would use with unlimited height */

#endif
