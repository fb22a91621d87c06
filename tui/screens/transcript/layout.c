#include "tui/screens/transcript/layout.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/utf8.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"
#include "tui/widgets/markdown.h"

/* A conversation may be very long, so one message is laid out at a time, and without its neighbours
 * except for two things: the end of the message before, which decides about blank lines, and the
 * other half of a tool call, which is a row of its own in the session.
 *
 *     rules above -> each block by its kind -> branch, usage and end of the conversation
 *
 * A block that shows nothing must return before it calls begin_part(), because that call adds the
 * separating line and decides how the next message begins. Every line of a block carries the stamp
 * with the number of the block, by which a key finds the fold under the cursor; lines that belong
 * to the message as a whole must have no stamp. A long prompt is first laid out as if it fitted,
 * and its lines are removed again if it did not. */

enum { PROMPT_LINES = 200, PROMPT_LINES_FOLDED = 2, PROSE_WIDTH = 100, FOLD_SIGN_W = 2 };

struct laying {
    struct styled_text *s;
    const struct layout_options *look;
    const struct folds *folds;
    const struct message_page *p;
    const struct message_layout_context *context;
    enum message_layout_end end;
};

static bool layout_is_open(const struct laying *l, const struct block *b, enum line_part part)
{
    unsigned at = (unsigned)(b - l->p->blocks->block);

    return folds_open(l->folds, b->kind, l->p->message->offset, at, part);
}

static int layout_part_of(const struct laying *l, const struct block *b)
{
    unsigned at = (unsigned)(b - l->p->blocks->block);

    return folds_part(l->folds, b->kind, l->p->message->offset, at);
}

/* Prose is hard to read in very long lines; code and tables may use them. */
static int prose_width(const struct laying *l)
{
    return l->look->width < PROSE_WIDTH ? l->look->width : PROSE_WIDTH;
}

/* Separates the next part from the previous one. */
static void begin_part(struct laying *l, enum message_layout_end what)
{
    enum message_layout_end before = l->end;
    bool blank = what == LAYOUT_END_PROMPT || what == LAYOUT_END_TEXT || what == LAYOUT_END_SEAM ||
                 before == LAYOUT_END_PROMPT || before == LAYOUT_END_SEAM;

    if (blank && before != LAYOUT_END_NOTHING)
        styled_text_add_blank(l->s);
    l->end = what;
}

static void add_rule(struct laying *l, enum style style, const char *label)
{
    char text[160];

    snprintf(text, sizeof text, "%s %s ", l->look->ascii ? "--" : "──", label);
    styled_text_add_rule(l->s, style, label[0] ? text : "");
}

/* Adds the first lines of a laid-out text, without blank ones at the end, and a sign if more
 * follows. */
static void add_front(struct laying *l, const struct styled_text *all, size_t most)
{
    enum { RUNS = 64 };
    struct run run[RUNS + 2];
    size_t lines = all->n < most ? all->n : most;

    while (lines > 1 && all->line[lines - 1].runs <= all->line[lines - 1].margin)
        lines--;
    for (size_t i = 0; i < lines; i++) {
        const struct line *line = &all->line[i];
        size_t n = line->runs < RUNS ? line->runs : RUNS;

        memcpy(run, all->run + line->run, n * sizeof *run);
        if (i + 1 == lines && all->n > lines) {
            run[n++] = (struct run){ line->end == LINE_ENDS ? SLICE(" ") : SLICE(""), STYLE_DIM };
            run[n++] = (struct run){ slice_of(l->look->glyphs->ellipsis), STYLE_DIM };
        }
        styled_text_add_line(l->s, run, n);
    }
    if (all->rc)
        l->s->rc = all->rc;
}

/* Returns the text that did not fit. */
static struct slice wrap_prompt(const struct laying *l, struct styled_text *to, struct slice text,
                                size_t max_lines)
{
    struct text_wrap f = { .styled_text = to,
                           .width = prose_width(l) - (to == l->s ? 0 : FOLD_SIGN_W),
                           .max_lines = max_lines };

    text_margin_add(&f.first, STYLE_PROMPT, l->look->glyphs->prompt);
    text_margin_add(&f.rest, STYLE_PROMPT, "  ");
    text_wrap_begin(&f);
    size_t taken = text_wrap_add(&f, STYLE_PROMPT, text);

    text_wrap_fini(&f);
    return utf8_js_trim((struct slice){ text.p + taken, text.n - taken });
}

