#include "tests/test.h"

#include "lite/json/json.h"

static void says(struct slice written, struct slice want)
{
    struct arena a = { 0 };
    struct slice got;

    assert_true(json_text(written, &a, &got));
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    arena_fini(&a);
}

TEST(escapes_are_decoded)
{
    says(SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), SLICE("\"\\/\b\f\n\r\t"));
    says(SLICE("\"\\u0041\\u00e9\\u20AC\""), SLICE("A\xC3\xA9\xE2\x82\xAC"));
    says(SLICE("\"a\\u0000b\""), SLICE("a\0b"));
    says(SLICE("\"\""), SLICE(""));
}

TEST(a_pair_of_surrogates_is_one_character)
{
    says(SLICE("\"\\ud83d\\ude00\""), SLICE("\xF0\x9F\x98\x80"));
    says(SLICE("\"\\uD800\\uDC00\""), SLICE("\xF0\x90\x80\x80"));
    says(SLICE("\"\\uDBFF\\uDFFF\""), SLICE("\xF4\x8F\xBF\xBF"));
}

TEST(a_lone_surrogate_is_kept_as_three_bytes)
{
    says(SLICE("\"\\ud800\""), SLICE("\xED\xA0\x80"));
    says(SLICE("\"\\ude00\\ud83d\""), SLICE("\xED\xB8\x80\xED\xA0\xBD"));
    says(SLICE("\"\\ud83d\\ud83d\\ude00\""), SLICE("\xED\xA0\xBD\xF0\x9F\x98\x80"));
    says(SLICE("\"\\ud83dx\\ude00\""), SLICE("\xED\xA0\xBDx\xED\xB8\x80"));
    says(SLICE("\"\\ud83d\\n\""), SLICE("\xED\xA0\xBD\n"));
}

TEST(invalid_bytes_beside_escapes_are_replaced)
{
    says(SLICE("\"\xFF\\n\xE2\x82\""), SLICE("\xEF\xBF\xBD\n\xEF\xBF\xBD"));
    says(SLICE("\"\xED\xA0\x80\""), SLICE("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
    /* A character cut off by an escape does not consume its bytes. */
    says(SLICE("\"\xE2\\u0041\""), SLICE("\xEF\xBF\xBD"
                                         "A"));
}

TEST(a_bad_escape_is_kept_as_written)
{
    says(SLICE("\"\\x41\\u12g4\\u1\""), SLICE("\\x41\\u12g4\\u1"));
    says(SLICE("\"\\ud800\\u12\""), SLICE("\xED\xA0\x80\\u12"));
    says(SLICE("\"a\\\0b\""), SLICE("a\\\0b"));
}

TEST(text_without_escapes_is_borrowed)
{
    struct arena a = { 0 };
    struct slice value = SLICE("\"plain \xC3\xA9 text\""), got;

    assert_true(json_text(value, &a, &got));

    assert_ptr_equal(got.p, value.p + 1);
    assert_null(a.newest);
}

TEST(an_incomplete_string_has_no_text)
{
    static const struct slice wrong[] = { { NULL, 0 },     { "\"", 1 },   { "\"abc", 4 },
                                          { "\"\\\"", 3 }, { "12", 2 },   { "null", 4 },
                                          { "{}", 2 },     { "abc\"", 4 } };
    struct arena a = { 0 };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct slice got = SLICE("untouched");

        assert_false(json_text(wrong[i], &a, &got));
        assert_true(slice_eq(got, SLICE("untouched")));
    }
    arena_fini(&a);
}

TEST(strings_are_compared_decoded)
{
    assert_true(json_string_is(SLICE("\"type\""), "type"));
    assert_true(json_string_is(SLICE("\"\\u0074yp\\u0065\""), "type"));
    assert_true(json_string_is(SLICE("\"\\ud83d\\ude00\""), "\xF0\x9F\x98\x80"));
    assert_true(json_string_is(SLICE("\"\""), ""));
    assert_false(json_string_is(SLICE("\"type\""), "typ"));
    assert_false(json_string_is(SLICE("\"typ\""), "type"));
    assert_false(json_string_is(SLICE("\"type\\u0000\""), "type"));
    assert_false(json_string_is(SLICE("type"), "type"));
    assert_false(json_string_is(SLICE("\"type"), "type"));
}
