#include "tui/screens/transcript/layout.h"

#include <stdio.h>
#include <string.h>

#include "lite/json/json.h"
#include "store/show/tool_call.h"
#include "tui/data/search_hits.h"
#include "tui/text/clean.h"
#include "tui/widgets/markdown.h"

/* A tool call ranges from one word to megabytes of output, and the screen must stay quick with
 * both. A folded call is one line; an open one has these parts in this order:
 *
 *     name, argument, outcome -> command -> other members -> diff -> result
 *
 * The outcome is the part that a reader looks for, so the argument is cut to make room for it. A
 * long text is divided by bytes and not by lines, so that the part of any byte follows from its
 * offset and a search can open the right one: tool_text_part() and tool_part_at() must agree on
 * every border. A long diff is divided by its lines. tool_count() has to count what the layout
 * shows, or the hits of a search would not be on the screen. A result that only repeats the diff is
 * left out, unless all of the call was asked for. */

enum {
    FIRST_LINES = 16,
    DIFF_LINES = 64,
    PART_LINES = 4000,        /* the most lines of a diff */
    PART_BYTES = 1024 * 1024, /* the most bytes of a text */
    /* a part ends with its line, unless that has more bytes left than this */
    PART_LINE_REST = 4 * 1024,
    LEAST_ARGUMENT = 8,
    HANG = 2, /* the rest of a long line */
    DEEPEST = 16
};

#define INDENT "    "

size_t tool_count_lines(struct slice text)
{
    struct slice line;
    size_t n = 0;
    bool torn;

    while (slice_line(&text, &line, &torn))
        n++;
    return n;
}

/* The text of the folded line: a bounded number of runs, and their bytes. */
struct summary {
    struct run run[12];
    size_t n;
    struct buf name, argument, outcome;
    char count[64], add[32], remove[32];
};

static void add_summary_run(struct summary *sum, enum style style, struct slice text)
{
    if (text.n && sum->n < sizeof sum->run / sizeof sum->run[0])
        sum->run[sum->n++] = (struct run){ text, style };
}

static void add_literal_run(struct summary *sum, enum style style, const char *text)
{
    add_summary_run(sum, style, slice_of(text));
}

static void add_failure(struct summary *sum, const struct layout_options *look, struct slice text)
{
    struct slice digits;
    enum err_code rc = ERR_OK;

    add_literal_run(sum, STYLE_ERROR, " ");
    add_literal_run(sum, STYLE_ERROR, look->glyphs->failed);
    if (tool_call_exit_code(text, &digits)) {
        rc = buf_addf(&sum->outcome, " exit %.*s", SLICE_ARG(digits));
    } else {
        rc = buf_add_byte(&sum->outcome, ' ');
        layout_cut(look, &sum->outcome, tool_call_first_line(text), look->width / 3);
    }
    if (!rc)
        add_summary_run(sum, STYLE_ERROR, buf_slice(&sum->outcome));
}

static void add_counts(struct summary *sum, const struct tool *t)
{
    struct hunks d = { 0 };

    tool_call_hunks(&d, t->call, t->result);
    if (d.added) {
        snprintf(sum->add, sizeof sum->add, " +%zu", d.added);
        add_literal_run(sum, STYLE_ADD, sum->add);
    }
    if (d.removed) {
        snprintf(sum->remove, sizeof sum->remove, " -%zu", d.removed);
        add_literal_run(sum, STYLE_DELETE, sum->remove);
    }
    hunks_fini(&d);
    if (tool_call_counts_lines(t->call) && t->result && !t->result->failed) {
        size_t n = tool_count_lines(t->result->text);

        snprintf(sum->count, sizeof sum->count, "  %zu line%s", n, n == 1 ? "" : "s");
        add_literal_run(sum, STYLE_DIM, sum->count);
    }
}