static void layout_prompt_folded(struct laying *l, struct slice text)
{
    struct styled_text all = { 0 };

    wrap_prompt(l, &all, text, PROMPT_LINES_FOLDED + 1);
    add_front(l, &all, PROMPT_LINES_FOLDED);
    styled_text_fini(&all);
}

enum { GAP_MS = 60 * 60 * 1000, GAP_TEXT = 32 };

/* "3 h later", "2 days later" */
static void gap_text(int64_t ms, char out[GAP_TEXT])
{
    int64_t hours = ms / GAP_MS;

    if (hours < 48)
        snprintf(out, GAP_TEXT, "%d h later", (int)hours);
    else
        snprintf(out, GAP_TEXT, "%d days later", (int)(hours / 24 < 100000 ? hours / 24 : 100000));
}

static void layout_prompt(struct laying *l, const struct block *b)
{
    char age[HUMAN_AGE], gap[GAP_TEXT], label[HUMAN_AGE + GAP_TEXT + 2] = "";
    struct slice text = utf8_js_trim(b->text);

    begin_part(l, LAYOUT_END_PROMPT);
    human_age(l->look->now_ms, l->p->message->time_ms, age);
    if (l->p->gap_ms >= GAP_MS) {
        gap_text(l->p->gap_ms, gap);
        snprintf(label, sizeof label, "%s, %s", age, gap);
    } else if (l->p->message->time_ms != TIME_NONE) {
        snprintf(label, sizeof label, "%s", age);
    }
    add_rule(l, STYLE_BORDER, label);

    if (!layout_is_open(l, b, PART_BLOCK)) {
        layout_prompt_folded(l, text);
        return;
    }

    /* A hint must hide more than a few lines to be worth its own, so a slightly longer prompt is shown in full. */
    int part = layout_part_of(l, b);
    size_t lines = l->s->n, runs = l->s->runs;
    struct slice left = wrap_prompt(l, l->s, text, PROMPT_LINES + LAYOUT_LEAST_HIDDEN - 1);

    if (left.n == 0)
        return;

    /* The prompt is too long: the lines are removed again, and it is laid out with hints. */
    l->s->n = lines;
    l->s->runs = runs;
    if (part == FOLDS_FIRST_LINES) {
        left = wrap_prompt(l, l->s, text, PROMPT_LINES);
        layout_hidden(l->s, l->look, PART_MORE, tool_count_lines(left), left.n);
        return;
    }

    struct text_part now = tool_text_part(text, part);

    if (now.before.n)
        layout_hidden(l->s, l->look, PART_EARLIER, tool_count_lines(now.before), now.before.n);
    wrap_prompt(l, l->s, now.text, 0);
    if (now.after.n)
        layout_hidden(l->s, l->look, PART_LATER, tool_count_lines(now.after), now.after.n);
    else
        layout_less(l->s, l->look);
}

static void layout_command(struct laying *l, const struct block *b)
{
    struct text_wrap f = { .styled_text = l->s,
                           .width = prose_width(l),
                           .max_lines = PROMPT_LINES };

    begin_part(l, LAYOUT_END_PROMPT);
    text_margin_add(&f.first, STYLE_PROMPT, l->look->glyphs->prompt);
    text_margin_add(&f.rest, STYLE_PROMPT, "  ");
    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_CODE, b->text);
    text_wrap_fini(&f);
}

/* One line for a block: a sign, words, and dim words after them. */
static void layout_one_line(struct laying *l, enum style style, const char *sign, const char *words,
                            struct slice text)
{
    struct buf cut = { 0 };
    struct run run[4] = { { SLICE("  "), STYLE_TEXT },
                          { slice_of(sign), style },
                          { slice_of(words), style } };
    const char *nl = text.n ? memchr(text.p, '\n', text.n) : NULL;

