/* Feeds bytes to the writers of documents and checks what must hold for every text:
 * - what is written is valid UTF-8 without characters that act on a terminal;
 * - HTML has no tags but those that the writer makes, and each is closed;
 * - Markdown, read with HTML allowed and with a paragraph behind it, has no HTML, no images, no links of other schemes,
 *   and the paragraph is still one.
 * The first byte chooses the writer. */
#include <md4c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lite/base/utf8.h"
#include "store/export/export_md_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static enum err_code gather(struct slice bytes, void *arg, struct err *e)
{
    (void)e;
    return buf_add(arg, bytes);
}

/* ---- HTML ---- */

static size_t count(struct slice text, const char *part)
{
    size_t n = 0, length = strlen(part);

    for (const char *p; (p = slice_find(text.p, text.n, part, length)); n++) {
        text.n -= (size_t)(p + length - text.p);
        text.p = p + length;
    }
    return n;
}

static void check_html(struct slice html)
{
    static const char *const names[] = { "p",  "em",    "strong", "del",   "code", "pre",
                                         "ul", "li",    "h4",     "h5",    "h6",   "blockquote",
                                         "tr", "table", "thead",  "tbody", "span", "a",
                                         "ol", "td",    "th" };
    size_t tags = count(html, "<br>") + count(html, "<hr>");
    char text[32];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t open, closed;

        snprintf(text, sizeof text, "<%s>", names[i]);
        open = count(html, text);
        snprintf(text, sizeof text, "<%s ", names[i]);
        open += count(html, text);
        snprintf(text, sizeof text, "</%s>", names[i]);
        closed = count(html, text);
        must(open == closed);
        tags += open + closed;
    }
    must(count(html, "<") == tags);
    must(count(html, "<a ") == count(html, "<a rel=\"noopener noreferrer\" href=\""));
}

/* ---- Markdown ---- */

struct seen {
    struct buf text; /* of the last paragraph */
    int depth;       /* of containers */
};

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct seen *s = arg;

    (void)detail;
    must(type != MD_BLOCK_HTML);
    s->depth += type == MD_BLOCK_QUOTE || type == MD_BLOCK_LI;
    if (type == MD_BLOCK_P)
        s->text.n = 0;
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct seen *s = arg;

    (void)detail;
    s->depth -= type == MD_BLOCK_QUOTE || type == MD_BLOCK_LI;
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    (void)arg;
    must(type != MD_SPAN_IMG);
    if (type == MD_SPAN_A) {
        const MD_ATTRIBUTE *href = &((MD_SPAN_A_DETAIL *)detail)->href;
        struct buf raw = { 0 }, target = { 0 };

        export_link_raw(href, &raw);
        must(export_link_target(buf_slice(&raw), &target));
        buf_fini(&raw);
        buf_fini(&target);
    }
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    (void)type;
    (void)detail;
    (void)arg;
    return 0;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct seen *s = arg;

    must(type != MD_TEXT_HTML);
    return buf_add(&s->text, (struct slice){ p, n }) ? 1 : 0;
}

static void check_markdown(struct buf *md)
{
    struct seen s = { .depth = 0 };
    const MD_PARSER parser = { .flags = MD_DIALECT_GITHUB,
                               .enter_block = enter_block,
                               .leave_block = leave_block,
                               .enter_span = enter_span,
                               .leave_span = leave_span,
                               .text = on_text };

    must(buf_add(md, SLICE("\n\nafterwards")) == ERR_OK);
    must(md_parse(md->p, (MD_SIZE)md->n, &parser, &s) == 0);
    must(slice_eq(buf_slice(&s.text), SLICE("afterwards")));
    buf_fini(&s.text);
}

static void check_characters(struct slice text)
{
    must(utf8_valid(text));
    for (size_t i = 0; i < text.n; i++)
        must((unsigned char)text.p[i] >= ' ' || text.p[i] == '\n' || text.p[i] == '\t');
    must(!slice_has(text, "\u202e") && !slice_has(text, "\u2066") && !slice_has(text, "\xc2\x9b"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf all = { 0 };
    struct export_out o = { .write = gather, .arg = &all };

    if (size < 1)
        return 0;
    struct slice text = { (const char *)data + 1, size - 1 };

    switch (data[0] % 4) {
    case 0: export_markdown_to_html(&o, text); break;
    case 1: export_markdown_to_md(&o, text); break;
    case 2: export_md_lines(&o, "> ", text); break;
    default: export_md_fence(&o, SLICE(""), text, text); break;
    }
    export_out_flush(&o);
    must(o.rc == ERR_OK);
    check_characters(buf_slice(&all));
    if (data[0] % 4 == 0)
        check_html(buf_slice(&all));
    else
        check_markdown(&all);
    buf_fini(&o.buf);
    buf_fini(&all);
    return 0;
}