static void add_outcome(struct summary *sum, const struct layout_options *look,
                        const struct tool *t)
{
    add_counts(sum, t);
    if (t->result && t->result->agent.n)
        add_literal_run(sum, STYLE_SYSTEM, "  sub-agent");
    if (!t->result) {
        add_literal_run(sum, STYLE_DIM, " ");
        add_literal_run(sum, STYLE_DIM, look->glyphs->none);
    } else if (t->result->failed) {
        add_failure(sum, look, tool_call_result(t->result));
    } else {
        add_literal_run(sum, STYLE_OK, " ");
        add_literal_run(sum, STYLE_OK, look->glyphs->ok);
    }
}

/* "mcp__server__tool" is shown as "server: tool". */
static void add_tool_name(struct summary *sum, const struct layout_options *look, struct slice name)
{
    static const char lead[] = "mcp__";
    size_t n = sizeof lead - 1;
    const char *mid =
        name.n > n && memcmp(name.p, lead, n) == 0 ? memmem(name.p + n, name.n - n, "__", 2) : NULL;

    if (mid) {
        layout_cut(look, &sum->name, (struct slice){ name.p + n, (size_t)(mid - name.p) - n }, 24);
        if (buf_add(&sum->name, SLICE(": ")))
            return;
        name = (struct slice){ mid + 2, (size_t)(name.p + name.n - mid) - 2 };
    }
    layout_cut(look, &sum->name, name, 32);
}

/* Some agents include the subject in the name of a call: "Read `gate.txt`". */
static bool names_subject(struct slice name, struct slice about)
{
    const char *from = name.n ? memchr(name.p, '`', name.n) : NULL;
    size_t n = from ? (size_t)(name.p + name.n - from) : 0;

    return n > 2 && from[n - 1] == '`' && about.n >= n - 2 &&
           memcmp(about.p + about.n - (n - 2), from + 1, n - 2) == 0;
}

/* The line of a folded call: name, argument, outcome. The outcome is always shown; the argument is
 * cut. */
static void layout_tool_summary(struct styled_text *s, const struct layout_options *look,
                                const struct tool *t)
{
    struct summary sum = { .n = 0 };
    struct arena scratch = { 0 };
    bool is_path;
    struct slice about = tool_call_subject(t->call, &scratch, &is_path);

    add_literal_run(&sum, STYLE_TEXT, "  ");
    add_literal_run(&sum, STYLE_TOOL, t->open ? look->glyphs->open : look->glyphs->closed);
    add_tool_name(&sum, look, t->call->name);
    add_summary_run(&sum, STYLE_TOOL, buf_slice(&sum.name));
    size_t argument_at = sum.n + 1;

    add_literal_run(&sum, STYLE_TEXT, " ");
    add_literal_run(&sum, STYLE_TEXT, " "); /* the argument's place */
    add_outcome(&sum, look, t);
    int room = look->width + 1;

    for (size_t i = 0; i < sum.n; i++)
        room -= (int)clean_width(sum.run[i].text);

    if (names_subject(t->call->name, about))
        about = SLICE("");
    if (room < LEAST_ARGUMENT)
        room = LEAST_ARGUMENT;
    if (is_path)
        layout_cut_front(look, &sum.argument, layout_path(look, about), room);
    else
        layout_cut(look, &sum.argument, tool_call_first_line(about), room);
    sum.run[argument_at].text = buf_slice(&sum.argument);
    if (sum.argument.n == 0) /* the outcome begins with a blank */
        sum.run[argument_at - 1].text = SLICE("");
    styled_text_add_line(s, sum.run, sum.n);
    buf_fini(&sum.name);
    buf_fini(&sum.argument);
    buf_fini(&sum.outcome);
    arena_fini(&scratch);
}

static struct slice without_last_newlines(struct slice text)
{
    while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    return text;
}

static size_t part_begin(struct slice text, size_t part)
{
    size_t at = part * PART_BYTES;

    if (part == 0 || at >= text.n)
        return part == 0 ? 0 : text.n;
    size_t rest = text.n - at < PART_LINE_REST ? text.n - at : PART_LINE_REST;
    const char *newline = memchr(text.p + at, '\n', rest);

    if (newline)
        return (size_t)(newline - text.p) + 1;
    while (at < text.n && (text.p[at] & 0xC0) == 0x80)
        at++;
    return at;
}

