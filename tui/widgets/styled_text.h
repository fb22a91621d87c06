#ifndef TUI_WIDGETS_STYLED_TEXT_H
#define TUI_WIDGETS_STYLED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/arena.h"
#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "tui/widgets/frame.h"

/* Text laid out in lines: one message at one width. It owns its bytes, which are clean (clean.h),
 * so the source may be freed. */

struct run {
    struct slice text; /* clean */
    enum style style;
};

/* The part that unfolding at a line opens. */
enum line_part {
    PART_BLOCK,   /* the block is opened or closed */
    PART_MORE,    /* the rest of a long text is shown or hidden */
    PART_EARLIER, /* the part of a very long text before this one takes its place ... */
    PART_LATER,   /* ... or the part after it */
};

/* The end of a line: the text's own line break, or a break made by the layout. */
enum line_end { LINE_ENDS, LINE_JOINS, LINE_JOINS_BLANK }; /* a blank was left out at the break */

struct line {
    uint32_t run, runs; /* first and count, in styled_text.run */
    uint16_t block;     /* the block of the message that the line belongs to */
    uint8_t part;       /* enum line_part */
    uint8_t end;        /* enum line_end */
    uint8_t margin;     /* the number of first runs that are not text: list marks, quote bars */
    bool result;        /* part of a tool's result, not of its call */
    bool foldable;      /* unfolding here has an effect */
    bool rule;          /* a rule fills the width after its runs */
};

struct styled_text {
    struct arena arena;
    struct run *run;   /* owned */
    struct line *line; /* owned */
    size_t runs, run_cap, n, cap;
    struct line stamp; /* the marks of the next lines */
    enum err_code rc;  /* the first failure sticks; the text is then cut short */
};

void styled_text_fini(struct styled_text *s);
/* Appends a line of these runs, copying their bytes. */
void styled_text_add_line(struct styled_text *s, const struct run *run, size_t n);
/* Appends a line of one text, which must be clean. */
void styled_text_add(struct styled_text *s, enum style style, const char *text);
/* The same for text that is not clean: it is cleaned, and not wrapped. */
void styled_text_add_unclean(struct styled_text *s, enum style style, struct slice text);
void styled_text_add_blank(struct styled_text *s);
/* Appends a rule after a label, which may be "". */
void styled_text_add_rule(struct styled_text *s, enum style style, const char *label);

/* Draws one line at (y, x) in w columns. Returns the columns that it used. */
int styled_text_draw_line(const struct styled_text *s, size_t line, struct frame *f, int y, int x,
                          int w);

/* Clean text with its styles, to be put into a line. */
struct styled_span {
    uint32_t len;
    uint8_t style;
};

struct styled_line {
    struct buf bytes;
    struct styled_span *span; /* owned */
    size_t n, cap;
    int width;
};

enum err_code styled_line_add(struct styled_line *line, enum style style, const char *bytes,
                              size_t n, int width);
/* Appends all of `from` and empties it. */
enum err_code styled_line_append(struct styled_line *line, struct styled_line *from);
void styled_line_clear(struct styled_line *line);
void styled_line_fini(struct styled_line *line);

/* ---- wrapping (text_wrap.c) ---- */

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
    int width; /* the width of the line, margin included */
    enum text_wrap_mode mode;
    struct text_margin first, rest; /* the margins of the first line and of those below */
    size_t max_lines;               /* 0: no limit; text beyond it is not added */
    size_t lines;                   /* so far */
    bool narrow;                    /* any width will do: a column of a table */
    int hang; /* further columns before the rest of a line that was too long */

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
/* The same for a failure, as a sentence; of what is not supported the reason alone, because the view shows what was tried. */
int text_wrap_draw_error(struct frame *f, struct rect r, const struct err *e);
int text_wrap_height(struct slice text, int w); /* the lines it would use with unlimited height */

#endif
