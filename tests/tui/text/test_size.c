#include "tests/test.h"

#include "tui/text/human.h"

TEST(a_size_fits_seven_columns)
{
    char text[HUMAN_SIZE];

    human_size(832, text);
    assert_string_equal(text, "832 B");
    human_size(3 << 20, text);
    assert_string_equal(text, "3.0 MB");
    human_size(INT64_MAX, text);
    assert_string_equal(text, "8.0 EB");
}

TEST(a_size_is_read_with_its_unit)
{
    int64_t n = 0;

    assert_true(human_size_parse(SLICE("7"), &n));
    assert_int_equal(n, 7);
    assert_true(human_size_parse(SLICE("500k"), &n));
    assert_int_equal(n, 500 * 1024);
    assert_true(human_size_parse(SLICE("2GB"), &n));
    assert_int_equal(n, INT64_C(2) << 30);
}

TEST(invalid_sizes_are_refused)
{
    static const char *const wrong[] = { "",    "k",   "B",          "-1",       "1x",
                                         "1 M", "1MM", "1234567890", "99999999T" };
    int64_t n = 5;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(human_size_parse(slice_of(wrong[i]), &n));
    assert_false(human_size_parse((struct slice){ "1\0", 2 }, &n));
    assert_int_equal(n, 5);
}

TEST(counts_have_three_digits_and_a_unit)
{
    static const struct {
        int64_t n;
        const char *text;
    } counts[] = { { -1, "0" },          { 999, "999" },     { 1000, "1.0k" },
                   { 14234, "14.2k" },   { 99949, "99.9k" }, { 99950, "100k" },
                   { 999499, "999k" },   { 999500, "1.0M" }, { 3200000, "3.2M" },
                   { INT64_MAX, "9.2E" } };
    char text[HUMAN_COUNT];

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        human_count(counts[i].n, text);
        assert_string_equal(text, counts[i].text);
    }
}
