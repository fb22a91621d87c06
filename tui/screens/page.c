#include "tui/screens/page.h"

#include <stdio.h>

#include "lite/utf8.h"
#include "tui/screens/markdown.h"
#include "tui/screens/tool.h"
#include "tui/when.h"

enum { PROMPT_LINES = 200, PROMPT_LINES_FOLDED = 2, PROSE_WIDTH = 100 };

struct laying {
    struct sheet *s;
    const struct look *look;
    const struct folds *folds;
    const struct page *p;
    const struct page_context *context;
    enum page_end end;
};

static bool is_open(const struct laying *l, const struct block *b, enum line_part part)
{
    unsigned at = (unsigned)(b - l->p->blocks->block);

    return folds_open(l->folds, b->kind, l->p->message->offset, at, part);
}

/* Prose is hard to read in very long lines; code and tables may use them. */
static int prose_width(const struct laying *l)
{
    return l->look->width < PROSE_WIDTH ? l->look->width : PROSE_WIDTH;
}

/* Sets what comes off from what was before. */
static void begin(struct laying *l, enum page_end what)
{
    enum page_end before = l->end;
    bool blank = what == PAGE_PROMPT || what == PAGE_TEXT || what == PAGE_SEAM ||
                 before == PAGE_PROMPT || before == PAGE_SEAM;

    if (blank && before != PAGE_NOTHING)
        sheet_blank(l->s);
    l->end = what;
}

static void rule(struct laying *l, enum style style, const char *label)
{
    char text[160];

    snprintf(text, sizeof text, "%s %s ", l->look->ascii ? "--" : "──", label);
    sheet_rule(l->s, style, label[0] ? text : "");
}

static void lay_prompt(struct laying *l, const struct block *b)
{
    char age[WHEN_AGE];
    struct slice text = js_trim(b->text);
    bool open = is_open(l, b, PART_BLOCK), more = is_open(l, b, PART_MORE);
    struct flow f = { .sheet = l->s, .width = prose_width(l) };

    begin(l, PAGE_PROMPT);
    when_age(l->look->now_ms, l->p->message->time_ms, age);
    rule(l, STYLE_BORDER, l->p->message->time_ms == TIME_NONE ? "" : age);
    f.max_lines = !open ? PROMPT_LINES_FOLDED : more ? 0 : PROMPT_LINES;
    margin_add(&f.first, STYLE_PROMPT, l->look->signs->prompt);
    margin_add(&f.rest, STYLE_PROMPT, "  ");
    flow_begin(&f);
    size_t taken = flow_text(&f, STYLE_PROMPT, text);

    flow_end(&f);
    struct slice left = js_trim((struct slice){ text.p + taken, text.n - taken });

    if (left.n > 0 && open)
        look_more(l->s, l->look, tool_count_lines(left));
}

static void lay_command(struct laying *l, const struct block *b)
{
    struct flow f = { .sheet = l->s, .width = prose_width(l), .max_lines = PROMPT_LINES };

    begin(l, PAGE_PROMPT);
    margin_add(&f.first, STYLE_PROMPT, l->look->signs->prompt);
    margin_add(&f.rest, STYLE_PROMPT, "  ");
    flow_begin(&f);
    flow_text(&f, STYLE_CODE, b->text);
    flow_end(&f);
}

/* One line for a block: sign, words, dim words behind. */
static void lay_one_line(struct laying *l, enum style style, const char *sign, const char *words,
                         struct slice text)
{
    struct buf cut = { 0 };
    struct run run[4] = { { SLICE("  "), STYLE_TEXT },
                          { slice_of(sign), style },
                          { slice_of(words), style } };
    const char *nl = text.n ? memchr(text.p, '\n', text.n) : NULL;

    if (nl)
        text.n = (size_t)(nl - text.p);
    look_cut(l->look, &cut, text, prose_width(l) - 4 - (int)strlen(words));
    run[3] = (struct run){ buf_slice(&cut), STYLE_DIM };
    sheet_line(l->s, run, 4);
    buf_fini(&cut);
}

/* Its first line as it reads, without the signs of its markdown. */
static void lay_answer_folded(struct laying *l, const struct block *b)
{
    enum { FRONT = 2000, RUNS = 64 };
    struct sheet open = { 0 };
    struct markdown how = { .width = prose_width(l) - 1, .ascii = l->look->ascii };
    struct slice text = js_trim(b->text);
    struct run run[RUNS + 1];
    size_t n = 0;

    text.n = text.n < FRONT ? text.n : FRONT;
    margin_add(&how.first, STYLE_TOOL, l->look->signs->answer);
    margin_add(&how.rest, STYLE_TEXT, "  ");
    markdown_lay(&open, &how, text);
    for (; open.n > 0 && n < open.line[0].runs && n < RUNS; n++)
        run[n] = open.run[open.line[0].run + n];
    if (open.n > 0 && open.line[0].end != LINE_ENDS)
        run[n++] = (struct run){ slice_of(l->look->signs->ellipsis), STYLE_DIM };
    sheet_line(l->s, run, n);
    if (open.rc)
        l->s->rc = open.rc;
    sheet_fini(&open);
}

