#include "tests/test.h"

#include "tui/widgets/theme.h"

static bool parse(const char *text, struct theme_style *look)
{
    return theme_parse_style(slice_of(text), look);
}

static void a_style_is_parsed_word_by_word(void **state)
{
    struct theme_style look;

    (void)state;
    assert_true(parse("bold  bright-cyan on black", &look));
    assert_int_equal(look.fg, 14);
    assert_int_equal(look.bg, 0);
    assert_int_equal(look.attributes, THEME_BOLD);
    assert_true(parse("208 on 17 underline", &look));
    assert_int_equal(look.fg, 208);
    assert_int_equal(look.bg, 17);
    assert_true(parse("", &look));
    assert_int_equal(look.fg, THEME_DEFAULT_COLOUR);
    assert_int_equal(look.bg, THEME_DEFAULT_COLOUR);
}

static void an_unknown_word_leaves_the_style_unchanged(void **state)
{
    static const char *const wrong[] = {
        "blod", "256", "bright-", "bright-7", "red onn black", "-1"
    };
    struct theme_style look = { 3, 4, THEME_DIM };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(parse(wrong[i], &look));
    assert_int_equal(look.fg, 3);
    assert_int_equal(look.attributes, THEME_DIM);
}

static void every_style_has_a_name(void **state)
{
    (void)state;
    assert_int_equal(theme_find_style(SLICE("title")), STYLE_TITLE);
    assert_int_equal(theme_find_style(SLICE("delete-word")), STYLE_DELETE_WORD);
    assert_int_equal(theme_find_style(SLICE("tilte")), STYLE_COUNT);
}

/* Without colours, warnings and marks must still stand out. */
static void meaning_survives_without_colour(void **state)
{
    struct theme t;

    (void)state;
    theme_default(&t);
    assert_true(t.look[STYLE_MATCH].attributes != 0);
    assert_true(t.look[STYLE_MARK].attributes != 0);
    assert_true(t.look[STYLE_ERROR].attributes != 0);
    assert_true(t.look[STYLE_PROMPT].attributes != 0);
    assert_true(t.look[STYLE_ADD_WORD].attributes != t.look[STYLE_ADD].attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_style_is_parsed_word_by_word),
        cmocka_unit_test(an_unknown_word_leaves_the_style_unchanged),
        cmocka_unit_test(every_style_has_a_name),
        cmocka_unit_test(meaning_survives_without_colour),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
