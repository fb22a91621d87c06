#include <md4c.h>

#include "store/export/export_md_parse.h"

/* ---- text ---- */

static void export_html_text_add_escaped(struct export_out *o, struct slice text)
{
    for (size_t i = 0, from = 0; i <= text.n; i++) {
        const char *entity = NULL;

        switch (i < text.n ? text.p[i] : '&') {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '"': entity = "&quot;"; break;
        case '\'': entity = "&#39;"; break;
        default: continue;
        }
        export_out_add(o, (struct slice){ text.p + from, i - from });
        if (i < text.n)
            export_out_lit(o, entity);
        from = i + 1;
    }
}

static void add_html(struct export_out *o, struct slice text, const char *newline)
{
    struct export_walk w = { .rest = text };
    struct slice piece;
    enum export_piece_kind kind;

    while (!o->rc && (kind = export_walk_next(&w, &piece)) != EXPORT_PIECE_END) {
        if (kind == EXPORT_PIECE_SIGN) {
            export_out_lit(o, "<span class=\"sign\">");
            export_html_text_add_escaped(o, piece);
            export_out_lit(o, "</span>");
        } else if (kind == EXPORT_PIECE_NEWLINE) {
            export_out_lit(o, newline);
        } else {
            export_html_text_add_escaped(o, piece);
        }
    }
}

void export_html_text(struct export_out *o, struct slice text)
{
    add_html(o, text, "\n");
}

void export_html_line(struct export_out *o, struct slice text, size_t max)
{
    struct slice cut = export_trim_line(text, max);

    add_html(o, cut, " ");
    if (cut.n == max && text.n > max)
        export_out_lit(o, "…");
}

/* ---- Markdown ---- */

struct html_walk {
    struct export_out *o;
    int depth; /* how deep quotes and lists are nested; the deepest are flat */
    struct export_spans spans;
    bool in_code, diff, begun; /* a block of code; of a diff; its line has a class */
    struct buf raw, target;
};

static void export_html_text_open_list(struct html_walk *w, bool ordered, unsigned start)
{
    if (++w->depth > EXPORT_MARKDOWN_LEVELS)
        return;
    if (!ordered)
        export_out_lit(w->o, "<ul>");
    else if (start == 1)
        export_out_lit(w->o, "<ol>");
    else
        export_out_addf(w->o, "<ol start=\"%u\">", start);
}

static void export_html_text_open_item(struct html_walk *w, const MD_BLOCK_LI_DETAIL *li)
{
    if (w->depth > EXPORT_MARKDOWN_LEVELS)
        return;
    if (li->is_task)
        export_out_lit(w->o,
                       li->task_mark == ' ' ? "<li class=\"task\">☐ " : "<li class=\"task\">☑ ");
    else
        export_out_lit(w->o, "<li>");
}

static void export_html_text_open_code(struct html_walk *w, const MD_BLOCK_CODE_DETAIL *code)
{
    struct slice lang = { code->lang.text, code->lang.size };

    w->in_code = true;
    w->diff = slice_eq(lang, SLICE("diff")) || slice_eq(lang, SLICE("patch"));
    w->begun = false;
    export_out_lit(w->o, w->diff ? "<pre class=\"diff\"><code>" : "<pre><code>");
}

static void open_cell(struct html_walk *w, const char *name, const MD_BLOCK_TD_DETAIL *cell)
{
    export_out_addf(w->o, "<%s%s>", name,
                    cell->align == MD_ALIGN_CENTER  ? " class=\"center\""
                    : cell->align == MD_ALIGN_RIGHT ? " class=\"right\""
                                                    : "");
}

static unsigned heading_level(const MD_BLOCK_H_DETAIL *h)
{
    unsigned level = h->level + EXPORT_HEADING;

    return level > 6 ? 6 : level;
}

