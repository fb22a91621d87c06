#include "tui/term/paint.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lite/base/utf8.h"
#include "tui/text/clean.h"

static int colours_of_terminal(void)
{
    if (!has_colors() || COLORS < 8)
        return 0;
    return COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : 8;
}

static int colours_to_use(enum colours wanted, bool no_color)
{
    int can = colours_of_terminal();

    switch (wanted) {
    case COLOURS_NONE: return 0;
    case COLOURS_16: return can > 16 ? 16 : can;
    case COLOURS_256: return can;
    case COLOURS_AUTO: return no_color ? 0 : can;
    }
    return 0;
}

/* A colour that the terminal has: if necessary, a bright colour becomes its plain one, and others
 * become the default. */
static int colour(const struct paint *p, int wanted)
{
    if (wanted < p->colours)
        return wanted;
    return wanted < 16 ? wanted - 8 : THEME_DEFAULT_COLOUR;
}

static void make_pairs(struct paint *p)
{
    for (int i = 0; i < STYLE_COUNT && p->colours; i++) {
        const struct theme_style *look = &p->theme->look[i];
        int pair = 0;

        if (look->fg != THEME_DEFAULT_COLOUR || look->bg != THEME_DEFAULT_COLOUR)
            pair = alloc_pair(colour(p, look->fg), colour(p, look->bg));
        p->pair[i] = (short)(pair > 0 ? pair : 0);
    }
}

void paint_init(struct paint *p, const struct theme *theme, enum colours wanted, bool no_color)
{
    *p = (struct paint){ .theme = theme, .utf8 = clean_locale_is_utf8() };
    start_color();
    use_default_colors();
    p->colours = colours_to_use(wanted, no_color);
    make_pairs(p);
}

void paint_fini(struct paint *p)
{
    frame_fini(&p->shown);
}

void paint_invalidate(struct paint *p)
{
    frame_fini(&p->shown);
    p->shown = (struct frame){ 0 };
}

static attr_t attributes(const struct theme_style *look, bool selected)
{
    attr_t a = A_NORMAL;

    if (look->attributes & THEME_BOLD)
        a |= A_BOLD;
    if (look->attributes & THEME_ITALIC)
        a |= A_ITALIC;
    if (look->attributes & THEME_UNDERLINE)
        a |= A_UNDERLINE;
    if (look->attributes & THEME_REVERSE || selected)
        a |= A_REVERSE;
    /* Dim letters on a reversed bar are hard to read. */
    if (look->attributes & THEME_DIM && !selected)
        a |= A_DIM;
    return a;
}

static void make_cell(const struct paint *p, const struct cell *from, cchar_t *to)
{
    size_t style = from->style < STYLE_COUNT ? from->style : STYLE_TEXT;
    struct slice rest = { from->bytes, from->len };
    wchar_t text[CCHARW_MAX + 1];
    size_t n = 0;

    if (!p->utf8 && rest.n)
        text[n++] = (wchar_t)clean_ascii_fallback(rest);
    while (p->utf8 && rest.n && n < CCHARW_MAX)
        text[n++] = (wchar_t)utf8_next(&rest, false);
    if (n == 0)
        text[n++] = L' ';
    text[n] = L'\0';
    /* The selected row has one colour: reversed colours next to each other are hard to read. */
    short pair = p->pair[from->selected ? STYLE_TEXT : style];

    setcchar(to, text, attributes(&p->theme->look[style], from->selected), pair, NULL);
}

static void paint_row(const struct paint *p, const struct frame *f, int y, cchar_t *line)
{
    const struct cell *cell = f->cell + (size_t)y * (size_t)f->cols;
    int n = 0;

    for (int x = 0; x < f->cols; x++)
        if (cell[x].width > 0 || !p->utf8) /* in ASCII a wide character is a letter and a blank */
            make_cell(p, &cell[x], &line[n++]);
    mvwadd_wchnstr(stdscr, y, 0, line, n);
}

static bool row_is_shown(const struct paint *p, const struct frame *f, int y)
{
    size_t cols = (size_t)f->cols, at = (size_t)y * cols;

    return p->shown.cell && memcmp(p->shown.cell + at, f->cell + at, cols * sizeof *f->cell) == 0;
}

/* Keeps the frame for comparison. If out of memory, the next frame is drawn whole. */
static void keep_shown_frame(struct paint *p, const struct frame *f)
{
    if (!p->shown.cell && !frame_init(&p->shown, f->rows, f->cols, f->ascii))
        return;
    memcpy(p->shown.cell, f->cell, (size_t)f->rows * (size_t)f->cols * sizeof *f->cell);
}

void paint_frame(struct paint *p, const struct frame *f)
{
    cchar_t *line = calloc((size_t)f->cols + 1, sizeof *line);

    if (!line)
        return;
    if (p->shown.rows != f->rows || p->shown.cols != f->cols)
        paint_invalidate(p);
    if (!p->shown.cell)
        erase();
    for (int y = 0; y < f->rows; y++)
        if (!row_is_shown(p, f, y))
            paint_row(p, f, y, line);
    curs_set(f->cursor_y >= 0);
    if (f->cursor_y >= 0)
        move(f->cursor_y, f->cursor_x);
    refresh();
    keep_shown_frame(p, f);
    free(line);
}
