#include "tui/widgets/markdown.h"

#include <stdio.h>
#include <stdlib.h>

#include <md4c.h>

#include "lite/base/utf8.h"
#include "tui/text/clean.h"
#include "tui/widgets/text_wrap.h"

enum { COLS_MAX = 16, NARROWEST_COL = 3, BETWEEN = 3 };

struct cell_ink {
    struct styled_line styled_line;
    int align;
};

struct table {
    unsigned cols;
    struct cell_ink *cell; /* owned; row by row */
    size_t rows, n, cap;   /* n: cells of complete rows and of the present one */
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
    size_t need = (t->rows + 1) * t->cols;

    if (need > t->cap) {
        size_t cap = need * 2;
        struct cell_ink *p = reallocarray(t->cell, cap, sizeof *p);

        if (!p) {
            t->rc = ERR_NOMEM;
            return;
        }
        memset(p + t->cap, 0, (cap - t->cap) * sizeof *p);
        t->cell = p;
        t->cap = cap;
    }
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

/* Columns as wide as their widest cell; where that is too much, the widest give way. */
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

/* One cell as lines of its column. */
static enum err_code wrap_cell(const struct styled_line *styled_line, int width,
                               struct styled_text *s)
{
    struct text_wrap f = { .styled_text = s, .width = width, .narrow = true };
    const char *p = styled_line->bytes.p;

    text_wrap_begin(&f);
    for (size_t i = 0; i < styled_line->n; i++) {
        text_wrap_add(&f, styled_line->stroke[i].style,
                      (struct slice){ p, styled_line->stroke[i].len });
        p += styled_line->stroke[i].len;
    }
    text_wrap_fini(&f);
    return s->rc;
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

static int line_width(const struct styled_text *s, size_t line)
{
    int width = 0;

    for (uint32_t i = 0; i < s->line[line].runs; i++)
        width += (int)clean_width(s->run[s->line[line].run + i].text);
    return width;
}

/* Line `at` of a cell in its column. */
static void add_cell(struct row_line *out, const struct styled_text *s, size_t at, int width,
                     int align)
{
    int used = at < s->n ? line_width(s, at) : 0;
    int before = align == 3 ? width - used : align == 2 ? (width - used) / 2 : 0;

    add_blanks(out, before);
    for (uint32_t i = 0; at < s->n && i < s->line[at].runs; i++) {
        const struct run *run = &s->run[s->line[at].run + i];

        add_table_run(out, run->style, run->text);
    }
    add_blanks(out, width - used - before);
}

static enum err_code layout_row(const struct table *t, size_t row, const int col[COLS_MAX],
                                const char *between, table_line_fn *fn, void *arg)
{
    struct styled_text cell_text[COLS_MAX] = { 0 };
    enum err_code rc = ERR_OK;
    size_t lines = 1;

    for (unsigned c = 0; c < t->cols && !rc; c++) {
        rc = wrap_cell(&t->cell[row * t->cols + c].styled_line, col[c], &cell_text[c]);
        lines = cell_text[c].n > lines ? cell_text[c].n : lines;
    }
    for (size_t at = 0; at < lines && !rc; at++) {
        struct row_line out = { .n = 0 };

        for (unsigned c = 0; c < t->cols; c++) {
            if (c)
                add_table_run(&out, STYLE_BORDER, slice_of(between));
            add_cell(&out, &cell_text[c], at, col[c], t->cell[row * t->cols + c].align);
        }
        fn(arg, out.run, out.n);
    }
    for (unsigned c = 0; c < t->cols; c++)
        styled_text_fini(&cell_text[c]);
    return rc;
}

static enum err_code layout_rule(const struct table *t, const int col[COLS_MAX], bool ascii,
                                 table_line_fn *fn, void *arg)
{
    struct buf text = { 0 };
    enum err_code rc = ERR_OK;

    for (unsigned c = 0; c < t->cols && !rc; c++) {
        if (c)
            rc = buf_addf(&text, "%s", ascii ? "-+-" : "─┼─");
        for (int i = 0; i < col[c] && !rc; i++)
            rc = buf_addf(&text, "%s", ascii ? "-" : "─");
    }
    if (!rc)
        fn(arg, &(struct run){ buf_slice(&text), STYLE_BORDER }, 1);
    buf_fini(&text);
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
        if (row == 0 && !rc)
            rc = layout_rule(t, col, ascii, fn, arg);
    }
    return rc;
}

enum { LEVELS = 24, TEXT_LIMIT = 1 << 20 };

/* A container we are in. */
struct level {
    bool item;     /* of a list; else a quote */
    bool marked;   /* its mark was written */
    char mark[24]; /* "• ", "12. " */
};

struct lists {
    bool ordered;
    unsigned next;
};

struct walk {
    struct styled_text *styled_text;
    const struct markdown *how;
    struct level level[LEVELS];
    struct lists list[LEVELS];
    int levels, lists; /* deeper ones are counted, not kept */
    bool begun;        /* `first` was used */
    bool gap;          /* a blank line is due before the next block */
    struct text_wrap flow;
    bool flowing;
    int strong, emphasis, code, link, struck, heading;
    bool in_code_block, is_diff;
    struct table *table; /* while we are in one */
    struct buf href;     /* of the link we are in */
    struct buf label;    /* its text so far */
};

static struct level *level(struct walk *w, int i)
{
    return &w->level[i < LEVELS ? i : LEVELS - 1];
}

/* The margin for the next line. With `mark`, list marks not written yet are written now. */
static struct text_margin margin_now(struct walk *w, bool mark)
{
    struct text_margin m = w->begun ? w->how->rest : w->how->first;