static void lay_answer(struct laying *l, const struct block *b)
{
    struct markdown how = { .width = prose_width(l), .ascii = l->look->ascii };

    begin(l, PAGE_TEXT);
    if (!is_open(l, b, PART_BLOCK)) {
        lay_answer_folded(l, b);
        return;
    }
    if (b->failed)
        margin_add(&how.first, STYLE_ERROR, l->look->signs->answer);
    else
        margin_add(&how.first, STYLE_TOOL, l->look->signs->answer);
    margin_add(&how.rest, STYLE_TEXT, "  ");
    markdown_lay(l->s, &how, js_trim(b->text));
}

static void lay_thinking(struct laying *l, const struct block *b)
{
    char words[64];
    size_t lines = tool_count_lines(js_trim(b->text));
    bool open = is_open(l, b, PART_BLOCK);
    struct flow f = { .sheet = l->s, .width = prose_width(l) };

    if (l->folds->level == FOLD_ALL && !open)
        return;
    begin(l, PAGE_TOOL);
    snprintf(words, sizeof words, "thinking  %zu line%s", lines, lines == 1 ? "" : "s");
    lay_one_line(l, STYLE_THINKING, open ? l->look->signs->open : l->look->signs->closed,
                 b->text.n ? words : "thinking, not recorded", (struct slice){ NULL, 0 });
    if (!open)
        return;
    margin_add(&f.first, STYLE_BORDER, l->look->ascii ? "  | " : "  ┆ ");
    margin_add(&f.rest, STYLE_BORDER, l->look->ascii ? "  | " : "  ┆ ");
    flow_begin(&f);
    flow_text(&f, STYLE_THINKING, js_trim(b->text));
    flow_end(&f);
}

static void lay_call(struct laying *l, const struct block *b)
{
    struct tool t = { .call = b,
                      .result = l->context->result(l->context->arg, b->call_id),
                      .open = is_open(l, b, PART_BLOCK),
                      .more = is_open(l, b, PART_MORE) };

    if (l->folds->level == FOLD_ALL && !t.open)
        return;
    begin(l, PAGE_TOOL);
    tool_lay(l->s, l->look, &t);
}

static void lay_result(struct laying *l, const struct block *b)
{
    struct tool t = { .result = b,
                      .open = is_open(l, b, PART_BLOCK),
                      .more = is_open(l, b, PART_MORE) };
    const struct signs *signs = l->look->signs;

    if (l->context->has_call(l->context->arg, b->call_id) ||
        (l->folds->level == FOLD_ALL && !t.open))
        return;
    begin(l, PAGE_TOOL);
    lay_one_line(l, b->failed ? STYLE_ERROR : STYLE_TOOL, t.open ? signs->open : signs->closed,
                 b->failed ? "failed result  " : "result  ", b->text);
    if (t.open)
        tool_lay_result(l->s, l->look, &t);
}

static void lay_media(struct laying *l, const struct block *b)
{
    char size[LOOK_SIZE] = "";
    struct buf text = { 0 };
    const char *slash = b->name.n ? memchr(b->name.p, '/', b->name.n) : NULL;
    struct slice type = b->name;

    if (slash)
        type = (struct slice){ slash + 1, (size_t)(b->name.p + b->name.n - slash) - 1 };
    if (b->bytes > 0)
        look_size(b->bytes, size);
    begin(l, l->end == PAGE_PROMPT ? PAGE_PROMPT : PAGE_TOOL);
    enum err_code rc = buf_addf(&text, "    [%s ", b->kind == BLOCK_IMAGE ? "image" : "document");

    look_cut(l->look, &text, type, 24);
    if (!rc && b->text.n)
        rc = buf_add_byte(&text, ' ');
    look_cut(l->look, &text, b->text, 40);
    if (!rc)
        rc = buf_addf(&text, "%s%s]", size[0] ? " " : "", size);
    if (rc)
        l->s->rc = rc;
    sheet_line(l->s, &(struct run){ buf_slice(&text), STYLE_LINK }, 1);
    buf_fini(&text);
}

static bool name_is(const struct block *b, const char *name)
{
    return slice_eq(b->name, slice_of(name));
}

static void lay_summary(struct laying *l, const struct block *b)
{
    bool open = is_open(l, b, PART_BLOCK);
    struct markdown how = { .width = prose_width(l), .ascii = l->look->ascii };
    char words[96];

    begin(l, PAGE_TOOL);
    snprintf(words, sizeof words, "summary of the conversation before  %zu lines",
             tool_count_lines(b->text));
    lay_one_line(l, STYLE_TOOL, open ? l->look->signs->open : l->look->signs->closed, words,
                 (struct slice){ NULL, 0 });
    if (!open)
        return;
    margin_add(&how.first, STYLE_QUOTE, "    ");
    margin_add(&how.rest, STYLE_QUOTE, "    ");
    markdown_lay(l->s, &how, js_trim(b->text));
}

