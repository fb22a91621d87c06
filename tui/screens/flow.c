#include "tui/screens/flow.h"

#include "tui/clean.h"

enum { TAB_STOP = 4, NARROWEST = 12 };

void margin_add(struct margin *m, enum style style, const char *text)
{
    if (m->n == MARGIN_RUNS)
        return;
    struct slice bytes = slice_of(text);

    m->run[m->n++] = (struct run){ bytes, style };
    m->width += (int)clean_width(bytes);
}

void flow_begin(struct flow *f)
{
    f->lines = 0;
    f->wrapped = f->wide = false;
    f->line = f->blanks = f->word = (struct ink){ 0 };
}

static void keep(struct flow *f, enum err_code rc)
{
    if (rc)
        f->sheet->rc = rc;
}

bool flow_is_full(const struct flow *f)
{
    return f->sheet->rc || (f->max_lines && f->lines >= f->max_lines);
}

static const struct margin *margin(const struct flow *f)
{
    return f->lines == 0 ? &f->first : &f->rest;
}

/* Columns for text in the present line. A margin never takes all of it. */
static int room(const struct flow *f)
{
    int left = f->width - margin(f)->width;

    return f->narrow || left > NARROWEST ? left : NARROWEST;
}

static size_t runs_with_text(const struct margin *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += m->run[i].text.n > 0;
    return n;
}

static void end_line(struct flow *f, enum line_end end)
{
    struct run small[MARGIN_RUNS + 20], *run = small;
    const struct margin *m = margin(f);
    const char *p = f->line.bytes.p;
    struct arena scratch = { 0 };
    size_t n = m->n;

    if (flow_is_full(f))
        return;
    if (m->n + f->line.n > sizeof small / sizeof small[0])
        run = arena_alloc(&scratch, (m->n + f->line.n) * sizeof *run);
    if (run) {
        memcpy(run, m->run, m->n * sizeof *run);
        for (size_t i = 0; i < f->line.n; i++) {
            run[n++] = (struct run){ { p, f->line.stroke[i].len }, f->line.stroke[i].style };
            p += f->line.stroke[i].len;
        }
        f->sheet->stamp.end = (uint8_t)end;
        f->sheet->stamp.margin = (uint8_t)runs_with_text(m);
        sheet_line(f->sheet, run, n);
        f->sheet->stamp.end = LINE_ENDS;
        f->sheet->stamp.margin = 0;
    } else {
        keep(f, ERR_NOMEM);
    }
    arena_fini(&scratch);
    ink_clear(&f->line);
    f->lines++;
    f->wrapped = end != LINE_ENDS;
}

/* The word is complete: it goes into this line, or begins the next. */
static void commit(struct flow *f)
{
    f->wide = false;
    if (f->word.width == 0)
        return;
    if (f->line.width > 0 && f->line.width + f->blanks.width + f->word.width > room(f)) {
        end_line(f, f->blanks.width > 0 ? LINE_JOINS_BLANK : LINE_JOINS);
        ink_clear(&f->blanks);
    }
    if (f->wrapped && f->line.width == 0)
        ink_clear(&f->blanks);
    else
        keep(f, ink_move(&f->line, &f->blanks));
    keep(f, ink_move(&f->line, &f->word));
}

void flow_break(struct flow *f)
{
    commit(f);
    ink_clear(&f->blanks);
    end_line(f, LINE_ENDS);
}

/* Punctuation that must not begin a line: it stays with the ideograph before it. */
static bool closes(const struct glyph *g)
{
    static const char *const closing[] = { "。", "、", "，", "．", "」", "』", "）", "】", "》",
                                           "！", "？", "：", "；", "・", "ー", "”",  "’" };
    struct slice glyph = { g->bytes, g->len };

    for (size_t i = 0; i < sizeof closing / sizeof closing[0]; i++)
        if (slice_eq(glyph, slice_of(closing[i])))
            return true;
    return g->kind == GLYPH_TEXT && g->len == 1 && memchr(".,;:!?)]}\"'", g->bytes[0], 11);
}

