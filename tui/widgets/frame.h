#ifndef TUI_WIDGETS_FRAME_H
#define TUI_WIDGETS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/slice.h"

/* The content of a screen: a grid of cells, made by render and painted by term/. Making one needs
 * no terminal, so tests compare frames, and screenshots are made from them.
 *
 * Text gets into a frame only through frame_text, which cleans it: control characters, escapes,
 * broken bytes, and bidi or zero-width controls are shown as visible signs and never passed on. No
 * other code sanitises text for the screen (safety.md E1). */

/* The meaning of a cell; tui/term/paint.c maps it to colours (theme, NO_COLOR, 16 and 256
 * colours). */
#define STYLES(X)                                                                                  \
    X(TEXT, "text")                                                                                \
    X(DIM, "dim")                                                                                  \
    X(TITLE, "title")                                                                              \
    X(STRONG, "strong")                                                                            \
    X(EMPHASIS, "emphasis")                                                                        \
    X(MATCH, "match")                                                                              \
    X(MARK, "mark")                                                                                \
    X(TAG, "tag")                                                                                  \
    X(BRANCH, "branch")                                                                            \
    X(SYSTEM, "system")                                                                            \
    X(AGE, "age")                                                                                  \
    X(LIVE, "live")                                                                                \
    X(WARN, "warn")                                                                                \
    X(ERROR, "error")                                                                              \
    X(OK, "ok")                                                                                    \
    X(BAR, "bar")                                                                                  \
    X(KEY, "key")                                                                                  \
    X(BORDER, "border")                                                                            \
    X(PROMPT, "prompt")                                                                            \
    X(TOOL, "tool")                                                                                \
    X(THINKING, "thinking")                                                                        \
    X(HEADING, "heading")                                                                          \
    X(CODE, "code")                                                                                \
    X(QUOTE, "quote")                                                                              \
    X(LINK, "link")                                                                                \
    X(ADD, "add")                                                                                  \
    X(DELETE, "delete")                                                                            \
    X(HUNK, "hunk")                                                                                \
    X(ADD_WORD, "add-word")                                                                        \
    X(DELETE_WORD, "delete-word")                                                                  \
    X(AGENT_1, "agent-1")                                                                          \
    X(AGENT_2, "agent-2")                                                                          \
    X(AGENT_3, "agent-3")                                                                          \
    X(AGENT_4, "agent-4")                                                                          \
    X(AGENT_5, "agent-5")                                                                          \
    X(AGENT_6, "agent-6")

enum style {
#define X(id, name) STYLE_##id,
    STYLES(X)
#undef X
        STYLE_COUNT
};

enum { CELL_BYTES = 20 };

/* One column of one line. A wide cluster is in its first cell; the cell after it has width 0. A
 * cluster of more than CELL_BYTES keeps its base character and the marks that fit. */
struct cell {
    char bytes[CELL_BYTES]; /* valid UTF-8, clean */
    uint8_t len;
    uint8_t width;    /* 1 or 2; 0: covered by the cell before */
    uint8_t style;    /* enum style */
    uint8_t selected; /* on the selected row: painted in reverse, or marked if colours are off */
    uint8_t bar;      /* the attribute of a bar, which is never selected */
};

struct rect {
    int y, x, h, w;
};

static inline bool frame_rect_has(struct rect r, int y, int x)
{
    return y >= r.y && y < r.y + r.h && x >= r.x && x < r.x + r.w;
}

struct frame {
    int rows, cols;
    struct cell *cell;      /* rows * cols, row by row; owned */
    int cursor_y, cursor_x; /* position of the hardware cursor; -1: hidden */
    bool ascii;             /* draw borders and signs in ASCII */
};

/* rows and cols are at most 1000. Returns false if out of memory; the frame is then empty. */
bool frame_init(struct frame *f, int rows, int cols, bool ascii);
void frame_fini(struct frame *f);
void frame_clear(struct frame *f);

/* Writes cleaned text at (y, x), at most w columns and never outside the frame; a cluster that does not fit
 * whole is left out. Newlines and tabs count as one blank. Returns the columns used. */
int frame_text(struct frame *f, int y, int x, int w, enum style style, struct slice text);
/* The same, ending in an ellipsis if something was cut off. */
int frame_text_cut(struct frame *f, int y, int x, int w, enum style style, struct slice text);
/* The same, but cut in the middle, for paths. */
int frame_text_middle(struct frame *f, int y, int x, int w, enum style style, struct slice text);
/* The same as frame_text_cut for text that is scrolled sideways: its first `skip` columns are left out, and an ellipsis
 * takes the place of the next one. */
int frame_text_from(struct frame *f, int y, int x, int w, enum style style, struct slice text,
                    size_t skip);
/* For our own literals. */
int frame_puts(struct frame *f, int y, int x, int w, enum style style, const char *text);
/* The width of the text as frame_text would draw it. */
int frame_width(struct slice text);
/* Fills with blanks in a style; the second one marks an area as the selected row. */
void frame_fill(struct frame *f, struct rect r, enum style style);
void frame_select(struct frame *f, struct rect r);
/* A bar as long as the share that n has of `most`, in eighths of a column. It keeps its color on the selected row, where in
 * reverse it would look like its opposite. */
void frame_bar(struct frame *f, struct rect r, int64_t n, int64_t most);
/* Marks the row of the cursor: selected, with the pointer and the terminal's own cursor in its
 * first column. */
void frame_point(struct frame *f, struct rect r);
/* Lines of the border style, w columns or h lines long. */
void frame_rule(struct frame *f, int y, int x, int w);
void frame_edge(struct frame *f, int y, int x, int h);
/* Draws text that ends before column `end`. Returns the column where it begins. */
int frame_puts_right(struct frame *f, int y, int end, enum style style, const char *text);
/* Draws a scrollbar at the right edge of a list that shows `shown` of n rows, from `top` on; draws
 * nothing if all are shown. */
void frame_scrollbar(struct frame *f, struct rect r, size_t top, size_t n, size_t shown);
void frame_style(struct frame *f, struct rect r, enum style style);

/* The frame as text, one line per row, without trailing blanks, for tests. The caller frees it. */
char *frame_dump(const struct frame *f);

/* Draws a framed, centred panel over what is already drawn, as large as wanted and possible.
 * Returns the rectangle inside the border. */
struct rect frame_box(struct frame *f, int h, int w, struct slice title);

/* The spinner for work under way, which turns with the time. Work that takes only a moment shows no
 * spinner. */
const char *frame_spinner_sign(int64_t now_ms, bool ascii);
bool frame_spinner_shows(int64_t since_ms, int64_t now_ms);
/* The time at which the screen has to be drawn again for it. */
int64_t frame_spinner_wake_ms(int64_t since_ms, int64_t now_ms);

#endif