struct text_part tool_text_part(struct slice text, int part)
{
    size_t number = part > 0 ? (size_t)part : 0, last = text.n ? (text.n - 1) / PART_BYTES : 0;

    if (number > last)
        number = last;
    while (number > 0 && part_begin(text, number) == text.n)
        number--;
    size_t from = part_begin(text, number), to = part_begin(text, number + 1);

    return (struct text_part){ { text.p, from },
                               { text.p + from, to - from },
                               { text.p + to, text.n - to } };
}

int tool_part_at(struct slice text, size_t at)
{
    size_t part = at / PART_BYTES;

    return (int)(part > 0 && part_begin(text, part) > at ? part - 1 : part);
}

/* Returns the text that did not fit into this many lines of the screen (0: no limit). */
static struct slice wrap_verbatim(struct styled_text *s, const struct layout_options *look,
                                  enum style style, struct slice text, size_t max_lines)
{
    struct text_wrap f = { .styled_text = s,
                           .width = look->width,
                           .mode = TEXT_WRAP_VERBATIM,
                           .hang = HANG,
                           .max_lines = max_lines };
    struct slice shown = text, rest = text, line;
    bool torn;

    /* Lines that cannot be shown are not wrapped. */
    for (size_t n = 0; n < max_lines && slice_line(&rest, &line, &torn); n++)
        shown.n = text.n - rest.n;
    shown = without_last_newlines(shown);

    text_margin_add(&f.first, STYLE_TEXT, INDENT);
    text_margin_add(&f.rest, STYLE_TEXT, INDENT);
    text_wrap_begin(&f);
    size_t taken = text_wrap_add(&f, style, shown);

    text_wrap_fini(&f);
    taken += taken < text.n && text.p[taken] == '\r';
    taken += taken < text.n && text.p[taken] == '\n';
    return (struct slice){ text.p + taken, text.n - taken };
}

void tool_layout_text(struct styled_text *s, const struct layout_options *look, enum style style,
                      struct slice text, int part)
{
    size_t lines = s->n, runs = s->runs;

    text = without_last_newlines(text);
    struct slice left = wrap_verbatim(s, look, style, text, FIRST_LINES + LAYOUT_LEAST_HIDDEN - 1);

    if (left.n == 0)
        return;
    s->n = lines;
    s->runs = runs;
    if (part == FOLDS_FIRST_LINES) {
        left = wrap_verbatim(s, look, style, text, FIRST_LINES);
        layout_hidden(s, look, PART_MORE, tool_count_lines(left), left.n);
        return;
    }
    struct text_part now = tool_text_part(text, part);

    if (now.before.n)
        layout_hidden(s, look, PART_EARLIER, tool_count_lines(now.before), now.before.n);
    wrap_verbatim(s, look, style, now.text, 0);
    if (now.after.n)
        layout_hidden(s, look, PART_LATER, tool_count_lines(now.after), now.after.n);
    else
        layout_less(s, look);
}

/* "key: value"; a value of several lines is below its key. */
static void layout_member(struct styled_text *s, const struct layout_options *look,
                          struct slice key, struct slice value, int part)
{
    struct arena scratch = { 0 };
    struct slice name = key, text = value;
    struct text_wrap f = { .styled_text = s, .width = look->width };

    json_text(key, &scratch, &name);
    if (json_type(value) == JSON_STRING)
        json_text(value, &scratch, &text);
    text_margin_add(&f.first, STYLE_TEXT, INDENT);
    text_margin_add(&f.rest, STYLE_TEXT, INDENT "  ");
    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_KEY, name);
    text_wrap_add(&f, STYLE_DIM, SLICE(": "));
    bool in_line =
        text.n == 0 || (text.n < 2 * (size_t)look->width && !memchr(text.p, '\n', text.n));

    if (in_line)
        text_wrap_add(&f, STYLE_TEXT, text);
    text_wrap_fini(&f);
    if (!in_line)
        tool_layout_text(s, look, STYLE_TEXT, text, part);
    arena_fini(&scratch);
}

