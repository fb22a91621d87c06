#include "store/export/export.h"
#include "tests/test.h"

#include <md4c.h>

#include "lite/base/utf8.h"
#include "store/export/export_md_parse.h"
#include "tests/support/hostile.h"

static enum err_code gather(struct slice bytes, void *arg, struct err *e)
{
    (void)e;
    return buf_add(arg, bytes);
}

typedef void export_fn(struct export_out *o, struct slice text);

/* Runs a writer over a text; the caller frees the result. */
static struct buf written(export_fn *fn, struct slice text)
{
    struct buf all = { 0 };
    struct export_out o = { .write = gather, .arg = &all };

    fn(&o, text);
    export_out_flush(&o);
    assert_int_equal(o.rc, ERR_OK);
    buf_fini(&o.buf);
    return all;
}

static void assert_written(export_fn *fn, const char *text, const char *want)
{
    struct buf got = written(fn, slice_of(text));

    assert_string_equal(buf_cstr(&got) ? got.p : "", want);
    buf_fini(&got);
}

static void md_prompt(struct export_out *o, struct slice text)
{
    export_md_lines(o, "> ", text);
}

static void md_fence(struct export_out *o, struct slice text)
{
    export_md_fence(o, SLICE(""), text, text);
}

static void md_code(struct export_out *o, struct slice text)
{
    export_md_code(o, text, false);
}

static void md_title(struct export_out *o, struct slice text)
{
    export_md_line(o, text, 200);
}

static void html_title(struct export_out *o, struct slice text)
{
    export_html_line(o, text, 200);
}

static export_fn *const md_writers[] = { export_markdown_to_md, md_prompt, md_fence, md_code,
                                         md_title };
static export_fn *const html_writers[] = { export_markdown_to_html, export_html_text, html_title };
enum { MD_WRITERS = 5, HTML_WRITERS = 3 };

