#ifndef TUI_SCREENS_FLOW_H
#define TUI_SCREENS_FLOW_H

#include "tui/screens/sheet.h"

/* Styled text on its way into lines of a sheet: cleaned, and wrapped between words (or, where no blank helps,
 * between clusters; ideographs are words of their own). A cluster is never cut in two unless it is wider
 * than the line.
 *
 *     flow_begin -> { flow_text, flow_break }... -> flow_end */

/* What stands before each line: list marks, quote bars. */
enum { MARGIN_RUNS = 12 };

struct margin {
    struct run run[MARGIN_RUNS]; /* texts are borrowed until flow_end */
    size_t n;
    int width;
};

/* Adds a run; left out where there is no room for more. The text must be clean. */
void margin_add(struct margin *m, enum style style, const char *text);

enum flow_mode {
    FLOW_WORDS,
    FLOW_VERBATIM, /* blanks stay, lines break where they are full, tabs go to the next stop */
};

struct flow {
    struct sheet *sheet;
    int width; /* of the line, margin included */
    enum flow_mode mode;
    struct margin first, rest; /* of the first line and of those below */
    size_t max_lines;          /* 0: no limit. Behind it nothing is added any more */
    size_t lines;              /* so far */
    bool narrow;               /* any width will do: a column of a table */

    struct ink line, blanks, word;
    bool wrapped; /* the present line began where the one before was full */
    bool wide;    /* the word ends in an ideograph: a line may break behind it */
};

/* Takes sheet, width, mode and margins from the struct as the caller filled it. */
void flow_begin(struct flow *f);
/* Answers how many bytes were taken: fewer than there are when max_lines is reached. */
size_t flow_text(struct flow *f, enum style style, struct slice text);
void flow_break(struct flow *f);
/* Ends the last line, if one was begun; frees. */
void flow_end(struct flow *f);
bool flow_is_full(const struct flow *f);

/* Words in a rectangle, with a sign where some are left out; answers the lines taken. */
int flow_put_words(struct frame *f, struct rect r, enum style style, struct slice text);
int flow_words_lines(struct slice text, int w); /* so many, if there is room for all */

#endif
