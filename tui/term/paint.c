#include "tui/term/term.h"

#include <curses.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lite/base/utf8.h"
#include "tui/text/clean.h"

static int colours_to_use(struct paint_colours c)
{
    int can = !has_colors() || COLORS < 8 ? 0 : COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : 8;

    switch (c.wanted) {
    case COLOURS_NONE: return 0;
    case COLOURS_16: return can > 16 ? 16 : can;
    case COLOURS_256:
    case COLOURS_TRUE: return can;
    case COLOURS_AUTO: return c.no_color ? 0 : can;
    }
    return 0;
}

/* The nearest of the 6x6x6 colours of a terminal, or of its greys. */
static int nearest_of_256(int32_t rgb)
{
    static const int steps[] = { 0, 95, 135, 175, 215, 255 };
    int best = 16, least = INT_MAX;

    for (int i = 16; i < 256; i++) {
        int n = i - 16, grey = 8 + 10 * (i - 232), off = 0;
        const int want[] = { rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff };
        const int have[] = { i < 232 ? steps[n / 36] : grey, i < 232 ? steps[n / 6 % 6] : grey,
                             i < 232 ? steps[n % 6] : grey };

        for (int k = 0; k < 3; k++)
            off += (want[k] - have[k]) * (want[k] - have[k]);
        if (off < least) {
            least = off;
            best = i;
        }
    }
    return best;
}

static const struct theme_style *look_of(const struct paint *p, size_t style)
{
    return p->colours < 256 ? &p->theme->few_colours[style] : &p->theme->look[style];
}

static bool is_number_of_theme(const struct paint *p, int number)
{
    for (size_t i = 0; i < STYLE_COUNT; i++)
        if (look_of(p, i)->fg == number || look_of(p, i)->bg == number)
            return true;
    return false;
}

/* A colour that the terminal has: if necessary, a bright colour becomes its plain one, and others
 * become the default. */
static int colour(struct paint *p, int32_t wanted)
{
    if (wanted >= THEME_RGB && p->colours >= 256) {
        if (!p->true_colour)
            return nearest_of_256(wanted);
        /* A true colour is represented by a number that the theme does not use otherwise. */
        for (int i = 255; i >= 16; i--) {
            if (p->slot[i] == 0 && !is_number_of_theme(p, i))
                p->slot[i] = wanted;
            if (p->slot[i] == wanted)
                return i;
        }
        return nearest_of_256(wanted);
    }
    if (wanted < p->colours)
        return wanted;
    return wanted < 16 ? wanted - 8 : THEME_DEFAULT_COLOUR;
}

void paint_set_theme(struct paint *p, const struct theme *theme)
{
    p->theme = theme;
    memset(p->slot, 0, sizeof p->slot);
    for (int i = 0; i < STYLE_COUNT && p->colours; i++) {
        const struct theme_style *look = look_of(p, (size_t)i);
        int pair = 0;

        if (look->fg != THEME_DEFAULT_COLOUR || look->bg != THEME_DEFAULT_COLOUR)
            pair = alloc_pair(colour(p, look->fg), colour(p, look->bg));
        p->pair[i] = pair > 0 ? pair : 0;
    }
    paint_invalidate(p);
}

void paint_init(struct paint *p, const struct theme *theme, struct paint_colours c)
{
    *p = (struct paint){ .utf8 = clean_locale_is_utf8() };
    start_color();
    use_default_colors();
    p->colours = colours_to_use(c);
    p->true_colour = c.wanted == COLOURS_TRUE || (c.wanted == COLOURS_AUTO && c.true_colour);
    paint_set_theme(p, theme);
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
    int pair = p->pair[from->selected ? STYLE_TEXT : style];

    setcchar(to, text, attributes(look_of(p, style), from->selected), (short)pair, &pair);
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
    for (int y = 0; y < f->rows; y++) {
        size_t cols = (size_t)f->cols, at = (size_t)y * cols;
        const struct cell *cell = f->cell + at;
        int n = 0;

        if (p->shown.cell && memcmp(p->shown.cell + at, cell, cols * sizeof *cell) == 0)
            continue;
        for (int x = 0; x < f->cols; x++)
            if (cell[x].width > 0 ||
                !p->utf8) /* in ASCII a wide character is a letter and a blank */
                make_cell(p, &cell[x], &line[n++]);
        mvwadd_wchnstr(stdscr, y, 0, line, n);
    }
    curs_set(f->cursor_y >= 0);
    if (f->cursor_y >= 0)
        move(f->cursor_y, f->cursor_x);
    refresh();
    /* Keep the frame for comparison. If out of memory, the next frame is drawn completely. */
    if (p->shown.cell || frame_init(&p->shown, f->rows, f->cols, f->ascii)) {
        memcpy(p->shown.cell, f->cell, (size_t)f->rows * (size_t)f->cols * sizeof *f->cell);
    }
    free(line);
}

/* "ESC [ 38 ; 5 ; N m" at the front, or 48, or with colons: returns its length and N; 0 if it is something else. */
static size_t read_indexed(struct slice text, int *number)
{
    size_t i = 7;
    int n = 0;

    if (text.n < 9 || text.p[0] != '\x1b' || text.p[1] != '[' || !strchr("34", text.p[2]) ||
        text.p[3] != '8' || !strchr(";:", text.p[4]) || text.p[5] != '5' || text.p[6] != text.p[4])
        return 0;
    for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9' && n < 256; i++)
        n = n * 10 + (text.p[i] - '0');
    *number = n;
    return i > 7 && i < text.n && text.p[i] == 'm' && n < 256 ? i + 1 : 0;
}

enum err_code paint_expand(const struct paint *p, struct slice drawn, struct buf *out)
{
    enum err_code rc = ERR_OK;

    while (!rc && drawn.n) {
        const char *esc = memchr(drawn.p, '\x1b', drawn.n);
        size_t plain = esc ? (size_t)(esc - drawn.p) : drawn.n;

        rc = buf_add(out, (struct slice){ drawn.p, plain });
        drawn = (struct slice){ drawn.p + plain, drawn.n - plain };
        if (rc || !drawn.n)
            break;
        int number = 0;
        size_t length = read_indexed(drawn, &number);
        int32_t rgb = length ? p->slot[number] : 0;

        if (rgb)
            rc = buf_addf(out, "\x1b[%c8;2;%d;%d;%dm", drawn.p[2], rgb >> 16 & 0xff,
                          rgb >> 8 & 0xff, rgb & 0xff);
        else
            rc = buf_add(out, (struct slice){ drawn.p, length = length ? length : 1 });
        drawn = (struct slice){ drawn.p + length, drawn.n - length };
    }
    return rc;
}