    for (int i = 0; i < w->levels && i < LEVELS; i++) {
        struct level *l = &w->level[i];

        if (!l->item) {
            text_margin_add(&m, STYLE_QUOTE, w->how->ascii ? "| " : "▎ ");
        } else if (mark && !l->marked) {
            text_margin_add(&m, STYLE_MARK, l->mark);
        } else {
            static const char blanks[] = "                        ";
            struct text_margin one = { 0 };

            text_margin_add(&one, STYLE_MARK, l->mark);
            text_margin_add(&m, STYLE_TEXT, blanks + (sizeof blanks - 1 - (size_t)one.width));
        }
    }
    return m;
}

static void use_marks(struct walk *w)
{
    w->begun = true;
    for (int i = 0; i < w->levels && i < LEVELS; i++)
        w->level[i].marked = true;
}

/* A line of its own: a rule, a row of a table. */
static void append_markdown_line(struct walk *w, const struct run *run, size_t n)
{
    struct run all[TEXT_MARGIN_RUNS + TABLE_RUNS];
    struct text_margin m = margin_now(w, true);

    memcpy(all, m.run, m.n * sizeof *all);
    if (n > TABLE_RUNS)
        n = TABLE_RUNS;
    if (n)
        memcpy(all + m.n, run, n * sizeof *all);
    styled_text_add_line(w->styled_text, all, m.n + n);
    use_marks(w);
}

static void begin_block(struct walk *w)
{
    if (w->gap && w->begun) {
        struct text_margin m = margin_now(w, false);

        styled_text_add_line(w->styled_text, m.run, m.n);
    }
    w->gap = false;
}

static void begin_flow(struct walk *w, enum text_wrap_mode mode)
{
    if (w->flowing)
        return;
    begin_block(w);
    struct text_margin first = margin_now(w, true);

    use_marks(w);
    w->flow = (struct text_wrap){ .styled_text = w->styled_text,
                                  .width = w->how->width,
                                  .mode = mode,
                                  .first = first,
                                  .rest = margin_now(w, false) };
    if (w->in_code_block) {
        text_margin_add(&w->flow.first, STYLE_BORDER, w->how->ascii ? "| " : "│ ");
        text_margin_add(&w->flow.rest, STYLE_BORDER, w->how->ascii ? "| " : "│ ");
    }
    text_wrap_begin(&w->flow);
    w->flowing = true;
}

static void end_flow(struct walk *w)
{
    if (w->flowing)
        text_wrap_fini(&w->flow);
    w->flowing = false;
}

static enum style style_now(const struct walk *w)
{
    if (w->code)
        return STYLE_CODE;
    if (w->link)
        return STYLE_LINK;
    if (w->heading)
        return STYLE_HEADING;
    if (w->struck)
        return STYLE_DIM;
    if (w->strong)
        return STYLE_STRONG;
    if (w->emphasis)
        return STYLE_EMPHASIS;
    for (int i = 0; i < w->levels && i < LEVELS; i++)
        if (!w->level[i].item)
            return STYLE_QUOTE;
    return STYLE_TEXT;
}

static void wrap_markdown_text(struct walk *w, enum style style, struct slice text)
{
    if (w->table) {
        table_text(w->table, style, text);
        return;
    }
    begin_flow(w, w->in_code_block ? TEXT_WRAP_VERBATIM : TEXT_WRAP_WORDS);
    text_wrap_add(&w->flow, style, text);
}

/* A list item: what stands before it. */
static void enter_item(struct walk *w, const MD_BLOCK_LI_DETAIL *li)
{
    const struct lists *in = &w->list[w->lists <= LEVELS ? w->lists - 1 : LEVELS - 1];
    struct level *l = level(w, w->levels++);

    *l = (struct level){ .item = true };
    if (li->is_task)
        snprintf(l->mark, sizeof l->mark, "[%c] ", li->task_mark == ' ' ? ' ' : 'x');
    else if (in->ordered)
        snprintf(l->mark, sizeof l->mark, "%u. ", in->next);
    else
        snprintf(l->mark, sizeof l->mark, "%s ",
                 w->how->ascii      ? "-"
                 : w->lists % 2 > 0 ? "•"
                                    : "◦");
    w->list[w->lists <= LEVELS ? w->lists - 1 : LEVELS - 1].next++;
}

static void enter_list(struct walk *w, bool ordered, unsigned start)
{
    end_flow(w);
    w->list[w->lists < LEVELS ? w->lists : LEVELS - 1] =
        (struct lists){ .ordered = ordered, .next = start };
    w->lists++;
}

static void enter_code(struct walk *w, const MD_BLOCK_CODE_DETAIL *code)
{
    struct slice lang = { code->lang.text, code->lang.size };

    w->in_code_block = true;
    w->is_diff = slice_eq(lang, SLICE("diff")) || slice_eq(lang, SLICE("patch"));
    begin_flow(w, TEXT_WRAP_VERBATIM);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct walk *w = arg;

    switch (type) {
    case MD_BLOCK_QUOTE:
        end_flow(w);
        begin_block(w);
        *level(w, w->levels++) = (struct level){ .item = false };
        break;
    case MD_BLOCK_UL: enter_list(w, false, 0); break;
    case MD_BLOCK_OL: enter_list(w, true, ((MD_BLOCK_OL_DETAIL *)detail)->start); break;
    case MD_BLOCK_LI: enter_item(w, detail); break;
    case MD_BLOCK_HR:
        begin_block(w);
        w->styled_text->stamp.rule = true;
        append_markdown_line(w, NULL, 0);
        w->styled_text->stamp.rule = false;
        w->gap = true;
        break;
    case MD_BLOCK_H:
        end_flow(w);
        w->heading++;
        break;
    case MD_BLOCK_CODE: enter_code(w, detail); break;
    case MD_BLOCK_TABLE:
        begin_block(w);
        w->table = table_new(((MD_BLOCK_TABLE_DETAIL *)detail)->col_count);
        if (!w->table)
            w->styled_text->rc = ERR_NOMEM;
        break;
    case MD_BLOCK_TH:
        w->heading++;
        table_cell(w->table, (int)((MD_BLOCK_TD_DETAIL *)detail)->align);
        break;
    case MD_BLOCK_TD: table_cell(w->table, (int)((MD_BLOCK_TD_DETAIL *)detail)->align); break;
    case MD_BLOCK_TR: table_row(w->table); break;
    default: break;
    }
    return w->styled_text->rc ? 1 : 0;
}

static void append_table_line(void *arg, const struct run *run, size_t n)
{
    append_markdown_line(arg, run, n);
}

static void leave_table(struct walk *w)
{
    struct text_margin m = margin_now(w, false);

    w->styled_text->rc =
        table_layout(w->table, w->how->width - m.width, w->how->ascii, append_table_line, w);
    table_free(w->table);
    w->table = NULL;
    w->gap = true;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct walk *w = arg;

    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_LI:
        end_flow(w);
        w->levels--;
        if (type == MD_BLOCK_QUOTE)
            w->gap = true;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        w->lists--;
        if (w->lists == 0)
            w->gap = true;
        break;
    case MD_BLOCK_H:
        w->heading--;
        end_flow(w);
        w->gap = true;
        break;
    case MD_BLOCK_CODE:
    case MD_BLOCK_P:
        end_flow(w);
        w->in_code_block = w->is_diff = false;
        w->gap = true;
        break;
    case MD_BLOCK_TH: w->heading--; break;
    case MD_BLOCK_TABLE: leave_table(w); break;
    default: break;
    }
    return w->styled_text->rc ? 1 : 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct walk *w = arg;

