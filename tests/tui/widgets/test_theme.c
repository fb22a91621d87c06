#include "tests/test.h"

#include <math.h>

#include "tui/widgets/theme.h"

static bool parse(const char *text, struct theme_style *look)
{
    return theme_parse_style(slice_of(text), look);
}

TEST(a_style_is_parsed_word_by_word)
{
    struct theme_style look;

    assert_true(parse("bold  bright-cyan on black", &look));
    assert_int_equal(look.fg, 14);
    assert_int_equal(look.bg, 0);
    assert_int_equal(look.attributes, THEME_BOLD);
    assert_true(parse("208 on 17 underline", &look));
    assert_int_equal(look.fg, 208);
    assert_int_equal(look.bg, 17);
    assert_true(parse("#Ff8800 on #000001", &look));
    assert_int_equal(look.fg, THEME_RGB | 0xff8800);
    assert_int_equal(look.bg, THEME_RGB | 1);
    assert_true(parse("", &look));
    assert_int_equal(look.fg, THEME_DEFAULT_COLOUR);
    assert_int_equal(look.bg, THEME_DEFAULT_COLOUR);
}

TEST(an_unknown_word_leaves_the_style_unchanged)
{
    static const char *const wrong[] = { "blod",    "#ff880",   "#ff88zz",       "256",
                                         "bright-", "bright-7", "red onn black", "-1" };
    struct theme_style look = { 3, 4, THEME_DIM };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(parse(wrong[i], &look));
    assert_int_equal(look.fg, 3);
    assert_int_equal(look.attributes, THEME_DIM);
}

TEST(every_style_has_a_name)
{
    assert_int_equal(theme_find_style(SLICE("title")), STYLE_TITLE);
    assert_int_equal(theme_find_style(SLICE("delete-word")), STYLE_DELETE_WORD);
    assert_int_equal(theme_find_style(SLICE("tilte")), STYLE_COUNT);
}

/* Without colours, warnings and marks must still stand out. */
TEST(meaning_survives_without_colour)
{
    struct theme t;

    theme_fill(&t, THEME_DARK);
    assert_true(t.look[STYLE_MATCH].attributes != 0);
    assert_true(t.look[STYLE_MARK].attributes != 0);
    assert_true(t.look[STYLE_ERROR].attributes != 0);
    assert_true(t.look[STYLE_PROMPT].attributes != 0);
    assert_true(t.look[STYLE_ADD_WORD].attributes != t.look[STYLE_ADD].attributes);
}

/* WCAG: the luminance of a colour. */
static double luminance(int32_t rgb)
{
    static const double weight[] = { 0.2126, 0.7152, 0.0722 };
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        double c = (double)(rgb >> (16 - 8 * i) & 0xff) / 255;

        sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(int32_t a, int32_t b)
{
    double x = luminance(a), y = luminance(b);

    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* Every style of a theme can be read: on its own ground, or that of `light` on white and on ivory. */
TEST(every_style_has_contrast)
{
    static const int32_t pale[] = { 0xffffff, 0xfdf6e3, 0xf5f2e8 };
    struct theme t;

    for (int id = THEME_LIGHT; id < THEME_COUNT; id++) {
        theme_fill(&t, (enum theme_id)id);
        double least = id == THEME_CONTRAST ? 7 : 4.5;

        for (int i = 0; i < STYLE_COUNT; i++) {
            struct theme_style look = t.look[i];

            assert_int_equal(look.attributes & THEME_DIM, 0);
            if (look.fg == THEME_DEFAULT_COLOUR) {
                assert_int_equal(id, THEME_LIGHT);
                continue;
            }
            assert_true(look.fg & THEME_RGB);
            for (size_t k = 0; k < 3; k++)
                assert_true(contrast(look.fg, id == THEME_LIGHT ? pale[k] : look.bg) >= least);
        }
    }
}

/* `dark` has the colours of the terminal, and so has every theme on a terminal with few of them; on white, no yellow,
 * green or cyan. */
TEST(few_colours_are_the_terminals_own)
{
    struct theme dark, t;

    theme_fill(&dark, THEME_DARK);
    for (int id = 0; id < THEME_COUNT; id++) {
        theme_fill(&t, (enum theme_id)id);
        bool light = id == THEME_LIGHT;

        for (int i = 0; i < STYLE_COUNT; i++) {
            assert_int_equal(dark.look[i].fg, dark.few_colours[i].fg);
            assert_true(t.few_colours[i].fg < 8 && t.few_colours[i].bg == THEME_DEFAULT_COLOUR);
            assert_int_equal(t.few_colours[i].attributes, dark.look[i].attributes);
            if (light)
                assert_true(t.few_colours[i].fg != 2 && t.few_colours[i].fg != 3 &&
                            t.few_colours[i].fg != 6);
        }
    }
}