/* Texts that try to become something else than text. */
static const char *const evil[] = {
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details></summary></pre></article><x",
    "<!-- hidden",
    "<![CDATA[ x",
    "<?php",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java&#x0A;script:alert(1))",
    "[a](data:text/html;base64,eA==)",
    "[a](//evil.test/x)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "![a](https://evil.test/track.png)",
    "Look![a](https://evil.test/track.png)",
    "look!\n[a](https://evil.test/x)",
    "[a]\n\n[a]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&amp;lt;script&amp;gt;",
    "&#60;script&#62;",
    "&#x202e;&#8203;&#0;&#xD800;&#99999999;",
    "```\nopen fence <b>",
    "~~~\nopen fence <b>",
    "`````` ` ``",
    "> > > deep\n- a\n  - b\n    1. c\n<b>",
    "| a | b |\n|---|---|\n| <b> | `|` |\n",
    "a\n===\nb\n---\n# c #\n",
    "*a **b ~~c `d [e](https://ok.test/\"onclick=alert(1) x=\") _f",
    "[\"><img src=x>](https://ok.test/?\"><img src=x>)",
    "\\<b\\> \\`x\\` \\",
    "1. a\n2) b\n- - - c\n***\n",
    "\t\tindented <b>\n    code <b>\n",
    "<https://ok.test/<b>>",
    "www.ok.test <b>",
    "$x$ :smile: @user #1",
};
enum { EVIL = sizeof evil / sizeof *evil };

/* ---- HTML ---- */

/* Checks that every tag is one that the writer makes, and every address one that is allowed. */
static void assert_tags_are_ours(struct slice html)
{
    static const char *const tags[] = {
        "p>",
        "/p>",
        "br>",
        "hr>",
        "em>",
        "/em>",
        "strong>",
        "/strong>",
        "del>",
        "/del>",
        "code>",
        "/code>",
        "pre>",
        "/pre>",
        "ul>",
        "/ul>",
        "/ol>",
        "ol>",
        "ol start=\"",
        "li>",
        "/li>",
        "h4>",
        "/h4>",
        "h5>",
        "/h5>",
        "h6>",
        "/h6>",
        "blockquote>",
        "/a>",
        "tr>",
        "/tr>",
        "td>",
        "/td>",
        "th>",
        "/th>",
        "table>",
        "/table>",
        "thead>",
        "/thead>",
        "tbody>",
        "/tbody>",
        "/blockquote>",
        "/span>",
        "span class=\"sign\">",
        "span class=\"target\">",
        "li class=\"task\">",
        "pre class=\"diff\">",
        "a rel=\"noopener noreferrer\" href=\"http",
        "a rel=\"noopener noreferrer\" href=\"mailto:",
    };

    for (size_t i = 0; i < html.n; i++) {
        size_t k = 0, count = sizeof tags / sizeof *tags;
        struct slice rest = { html.p + i + 1, html.n - i - 1 };

        if (html.p[i] != '<')
            continue;
        while (k < count && !slice_starts(rest, tags[k]))
            k++;
        if (k == count)
            print_error("in: %.*s\n", SLICE_ARG(html));
        assert_true(k < count);
    }
}

TEST(nothing_becomes_html)
{
    for (size_t i = 0; i < EVIL; i++)
        for (size_t w = 0; w < HTML_WRITERS; w++) {
            struct buf got = written(html_writers[w], slice_of(evil[i]));

            assert_tags_are_ours(buf_slice(&got));
            assert_true(utf8_valid(buf_slice(&got)));
            buf_fini(&got);
        }
}

/* ---- Markdown ---- */

/* What a reader of the document sees. */
struct seen {
    bool html, image;
    int code;
    struct buf text;
};

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct seen *s = arg;

    (void)detail;
    s->html = s->html || type == MD_BLOCK_HTML;
    s->code += type == MD_BLOCK_CODE;
    if (type == MD_BLOCK_P)
        s->text.n = 0;
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    (void)type;
    (void)detail;
    (void)arg;
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct seen *s = arg;

    s->image = s->image || type == MD_SPAN_IMG;
    if (type == MD_SPAN_A) {
        struct slice href = { ((MD_SPAN_A_DETAIL *)detail)->href.text,
                              ((MD_SPAN_A_DETAIL *)detail)->href.size };

        assert_true(slice_starts(href, "http://") || slice_starts(href, "https://") ||
                    slice_starts(href, "mailto:"));
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

    s->html = s->html || type == MD_TEXT_HTML;
    return buf_add(&s->text, (struct slice){ p, n }) ? 1 : 0;
}

/* Reads the document as GitHub would, with HTML allowed, and with a paragraph behind it. */
static void assert_contained(struct slice md)
{
    struct buf all = { 0 };
    struct seen s = { .html = false };
    const MD_PARSER parser = { .flags = MD_DIALECT_GITHUB,
                               .enter_block = enter_block,
                               .leave_block = leave_block,
                               .enter_span = enter_span,
                               .leave_span = leave_span,
                               .text = on_text };

    assert_int_equal(buf_add(&all, md), ERR_OK);
    assert_int_equal(buf_add(&all, SLICE("\n\nafterwards")), ERR_OK);
    assert_int_equal(md_parse(all.p, (MD_SIZE)all.n, &parser, &s), 0);
    if (s.html || s.image || !slice_eq(buf_slice(&s.text), SLICE("afterwards")))
        print_error("in: %.*s\n", SLICE_ARG(md));
    assert_false(s.html);
    assert_false(s.image);
    assert_true(slice_eq(buf_slice(&s.text), SLICE("afterwards")));
    buf_fini(&s.text);
    buf_fini(&all);
}

TEST(nothing_escapes_from_markdown)
{
    for (size_t i = 0; i < EVIL; i++)
        for (size_t w = 0; w < MD_WRITERS; w++) {
            struct buf got = written(md_writers[w], slice_of(evil[i]));

            assert_contained(buf_slice(&got));
            buf_fini(&got);
        }
}

/* Pairs of texts, so that what one leaves open meets what the other has. */
TEST(nothing_escapes_from_pairs)
{
    for (size_t i = 0; i < EVIL * EVIL; i++) {
        struct buf both = { 0 };
        static const char *const between[] = { "\n\n", "\n", " ", "\n- ", "\n> " };

        assert_int_equal(buf_addf(&both, "%s%s%s", evil[i / EVIL], between[i % 5], evil[i % EVIL]),
                         ERR_OK);
        struct buf md = written(export_markdown_to_md, buf_slice(&both));
        struct buf html = written(export_markdown_to_html, buf_slice(&both));

        assert_contained(buf_slice(&md));
        assert_tags_are_ours(buf_slice(&html));
        buf_fini(&md);
        buf_fini(&html);
        buf_fini(&both);
    }
}

TEST(nothing_acts_on_a_terminal)
{
    for (size_t i = 0; i < HOSTILE_COUNT; i++)
        for (size_t w = 0; w < MD_WRITERS + HTML_WRITERS; w++) {
            struct buf got = written(w < MD_WRITERS ? md_writers[w] : html_writers[w - MD_WRITERS],
                                     hostile[i].text);

            assert_true(got.n > 0);
            assert_false(hostile_within(buf_slice(&got), hostile[i].raw));
            assert_true(utf8_valid(buf_slice(&got)));
            buf_fini(&got);
        }
}

TEST(what_belongs_to_a_cluster_stays)
{
    static const char *const kept[] = { "👨\u200d👩\u200d👧", "❤\ufe0f", "👍🏽", "می\u200cخواهم",
                                        "e\u0301",         "日本語",  "a\tb" };

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_written(export_html_text, kept[i], kept[i]);
    assert_written(export_html_text, "a\u200db", "a<span class=\"sign\">&lt;U+200D&gt;</span>b");
    assert_written(export_html_text, "\x1b[1;31mred\x1b[0m\r\n", "red\n");
}

static size_t occurrences(const struct buf *b, const char *part)
{
    struct slice rest = buf_slice(b);
    size_t n = 0, length = strlen(part);

    for (const char *p; (p = slice_find(rest.p, rest.n, part, length)); n++) {
        rest.n -= (size_t)(p + length - rest.p);
        rest.p = p + length;
    }
    return n;
}

TEST(markdown_keeps_its_meaning)
{
    assert_written(export_markdown_to_md, "# Plan\n\nDo *it* **now**, `a|b` in snake_case_name.\n",
                   "#### Plan\n\nDo *it* **now**, `a|b` in snake_case_name.\n");
    assert_written(export_markdown_to_md, "1. one\n2. two\n   - a\n   - b\n\n     more\n",
                   "1. one\n2. two\n   - a\n\n   - b\n\n     more\n");
    assert_written(export_markdown_to_md, "> a\n> b\n\n- [x] done\n- [ ] open\n",
                   "> a\n> b\n\n- [x] done\n- [ ] open\n");
    assert_written(export_markdown_to_md, "| a | b |\n|:-:|--:|\n| 1 | `x\\|y` |\n",
                   "| a | b |\n| :-: | --: |\n| 1 | `x\\|y` |\n");
    assert_written(export_markdown_to_md, "- > quoted\n- # head\n- ```c\n  int a;\n  ```\n",
                   "- > quoted\n\n- #### head\n\n- ```c\n  int a;\n  ```\n");
    assert_written(export_markdown_to_md, "[a](https://b.test/c_d?e=1&f=2)",
                   "[a](<https://b.test/c_d?e=1&f=2>)\n");
    assert_written(
        export_markdown_to_html, "```diff\n+a\n-b\n c\n```\n",
        "<pre class=\"diff\"><code><span class=\"add\">+a\n</span>"
        "<span class=\"del\">-b\n</span><span class=\"same\"> c\n</span></code></pre>\n");
    assert_written(
        export_markdown_to_html, "a\nb [c](mailto:d@e.test)",
        "<p>a<br>\nb <a rel=\"noopener noreferrer\" href=\"mailto:d@e.test\">c</a></p>\n");
}

/* md4c ends an emphasis that it never began, and reports links within links. */
TEST(spans_end_as_they_began)
{
    static const char *const odd[] = {
        "a *b ![c](*d) e* f", "[a](https://b.test/ [c](https://d.test/) https://e.test/?x=<img) g",
        "*[a](b*c)*",         "**a *b** c*",
        "![a *b](c) d*",      "[a ![b](https://c.test/) d](https://e.test/)",
    };

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct buf html = written(export_markdown_to_html, slice_of(odd[i]));
        struct buf md = written(export_markdown_to_md, slice_of(odd[i]));
        static const char *const tags[][2] = { { "<em>", "</em>" },
                                               { "<a ", "</a>" },
                                               { "<strong>", "</strong>" } };

        for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
            assert_int_equal(occurrences(&html, tags[k][0]), occurrences(&html, tags[k][1]));
        assert_contained(buf_slice(&md));
        buf_fini(&html);
        buf_fini(&md);
    }
}

