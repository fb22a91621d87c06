#include "support/screen/styled_text_dump.h"
#include "tui/widgets/markdown.h"

static struct styled_text laid(const struct hunks *d, size_t max_lines, size_t *left)
{
    struct styled_text s = { .n = 0 };
    struct hunks_layout_options how = { .width = 40, .max_lines = max_lines };

    *left = hunks_layout(&s, &how, d);
    return s;
}

static void assert_diff(const struct hunks *d, const char *want)
{
    size_t left;
    struct styled_text s = laid(d, 0, &left);

    assert_styled_text(&s, want);
    assert_int_equal(left, 0);
    styled_text_fini(&s);
}

TEST(a_patch_is_shown_with_its_numbers)
{
    struct hunks d = { .n = 0 };

    hunks_of_patch(&d, SLICE("[{\"oldStart\":9,\"oldLines\":2,\"newStart\":9,\"newLines\":2,"
                             "\"lines\":[\" a\",\"-b\",\"+c\",\"\\\\ No newline\"]}]"));

    assert_int_equal(d.added, 1);
    assert_int_equal(d.removed, 1);
    assert_diff(&d, "@@ -9,2 +9,2 @@\n"
                    "   9   a\n"
                    "  10 - b\n"
                    "  10 + c\n"
                    "\\  No newline\n");
    hunks_fini(&d);
}

TEST(texts_are_compared_line_by_line)
{
    struct hunks d = { .n = 0 };

    hunks_of_texts(&d, SLICE("1\n2\n3\n4\n5\n6\nold\n7\n8\n9\n10\n"),
                   SLICE("1\n2\n3\n4\n5\n6\nnew\nmore\n7\n8\n9\n10\n"));

    assert_int_equal(d.added, 2);
    assert_int_equal(d.removed, 1);
    assert_diff(&d, "  4\n  5\n  6\n- old\n+ new\n+ more\n  7\n  8\n  9\n");
    hunks_fini(&d);
}

TEST(unchanged_lines_between_changes_are_found)
{
    struct hunks d = { .n = 0 };

    hunks_of_texts(&d, SLICE("a\nkeep\nb\n"), SLICE("c\nkeep\nd\n"));

    assert_diff(&d, "- a\n+ c\n  keep\n- b\n+ d\n");
    hunks_fini(&d);
}

TEST(several_edits_are_separated)
{
    struct hunks d = { .n = 0 };

    hunks_of_texts(&d, SLICE("a"), SLICE("b"));
    hunks_of_texts(&d, SLICE("c"), SLICE("d"));

    assert_diff(&d, "- a\n+ b\n⋯\n- c\n+ d\n");
    hunks_fini(&d);
}

TEST(changes_within_a_line_are_highlighted)
{
    struct hunks d = { .n = 0 };
    size_t left;

    hunks_of_texts(&d, SLICE("call(one, two);"), SLICE("call(one, three);"));
    struct styled_text s = laid(&d, 0, &left);

    assert_int_equal(styled_text_style_at(&s, "two"), STYLE_DELETE_WORD);
    assert_int_equal(styled_text_style_at(&s, "three"), STYLE_ADD_WORD);
    assert_int_equal(styled_text_style_at(&s, "call(one, "), STYLE_DELETE);
    styled_text_fini(&s);
    hunks_fini(&d);
}

TEST(a_long_diff_is_cut_with_a_count_of_the_rest)
{
    struct hunks d = { .n = 0 };
    struct buf text = { 0 };
    size_t left;

    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf_add(&text, SLICE("line\n")), ERR_OK);
    hunks_of_texts(&d, (struct slice){ NULL, 0 }, buf_slice(&text));
    struct styled_text s = laid(&d, 10, &left);

    assert_int_equal(s.n, 10);
    assert_int_equal(left, 99990);
    assert_int_equal(d.added, 100000);
    styled_text_fini(&s);
    hunks_fini(&d);
    buf_fini(&text);
}

TEST(an_invalid_patch_does_no_harm)
{
    static const char *const patches[] = {
        "[]",
        "{}",
        "[1,null,\"x\"]",
        "[{\"lines\":7}]",
        "[{\"lines\":[1,\"\",\"+a\"]}]",
        "[{\"oldStart\":99999999999999999999,\"newStart\":-5,\"lines\":[\"-\",\"+\"]}]",
        "[{",
    };

    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        struct hunks d = { .n = 0 };
        size_t left;

        hunks_of_patch(&d, slice_of(patches[i]));
        struct styled_text s = laid(&d, 0, &left);

        assert_int_equal(s.rc, ERR_OK);
        styled_text_fini(&s);
        hunks_fini(&d);
    }
}