    if (nl)
        text.n = (size_t)(nl - text.p);
    layout_cut(l->look, &cut, text, prose_width(l) - 4 - (int)strlen(words));
    run[3] = (struct run){ buf_slice(&cut), STYLE_DIM };
    styled_text_add_line(l->s, run, 4);
    buf_fini(&cut);
}

/* The first line of the answer, without its Markdown markup. */
static void layout_answer_folded(struct laying *l, const struct block *b)
{
    enum { FRONT = 2000 };
    struct styled_text all = { 0 };
    struct markdown how = { .width = prose_width(l) - FOLD_SIGN_W, .ascii = l->look->ascii };
    struct slice text = utf8_js_trim(b->text);

    text.n = text.n < FRONT ? text.n : FRONT;
    text_margin_add(&how.first, STYLE_TOOL, l->look->glyphs->answer);
    text_margin_add(&how.rest, STYLE_TEXT, "  ");
    markdown_layout(&all, &how, text);
    add_front(l, &all, 1);
    styled_text_fini(&all);
}

static void layout_answer(struct laying *l, const struct block *b)
{
    struct markdown how = { .width = prose_width(l), .ascii = l->look->ascii };

    begin_part(l, LAYOUT_END_TEXT);
    if (!layout_is_open(l, b, PART_BLOCK)) {
        layout_answer_folded(l, b);
        return;
    }
    if (b->failed)
        text_margin_add(&how.first, STYLE_ERROR, l->look->glyphs->answer);
    else
        text_margin_add(&how.first, STYLE_TOOL, l->look->glyphs->answer);
    text_margin_add(&how.rest, STYLE_TEXT, "  ");
    markdown_layout(l->s, &how, utf8_js_trim(b->text));
}

static void layout_thinking(struct laying *l, const struct block *b)
{
    char words[64];
    size_t lines = tool_count_lines(utf8_js_trim(b->text));
    bool open = layout_is_open(l, b, PART_BLOCK);
    struct text_wrap f = { .styled_text = l->s, .width = prose_width(l) };

    if (l->folds->level == FOLD_ALL && !open)
        return;
    begin_part(l, LAYOUT_END_TOOL);
    snprintf(words, sizeof words, "thinking  %zu line%s", lines, lines == 1 ? "" : "s");
    layout_one_line(l, STYLE_THINKING, open ? l->look->glyphs->open : l->look->glyphs->closed,
                    b->text.n ? words : "thinking, not recorded", (struct slice){ NULL, 0 });
    if (!open)
        return;
    text_margin_add(&f.first, STYLE_BORDER, l->look->ascii ? "  | " : "  ┆ ");
    text_margin_add(&f.rest, STYLE_BORDER, l->look->ascii ? "  | " : "  ┆ ");
    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_THINKING, utf8_js_trim(b->text));
    text_wrap_fini(&f);
}

static void layout_call(struct laying *l, const struct block *b)
{
    struct tool t = { .call = b,
                      .result = l->context->result(l->context->arg, b->call_id),
                      .open = layout_is_open(l, b, PART_BLOCK),
                      .part = layout_part_of(l, b) };

    t.sought =
        folds_all_chosen(l->folds, l->p->message->offset, (unsigned)(b - l->p->blocks->block));
    if (l->folds->level == FOLD_ALL && !t.open)
        return;
    begin_part(l, LAYOUT_END_TOOL);
    tool_layout(l->s, l->look, &t);
}

static void layout_result(struct laying *l, const struct block *b)
{
    struct tool t = { .result = b,
                      .open = layout_is_open(l, b, PART_BLOCK),
                      .part = layout_part_of(l, b) };
    const struct layout_glyphs *signs = l->look->glyphs;

    if (l->context->has_call(l->context->arg, b->call_id) ||
        (l->folds->level == FOLD_ALL && !t.open))
        return;
    begin_part(l, LAYOUT_END_TOOL);
    layout_one_line(l, b->failed ? STYLE_ERROR : STYLE_TOOL, t.open ? signs->open : signs->closed,
                    b->failed ? "failed result  " : "result  ", b->text);
    if (t.open)
        tool_layout_result(l->s, l->look, &t);
}

