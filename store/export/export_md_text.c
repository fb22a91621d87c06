#include <md4c.h>
#include <stdio.h>

#include "store/export/export_md_parse.h"

/* Markdown as Markdown: every block is closed, and texts are escaped. */

struct md_level {
    bool item;     /* an item of a list; else a quote */
    bool marked;   /* its mark was written */
    char mark[16]; /* "- ", "12. " */
};

struct md_list {
    bool ordered;
    unsigned next;
};

struct md_walk {
    struct export_out *o;
    struct md_level level[EXPORT_MARKDOWN_LEVELS];
    struct md_list list[EXPORT_MARKDOWN_LEVELS];
    int levels, lists; /* deeper ones are counted, not kept */
    bool open, fresh;  /* something was written in the line; only the mark of an item */
    bool begun, gap;   /* anything was written; a blank line is due */
    bool in_code, in_span, in_table;
    struct export_md_place place;
    struct export_spans spans;
    bool pending; /* a link was begun, and nothing of its text was written */
    bool whole;   /* the link that is open was written as an address */
    struct buf code,
        info; /* about the block or span of code; info: also the line below a table's head */
    struct buf raw, target;
};

/* The prefix of a line: quotes, and the marks of items or the blanks below them. */
static void add_prefix(struct md_walk *w, bool mark, struct buf *out)
{
    enum err_code rc = ERR_OK;

    for (int i = 0; !rc && i < w->levels && i < EXPORT_MARKDOWN_LEVELS; i++) {
        struct md_level *l = &w->level[i];

        if (!l->item)
            rc = buf_add(out, SLICE("> "));
        else if (mark && !l->marked)
            rc = buf_add(out, slice_of(l->mark));
        else
            for (size_t k = 0; !rc && k < strlen(l->mark); k++)
                rc = buf_add_byte(out, ' ');
        if (mark)
            l->marked = true;
    }
    if (rc)
        w->o->rc = rc;
}

static void write_prefix(struct md_walk *w, bool mark)
{
    struct buf prefix = { 0 };

    add_prefix(w, mark, &prefix);
    export_out_add(w->o, mark ? buf_slice(&prefix) : export_trim_end(buf_slice(&prefix)));
    buf_fini(&prefix);
}

static void write_gap(struct md_walk *w)
{
    if (w->gap && w->begun) {
        write_prefix(w, false);
        export_out_lit(w->o, "\n");
    }
    w->gap = false;
}

static void export_md_text_begin_line(struct md_walk *w)
{
    if (w->open)
        return;
    write_gap(w);
    write_prefix(w, true);
    w->open = w->begun = true;
    w->fresh = false;
    w->place = (struct export_md_place){ .start = true };
}

static void export_md_text_end_line(struct md_walk *w)
{
    if (w->open)
        export_out_lit(w->o, "\n");
    w->open = false;
}

/* Before a block. One that begins an item is in the line of its mark. */
static void export_md_text_begin_block(struct md_walk *w, bool gap)
{
    if (w->open && w->fresh)
        return;
    export_md_text_end_line(w);
    w->gap = w->gap || gap;
}

static void add_mark(struct md_walk *w, const char *mark)
{
    export_md_text_begin_line(w);
    w->fresh = false;
    export_out_lit(w->o, mark);
    w->place = (struct export_md_place){ .before = mark[0] };
}

static struct md_list *innermost_list(struct md_walk *w)
{
    int last = w->lists < EXPORT_MARKDOWN_LEVELS ? w->lists : EXPORT_MARKDOWN_LEVELS;

    return &w->list[last - 1];
}

static void export_md_text_open_list(struct md_walk *w, bool ordered, unsigned start)
{
    /* an ordered list that does not start at 1 cannot directly follow a text */
    export_md_text_begin_block(w, ordered && start != 1);
    w->lists++;
    *innermost_list(w) = (struct md_list){ ordered, start };
}

/* Adds a container, whose mark is written at once if it begins an item. */
static void push_level(struct md_walk *w, struct md_level l)
{
    bool fresh = w->open && w->fresh;

    if (!fresh)
        write_gap(w);
    l.marked = fresh;
    if (w->levels < EXPORT_MARKDOWN_LEVELS)
        w->level[w->levels] = l;
    if (fresh && w->levels < EXPORT_MARKDOWN_LEVELS)
        export_out_lit(w->o, l.mark);
    w->levels++;
}

static void export_md_text_open_item(struct md_walk *w, const MD_BLOCK_LI_DETAIL *li)
{
    struct md_list *in = innermost_list(w);
    struct md_level l = { .item = true, .mark = "- " };

    export_md_text_begin_block(w, false);
    if (in->ordered)
        snprintf(l.mark, sizeof l.mark, "%u. ", in->next++ % 1000000000u);
    push_level(w, l);
    export_md_text_begin_line(w);
    w->fresh = true;
    if (li->is_task)
        add_mark(w, li->task_mark == ' ' ? "[ ] " : "[x] ");
}