static void export_html_text_close_spans(struct html_walk *w, int n)
{
    for (; n > 0; n--) {
        switch (w->spans.type[--w->spans.n]) {
        case MD_SPAN_EM: export_out_lit(w->o, "</em>"); break;
        case MD_SPAN_STRONG: export_out_lit(w->o, "</strong>"); break;
        case MD_SPAN_CODE: export_out_lit(w->o, "</code>"); break;
        case MD_SPAN_DEL: export_out_lit(w->o, "</del>"); break;
        case MD_SPAN_A: export_out_lit(w->o, w->spans.link[w->spans.n] ? "</a>" : ""); break;
        default: break;
        }
    }
}

static int export_html_text_enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct html_walk *w = arg;

    export_html_text_close_spans(w, w->spans.n);
    switch (type) {
    case MD_BLOCK_QUOTE:
        export_out_lit(w->o, ++w->depth > EXPORT_MARKDOWN_LEVELS ? "" : "<blockquote>");
        break;
    case MD_BLOCK_UL: export_html_text_open_list(w, false, 0); break;
    case MD_BLOCK_OL:
        export_html_text_open_list(w, true, ((MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI: export_html_text_open_item(w, detail); break;
    case MD_BLOCK_HR: export_out_lit(w->o, "<hr>"); break;
    case MD_BLOCK_H: export_out_addf(w->o, "<h%u>", heading_level(detail)); break;
    case MD_BLOCK_CODE: export_html_text_open_code(w, detail); break;
    case MD_BLOCK_P: export_out_lit(w->o, "<p>"); break;
    case MD_BLOCK_TABLE: export_out_lit(w->o, "<table>"); break;
    case MD_BLOCK_THEAD: export_out_lit(w->o, "<thead>"); break;
    case MD_BLOCK_TBODY: export_out_lit(w->o, "<tbody>"); break;
    case MD_BLOCK_TR: export_out_lit(w->o, "<tr>"); break;
    case MD_BLOCK_TH: open_cell(w, "th", detail); break;
    case MD_BLOCK_TD: open_cell(w, "td", detail); break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

static void export_html_text_close_level(struct html_walk *w, const char *tag)
{
    if (w->depth-- <= EXPORT_MARKDOWN_LEVELS)
        export_out_lit(w->o, tag);
}

static int export_html_text_leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct html_walk *w = arg;

    export_html_text_close_spans(w, w->spans.n);
    switch (type) {
    case MD_BLOCK_QUOTE: export_html_text_close_level(w, "</blockquote>\n"); break;
    case MD_BLOCK_UL: export_html_text_close_level(w, "</ul>\n"); break;
    case MD_BLOCK_OL: export_html_text_close_level(w, "</ol>\n"); break;
    case MD_BLOCK_LI:
        export_out_lit(w->o, w->depth > EXPORT_MARKDOWN_LEVELS ? "<br>" : "</li>\n");
        break;
    case MD_BLOCK_H: export_out_addf(w->o, "</h%u>\n", heading_level(detail)); break;
    case MD_BLOCK_CODE:
        export_out_lit(w->o, w->begun ? "</span></code></pre>\n" : "</code></pre>\n");
        w->in_code = w->diff = w->begun = false;
        break;
    case MD_BLOCK_P: export_out_lit(w->o, "</p>\n"); break;
    case MD_BLOCK_TABLE: export_out_lit(w->o, "</table>\n"); break;
    case MD_BLOCK_THEAD: export_out_lit(w->o, "</thead>"); break;
    case MD_BLOCK_TBODY: export_out_lit(w->o, "</tbody>"); break;
    case MD_BLOCK_TR: export_out_lit(w->o, "</tr>\n"); break;
    case MD_BLOCK_TH: export_out_lit(w->o, "</th>"); break;
    case MD_BLOCK_TD: export_out_lit(w->o, "</td>"); break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

static int export_html_text_enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct html_walk *w = arg;

    if (!export_span_begin(&w->spans, (int)type))
        return 0;
    switch (type) {
    case MD_SPAN_EM: export_out_lit(w->o, "<em>"); break;
    case MD_SPAN_STRONG: export_out_lit(w->o, "<strong>"); break;
    case MD_SPAN_CODE: export_out_lit(w->o, "<code>"); break;
    case MD_SPAN_DEL: export_out_lit(w->o, "<del>"); break;
    case MD_SPAN_A:
        if (export_span_link(&w->spans, &((MD_SPAN_A_DETAIL *)detail)->href, &w->target)) {
            export_out_lit(w->o, "<a rel=\"noopener noreferrer\" href=\"");
            export_html_text_add_escaped(w->o, buf_slice(&w->target));
            export_out_lit(w->o, "\">");
        }
        break;
    case MD_SPAN_IMG: export_out_lit(w->o, "[image: "); break;
    default: break;
    }
    return w->o->rc ? 1 : 0;
}

/* The target of a removed link or image. */
static void export_html_text_add_target(struct html_walk *w, const MD_ATTRIBUTE *a, const char *end)
{
    export_link_raw(a, &w->raw);
    export_out_lit(w->o, " <span class=\"target\">(");
    export_html_line(w->o, buf_slice(&w->raw), 200);
    export_out_lit(w->o, ")</span>");
    export_out_lit(w->o, end);
}

static int export_html_text_leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct html_walk *w = arg;
    int n = export_span_depth(&w->spans, (int)type);

    export_html_text_close_spans(w, n);
    if (n && type == MD_SPAN_A && !w->spans.link[w->spans.n])
        export_html_text_add_target(w, &((MD_SPAN_A_DETAIL *)detail)->href, "");
    if (n && type == MD_SPAN_IMG)
        export_html_text_add_target(w, &((MD_SPAN_IMG_DETAIL *)detail)->src, "]");
    return w->o->rc ? 1 : 0;
}

static const char *diff_class(char sign)
{
    return sign == '+' ? "add" : sign == '-' ? "del" : sign == '@' ? "hunk" : "same";
}

/* md4c reports each line of a code block, and each newline, separately. */
static void add_code(struct html_walk *w, struct slice text)
{
    if (w->diff && !w->begun && text.n && text.p[0] != '\n') {
        export_out_addf(w->o, "<span class=\"%s\">", diff_class(text.p[0]));
        w->begun = true;
    }
    if (w->diff && slice_eq(text, SLICE("\n"))) {
        export_out_lit(w->o, w->begun ? "\n</span>" : "<span class=\"same\">\n</span>");
        w->begun = false;
        return;
    }
    export_html_text(w->o, text);
}

static int export_html_text_on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct html_walk *w = arg;
    struct slice text = { p, n };
    char utf8[4];

    switch (type) {
    case MD_TEXT_NULLCHAR: export_html_text(w->o, SLICE("\0")); break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR: export_out_lit(w->o, "<br>\n"); break;
    case MD_TEXT_ENTITY: export_html_text(w->o, export_entity(text, utf8)); break;
    case MD_TEXT_CODE:
        if (w->in_code)
            add_code(w, text);
        else
            export_html_text(w->o, text);
        break;
    default: export_html_text(w->o, text); break;
    }
    return w->o->rc ? 1 : 0;
}

void export_markdown_to_html(struct export_out *o, struct slice text)
{
    struct html_walk w = { .o = o };
    const MD_PARSER parser = {
        .flags = export_markdown_flags(),
        .enter_block = export_html_text_enter_block,
        .leave_block = export_html_text_leave_block,
        .enter_span = export_html_text_enter_span,
        .leave_span = export_html_text_leave_span,
        .text = export_html_text_on_text,
    };

    if (text.n > EXPORT_MARKDOWN_MAX) {
        export_out_lit(o, "<pre>");
        export_html_text(o, text);
        export_out_lit(o, "</pre>\n");
        return;
    }
    enum err_code rc = export_markdown_parse(text, &parser, &w);

    if (rc && !o->rc)
        o->rc = rc;
    buf_fini(&w.raw);
    buf_fini(&w.target);
}
