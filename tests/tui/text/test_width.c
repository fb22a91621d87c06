#include "tests/test.h"

#include <locale.h>
#include <wchar.h>

#include <utf8proc.h>

#include "tui/text/clean.h"

TEST(the_width_agrees_with_ncurses)
{
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));

    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        int width = text_width(cp);

        if (width >= 0 && wcwidth((wchar_t)cp) != width)
            fail_msg("U+%04X: %d, wcwidth says %d", (unsigned)cp, width, wcwidth((wchar_t)cp));
    }
}

/* Characters of a Unicode version that only one of the libraries knows are refused as well. */
TEST(only_format_characters_are_refused_among_those_ncurses_places)
{
    unsigned refused = 0;

    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    for (uint32_t cp = 0x20; cp <= 0x10FFFF; cp++) {
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);

        if (text_width(cp) >= 0 || wcwidth((wchar_t)cp) <= 0 || category == UTF8PROC_CATEGORY_CN)
            continue;
        refused++;
        if (category != UTF8PROC_CATEGORY_CF)
            fail_msg("U+%04X of category %d is refused", (unsigned)cp, category);
    }
    /* Soft hyphen, the visible format characters of Arabic, Syriac and Kaithi ... */
    assert_true(refused);
}

TEST(letters_ideographs_and_emoji_have_their_columns)
{
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_int_equal(text_width('a'), 1);
    assert_int_equal(text_width(0x00E9), 1);
    assert_int_equal(text_width(0x4E2D), 2);
    assert_int_equal(text_width(0x1F600), 2);
    assert_int_equal(text_width(0x0301), 0);
    assert_int_equal(text_width(0x05D0), 1);
    assert_int_equal(text_width(0x1161), 0);
}

TEST(controls_surrogates_and_unassigned_are_never_shown_as_themselves)
{
    const uint32_t refused[] = { 0,      0x1B,   0x7F,   0x9B,   0xAD,    0x200B, 0x200D,  0x202E,
                                 0x2066, 0x2028, 0xD800, 0xFEFF, 0xE0041, 0x378,  0x110000 };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(text_width(refused[i]), -1);
}

TEST(without_a_locale_letters_keep_their_columns)
{
    assert_non_null(setlocale(LC_CTYPE, "C"));
    assert_int_equal(text_width('a'), 1);
    assert_int_equal(text_width(0x00E9), 1);
    assert_int_equal(text_width(0x4E2D), 2);
    assert_int_equal(text_width(0x0301), 0);
    assert_int_equal(text_width(0x202E), -1);
}

TEST(a_family_is_one_cluster_and_two_letters_are_two)
{
    int32_t walk = 0;

    assert_false(text_width_breaks(0x1F469, 0x200D, &walk));
    assert_false(text_width_breaks(0x200D, 0x1F4BB, &walk));
    walk = 0;
    assert_true(text_width_breaks('a', 'b', &walk));
    assert_true(text_width_pictograph(0x1F469));
    assert_false(text_width_pictograph('a'));
}