    switch (type) {
    case MD_SPAN_EM: w->emphasis++; break;
    case MD_SPAN_STRONG: w->strong++; break;
    case MD_SPAN_CODE: w->code++; break;
    case MD_SPAN_DEL: w->struck++; break;
    case MD_SPAN_A: {
        const MD_SPAN_A_DETAIL *a = detail;
        struct slice href = { a->href.text, a->href.size };

        w->link++;
        w->href.n = w->label.n = 0;
        if (buf_add(&w->href, href))
            w->styled_text->rc = ERR_NOMEM;
        break;
    }
    case MD_SPAN_IMG:
        w->link++;
        wrap_markdown_text(w, STYLE_LINK, SLICE("[image "));
        break;
    default: break;
    }
    return w->styled_text->rc ? 1 : 0;
}

/* Where a link leads, unless its text says so already ("www.a.org" leads to "http://www.a.org"). */
static void add_link_target(struct walk *w)
{
    size_t n = w->label.n;

    if (w->href.n == 0 || w->link > 0 ||
        (n > 0 && n <= w->href.n && memcmp(w->href.p + w->href.n - n, w->label.p, n) == 0))
        return;
    wrap_markdown_text(w, STYLE_DIM, SLICE(" ("));
    wrap_markdown_text(w, STYLE_DIM, buf_slice(&w->href));
    wrap_markdown_text(w, STYLE_DIM, SLICE(")"));
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct walk *w = arg;

    (void)detail;
    switch (type) {
    case MD_SPAN_EM: w->emphasis--; break;
    case MD_SPAN_STRONG: w->strong--; break;
    case MD_SPAN_CODE: w->code--; break;
    case MD_SPAN_DEL: w->struck--; break;
    case MD_SPAN_A:
        w->link--;
        add_link_target(w);
        break;
    case MD_SPAN_IMG:
        wrap_markdown_text(w, STYLE_LINK, SLICE("]"));
        w->link--;
        break;
    default: break;
    }
    return w->styled_text->rc ? 1 : 0;
}

