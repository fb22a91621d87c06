#include "tui/widgets/styled_text.h"

#include <assert.h>

#include "tui/text/clean.h"
#include "tui/text/human.h"

enum { TAB_STOP = 4, NARROWEST = 12 };

void text_margin_add(struct text_margin *m, enum style style, const char *text)
{
    if (m->n == TEXT_MARGIN_RUNS)
        return;
    struct slice bytes = slice_of(text);

    m->run[m->n++] = (struct run){ bytes, style };
    m->width += (int)clean_width(bytes);
}

void text_wrap_begin(struct text_wrap *f)
{
    f->lines = 0;
    f->wrapped = f->wide = false;
    f->line = f->blanks = f->word = (struct styled_line){ 0 };
}

static void keep_error(struct text_wrap *f, enum err_code rc)
{
    if (rc)
        f->styled_text->rc = rc;
}

static bool text_wrap_is_full(const struct text_wrap *f)
{
    return f->styled_text->rc || (f->max_lines && f->lines >= f->max_lines);
}

static const struct text_margin *margin(const struct text_wrap *f)
{
    return f->lines == 0 ? &f->first : &f->rest;
}

/* The columns for text in the current line. A margin never takes all of it. */
static int columns_left(const struct text_wrap *f)
{
    int left = f->width - margin(f)->width - (f->wrapped ? f->hang : 0);

    return f->narrow || left > NARROWEST ? left : NARROWEST;
}

static void text_wrap_end_line(struct text_wrap *f, enum line_end end)
{
    static const char blanks[] = "        ";
    struct run small[TEXT_MARGIN_RUNS + 20], *run = small;
    const struct text_margin *m = margin(f);
    const char *p = f->line.bytes.p;
    struct arena scratch = { 0 };
    size_t n = m->n, hang = f->wrapped ? (size_t)f->hang : 0;

    assert(hang < sizeof blanks);
    if (text_wrap_is_full(f))
        return;

    /* Nearly all lines fit the array on the stack. */
    if (m->n + 1 + f->line.n > sizeof small / sizeof small[0])
        run = arena_alloc(&scratch, (m->n + 1 + f->line.n) * sizeof *run);
    if (run) {
        size_t visible = hang > 0;

        for (size_t i = 0; i < m->n; i++)
            visible += m->run[i].text.n > 0;
        memcpy(run, m->run, m->n * sizeof *run);
        if (hang)
            run[n++] = (struct run){ { blanks, hang }, STYLE_TEXT };
        for (size_t i = 0; i < f->line.n; i++) {
            run[n++] = (struct run){ { p, f->line.span[i].len }, f->line.span[i].style };
            p += f->line.span[i].len;
        }
        f->styled_text->stamp.end = (uint8_t)end;
        f->styled_text->stamp.margin = (uint8_t)visible;
        styled_text_add_line(f->styled_text, run, n);

        /* The stamp applies to all later lines, so it is reset at once. */
        f->styled_text->stamp.end = LINE_ENDS;
        f->styled_text->stamp.margin = 0;
    } else {
        keep_error(f, ERR_NOMEM);
    }

    arena_fini(&scratch);
    styled_line_clear(&f->line);
    f->lines++;
    f->wrapped = end != LINE_ENDS;
}

/* The word is complete: it goes into this line, or begins the next. */
static void commit_word(struct text_wrap *f)
{
    f->wide = false;
    if (f->word.width == 0)
        return;
    if (f->line.width > 0 && f->line.width + f->blanks.width + f->word.width > columns_left(f)) {
        text_wrap_end_line(f, f->blanks.width > 0 ? LINE_JOINS_BLANK : LINE_JOINS);
        styled_line_clear(&f->blanks);
    }
    if (f->wrapped && f->line.width == 0)
        styled_line_clear(&f->blanks);
    else
        keep_error(f, styled_line_append(&f->line, &f->blanks));
    keep_error(f, styled_line_append(&f->line, &f->word));
}

void text_wrap_break(struct text_wrap *f)
{
    commit_word(f);
    styled_line_clear(&f->blanks);
    text_wrap_end_line(f, LINE_ENDS);
}

