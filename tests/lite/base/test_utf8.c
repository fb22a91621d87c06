#include "tests/test.h"

#include "lite/base/utf8.h"

static uint32_t first(struct slice text, bool wtf, size_t *used)
{
    struct slice rest = text;
    uint32_t cp = utf8_next(&rest, wtf);

    *used = text.n - rest.n;
    return cp;
}

TEST(every_code_point_round_trips)
{
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        char bytes[4];
        size_t n = utf8_encode(bytes, cp), used;
        bool surrogate = cp >= 0xD800 && cp <= 0xDFFF;
        struct slice text = { bytes, n };

        assert_int_equal(first(text, true, &used), cp);
        assert_int_equal(used, n);
        assert_int_equal(utf8_valid(text), !surrogate);
        if (surrogate)
            assert_int_equal(first(text, false, &used), UTF8_REPLACEMENT);
    }
}

static void repaired_is(struct slice broken, struct slice want)
{
    struct arena a = { 0 };
    struct slice got;

    assert_true(utf8_repair(broken, &a, &got));
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    assert_true(utf8_valid(got));
    arena_fini(&a);
}

#define BAD "\xEF\xBF\xBD"

/* The examples of the Unicode standard, section 3.9, tables 3-8 to 3-11. */
TEST(each_maximal_invalid_part_becomes_one_replacement_character)
{
    repaired_is(SLICE("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
                      "A"),
                SLICE(BAD BAD BAD BAD BAD BAD BAD BAD "A"));
    repaired_is(SLICE("\xED\xA0\x80\xED\xBF\xBF\xED\xAF"
                      "A"),
                SLICE(BAD BAD BAD BAD BAD BAD BAD BAD "A"));
    repaired_is(SLICE("\xF4\x91\x92\x93\xFF"
                      "A\x80\xBF"
                      "B"),
                SLICE(BAD BAD BAD BAD BAD "A" BAD BAD "B"));
    repaired_is(SLICE("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
                      "A"),
                SLICE(BAD BAD BAD BAD "A"));
}

TEST(a_truncated_character_becomes_one_replacement_character)
{
    repaired_is(SLICE("ab\xF0\x9F\x98"), SLICE("ab" BAD));
    repaired_is(SLICE("\xE2"), SLICE(BAD));
}

TEST(valid_text_is_borrowed_by_repair)
{
    struct arena a = { 0 };
    struct slice text = SLICE("plain, gr\xC3\xBC\xC3\x9F, \xF0\x9F\x98\x80, and " BAD), got;

    assert_true(utf8_repair(text, &a, &got));

    assert_ptr_equal(got.p, text.p);
    assert_null(a.newest);
}

TEST(the_valid_prefix_ends_at_the_first_invalid_byte)
{
    assert_int_equal(utf8_valid_prefix(SLICE("123456789\xC3\xBC\x80zz")), 11);
    assert_int_equal(utf8_valid_prefix(SLICE("")), 0);
}

TEST(lengths_are_in_utf16_units)
{
    assert_int_equal(utf8_utf16_length(SLICE("")), 0);
    assert_int_equal(utf8_utf16_length(SLICE("abcdefghij")), 10);
    assert_int_equal(utf8_utf16_length(SLICE("a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80")), 5);
    assert_int_equal(utf8_utf16_length(SLICE("\xED\xA0\x80")), 1);
    assert_int_equal(utf8_utf16_length(SLICE("\xF0\x9F\x98")), 1);
}

TEST(a_prefix_never_splits_a_pair)
{
    struct slice text = SLICE("a\xF0\x9F\x98\x80"
                              "b");

    assert_int_equal(utf8_utf16_prefix(text, 0).n, 0);
    assert_int_equal(utf8_utf16_prefix(text, 1).n, 1);
    assert_int_equal(utf8_utf16_prefix(text, 2).n, 1);
    assert_int_equal(utf8_utf16_prefix(text, 3).n, 5);
    assert_int_equal(utf8_utf16_prefix(text, 4).n, 6);
    assert_int_equal(utf8_utf16_prefix(text, 100).n, 6);
}

TEST(trim_removes_javascript_whitespace)
{
    struct slice blank = SLICE(" \t\n\v\f\r\xC2\xA0\xE1\x9A\x80\xE2\x80\x80\xE2\x80\x8A\xE2\x80\xA8"
                               "\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\x9F\xE3\x80\x80\xEF\xBB\xBF");
    struct buf text = { 0 };

    assert_int_equal(utf8_js_trim(blank).n, 0);
    assert_int_equal(buf_add(&text, blank), ERR_OK);
    assert_int_equal(buf_add(&text, SLICE("a b")), ERR_OK);
    assert_int_equal(buf_add(&text, blank), ERR_OK);
    assert_true(slice_eq(utf8_js_trim(buf_slice(&text)), SLICE("a b")));
    buf_fini(&text);
}

TEST(trim_keeps_other_blank_looking_characters)
{
    /* Zero width space, next line, Mongolian vowel separator, and bytes that are no character. */
    static const struct slice kept[] = { { "\xE2\x80\x8B", 3 }, { "\xC2\x85", 2 },
                                         { "\xE1\xA0\x8E", 3 }, { "\xA0", 1 },
                                         { "\x80\x80", 2 },     { "\xE2\x80", 2 } };

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(utf8_js_trim(kept[i]).n, kept[i].n);
}

static void composed_is(struct slice text, struct slice want)
{
    struct arena a = { 0 };
    struct slice got;

    assert_true(utf8_nfc(text, &a, &got));
    assert_true(slice_eq(got, want));
    arena_fini(&a);
}

TEST(decomposed_letters_are_composed)
{
    composed_is(SLICE("cafe\xCC\x81"), SLICE("caf\xC3\xA9"));
    composed_is(SLICE("\xE1\x84\x80\xE1\x85\xA1"), SLICE("\xEA\xB0\x80"));
    composed_is(SLICE("\xE2\x84\xAB"), SLICE("\xC3\x85"));
}

TEST(composition_keeps_surrogates_and_invalid_bytes)
{
    composed_is(SLICE("e\xCC\x81\xED\xA0\x80"
                      "e\xCC\x81"),
                SLICE("\xC3\xA9\xED\xA0\x80\xC3\xA9"));
    composed_is(SLICE("e\xCC\x81\xFF"), SLICE("\xC3\xA9" BAD));
}

TEST(composed_text_is_borrowed)
{
    struct arena a = { 0 };
    struct slice ascii = SLICE("/home/dev"), hangul = SLICE("\xEA\xB0\x80"), got;

    assert_true(utf8_nfc(ascii, &a, &got));
    assert_ptr_equal(got.p, ascii.p);
    assert_true(utf8_nfc(hangul, &a, &got));
    assert_ptr_equal(got.p, hangul.p);
    assert_null(a.newest);
}
