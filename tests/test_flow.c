#include "sheet_text.h"
#include "tui/screens/flow.h"

static struct sheet laid(int width, enum flow_mode mode, struct slice text)
{
    struct sheet s = { .n = 0 };
    struct flow f = { .sheet = &s, .width = width, .mode = mode };

    flow_begin(&f);
    flow_text(&f, STYLE_TEXT, text);
    flow_end(&f);
    return s;
}

static void assert_flow(int width, enum flow_mode mode, struct slice text, const char *want)
{
    struct sheet s = laid(width, mode, text);

    assert_sheet(&s, want);
    sheet_fini(&s);
}

#define WORDS(width, text, want) assert_flow(width, FLOW_WORDS, SLICE(text), want)
#define VERBATIM(width, text, want) assert_flow(width, FLOW_VERBATIM, SLICE(text), want)

static void lines_break_between_words(void **state)
{
    (void)state;

    WORDS(12, "one two three four", "one two\nthree four\n");
    WORDS(12, "one  two", "one  two\n");
    WORDS(12, "aaaa\n\nbbbb", "aaaa\n\nbbbb\n");
    WORDS(12, "", "");
}

static void a_word_wider_than_the_line_is_cut(void **state)
{
    (void)state;

    WORDS(12, "abcdefghijklmnopqrstuvwxyz", "abcdefghijkl\nmnopqrstuvwx\nyz\n");
    WORDS(12, "ab abcdefghijklmnop", "ab\nabcdefghijkl\nmnop\n");
}

static void ideographs_are_words_and_keep_their_punctuation(void **state)
{
    (void)state;

    WORDS(12, "日本語日本語日本", "日本語日本語\n日本\n");
    WORDS(12, "日本語日本語。本", "日本語日本\n語。本\n");
    WORDS(13, "abc 日本語日本語", "abc 日本語日\n本語\n");
}

static void clusters_are_never_cut(void **state)
{
    (void)state;

    WORDS(12, "aaaaaaaaaae\u0301\u0301e\u0301e\u0301", "aaaaaaaaaae\u0301\u0301e\u0301\ne\u0301\n");
    /* a family is four columns here, and stays together */
    WORDS(12, "aaaaaaaaaa\U0001F469\u200D\U0001F4BB", "aaaaaaaaaa\n\U0001F469\U0001F4BB\n");
}

static void the_margin_stands_before_every_line(void **state)
{
    (void)state;
    struct sheet s = { .n = 0 };
    struct flow f = { .sheet = &s, .width = 16 };

    margin_add(&f.first, STYLE_MARK, "* ");
    margin_add(&f.rest, STYLE_TEXT, "  ");
    flow_begin(&f);
    flow_text(&f, STYLE_TEXT, SLICE("one two three "));
    flow_text(&f, STYLE_STRONG, SLICE("four"));
    flow_end(&f);

    assert_sheet(&s, "* one two three\n  four\n");
    assert_int_equal(sheet_style_of(&s, "four"), STYLE_STRONG);
    sheet_fini(&s);
}

static void a_style_may_change_within_a_word(void **state)
{
    (void)state;
    struct sheet s = { .n = 0 };
    struct flow f = { .sheet = &s, .width = 12 };

    flow_begin(&f);
    flow_text(&f, STYLE_TEXT, SLICE("aaaaaaaa bb"));
    flow_text(&f, STYLE_STRONG, SLICE("cc"));
    flow_end(&f);

    assert_sheet(&s, "aaaaaaaa\nbbcc\n");
    sheet_fini(&s);
}

static void verbatim_text_keeps_its_blanks(void **state)
{
    (void)state;

    VERBATIM(20, "a\tb\n  c  d", "a   b\n  c  d\n");
    VERBATIM(12, "abcdefghij klmn", "abcdefghij k\nlmn\n");
}

static void colours_and_carriage_returns_of_programs_are_left_out(void **state)
{
    (void)state;

    VERBATIM(20, "\x1b[31mred\x1b[0m\r\nnext", "red\nnext\n");
    VERBATIM(20, "\x1b[2J\rx", "^[[2J^Mx\n");
}

static void nothing_is_added_behind_the_last_line_allowed(void **state)
{
    (void)state;
    struct sheet s = { .n = 0 };
    struct flow f = { .sheet = &s, .width = 12, .max_lines = 2 };

    flow_begin(&f);
    size_t taken = flow_text(&f, STYLE_TEXT, SLICE("a\nb\nc\nd"));

    flow_end(&f);
    assert_sheet(&s, "a\nb\n");
    assert_int_equal(taken, 4);
    sheet_fini(&s);
}

static void no_text_is_ever_wider_than_the_line(void **state)
{
    (void)state;
    static const char text[] =
        "Hello, 世界! \U0001F469\u200D\U0001F469\u200D\U0001F466 e\u0301 \u05E9\u05DC\u05D5\u05DD "
        "\U0001F1E9\U0001F1EA averyveryverylongwordthatdoesnotfit \x1b[1m 漢字漢字漢字。漢字";

    for (int width = 12; width < 60; width++)
        for (int mode = 0; mode < 2; mode++) {
            struct sheet s = laid(width, (enum flow_mode)mode, SLICE(text));

            assert_int_equal(s.rc, ERR_OK);
            assert_sheet_fits(&s, (size_t)width);
            sheet_fini(&s);
        }
}

static void a_cluster_without_end_takes_linear_time(void **state)
{
    (void)state;
    struct buf text = { 0 };

    for (int i = 0; i < 30000; i++)
        assert_int_equal(buf_add(&text, SLICE("\U0001F469\u200D")), ERR_OK);
    struct sheet s = laid(40, FLOW_WORDS, buf_slice(&text));

    assert_true(s.n > 0);
    sheet_fini(&s);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_break_between_words),
        cmocka_unit_test(a_word_wider_than_the_line_is_cut),
        cmocka_unit_test(ideographs_are_words_and_keep_their_punctuation),
        cmocka_unit_test(clusters_are_never_cut),
        cmocka_unit_test(the_margin_stands_before_every_line),
        cmocka_unit_test(a_style_may_change_within_a_word),
        cmocka_unit_test(verbatim_text_keeps_its_blanks),
        cmocka_unit_test(colours_and_carriage_returns_of_programs_are_left_out),
        cmocka_unit_test(nothing_is_added_behind_the_last_line_allowed),
        cmocka_unit_test(no_text_is_ever_wider_than_the_line),
        cmocka_unit_test(a_cluster_without_end_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