/* What the agent's program wrote. Most of it says nothing to a reader and is only shown when everything is. */
static void lay_note(struct laying *l, const struct block *b)
{
    bool open = is_open(l, b, PART_BLOCK);
    bool quiet = b->text.n == 0 || name_is(b, "meta");
    struct buf words = { 0 };

    if (name_is(b, "summary")) {
        lay_summary(l, b);
        return;
    }
    if (!b->failed && !open &&
        (l->folds->level == FOLD_ALL || (quiet && l->folds->level != FOLD_NOTHING)))
        return;
    begin(l, PAGE_NOTE);
    look_cut(l->look, &words, b->name, 32);
    if (b->text.n && buf_add(&words, SLICE("  ")))
        l->s->rc = ERR_NOMEM;
    const char *says = buf_cstr(&words);

    lay_one_line(l, b->failed ? STYLE_WARN : STYLE_DIM, l->look->signs->note, says ? says : "",
                 open ? (struct slice){ NULL, 0 } : js_trim(b->text));
    buf_fini(&words);
    if (open && b->text.n)
        tool_lay_text(l->s, l->look, STYLE_DIM, b->text, is_open(l, b, PART_MORE));
}

static void lay_seam(struct laying *l, const struct block *b)
{
    struct buf text = { 0 };

    begin(l, PAGE_SEAM);
    look_cut(l->look, &text, b->text.n ? b->text : b->name, 80);
    const char *label = buf_cstr(&text);

    rule(l, STYLE_WARN, label ? label : "");
    buf_fini(&text);
}

static void lay_raw(struct laying *l, const struct block *b)
{
    char words[96], size[LOOK_SIZE];
    bool open = is_open(l, b, PART_BLOCK);

    begin(l, PAGE_NOTE);
    look_size((int64_t)b->text.n, size);
    snprintf(words, sizeof words, "unreadable line, %s  ", size);
    lay_one_line(l, STYLE_WARN, open ? l->look->signs->open : l->look->signs->closed, words,
                 open ? (struct slice){ NULL, 0 } : b->text);
    if (open)
        tool_lay_text(l->s, l->look, STYLE_DIM, b->text, is_open(l, b, PART_MORE));
}

static void lay_block(struct laying *l, const struct block *b)
{
    switch (b->kind) {
    case BLOCK_PROMPT: lay_prompt(l, b); break;
    case BLOCK_COMMAND: lay_command(l, b); break;
    case BLOCK_TEXT: lay_answer(l, b); break;
    case BLOCK_THINKING: lay_thinking(l, b); break;
    case BLOCK_TOOL_CALL: lay_call(l, b); break;
    case BLOCK_TOOL_RESULT: lay_result(l, b); break;
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT: lay_media(l, b); break;
    case BLOCK_NOTE: lay_note(l, b); break;
    case BLOCK_SEAM: lay_seam(l, b); break;
    case BLOCK_RAW: lay_raw(l, b); break;
    }
}

static void lay_unreadable(struct laying *l)
{
    char text[400];

    begin(l, PAGE_NOTE);
    err_format(l->p->error, text, sizeof text);
    sheet_dirty(l->s, STYLE_WARN, slice_of(text));
}

enum page_end page_lay(struct sheet *s, const struct look *look, const struct folds *folds,
                       const struct page *p, const struct page_context *context)
{
    struct laying l = {
        .s = s, .look = look, .folds = folds, .p = p, .context = context, .end = context->before
    };

    if (p->message->flags & MESSAGE_GAP) {
        begin(&l, PAGE_SEAM);
        rule(&l, STYLE_WARN, "the messages before this are missing");
    }
    if (p->message->flags & MESSAGE_ASIDE) {
        begin(&l, PAGE_SEAM);
        rule(&l, STYLE_BRANCH, "another branch begins here");
    }
    if (p->error && p->error->code)
        lay_unreadable(&l);
    for (size_t i = 0; i < p->blocks->n && !s->rc; i++) {
        s->stamp = (struct line){ .block = (uint16_t)i, .foldable = true };
        lay_block(&l, &p->blocks->block[i]);
    }
    s->stamp = (struct line){ 0 };
    if (p->message->flags & MESSAGE_BRANCHED && l.end != PAGE_NOTHING) {
        lay_one_line(&l, STYLE_BRANCH, look->signs->branch, "another branch splits off here",
                     (struct slice){ NULL, 0 });
        l.end = PAGE_NOTE;
    }
    if (p->message->flags & MESSAGE_LEAF) {
        begin(&l, PAGE_SEAM);
        rule(&l, STYLE_OK, "a resume continues here");
    }
    if (p->message->flags & MESSAGE_CLEARED) {
        begin(&l, PAGE_SEAM);
        rule(&l, STYLE_WARN, "cleared: a resume starts empty");
    }
    return l.end;
}
