#include <stdlib.h>

#include "support/screen/styled_text_dump.h"
#include "tui/widgets/styled_text.h"

static struct styled_text laid(int width, enum text_wrap_mode mode, struct slice text)
{
    struct styled_text s = { .n = 0 };
    struct text_wrap f = { .styled_text = &s, .width = width, .mode = mode };

    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_TEXT, text);
    text_wrap_fini(&f);
    return s;
}

static void assert_flow(int width, enum text_wrap_mode mode, struct slice text, const char *want)
{
    struct styled_text s = laid(width, mode, text);

    assert_styled_text(&s, want);
    styled_text_fini(&s);
}

#define WORDS(width, text, want) assert_flow(width, TEXT_WRAP_WORDS, SLICE(text), want)
#define VERBATIM(width, text, want) assert_flow(width, TEXT_WRAP_VERBATIM, SLICE(text), want)

TEST(lines_break_between_words)
{
    WORDS(12, "one two three four", "one two\nthree four\n");
    WORDS(12, "one  two", "one  two\n");
    WORDS(12, "aaaa\n\nbbbb", "aaaa\n\nbbbb\n");
    WORDS(12, "", "");
}

TEST(text_that_is_cut_says_so_behind_its_last_word)
{
    struct frame f;

    assert_true(frame_init(&f, 2, 20, false));
    assert_int_equal(text_wrap_draw(&f, (struct rect){ 0, 0, 2, 20 }, STYLE_TEXT,
                                    SLICE("send it with every idempotent call to the gateway")),
                     2);
    char *text = frame_dump(&f);

    assert_string_equal(text, "send it with every\nidempotent call to…\n");
    free(text);
    frame_fini(&f);
}

TEST(the_rest_of_a_long_line_hangs)
{
    struct styled_text s = { .n = 0 };
    struct text_wrap f = { .styled_text = &s, .width = 16, .mode = TEXT_WRAP_VERBATIM, .hang = 2 };

    text_margin_add(&f.first, STYLE_TEXT, "  ");
    text_margin_add(&f.rest, STYLE_TEXT, "  ");
    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_TEXT, SLICE("abcdefghijklmnopqrstuvwxyz0123456789\nnext"));
    text_wrap_fini(&f);
    assert_styled_text(&s, "  abcdefghijklmn\n    opqrstuvwxyz\n    0123456789\n  next\n");
    styled_text_fini(&s);
}

TEST(a_word_wider_than_the_line_is_cut)
{
    WORDS(12, "abcdefghijklmnopqrstuvwxyz", "abcdefghijkl\nmnopqrstuvwx\nyz\n");
    WORDS(12, "ab abcdefghijklmnop", "ab\nabcdefghijkl\nmnop\n");
}

TEST(ideographs_are_words_and_keep_their_punctuation)
{
    WORDS(12, "日本語日本語日本", "日本語日本語\n日本\n");
    WORDS(12, "日本語日本語。本", "日本語日本\n語。本\n");
    WORDS(13, "abc 日本語日本語", "abc 日本語日\n本語\n");
}

TEST(clusters_are_never_cut)
{
    WORDS(12, "aaaaaaaaaae\u0301\u0301e\u0301e\u0301", "aaaaaaaaaae\u0301\u0301e\u0301\ne\u0301\n");
    /* a family emoji has four columns here, and stays together */
    WORDS(12, "aaaaaaaaaa\U0001F469\u200D\U0001F4BB", "aaaaaaaaaa\n\U0001F469\U0001F4BB\n");
}

TEST(the_margin_precedes_every_line)
{
    struct styled_text s = { .n = 0 };
    struct text_wrap f = { .styled_text = &s, .width = 16 };

    text_margin_add(&f.first, STYLE_MARK, "* ");
    text_margin_add(&f.rest, STYLE_TEXT, "  ");
    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_TEXT, SLICE("one two three "));
    text_wrap_add(&f, STYLE_STRONG, SLICE("four"));
    text_wrap_fini(&f);

    assert_styled_text(&s, "* one two three\n  four\n");
    assert_int_equal(styled_text_style_at(&s, "four"), STYLE_STRONG);
    styled_text_fini(&s);
}

TEST(a_style_may_change_within_a_word)
{
    struct styled_text s = { .n = 0 };
    struct text_wrap f = { .styled_text = &s, .width = 12 };

    text_wrap_begin(&f);
    text_wrap_add(&f, STYLE_TEXT, SLICE("aaaaaaaa bb"));
    text_wrap_add(&f, STYLE_STRONG, SLICE("cc"));
    text_wrap_fini(&f);

    assert_styled_text(&s, "aaaaaaaa\nbbcc\n");
    styled_text_fini(&s);
}

TEST(verbatim_text_keeps_its_blanks)
{
    VERBATIM(20, "a\tb\n  c  d", "a   b\n  c  d\n");
    VERBATIM(12, "abcdefghij klmn", "abcdefghij k\nlmn\n");
}

TEST(colours_and_carriage_returns_of_programs_are_removed)
{
    VERBATIM(20, "\x1b[31mred\x1b[0m\r\nnext", "red\nnext\n");
    VERBATIM(20, "\x1b[2J\rx", "^[[2J^Mx\n");
}

TEST(nothing_is_added_after_the_last_line_allowed)
{
    struct styled_text s = { .n = 0 };
    struct text_wrap f = { .styled_text = &s, .width = 12, .max_lines = 2 };

    text_wrap_begin(&f);
    size_t taken = text_wrap_add(&f, STYLE_TEXT, SLICE("a\nb\nc\nd"));

    text_wrap_fini(&f);
    assert_styled_text(&s, "a\nb\n");
    assert_int_equal(taken, 4);
    styled_text_fini(&s);
}

TEST(no_line_exceeds_the_width)
{
    static const char text[] =
        "Hello, 世界! \U0001F469\u200D\U0001F469\u200D\U0001F466 e\u0301 \u05E9\u05DC\u05D5\u05DD "
        "\U0001F1E9\U0001F1EA averyveryverylongwordthatdoesnotfit \x1b[1m 漢字漢字漢字。漢字";

    for (int width = 12; width < 60; width++)
        for (int mode = 0; mode < 2; mode++) {
            struct styled_text s = laid(width, (enum text_wrap_mode)mode, SLICE(text));

            assert_int_equal(s.rc, ERR_OK);
            assert_styled_text_fits(&s, (size_t)width);
            styled_text_fini(&s);
        }
}

TEST(an_endless_cluster_takes_linear_time)
{
    struct buf text = { 0 };

    for (int i = 0; i < 30000; i++)
        assert_int_equal(buf_add(&text, SLICE("\U0001F469\u200D")), ERR_OK);
    struct styled_text s = laid(40, TEXT_WRAP_WORDS, buf_slice(&text));

    assert_true(s.n > 0);
    styled_text_fini(&s);
    buf_fini(&text);
}