static void add_entity(struct walk *w, struct slice entity)
{
    static const struct {
        const char *name, *says;
    } known[] = {
        { "&amp;", "&" },    { "&lt;", "<" },        { "&gt;", ">" },    { "&quot;", "\"" },
        { "&apos;", "'" },   { "&nbsp;", "\u00a0" }, { "&mdash;", "—" }, { "&ndash;", "–" },
        { "&hellip;", "…" }, { "&rarr;", "→" },      { "&larr;", "←" },  { "&times;", "×" },
        { "&copy;", "©" },   { "&deg;", "°" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_eq(entity, slice_of(known[i].name)))
            entity = slice_of(known[i].says);
    wrap_markdown_text(w, style_now(w), entity);
}

/* A line of a code block. md4c sends each line and each newline on its own. */
static enum style code_style(const struct walk *w, struct slice text)
{
    if (!w->is_diff || text.n == 0)
        return STYLE_CODE;
    switch (text.p[0]) {
    case '+': return STYLE_ADD;
    case '-': return STYLE_DELETE;
    case '@': return STYLE_HUNK;
    default: return STYLE_CODE;
    }
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct walk *w = arg;
    struct slice text = { p, n };

    if (w->link && buf_add(&w->label, text))
        w->styled_text->rc = ERR_NOMEM;
    switch (type) {
    case MD_TEXT_NULLCHAR: wrap_markdown_text(w, style_now(w), SLICE("\0")); break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR:
        wrap_markdown_text(w, style_now(w), w->table ? SLICE(" ") : SLICE("\n"));
        break;
    case MD_TEXT_ENTITY: add_entity(w, text); break;
    case MD_TEXT_CODE:
        wrap_markdown_text(w, w->in_code_block ? code_style(w, text) : STYLE_CODE, text);
        break;
    default: wrap_markdown_text(w, style_now(w), text); break;
    }
    return w->styled_text->rc ? 1 : 0;
}

/* Text that is too long to be read as a document, or that md4c could not take. */
static void layout_plain(struct styled_text *s, const struct markdown *how, struct slice text)
{
    struct text_wrap f = {
        .styled_text = s, .width = how->width, .first = how->first, .rest = how->rest
    };

    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_TEXT, text);
    text_wrap_fini(&f);
}

void markdown_layout(struct styled_text *s, const struct markdown *how, struct slice text)
{
    struct walk w = { .styled_text = s, .how = how };
    const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOHTML |
                 MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = on_text,
    };

    if (text.n > TEXT_LIMIT) {
        layout_plain(s, how, text);
        return;
    }
    if (md_parse(text.p, (MD_SIZE)text.n, &parser, &w) && !s->rc)
        s->rc = ERR_NOMEM; /* its only other way to fail */
    end_flow(&w);
    table_free(w.table);
    buf_fini(&w.href);
    buf_fini(&w.label);
}
