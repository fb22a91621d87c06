#include "tui/widgets/styled_text.h"

#include <stdlib.h>

#include "tui/text/clean.h"

void styled_text_fini(struct styled_text *s)
{
    arena_fini(&s->arena);
    free(s->run);
    free(s->line);
    *s = (struct styled_text){ 0 };
}

/* The array grown to hold one more; NULL without memory (the old one stays as it is). */
static void *grown_array(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t want = *cap ? *cap * 2 : 16;
    void *p = reallocarray(array, want, size);

    if (p)
        *cap = want;
    return p;
}

static void add_run(struct styled_text *s, const struct run *run)
{
    struct run *p = grown_array(s->run, s->runs, &s->run_cap, sizeof *p);
    struct slice text = p ? arena_copy(&s->arena, run->text) : (struct slice){ NULL, 0 };

    if (p)
        s->run = p;
    if (!text.p) {
        s->rc = ERR_NOMEM;
        return;
    }
    p[s->runs++] = (struct run){ .text = text, .style = run->style };
}

void styled_text_add_line(struct styled_text *s, const struct run *run, size_t n)
{
    struct line *p = s->rc ? NULL : grown_array(s->line, s->n, &s->cap, sizeof *p);

    if (!p) {
        s->rc = ERR_NOMEM;
        return;
    }
    s->line = p;
    struct line line = s->stamp;

    line.run = (uint32_t)s->runs;
    for (size_t i = 0; i < n && !s->rc; i++)
        if (run[i].text.n)
            add_run(s, &run[i]);
    line.runs = (uint32_t)s->runs - line.run;
    if (!s->rc)
        s->line[s->n++] = line;
}

void styled_text_add(struct styled_text *s, enum style style, const char *text)
{
    struct run run = { slice_of(text), style };

    styled_text_add_line(s, &run, 1);
}

void styled_text_add_unclean(struct styled_text *s, enum style style, struct slice text)
{
    struct buf clean = { 0 };

    if (clean_add(&clean, text))
        s->rc = ERR_NOMEM;
    struct run run = { buf_slice(&clean), style };

    styled_text_add_line(s, &run, 1);
    buf_fini(&clean);
}

void styled_text_add_blank(struct styled_text *s)
{
    styled_text_add_line(s, NULL, 0);
}

void styled_text_add_rule(struct styled_text *s, enum style style, const char *label)
{
    struct run run = { slice_of(label), style };
    bool rule = s->stamp.rule;

    s->stamp.rule = true;
    styled_text_add_line(s, &run, 1);
    s->stamp.rule = rule;
}

void styled_text_draw_line(const struct styled_text *s, size_t at, struct frame *f, int y, int x,
                           int w)
{
    const struct line *line = &s->line[at];
    int used = 0;

    for (uint32_t i = 0; i < line->runs; i++) {
        const struct run *run = &s->run[line->run + i];

        used += frame_text(f, y, x + used, w - used, run->style, run->text);
    }
    while (line->rule && used < w)
        used += frame_puts(f, y, x + used, 1, STYLE_BORDER, f->ascii ? "-" : "─") ? 1 : w;
}

enum err_code styled_line_add(struct styled_line *ink, enum style style, const char *bytes,
                              size_t n, int width)
{
    bool goes_on = ink->n > 0 && ink->stroke[ink->n - 1].style == style;
    struct styled_span *p =
        goes_on ? ink->stroke : grown_array(ink->stroke, ink->n, &ink->cap, sizeof *p);

    if (!p || buf_add(&ink->bytes, (struct slice){ bytes, n }))
        return ERR_NOMEM;
    ink->stroke = p;
    if (!goes_on)
        p[ink->n++] = (struct styled_span){ .style = (uint8_t)style };
    p[ink->n - 1].len += (uint32_t)n;
    ink->width += width;
    return ERR_OK;
}

enum err_code styled_line_append(struct styled_line *ink, struct styled_line *from)
{
    const char *p = from->bytes.p;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < from->n && !rc; i++) {
        rc = styled_line_add(ink, from->stroke[i].style, p, from->stroke[i].len, 0);
        p += from->stroke[i].len;
    }
    ink->width += from->width;
    styled_line_clear(from);
    return rc;
}

void styled_line_clear(struct styled_line *ink)
{
    ink->bytes.n = 0;
    ink->n = 0;
    ink->width = 0;
}

void styled_line_fini(struct styled_line *ink)
{
    buf_fini(&ink->bytes);
    free(ink->stroke);
    *ink = (struct styled_line){ 0 };
}