static void layout_media(struct laying *l, const struct block *b)
{
    char size[LAYOUT_SIZE_TEXT] = "";
    struct buf text = { 0 };
    const char *slash = b->name.n ? memchr(b->name.p, '/', b->name.n) : NULL;
    struct slice type = b->name;

    if (slash)
        type = (struct slice){ slash + 1, (size_t)(b->name.p + b->name.n - slash) - 1 };
    if (b->bytes > 0)
        layout_size(b->bytes, size);
    begin_part(l, l->end == LAYOUT_END_PROMPT ? LAYOUT_END_PROMPT : LAYOUT_END_TOOL);
    enum err_code rc = buf_addf(&text, "    [%s%s", b->kind == BLOCK_IMAGE ? "image" : "document",
                                type.n ? " " : "");

    layout_cut(l->look, &text, type, 24);
    if (!rc && b->text.n)
        rc = buf_add_byte(&text, ' ');
    layout_cut(l->look, &text, b->text, 40);
    if (!rc)
        rc = buf_addf(&text, "%s%s]", size[0] ? " " : "", size);
    if (rc)
        l->s->rc = rc;
    styled_text_add_line(l->s, &(struct run){ buf_slice(&text), STYLE_LINK }, 1);
    buf_fini(&text);
}

static bool name_is(const struct block *b, const char *name)
{
    return slice_eq(b->name, slice_of(name));
}

static void layout_compaction_summary(struct laying *l, const struct block *b)
{
    bool open = layout_is_open(l, b, PART_BLOCK);
    struct markdown how = { .width = prose_width(l), .ascii = l->look->ascii };
    char words[96];

    begin_part(l, LAYOUT_END_TOOL);
    size_t lines = tool_count_lines(b->text);

    snprintf(words, sizeof words, "summary of the conversation before  %zu line%s", lines,
             lines == 1 ? "" : "s");
    layout_one_line(l, STYLE_TOOL, open ? l->look->glyphs->open : l->look->glyphs->closed, words,
                    (struct slice){ NULL, 0 });
    if (!open)
        return;
    text_margin_add(&how.first, STYLE_QUOTE, "    ");
    text_margin_add(&how.rest, STYLE_QUOTE, "    ");
    markdown_layout(l->s, &how, utf8_js_trim(b->text));
}

/* Rows that the agent's program wrote. Most are of no use to a reader and are shown only if
 * everything is unfolded. */
static void layout_note(struct laying *l, const struct block *b)
{
    bool open = layout_is_open(l, b, PART_BLOCK);
    struct slice output = name_is(b, "output") ? utf8_js_trim(b->text) : SLICE("");
    bool quiet = b->text.n == 0 || name_is(b, "meta");
    struct buf words = { 0 };

    if (name_is(b, "turn_duration")) /* the line at the end of the turn has its time */
        return;
    if (name_is(b, "summary")) {
        layout_compaction_summary(l, b);
        return;
    }
    /* The output of a person's own command is as open as the command. */
    if (l->folds->level == FOLD_TOOLS && output.n && memchr(output.p, '\n', output.n))
        open = !open;
    if (!b->failed && !open &&
        (l->folds->level == FOLD_ALL || (quiet && l->folds->level != FOLD_NOTHING)))
        return;
    begin_part(l, LAYOUT_END_NOTE);
    layout_cut(l->look, &words, b->name, 32);
    if (words.n && b->text.n && buf_add(&words, SLICE("  ")))
        l->s->rc = ERR_NOMEM;
    const char *says = buf_cstr(&words);

    layout_one_line(l, b->failed ? STYLE_WARN : STYLE_DIM, l->look->glyphs->note, says ? says : "",
                    open ? (struct slice){ NULL, 0 } : utf8_js_trim(b->text));
    buf_fini(&words);
    if (open && b->text.n)
        tool_layout_text(l->s, l->look, STYLE_DIM, b->text, layout_part_of(l, b));
}

static void layout_seam(struct laying *l, const struct block *b)
{
    struct buf text = { 0 };

    begin_part(l, LAYOUT_END_SEAM);
    layout_cut(l->look, &text, b->text.n ? b->text : b->name, 80);
    const char *label = buf_cstr(&text);

    add_rule(l, STYLE_WARN, label ? label : "");
    buf_fini(&text);
}

