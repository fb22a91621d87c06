#include "tests/test.h"

#include "lite/base/utf8.h"
#include "support/hostile.h"
#include "tui/text/clean.h"

static void assert_clean(struct slice text, const char *want)
{
    struct buf out = { 0 };

    assert_int_equal(clean_add(&out, text), ERR_OK);
    assert_non_null(buf_cstr(&out));
    assert_string_equal(out.p, want);
    buf_fini(&out);
}

#define CLEAN(text, want) assert_clean(SLICE(text), want)

TEST(no_hostile_pattern_is_passed_through)
{
    assert_int_equal(HOSTILE_COUNT, 20);
    for (size_t i = 0; i < HOSTILE_COUNT; i++) {
        struct buf out = { 0 };

        assert_true(hostile_within(hostile[i].text, hostile[i].raw));
        assert_int_equal(clean_add(&out, hostile[i].text), ERR_OK);
        if (hostile_within(buf_slice(&out), hostile[i].raw))
            fail_msg("%s comes through", hostile[i].name);
        assert_true(utf8_valid(buf_slice(&out)));
        buf_fini(&out);
    }
}

TEST(controls_are_shown_with_a_caret)
{
    CLEAN("a\x1b[2J", "a^[[2J");
    CLEAN("bel\x07", "bel^G");
    CLEAN("de\x7fl", "de^?l");
    CLEAN("real\rfake", "real^Mfake");
    assert_clean((struct slice){ "a\0b", 3 }, "a^@b");
    CLEAN("\xc2\x9b[", "<9B>[");
}

TEST(newlines_and_tabs_become_one_blank)
{
    CLEAN("a\nb\tc", "a b c");
}

TEST(invisible_characters_are_named)
{
    CLEAN("a\u202egpj", "a<U+202E>gpj");
    CLEAN("z\u200bz", "z<U+200B>z");
    CLEAN("t\U000e0041t", "t<U+E0041>t");
    CLEAN("pass\u00adword", "pass<U+00AD>word");
    CLEAN("a\u200db", "a<U+200D>b");
    CLEAN("\ufeffbom", "<U+FEFF>bom");
    CLEAN("line\u2028end", "line<U+2028>end");
    CLEAN("\ufe0f", "<U+FE0F>");
}

TEST(a_message_hidden_in_variation_selectors_is_shown)
{
    CLEAN("x\ufe01\ufe02\U000e0101", "x<U+FE02><U+E0101>");
}

TEST(broken_bytes_are_replaced)
{
    CLEAN("a\xff"
          "b",
          "a\ufffd"
          "b");
    CLEAN("\xe4\xb8", "\ufffd");
    CLEAN("\xed\xa0\x80", "\ufffd"); /* a lone surrogate is one character of WTF-8 */
    CLEAN("\xc0\x9b", "\ufffd\ufffd");
}

TEST(clusters_of_uncertain_width_are_simplified)
{
    CLEAN("\U0001F469\u200D\U0001F4BB", "\U0001F469\U0001F4BB");
    CLEAN("\u2764\uFE0F", "\u2764");
    CLEAN("1\uFE0F\u20E3", "1\u20E3");
    CLEAN("\U0001F44D\U0001F3FD", "\U0001F44D");
    CLEAN("\U0001F1E9\U0001F1EA", "\U0001F1E9\U0001F1EA");
}

TEST(words_with_joiners_stay_readable)
{
    CLEAN("\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
          "\u0645\u06CC\u062E\u0648\u0627\u0647\u0645");
    CLEAN("\u0915\u094D\u200D\u0937", "\u0915\u094D\u0937");
}

TEST(a_letter_has_at_most_four_marks)
{
    CLEAN("e\u0301x", "e\u0301x");
    CLEAN("e\u0301\u0302\u0303\u0304\u0305\u0306x", "e\u0301\u0302\u0303\u0304x");
}

TEST(a_mark_without_a_base_gets_one)
{
    CLEAN("\u0301", "\u25CC\u0301");
    CLEAN("\n\u0301", " \u25CC\u0301");
}

TEST(glyphs_of_one_cluster_are_joined)
{
    struct clean c;
    struct glyph g;

    clean_begin(&c, SLICE("\U0001F469\u200D\U0001F4BBa"));
    assert_int_equal(clean_cluster_width(&c), 4);

    assert_true(clean_next(&c, &g));
    assert_false(g.joined);
    assert_true(clean_next(&c, &g));
    assert_true(g.joined);
    assert_int_equal(g.at, 7);
    assert_true(clean_next(&c, &g));
    assert_false(g.joined);
    assert_false(clean_next(&c, &g));
    assert_int_equal(clean_cluster_width(&c), 0);
}

TEST(the_width_is_the_sum_of_the_glyphs)
{
    assert_int_equal(clean_width(SLICE("abc")), 3);
    assert_int_equal(clean_width(SLICE("\u4E2D\u6587")), 4);
    assert_int_equal(clean_width(SLICE("e\u0301")), 1);
    assert_int_equal(clean_width(SLICE("\x1b\u202e")), 2 + 8);
    assert_int_equal(clean_width(SLICE("")), 0);
}

/* For any bytes, the output is valid, has no control or format character, and its width is the sum of its glyphs. */
TEST(random_bytes_are_cleaned)
{
    unsigned seed = 1;
    static const char *const spice[] = { "\u200d",       "\ufe0f", "\U0001F469",
                                         "\U0001F3FD",   "\u0301", "\u202e",
                                         "\xed\xa0\x80", "\u4e2d", "\u0915\u094d" };

    for (int round = 0; round < 4000; round++) {
        struct buf in = { 0 }, out = { 0 };

        for (int i = 0; i < 12; i++) {
            seed = seed * 1103515245u + 12345u;
            const char *s = spice[(seed >> 16) % 9];

            if (seed >> 20 & 1)
                assert_int_equal(buf_add(&in, slice_of(s)), ERR_OK);
            else
                assert_int_equal(buf_add_byte(&in, (char)(seed >> 22)), ERR_OK);
        }
        assert_int_equal(clean_add(&out, buf_slice(&in)), ERR_OK);
        assert_true(utf8_valid(buf_slice(&out)));
        size_t width = 0;

        for (struct slice rest = buf_slice(&out); rest.n;) {
            int w = text_width(utf8_next(&rest, false));

            assert_true(w >= 0);
            width += (size_t)w;
        }
        assert_int_equal(width, clean_width(buf_slice(&in)));
        buf_fini(&in);
        buf_fini(&out);
    }
}