static void open_heading(struct md_walk *w, const MD_BLOCK_H_DETAIL *h)
{
    unsigned level = h->level + EXPORT_HEADING > 6 ? 6 : h->level + EXPORT_HEADING;

    export_md_text_begin_block(w, true);
    export_md_text_begin_line(w);
    w->fresh = false;
    export_out_add(w->o, (struct slice){ "######", level });
    export_out_lit(w->o, " ");
    w->place.before = ' ';
}

static void export_md_text_open_code(struct md_walk *w, const MD_BLOCK_CODE_DETAIL *code)
{
    export_md_text_begin_block(w, false);
    w->in_code = true;
    w->code.n = w->info.n = 0;
    if (buf_add(&w->info, (struct slice){ code->lang.text, code->lang.size }))
        w->o->rc = ERR_NOMEM;
}

/* The opening bracket of a link waits for its text, because an address that is its own text is written in angle
 * brackets. */
static void export_md_text_open_link(struct md_walk *w, const MD_ATTRIBUTE *href)
{
    w->pending = export_span_link(&w->spans, href, &w->target);
    if (!w->pending)
        add_mark(w, "\\[");
}

static void begin_link(struct md_walk *w)
{
    if (w->pending)
        add_mark(w, "[");
    w->pending = false;
}

/* Returns true if the text was the whole link. */
static bool add_address(struct md_walk *w, struct slice text)
{
    if (!w->pending || !slice_eq(text, buf_slice(&w->target)) || memchr(text.p, '&', text.n))
        return false;
    w->pending = false;
    w->whole = true;
    add_mark(w, "<");
    export_out_add(w->o, text);
    add_mark(w, ">");
    return true;
}

static void close_link(struct md_walk *w, bool written)
{
    bool whole = written && w->whole;

    begin_link(w);
    w->whole = w->whole && !written;
    if (whole)
        return;
    if (!written) {
        add_mark(w, "\\]");
        return;
    }
    add_mark(w, "](<");
    export_out_add(w->o, buf_slice(&w->target));
    add_mark(w, ">)");
}