static void layout_raw(struct laying *l, const struct block *b)
{
    char words[96], size[LAYOUT_SIZE_TEXT];
    bool open = layout_is_open(l, b, PART_BLOCK);

    begin_part(l, LAYOUT_END_NOTE);
    layout_size((int64_t)b->text.n, size);
    snprintf(words, sizeof words, "unreadable line, %s  ", size);
    layout_one_line(l, STYLE_WARN, open ? l->look->glyphs->open : l->look->glyphs->closed, words,
                    open ? (struct slice){ NULL, 0 } : b->text);
    if (open)
        tool_layout_text(l->s, l->look, STYLE_DIM, b->text, layout_part_of(l, b));
}

static void layout_block(struct laying *l, const struct block *b)
{
    switch (b->kind) {
    case BLOCK_PROMPT: layout_prompt(l, b); break;
    case BLOCK_COMMAND: layout_command(l, b); break;
    case BLOCK_TEXT: layout_answer(l, b); break;
    case BLOCK_THINKING: layout_thinking(l, b); break;
    case BLOCK_TOOL_CALL: layout_call(l, b); break;
    case BLOCK_TOOL_RESULT: layout_result(l, b); break;
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT: layout_media(l, b); break;
    case BLOCK_NOTE: layout_note(l, b); break;
    case BLOCK_SEAM: layout_seam(l, b); break;
    case BLOCK_RAW: layout_raw(l, b); break;
    }
}

static void layout_unreadable(struct laying *l)
{
    char text[400];

    begin_part(l, LAYOUT_END_NOTE);
    err_sentence(l->p->error, text, sizeof text);
    styled_text_add_unclean(l->s, STYLE_WARN, slice_of(text));
}

enum message_layout_end layout_message(struct styled_text *s, const struct layout_options *look,
                                       const struct folds *folds, const struct message_page *p,
                                       const struct message_layout_context *context)
{
    struct laying l = {
        .s = s, .look = look, .folds = folds, .p = p, .context = context, .end = context->before
    };

    if (p->message->flags & MESSAGE_GAP) {
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_WARN, "the messages before this are missing");
    }
    if (p->message->flags & MESSAGE_ASIDE) {
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_BRANCH, "another branch begins here");
    }

    /* The rule above a prompt names the gap itself (layout_prompt). */
    if (p->gap_ms >= GAP_MS && p->blocks->n && p->blocks->block[0].kind != BLOCK_PROMPT) {
        char gap[GAP_TEXT];

        gap_text(p->gap_ms, gap);
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_BORDER, gap);
    }

    if (p->error && p->error->code)
        layout_unreadable(&l);

    /* Each line of a block carries its number, by which the fold at the cursor is found. */
    for (size_t i = 0; i < p->blocks->n && !s->rc; i++) {
        s->stamp = (struct line){ .block = (uint16_t)i, .foldable = true };
        layout_block(&l, &p->blocks->block[i]);
    }
    s->stamp = (struct line){ 0 };

    /* The lines from here on belong to the message as a whole and do not fold. */
    if (p->message->flags & MESSAGE_BRANCHED && l.end != LAYOUT_END_NOTHING) {
        layout_one_line(&l, STYLE_BRANCH, look->glyphs->branch, "a branch leaves here",
                        (struct slice){ NULL, 0 });
        l.end = LAYOUT_END_NOTE;
    }
    if (p->usage) {
        begin_part(&l, LAYOUT_END_NOTE);
        layout_one_line(&l, STYLE_DIM, "", p->usage, (struct slice){ NULL, 0 });
    }
    if (p->message->flags & MESSAGE_LEAF) {
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_OK, "a resume continues here");
    }
    if (p->message->flags & MESSAGE_CLEARED) {
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_WARN, "cleared: a resume starts empty");
    }
    if (p->cut) {
        begin_part(&l, LAYOUT_END_SEAM);
        add_rule(&l, STYLE_WARN, p->cut);
    }
    return l.end;
}