static void layout_input(struct styled_text *s, const struct layout_options *look,
                         const struct tool *t, bool has_diff)
{
    struct json_iter it;
    struct slice key, value;
    struct arena scratch = { 0 };

    if (tool_call_command(t->call, &scratch, &value))
        tool_layout_text(s, look, STYLE_CODE, value, t->part < 0 ? 0 : t->part);
    if (json_iter_open(&it, t->call->input))
        while (!s->rc && json_iter_next(&it, &key, &value))
            if (key.n && !tool_call_shows(t->call, key, has_diff))
                layout_member(s, look, key, value, t->part);
    arena_fini(&scratch);
}

static void layout_diff(struct styled_text *s, const struct layout_options *look,
                        const struct tool *t, const struct hunks *d)
{
    size_t part = t->part > 0 ? (size_t)t->part : 0, last = (d->n - 1) / PART_LINES;
    struct hunks_layout_options how = { .width = look->width,
                                        .ascii = look->ascii,
                                        .first = (part < last ? part : last) * PART_LINES,
                                        .max_lines = PART_LINES };

    text_margin_add(&how.margin, STYLE_TEXT, INDENT);
    if (t->part == FOLDS_FIRST_LINES && d->n >= DIFF_LINES + LAYOUT_LEAST_HIDDEN)
        how.max_lines = DIFF_LINES;
    if (how.first)
        layout_hidden(s, look, PART_EARLIER, how.first, 0);
    size_t left = hunks_layout(s, &how, d);

    if (left > 0)
        layout_hidden(s, look, how.max_lines == DIFF_LINES ? PART_MORE : PART_LATER, left, 0);
    else if (d->n >= DIFF_LINES + LAYOUT_LEAST_HIDDEN)
        layout_less(s, look);
}

/* Occurrences in the strings of a value; the names of members are not counted. */
static size_t count_value(struct slice value, struct slice needle, struct arena *scratch, int deep)
{
    struct json_iter it;
    struct slice key, member, text;
    size_t n = 0;

    if (json_type(value) == JSON_STRING)
        return json_text(value, scratch, &text) ? search_count(text, needle) : 0;
    if (deep == DEEPEST || !json_iter_open(&it, value))
        return search_count(value, needle);
    while (json_iter_next(&it, &key, &member))
        n += count_value(member, needle, scratch, deep + 1);
    return n;
}

size_t tool_count(const struct block *call, struct slice needle)
{
    struct hunks d = { 0 };
    struct arena scratch = { 0 };
    struct json_iter it;
    struct slice key, value;
    size_t n = 0;

    tool_call_hunks(&d, call, NULL);
    for (size_t i = 0; i < d.n; i++)
        if (d.line[i].sign != '@')
            n += search_count(d.line[i].text, needle);
    if (json_iter_open(&it, call->input))
        while (json_iter_next(&it, &key, &value))
            if (d.n == 0 || json_string_is(key, "file_path") || json_string_is(key, "filePath") ||
                !tool_call_shows(call, key, true))
                n += count_value(value, needle, &scratch, 0);
    arena_fini(&scratch);
    hunks_fini(&d);
    return n;
}

void tool_layout_result(struct styled_text *s, const struct layout_options *look,
                        const struct tool *t)
{
    struct slice text = tool_call_result(t->result);

    if (text.n > 0)
        tool_layout_text(s, look, t->result->failed ? STYLE_ERROR : STYLE_DIM, text, t->part);
    else
        styled_text_add(s, STYLE_DIM, INDENT "(no output)");
}

void tool_layout(struct styled_text *s, const struct layout_options *look, const struct tool *t)
{
    struct hunks d = { 0 };

    layout_tool_summary(s, look, t);
    if (!t->open)
        return;
    tool_call_hunks(&d, t->call, t->result);
    layout_input(s, look, t, d.n > 0);
    if (d.n > 0)
        layout_diff(s, look, t, &d);
    if (t->result &&
        (d.n == 0 || t->result->failed ||
         (t->part >= 0 && (t->sought || !tool_call_repeats(t->call, t->result, &d))))) {
        s->stamp.result = true;
        tool_layout_result(s, look, t);
        s->stamp.result = false;
    }
    hunks_fini(&d);
}
