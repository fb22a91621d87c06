#include "tui/widgets/styled_text.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "tui/text/clean.h"

enum { RULE_W = 104 }; /* a rule is not longer than prose, however wide the screen is */

void styled_text_fini(struct styled_text *s)
{
    arena_fini(&s->arena);
    free(s->run);
    free(s->line);
    *s = (struct styled_text){ 0 };
}

static void styled_text_add_run(struct styled_text *s, const struct run *run)
{
    struct slice text = arena_copy(&s->arena, run->text);

    if (!text.p || !array_reserve(s->run, s->run_cap, s->runs + 1)) {
        s->rc = ERR_NOMEM;
        return;
    }
    s->run[s->runs++] = (struct run){ .text = text, .style = run->style };
}

void styled_text_add_line(struct styled_text *s, const struct run *run, size_t n)
{
    struct line line = s->stamp;

    if (s->rc || !array_reserve(s->line, s->cap, s->n + 1)) {
        s->rc = ERR_NOMEM;
        return;
    }
    line.run = (uint32_t)s->runs;
    for (size_t i = 0; i < n && !s->rc; i++)
        if (run[i].text.n)
            styled_text_add_run(s, &run[i]);
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

int styled_text_draw_line(const struct styled_text *s, size_t at, struct frame *f, int y, int x,
                          int w)
{
    const struct line *line = &s->line[at];
    int used = 0;

    for (uint32_t i = 0; i < line->runs; i++) {
        const struct run *run = &s->run[line->run + i];

        used += frame_text(f, y, x + used, w - used, run->style, run->text);
    }
    while (line->rule && used < w && used < RULE_W)
        used += frame_puts(f, y, x + used, 1, STYLE_BORDER, f->ascii ? "-" : "─") ? 1 : w;
    return used;
}

enum err_code styled_line_add(struct styled_line *line, enum style style, const char *bytes,
                              size_t n, int width)
{
    bool extends_last = line->n > 0 && line->span[line->n - 1].style == style;

    if ((!extends_last && !array_reserve(line->span, line->cap, line->n + 1)) ||
        buf_add(&line->bytes, (struct slice){ bytes, n }))
        return ERR_NOMEM;
    if (!extends_last)
        line->span[line->n++] = (struct styled_span){ .style = (uint8_t)style };
    line->span[line->n - 1].len += (uint32_t)n;
    line->width += width;
    return ERR_OK;
}

enum err_code styled_line_append(struct styled_line *line, struct styled_line *from)
{
    const char *p = from->bytes.p;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < from->n && !rc; i++) {
        rc = styled_line_add(line, from->span[i].style, p, from->span[i].len, 0);
        p += from->span[i].len;
    }
    line->width += from->width;
    styled_line_clear(from);
    return rc;
}

void styled_line_clear(struct styled_line *line)
{
    line->bytes.n = 0;
    line->n = 0;
    line->width = 0;
}

void styled_line_fini(struct styled_line *line)
{
    buf_fini(&line->bytes);
    free(line->span);
    *line = (struct styled_line){ 0 };
}