TEST(addresses_stay_whole)
{
    assert_written(export_markdown_to_md, "see https://a.test/b_c, or [d](https://e.test/)",
                   "see <https://a.test/b_c>, or [d](<https://e.test/>)\n");
    assert_written(export_markdown_to_md, "![a](https://b.test/c.png) [d](javascript:e)",
                   "\\[image: a\\] (`https://b.test/c.png`) \\[d\\] (`javascript:e`)\n");
    assert_written(md_prompt, "(https://a.test/~b?c=d&e), www.f.test and http://[g",
                   "> (<https://a.test/~b?c=d&e>), www&#46;f.test and http&#58;//\\[g\n");
}

TEST(fences_are_longer_than_what_they_hold)
{
    assert_written(md_fence, "a ``` b", "````a\na ``` b\n````\n");
    assert_written(md_code, "a`b", "``a`b``");
    assert_written(md_code, "`a", "`` `a ``");
    assert_written(md_prompt, "a\n\n  b\n# c\n", "> a  \n> \n> &nbsp;&nbsp;b  \n> \\# c\n");
}

/* Deep nesting must take neither time nor output without a bound. */
TEST(deep_nesting_is_bounded)
{
    struct buf deep = { 0 };

    for (int i = 0; i < 20000; i++)
        assert_int_equal(buf_add(&deep, i % 2 ? SLICE("> ") : SLICE("- ")), ERR_OK);
    assert_int_equal(buf_add(&deep, SLICE("end\n")), ERR_OK);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(buf_add(&deep, SLICE("lazy\n")), ERR_OK);
    struct buf md = written(export_markdown_to_md, buf_slice(&deep));
    struct buf html = written(export_markdown_to_html, buf_slice(&deep));

    assert_true(md.n < 20 * deep.n);
    assert_true(html.n < 20 * deep.n);
    buf_fini(&md);
    buf_fini(&html);
    buf_fini(&deep);
}

/* Titles are often the first prompt. */
TEST(the_name_of_a_file_has_no_secrets)
{
    struct arena a = { 0 };
    struct export_request req = { .format = EXPORT_MD, .redact = true };
    const struct slice title = SLICE("use ghp_0123456789abcdefghijABCDEFGHIJ012345 here");
    const char *name = export_file_name_for(&req, title, SLICE("0123456789"), &a);

    assert_non_null(name);
    assert_null(strstr(name, "0123456789abcdef"));
    req.redact = false;
    assert_non_null(strstr(export_file_name_for(&req, title, SLICE("0123456789"), &a), "ghp"));
    arena_fini(&a);
}
