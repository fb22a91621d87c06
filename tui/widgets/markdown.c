#include "tui/widgets/markdown.h"

#include <stdio.h>

#include <md4c.h>

#include "lite/base/utf8.h"
#include "store/export/export_md_parse.h"

/* The parser reports a document as events, from the outside to the inside, and the screen needs
 * lines. The walk keeps what is open at a place, and each line is made from that:
 *
 *     open lists and quotes -> margin;  open spans -> style;  text -> wrapped into lines
 *     a table               -> its cells are collected, and laid out when it ends
 *
 * A blank line is noted as due and written only before the next block, so that no document ends
 * with one. Text is added to one flow at a time, and the flow must have ended before the margin
 * changes. Levels that are too deep are counted but not kept, so that leaving one needs no test.
 * HTML remains text, no image is loaded, and a very long text is wrapped without being parsed. */

enum { LEVELS = 24, TEXT_LIMIT = 1 << 20 };

/* A container we are in. */
struct level {
    bool item;     /* true for an item of a list, false for a quote */
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
    struct buf href;     /* the target of the link that is open */
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

/* Appends a separate line: a rule, a row of a table. */
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

static void markdown_begin_block(struct walk *w)
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
    markdown_begin_block(w);
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

/* The mark before a list item. */
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

static int markdown_enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct walk *w = arg;

    switch (type) {
    case MD_BLOCK_QUOTE:
        end_flow(w);
        markdown_begin_block(w);
        *level(w, w->levels++) = (struct level){ .item = false };
        break;
    case MD_BLOCK_UL: enter_list(w, false, 0); break;
    case MD_BLOCK_OL: enter_list(w, true, ((MD_BLOCK_OL_DETAIL *)detail)->start); break;
    case MD_BLOCK_LI: enter_item(w, detail); break;
    case MD_BLOCK_HR:
        markdown_begin_block(w);

        /* The stamp applies to lines as they are added, so it is set for this line only. */
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
        markdown_begin_block(w);
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

static int markdown_leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
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
        /* A gap follows the outermost list only; the items of a loose list are paragraphs, which have their own. */
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
    case MD_BLOCK_TABLE: {
        struct text_margin m = margin_now(w, false);

        w->styled_text->rc =
            table_layout(w->table, w->how->width - m.width, w->how->ascii, append_table_line, w);
        table_free(w->table);
        w->table = NULL;
        w->gap = true;
    } break;
    default: break;
    }
    return w->styled_text->rc ? 1 : 0;
}

static int markdown_enter_span(MD_SPANTYPE type, void *detail, void *arg)
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

static int markdown_leave_span(MD_SPANTYPE type, void *detail, void *arg)
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

        /* The target of a link, unless its text is the target ("www.a.org" leads to
         * "http://www.a.org"). */
        size_t n = w->label.n;

        if (w->href.n != 0 && w->link <= 0 &&
            (n <= 0 || n > w->href.n || memcmp(w->href.p + w->href.n - n, w->label.p, n) != 0)) {
            wrap_markdown_text(w, STYLE_DIM, SLICE(" ("));
            wrap_markdown_text(w, STYLE_DIM, buf_slice(&w->href));
            wrap_markdown_text(w, STYLE_DIM, SLICE(")"));
        }

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

/* A line of a code block. md4c sends each line and each newline separately. */
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

static int markdown_on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
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

void markdown_layout(struct styled_text *s, const struct markdown *how, struct slice text)
{
    struct walk w = { .styled_text = s, .how = how };
    const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOHTML |
                 MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = markdown_enter_block,
        .leave_block = markdown_leave_block,
        .enter_span = markdown_enter_span,
        .leave_span = markdown_leave_span,
        .text = markdown_on_text,
    };

    if (text.n > TEXT_LIMIT) {
        /* The text is too long to parse as a document, or md4c rejected it. */
        struct text_wrap f = {
            .styled_text = s, .width = how->width, .first = how->first, .rest = how->rest
        };

        text_wrap_begin(&f);
        text_wrap_add(&f, STYLE_TEXT, text);
        text_wrap_fini(&f);

        return;
    }
    enum err_code rc = export_markdown_parse(text, &parser, &w);

    if (rc && !s->rc)
        s->rc = rc;
    end_flow(&w);
    table_free(w.table);
    buf_fini(&w.href);
    buf_fini(&w.label);
}

/* ---- blocks of code ---- */

struct code_walk {
    markdown_code_fn *fn;
    void *arg;
    bool inside;
    struct buf code;
};

static int enter_code_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct code_walk *w = arg;

    (void)detail;
    w->inside = w->inside || type == MD_BLOCK_CODE;
    return 0;
}

static int leave_code_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct code_walk *w = arg;

    (void)detail;
    if (type != MD_BLOCK_CODE)
        return 0;
    w->fn(w->arg, buf_slice(&w->code));
    w->inside = false;
    w->code.n = 0;
    return 0;
}

static int pass_span(MD_SPANTYPE type, void *detail, void *arg)
{
    (void)type;
    (void)detail;
    (void)arg;
    return 0;
}

static int markdown_add_code_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct code_walk *w = arg;
    struct slice text = { p, n };

    return w->inside && buf_add(&w->code, type == MD_TEXT_NULLCHAR ? SLICE("\0") : text) ? 1 : 0;
}

enum err_code markdown_code_blocks(struct slice text, markdown_code_fn *fn, void *arg)
{
    struct code_walk w = { .fn = fn, .arg = arg };
    const MD_PARSER parser = {
        .flags = MD_FLAG_NOINDENTEDCODEBLOCKS | MD_FLAG_NOHTML,
        .enter_block = enter_code_block,
        .leave_block = leave_code_block,
        .enter_span = pass_span,
        .leave_span = pass_span,
        .text = markdown_add_code_text,
    };
    enum err_code rc = text.n <= TEXT_LIMIT ? export_markdown_parse(text, &parser, &w) : ERR_OK;

    buf_fini(&w.code);
    return rc;
}
