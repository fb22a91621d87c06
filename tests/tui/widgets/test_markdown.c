#include "support/screen/styled_text_dump.h"
#include "tui/widgets/markdown.h"

static struct styled_text laid(int width, bool ascii, const char *text)
{
    struct styled_text s = { .n = 0 };
    struct markdown how = { .width = width, .ascii = ascii };

    markdown_layout(&s, &how, slice_of(text));
    return s;
}

static void assert_markdown(int width, const char *text, const char *want)
{
    struct styled_text s = laid(width, false, text);

    assert_styled_text(&s, want);
    styled_text_fini(&s);
}

TEST(paragraphs_are_separated_and_line_breaks_kept)
{
    assert_markdown(40, "one\ntwo\n\nthree", "one\ntwo\n\nthree\n");
    assert_markdown(40, "", "");
}

TEST(emphasis_becomes_a_style)
{
    struct styled_text s = laid(60, false, "a **bold** *slanted* `code` ~~gone~~\n# Head");

    assert_styled_text(&s, "a bold slanted code gone\n\nHead\n");
    assert_int_equal(styled_text_style_at(&s, "bold"), STYLE_STRONG);
    assert_int_equal(styled_text_style_at(&s, "slanted"), STYLE_EMPHASIS);
    assert_int_equal(styled_text_style_at(&s, "code"), STYLE_CODE);
    assert_int_equal(styled_text_style_at(&s, "Head"), STYLE_HEADING);
    styled_text_fini(&s);
}

TEST(lists_are_marked_and_indented)
{
    assert_markdown(40, "- one\n- two\n  - deep\n- three\n\nend",
                    "• one\n• two\n  ◦ deep\n• three\n\nend\n");
    assert_markdown(14, "9. aaa bbb ccc\n10. ddd", "9. aaa bbb ccc\n10. ddd\n");
    assert_markdown(16, "1. aaaa bbbb cccc dddd", "1. aaaa bbbb\n   cccc dddd\n");
    assert_markdown(40, "- [x] done\n- [ ] open", "[x] done\n[ ] open\n");
    assert_markdown(40, "- loose\n\n- items", "• loose\n\n• items\n");
}

TEST(quotations_have_a_bar)
{
    assert_markdown(40, "> a\n> b\n\nc", "▎ a\n▎ b\n\nc\n");
}

TEST(code_is_unchanged)
{
    assert_markdown(40, "x\n\n```c\nif (a)\n\n    b **c**;\n```\ny",
                    "x\n\n│ if (a)\n│\n│     b **c**;\n\ny\n");
    assert_markdown(40, "```\nunclosed", "│ unclosed\n");
    struct styled_text s = laid(40, false, "```diff\n-a\n+b\n c\n```");

    assert_int_equal(styled_text_style_at(&s, "-a"), STYLE_DELETE);
    assert_int_equal(styled_text_style_at(&s, "+b"), STYLE_ADD);
    styled_text_fini(&s);
}

TEST(a_link_shows_its_target_once)
{
    assert_markdown(60, "[docs](https://a.org/x) https://b.org",
                    "docs (https://a.org/x) https://b.org\n");
}

TEST(tables_have_aligned_columns)
{
    assert_markdown(40, "| a | b |\n|---|--:|\n| 日本 | 1 |\n| c | 22 |",
                    "a    │  b\n"
                    "─────┼───\n"
                    "日本 │  1\n"
                    "c    │ 22\n");
}

TEST(a_wide_table_wraps_within_its_columns)
{
    struct styled_text s =
        laid(24, false, "| n | text |\n|---|---|\n| 1 | one two three four five six |\n");

    assert_styled_text_fits(&s, 24);
    assert_styled_text(&s, "n │ text\n"
                           "──┼─────────────────────\n"
                           "1 │ one two three four\n"
                           "  │ five six\n");
    styled_text_fini(&s);
}

TEST(ascii_mode_draws_only_ascii)
{
    struct styled_text s =
        laid(40, true, "- a\n\n> b\n\n| a | b |\n|---|---|\n| c | d |\n\n```\ne\n```");
    struct buf text = styled_text_dump(&s);

    for (size_t i = 0; i < text.n; i++)
        assert_true((unsigned char)text.p[i] < 0x80);
    buf_fini(&text);
    styled_text_fini(&s);
}

TEST(hostile_documents_end)
{
    struct buf deep = { 0 };

    for (int i = 0; i < 2000; i++)
        assert_int_equal(buf_add(&deep, SLICE("> - ")), ERR_OK);
    assert_int_equal(buf_add(&deep, SLICE("x\n|||||\n|-|-|-|-|\n| [a](b | **c\n\xff\xfe\x1b[2J")),
                     ERR_OK);
    assert_non_null(buf_cstr(&deep));
    struct styled_text s = laid(30, false, deep.p);

    assert_int_equal(s.rc, ERR_OK);
    styled_text_fini(&s);
    buf_fini(&deep);
}