static void add_to_word(struct flow *f, enum style style, const struct glyph *g, size_t cluster)
{
    bool ideograph = g->kind == GLYPH_TEXT && g->width == 2;

    if (!g->joined) {
        if ((f->wide || ideograph) && !closes(g))
            commit(f);
        if (f->word.width > 0 && f->word.width + (int)cluster > room(f))
            commit(f);
    }
    keep(f, ink_add(&f->word, style, g->bytes, g->len, g->width));
    f->wide = ideograph;
}

static void add_verbatim(struct flow *f, enum style style, const struct glyph *g, size_t cluster)
{
    if (!g->joined && f->line.width > 0 && f->line.width + (int)cluster > room(f))
        end_line(f, LINE_JOINS);
    keep(f, ink_add(&f->line, style, g->bytes, g->len, g->width));
}

static void add_tab(struct flow *f, enum style style)
{
    int n = TAB_STOP - (f->line.width + f->blanks.width + f->word.width) % TAB_STOP;
    struct ink *to = f->mode == FLOW_VERBATIM ? &f->line : &f->blanks;

    commit(f);
    keep(f, ink_add(to, style, "    ", (size_t)n, n));
}

size_t flow_text(struct flow *f, enum style style, struct slice text)
{
    struct clean c;
    struct glyph g;
    size_t cluster = 0;

    clean_begin(&c, text);
    while (!flow_is_full(f)) {
        struct clean before = c;

        if (!clean_next(&c, &g))
            break;
        if (!g.joined) /* asked once a cluster: clusters may be long */
            cluster = clean_cluster_width(&before);
        if (g.kind == GLYPH_SIGN && clean_noise(text, g.at))
            c.at = g.at + clean_noise(text, g.at);
        else if (g.kind == GLYPH_NEWLINE)
            flow_break(f);
        else if (g.kind == GLYPH_BLANK && text.p[g.at] == '\t')
            add_tab(f, style);
        else if (f->mode == FLOW_VERBATIM)
            add_verbatim(f, style, &g, cluster);
        else if (g.kind == GLYPH_BLANK) {
            commit(f);
            keep(f, ink_add(&f->blanks, style, g.bytes, g.len, g.width));
        } else {
            add_to_word(f, style, &g, cluster);
        }
    }
    return c.at;
}

void flow_end(struct flow *f)
{
    commit(f);
    if (f->line.width > 0)
        end_line(f, LINE_ENDS);
    ink_fini(&f->line);
    ink_fini(&f->blanks);
    ink_fini(&f->word);
}

int flow_words_lines(struct slice text, int w)
{
    struct sheet s = { 0 };
    struct flow flow = { .sheet = &s, .width = w - 1, .mode = FLOW_WORDS };

    if (w < 4)
        return 0;
    flow_begin(&flow);
    flow_text(&flow, STYLE_TEXT, text);
    flow_end(&flow);
    int lines = (int)s.n;

    sheet_fini(&s);
    return lines;
}

int flow_put_words(struct frame *f, struct rect r, enum style style, struct slice text)
{
    struct sheet s = { 0 };
    struct flow flow = { .sheet = &s, .width = r.w - 1, .mode = FLOW_WORDS };
    int lines;

    if (r.w < 4 || r.h < 1)
        return 0;
    flow_begin(&flow);
    flow_text(&flow, style, text);
    flow_end(&flow);
    lines = (int)s.n < r.h ? (int)s.n : r.h;
    for (int i = 0; i < lines; i++)
        sheet_draw_line(&s, (size_t)i, f, r.y + i, r.x, r.w);
    if (s.n > (size_t)lines)
        frame_puts(f, r.y + lines - 1, r.x + r.w - 1, 1, style, f->ascii ? "~" : "…");
    sheet_fini(&s);
    return lines;
}
