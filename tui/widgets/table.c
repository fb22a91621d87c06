#include <stdlib.h>

#include "lite/base/array.h"
#include "tui/text/clean.h"
#include "tui/widgets/markdown.h"
#include "tui/widgets/styled_text.h"

enum { COLS_MAX = 16, NARROWEST_COL = 3, BETWEEN = 3 };

struct table_cell {
    struct styled_line styled_line;
    int align;
};

struct table {
    unsigned cols;
    struct table_cell *cell; /* owned; row by row */
    size_t rows, n, cap;     /* n: cells of the complete rows and of the current one */
    enum err_code rc;
};

struct table *table_new(unsigned cols)
{
    struct table *t = calloc(1, sizeof *t);

    if (t)
        t->cols = cols == 0 ? 1 : cols > COLS_MAX ? COLS_MAX : cols;
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->cap; i++)
        styled_line_fini(&t->cell[i].styled_line);
    free(t->cell);
    free(t);
}

void table_row(struct table *t)
{
    if (!t || t->rc)
        return;
    size_t before = t->cap;

    if (!array_reserve(t->cell, t->cap, (t->rows + 1) * t->cols)) {
        t->rc = ERR_NOMEM;
        return;
    }
    memset(t->cell + before, 0, (t->cap - before) * sizeof *t->cell);
    t->n = t->rows * t->cols;
    t->rows++;
}

void table_cell(struct table *t, int align)
{
    if (!t || t->rc || t->rows == 0 || t->n >= t->rows * t->cols)
        return;
    t->cell[t->n++].align = align;
}

void table_text(struct table *t, enum style style, struct slice text)
{
    struct clean c;
    struct glyph g;

    if (!t || t->rc || t->n == 0)
        return;
    clean_begin(&c, text);
    while (!t->rc && clean_next(&c, &g))
        t->rc = styled_line_add(&t->cell[t->n - 1].styled_line, style, g.bytes, g.len, g.width);
}

/* Columns are as wide as their widest cell; if that is too much, the widest columns shrink. */
static void fit_column_widths(const struct table *t, int width, int col[COLS_MAX])
{
    int sum = BETWEEN * ((int)t->cols - 1);

    for (unsigned c = 0; c < t->cols; c++) {
        col[c] = 1;
        for (size_t r = 0; r < t->rows; r++)
            if (t->cell[r * t->cols + c].styled_line.width > col[c])
                col[c] = t->cell[r * t->cols + c].styled_line.width;
        sum += col[c];
    }
    while (sum > width) {
        unsigned widest = 0;

        for (unsigned c = 1; c < t->cols; c++)
            if (col[c] > col[widest])
                widest = c;
        if (col[widest] <= NARROWEST_COL)
            return;
        int cut = sum - width > 8 && col[widest] > 32 ? 8 : 1;

        col[widest] -= cut;
        sum -= cut;
    }
}

struct row_line {
    struct run run[TABLE_RUNS];
    size_t n;
};

static void add_table_run(struct row_line *out, enum style style, struct slice text)
{
    if (out->n < TABLE_RUNS && text.n)
        out->run[out->n++] = (struct run){ text, style };
}

static void add_blanks(struct row_line *out, int n)
{
    static const char blanks[] = "                                                                ";

    for (; n > 0; n -= (int)sizeof blanks - 1)
        add_table_run(out, STYLE_TEXT,
                      (struct slice){ blanks, (size_t)n < sizeof blanks - 1 ? (size_t)n
                                                                            : sizeof blanks - 1 });
}

static enum err_code layout_row(const struct table *t, size_t row, const int col[COLS_MAX],
                                const char *between, table_line_fn *fn, void *arg)
{
    struct styled_text cell_text[COLS_MAX] = { 0 };
    enum err_code rc = ERR_OK;
    size_t lines = 1;

    for (unsigned c = 0; c < t->cols && !rc; c++) {
        /* Wrap one cell to the width of its column. */
        const struct styled_line *styled_line = &t->cell[row * t->cols + c].styled_line;
        int width = col[c];
        struct styled_text *s = &cell_text[c];
        struct text_wrap f = { .styled_text = s, .width = width, .narrow = true };
        const char *p = styled_line->bytes.p;

        text_wrap_begin(&f);
        for (size_t i = 0; i < styled_line->n; i++) {
            text_wrap_add(&f, styled_line->span[i].style,
                          (struct slice){ p, styled_line->span[i].len });
            p += styled_line->span[i].len;
        }
        text_wrap_fini(&f);
        rc = s->rc;

        lines = cell_text[c].n > lines ? cell_text[c].n : lines;
    }
    for (size_t at = 0; at < lines && !rc; at++) {
        struct row_line out = { .n = 0 };

        for (unsigned c = 0; c < t->cols; c++) {
            if (c)
                add_table_run(&out, STYLE_BORDER, slice_of(between));
            /* Line `at` of a cell in its column. */
            int align = t->cell[row * t->cols + c].align;
            const struct styled_text *s = &cell_text[c];
            const struct run *run = at < s->n ? s->run + s->line[at].run : NULL;
            int used = 0;

            for (uint32_t i = 0; run && i < s->line[at].runs; i++)
                used += (int)clean_width(run[i].text);
            int before = align == 3 ? col[c] - used : align == 2 ? (col[c] - used) / 2 : 0;

            add_blanks(&out, before);
            for (uint32_t i = 0; run && i < s->line[at].runs; i++)
                add_table_run(&out, run[i].style, run[i].text);
            add_blanks(&out, col[c] - used - before);
        }
        fn(arg, out.run, out.n);
    }
    for (unsigned c = 0; c < t->cols; c++)
        styled_text_fini(&cell_text[c]);
    return rc;
}

enum err_code table_layout(const struct table *t, int width, bool ascii, table_line_fn *fn,
                           void *arg)
{
    int col[COLS_MAX];
    enum err_code rc = t ? t->rc : ERR_NOMEM;

    if (rc)
        return rc;
    fit_column_widths(t, width, col);
    for (size_t row = 0; row < t->rows && !rc; row++) {
        rc = layout_row(t, row, col, ascii ? " | " : " │ ", fn, arg);
        if (row == 0 && !rc) {
            /* A rule below the row with the names of the columns. */
            struct buf text = { 0 };

            for (unsigned c = 0; c < t->cols && !rc; c++) {
                if (c)
                    rc = buf_addf(&text, "%s", ascii ? "-+-" : "─┼─");
                for (int i = 0; i < col[c] && !rc; i++)
                    rc = buf_addf(&text, "%s", ascii ? "-" : "─");
            }
            if (!rc)
                fn(arg, &(struct run){ buf_slice(&text), STYLE_BORDER }, 1);
            buf_fini(&text);
        }
    }
    return rc;
}