/* Punctuation that must not begin a line stays with the ideograph before it. */
static bool is_closing_mark(const struct glyph *g)
{
    static const char *const closing[] = { "。", "、", "，", "．", "」", "』", "）", "】", "》",
                                           "！", "？", "：", "；", "・", "ー", "”",  "’" };
    struct slice glyph = { g->bytes, g->len };

    for (size_t i = 0; i < sizeof closing / sizeof closing[0]; i++)
        if (slice_eq(glyph, slice_of(closing[i])))
            return true;
    return g->kind == GLYPH_TEXT && g->len == 1 && memchr(".,;:!?)]}\"'", g->bytes[0], 11);
}

size_t text_wrap_add(struct text_wrap *f, enum style style, struct slice text)
{
    struct clean c;
    struct glyph g;
    size_t cluster = 0;

    clean_begin(&c, text);
    while (!text_wrap_is_full(f)) {
        struct clean before = c;

        if (!clean_next(&c, &g))
            break;
        if (!g.joined) /* computed once per cluster, because clusters may be long */
            cluster = clean_cluster_width(&before);
        if (g.kind == GLYPH_SIGN && clean_noise(text, g.at))
            c.at = g.at + clean_noise(text, g.at);
        else if (g.kind == GLYPH_NEWLINE)
            text_wrap_break(f);
        else if (g.kind == GLYPH_BLANK && text.p[g.at] == '\t') {
            int n = TAB_STOP - (f->line.width + f->blanks.width + f->word.width) % TAB_STOP;
            struct styled_line *to = f->mode == TEXT_WRAP_VERBATIM ? &f->line : &f->blanks;

            commit_word(f);
            keep_error(f, styled_line_add(to, style, "    ", (size_t)n, n));
        } else if (f->mode == TEXT_WRAP_VERBATIM) {
            if (!g.joined && f->line.width > 0 && f->line.width + (int)cluster > columns_left(f))
                text_wrap_end_line(f, LINE_JOINS);
            keep_error(f, styled_line_add(&f->line, style, g.bytes, g.len, g.width));
        } else if (g.kind == GLYPH_BLANK) {
            commit_word(f);
            keep_error(f, styled_line_add(&f->blanks, style, g.bytes, g.len, g.width));
        } else {
            bool ideograph = g.kind == GLYPH_TEXT && g.width == 2;

            if (!g.joined) {
                if ((f->wide || ideograph) && !is_closing_mark(&g))
                    commit_word(f);
                if (f->word.width > 0 && f->word.width + (int)cluster > columns_left(f))
                    commit_word(f);
            }
            keep_error(f, styled_line_add(&f->word, style, g.bytes, g.len, g.width));
            f->wide = ideograph;
        }
    }
    return c.at;
}

void text_wrap_fini(struct text_wrap *f)
{
    commit_word(f);
    if (f->line.width > 0)
        text_wrap_end_line(f, LINE_ENDS);
    styled_line_fini(&f->line);
    styled_line_fini(&f->blanks);
    styled_line_fini(&f->word);
}

int text_wrap_height(struct slice text, int w)
{
    struct styled_text s = { 0 };
    struct text_wrap flow = { .styled_text = &s, .width = w - 1, .mode = TEXT_WRAP_WORDS };

    if (w < 4)
        return 0;
    text_wrap_begin(&flow);
    text_wrap_add(&flow, STYLE_TEXT, text);
    text_wrap_fini(&flow);
    int lines = (int)s.n;

    styled_text_fini(&s);
    return lines;
}

int text_wrap_draw(struct frame *f, struct rect r, enum style style, struct slice text)
{
    struct styled_text s = { 0 };
    struct text_wrap flow = { .styled_text = &s, .width = r.w - 1, .mode = TEXT_WRAP_WORDS };
    int lines, end = 0;

    if (r.w < 4 || r.h < 1)
        return 0;
    text_wrap_begin(&flow);
    text_wrap_add(&flow, style, text);
    text_wrap_fini(&flow);
    lines = (int)s.n < r.h ? (int)s.n : r.h;
    for (int i = 0; i < lines; i++)
        end = r.x + styled_text_draw_line(&s, (size_t)i, f, r.y + i, r.x, r.w);
    if (s.n > (size_t)lines) /* right behind the last word */
        frame_puts(f, r.y + lines - 1, end, 1, style, f->ascii ? "~" : "…");
    styled_text_fini(&s);
    return lines;
}

int text_wrap_draw_error(struct frame *f, struct rect r, const struct err *e)
{
    char text[1024];

    err_sentence(e, text, sizeof text);
    return text_wrap_draw(f, r, STYLE_ERROR,
                          slice_of(e->code == ERR_UNSUPPORTED ? err_reason(e) : text));
}
