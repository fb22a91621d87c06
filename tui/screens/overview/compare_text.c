#include <stdio.h>

#include "lite/base/cleanup.h"
#include "store/rewind/diff/linediff.h"
#include "tui/screens/overview/overview.h"
#include "tui/widgets/markdown.h"

/* What a row of the comparison stands for: the prompts of both sessions, or what they made of a file. */

enum { COMPARE_AROUND = 3 };

static struct slice compare_first_line(struct slice text)
{
    struct slice line;
    bool torn;

    return slice_line(&text, &line, &torn) ? line : text;
}

static void compare_add_line(void *arg, const struct run *run, size_t n)
{
    styled_text_add_line(arg, run, n);
}

/* The lines of a text, wrapped. */
static void compare_lay_text(struct styled_text *out, struct slice text, enum style style,
                             int width, enum text_wrap_mode mode)
{
    struct text_wrap wrap = {
        .styled_text = out, .width = width, .mode = mode, .max_lines = COMPARE_MOST_LINES
    };
    struct slice line;
    bool torn;

    text_wrap_begin(&wrap);
    while (slice_line(&text, &line, &torn) && wrap.lines < COMPARE_MOST_LINES) {
        text_wrap_add(&wrap, style, line);
        text_wrap_break(&wrap);
    }
    text_wrap_fini(&wrap);
}

void compare_text_prompts(struct styled_text *out, const struct compared_sessions *c, int width,
                          bool ascii)
{
    const struct compared_side *side = c->side;
    struct table *t = table_new(2);
    char number[32];

    for (size_t i = 0; i < side[0].common; i++)
        compare_lay_text(out, compare_first_line(side[0].prompt[i].text), STYLE_DIM, width,
                         TEXT_WRAP_WORDS);
    styled_text_add_rule(out, STYLE_WARN, side[0].common ? "here they part " : "no common prompt ");

    table_row(t);
    for (size_t k = 0; k < 2; k++) {
        table_cell(t, 1);
        table_text(t, STYLE_STRONG, k ? SLICE("B") : SLICE("A"));
    }
    for (size_t i = side[0].common; i < side[0].prompts || i < side[1].prompts; i++) {
        table_row(t);
        for (size_t k = 0; k < 2; k++) {
            table_cell(t, 1);
            if (i >= side[k].prompts)
                continue;
            snprintf(number, sizeof number, "%zu  ", i + 1);
            table_text(t, STYLE_DIM, slice_of(number));
            table_text(t, STYLE_PROMPT, compare_first_line(side[k].prompt[i].text));
        }
    }
    if (table_layout(t, width, ascii, compare_add_line, out))
        out->rc = ERR_NOMEM;
    table_free(t);
}

static void compare_lay_diff(struct styled_text *out, const struct compared_file *f, int width,
                             bool ascii)
{
    const struct hunks_layout_options how = { .width = width, .ascii = ascii };
    CLEANUP(linediff_fini) struct linediff d = { 0 };
    struct err e = { 0 };

    if (linediff_make(f->side[0].text, f->side[1].text, COMPARE_AROUND, &d, &e)) {
        out->rc = e.code;
        return;
    }
    for (size_t i = 0; i < d.hunks && out->n < COMPARE_MOST_LINES; i++) {
        struct hunks lines = { 0 };

        hunks_of_diff(&lines, &d, i);
        (void)hunks_layout(out, &how, &lines);
        hunks_fini(&lines);
    }
}

/* Returns true if every line of the file is of this session. */
static bool compare_is_added(const struct compared_state *s)
{
    struct slice text = s->text, line;
    size_t lines = 0;
    bool torn;

    while (slice_line(&text, &line, &torn))
        lines++;
    return s->known && !s->absent && s->added >= s->removed && s->added - s->removed == lines;
}

/* The side that alone changed the file; -1: both did. */
static int compare_only(const struct compared_file *f)
{
    return f->side[0].changed && f->side[1].changed ? -1 : f->side[1].changed;
}

const char *compare_text_word(const struct compared_file *f)
{
    static const char *const words[][2] = { { "added by A", "added by B" },
                                            { "deleted by A", "deleted by B" },
                                            { "changed by A", "changed by B" } };
    const int only = compare_only(f);

    if (only < 0)
        return compare_result(f);
    return words[compare_is_added(&f->side[only]) ? 0 : f->side[only].absent ? 1 : 2][only];
}

/* One line for each side, in the colour of its lines in a diff. */
static void compare_lay_sides(struct styled_text *out, const struct compared_file *f)
{
    static const char *const names[] = { "- A", "+ B" };
    const int only = compare_only(f);
    char head[80];

    for (int k = 0; k < 2; k++) {
        const struct compared_state *s = &f->side[k];
        const bool has_not = s->known ? s->absent : only == !k && compare_is_added(&f->side[only]);
        const char *what = !s->changed ? has_not ? " does not have it" : " did not change it"
                           : s->absent ? " deleted it"
                           : !s->known ? " changed it; its text is not known"
                           : only < 0  ? ""
                           : compare_is_added(s) ? " added it"
                                                 : " changed it";

        snprintf(head, sizeof head, "%s%s", names[k], what);
        styled_text_add(out, k ? STYLE_ADD : STYLE_DELETE, head);
    }
}

void compare_text_file(struct styled_text *out, const struct compared_file *f, int width,
                       bool ascii)
{
    const int only = compare_only(f);
    const struct compared_state *s = &f->side[only > 0];
    const bool other_known = only < 0 || f->side[!only].known || compare_is_added(s);

    if (only < 0 && !compare_has_diff(f)) {
        styled_text_add(out, STYLE_DIM, compare_result(f));
        return;
    }
    compare_lay_sides(out, f);
    if (other_known && s->known)
        compare_lay_diff(out, f, width, ascii);
    else if (s->known && !s->absent)
        compare_lay_text(out, s->text, STYLE_TEXT, width, TEXT_WRAP_VERBATIM);
}