static int export_md_text_enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct md_walk *w = arg;

    begin_link(w);
    if (!export_span_begin(&w->spans, (int)type))
        return 0;
    switch (type) {
    case MD_SPAN_EM: add_mark(w, "*"); break;
    case MD_SPAN_STRONG: add_mark(w, "**"); break;
    case MD_SPAN_DEL: add_mark(w, "~~"); break;
    case MD_SPAN_CODE:
        w->in_span = true;
        w->code.n = 0;
        break;
    case MD_SPAN_A: export_md_text_open_link(w, &((MD_SPAN_A_DETAIL *)detail)->href); break;
    case MD_SPAN_IMG: add_mark(w, "\\[image: "); break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

static void export_md_text_close_spans(struct md_walk *w, int n)
{
    for (; n > 0; n--) {
        switch (w->spans.type[--w->spans.n]) {
        case MD_SPAN_EM: add_mark(w, "*"); break;
        case MD_SPAN_STRONG: add_mark(w, "**"); break;
        case MD_SPAN_DEL: add_mark(w, "~~"); break;
        case MD_SPAN_CODE:
            export_md_text_begin_line(w);
            w->in_span = w->fresh = false;
            export_md_code(w->o, buf_slice(&w->code), w->in_table);
            w->place = (struct export_md_place){ .before = '`' };
            break;
        case MD_SPAN_A: close_link(w, w->spans.link[w->spans.n]); break;
        case MD_SPAN_IMG: add_mark(w, "\\]"); break;
        default: break;
        }
    }
}

static void open_head_cell(struct md_walk *w, const MD_BLOCK_TD_DETAIL *cell)
{
    const char *rule = cell->align == MD_ALIGN_CENTER  ? " :-: |"
                       : cell->align == MD_ALIGN_RIGHT ? " --: |"
                                                       : " --- |";

    add_mark(w, " ");
    if (buf_add(&w->info, slice_of(rule)))
        w->o->rc = ERR_NOMEM;
}

static int export_md_text_enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct md_walk *w = arg;

    export_md_text_close_spans(w, w->spans.n);
    switch (type) {
    case MD_BLOCK_QUOTE:
        export_md_text_begin_block(w, true);
        push_level(w, (struct md_level){ .item = false, .mark = "> " });
        break;
    case MD_BLOCK_UL: export_md_text_open_list(w, false, 1); break;
    case MD_BLOCK_OL:
        export_md_text_open_list(w, true, ((MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI: export_md_text_open_item(w, detail); break;
    case MD_BLOCK_HR:
        export_md_text_begin_block(w, true);
        add_mark(w, "***");
        export_md_text_end_line(w);
        break;
    case MD_BLOCK_H: open_heading(w, detail); break;
    case MD_BLOCK_CODE: export_md_text_open_code(w, detail); break;
    case MD_BLOCK_TABLE:
        export_md_text_begin_block(w, true);
        w->in_table = true;
        /* The cells of the head collect the rule below it here. */
        w->info.n = 0;
        break;
    case MD_BLOCK_TR:
        export_md_text_begin_block(w, false);
        add_mark(w, "|");
        break;
    case MD_BLOCK_TH: open_head_cell(w, detail); break;
    case MD_BLOCK_TD: add_mark(w, " "); break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

static void export_md_text_close_level(struct md_walk *w)
{
    export_md_text_end_line(w);
    w->levels--;
}

static int export_md_text_leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct md_walk *w = arg;

    (void)detail;
    export_md_text_close_spans(w, w->spans.n);
    switch (type) {
    case MD_BLOCK_QUOTE:
        export_md_text_close_level(w);
        w->gap = true;
        break;
    case MD_BLOCK_LI: export_md_text_close_level(w); break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        /* Only the outermost list is followed by an empty line. */
        w->lists--;
        w->gap = w->gap || w->lists == 0;
        break;
    case MD_BLOCK_CODE: {
        struct buf prefix = { 0 };

        w->in_code = false;
        export_md_text_begin_line(w);
        w->fresh = false;
        add_prefix(w, true, &prefix);
        export_md_fence(w->o, buf_slice(&prefix), buf_slice(&w->info), buf_slice(&w->code));
        buf_fini(&prefix);
        w->open = false;
        w->gap = true;
    } break;
    case MD_BLOCK_P:
    case MD_BLOCK_H:
    case MD_BLOCK_HR:
        export_md_text_end_line(w);
        w->gap = true;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD: export_out_lit(w->o, " |"); break;
    case MD_BLOCK_TR: export_md_text_end_line(w); break;
    case MD_BLOCK_THEAD:
        export_md_text_end_line(w);
        /* The cells of the head collected the rule below it in `info`. */
        add_mark(w, "|");
        export_out_add(w->o, buf_slice(&w->info));
        export_md_text_end_line(w);
        break;
    case MD_BLOCK_TABLE:
        w->in_table = false;
        w->gap = true;
        break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

/* Adds the target of a removed link or image as code, so that it does not become a link again. */
static void export_md_text_add_target(struct md_walk *w, const MD_ATTRIBUTE *a)
{
    export_link_raw(a, &w->raw);
    if (w->raw.n == 0)
        return;
    add_mark(w, " (");
    export_md_code(w->o, export_trim_line(buf_slice(&w->raw), 200), w->in_table);
    add_mark(w, ")");
}

static int export_md_text_leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct md_walk *w = arg;
    int n = export_span_depth(&w->spans, (int)type);

    export_md_text_close_spans(w, n);
    if (n && type == MD_SPAN_A && !w->spans.link[w->spans.n])
        export_md_text_add_target(w, &((MD_SPAN_A_DETAIL *)detail)->href);
    if (n && type == MD_SPAN_IMG)
        export_md_text_add_target(w, &((MD_SPAN_IMG_DETAIL *)detail)->src);
    return w->o->rc ? 1 : 0;
}

static void add_break(struct md_walk *w, bool hard)
{
    if (w->in_table) {
        add_mark(w, " ");
        return;
    }
    export_out_lit(w->o, hard ? "\\" : "");
    export_md_text_end_line(w);
}

static int export_md_text_on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct md_walk *w = arg;
    struct slice text = { p, n };
    char utf8[4];

    if (type == MD_TEXT_NORMAL && add_address(w, text))
        return w->o->rc ? 1 : 0;
    begin_link(w);
    if (type == MD_TEXT_NULLCHAR)
        text = SLICE("\0");
    if (type == MD_TEXT_ENTITY)
        text = export_entity(text, utf8);
    if (w->in_code || w->in_span) {
        if (buf_add(&w->code, text))
            w->o->rc = ERR_NOMEM;
    } else if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
        add_break(w, type == MD_TEXT_BR);
    } else {
        export_md_text_begin_line(w);
        w->fresh = false;
        export_md_escape(w->o, text, &w->place);
    }
    return w->o->rc ? 1 : 0;
}

void export_markdown_to_md(struct export_out *o, struct slice text)
{
    struct md_walk w = { .o = o };
    const MD_PARSER parser = {
        .flags = export_markdown_flags(),
        .enter_block = export_md_text_enter_block,
        .leave_block = export_md_text_leave_block,
        .enter_span = export_md_text_enter_span,
        .leave_span = export_md_text_leave_span,
        .text = export_md_text_on_text,
    };

    if (text.n > EXPORT_MARKDOWN_MAX) {
        export_md_fence(o, SLICE(""), SLICE("text"), text);
        return;
    }
    enum err_code rc = export_markdown_parse(text, &parser, &w);

    if (rc && !o->rc)
        o->rc = rc;
    export_md_text_end_line(&w);
    buf_fini(&w.code);
    buf_fini(&w.info);
    buf_fini(&w.raw);
    buf_fini(&w.target);
}
