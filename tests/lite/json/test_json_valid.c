#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "lite/base/buf.h"
#include "lite/json/json.h"

static bool valid(const char *text)
{
    /* Validates a copy that ends where the text ends, so that a sanitizer sees a read past it. */
    size_t n = strlen(text);
    char *p = malloc(n ? n : 1);

    assert_non_null(p);
    memcpy(p, text, n);
    bool ok = json_valid((struct slice){ p, n });

    free(p);
    return ok;
}

static void all_are(bool want, const char *const texts[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (valid(texts[i]) != want)
            fail_msg("%s is %s", texts[i], want ? "refused" : "accepted");
}

TEST(texts_that_json_parse_accepts_are_valid)
{
    static const char *const texts[] = { "{}",
                                         "[]",
                                         "null",
                                         "true",
                                         "false",
                                         "0",
                                         "-0",
                                         "\"\"",
                                         " \t\r\n{ \n} \r",
                                         "[1,2.5,-3e10,4E-2,0.0,1e+5,1e400]",
                                         "{\"a\":{\"b\":[[],{}]},\"a\":1,\"\":2}",
                                         "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\ud800\\uDFFFx\"",
                                         "\"\x7f\xff\xc3\xed\xa0\x80\"",
                                         "\"\xe2\x80\xa8\"",
                                         "[ 1 , \"a\" , { \"k\" : null } ]",
                                         "\"\xf0\x9f\"" };

    all_are(true, texts, sizeof texts / sizeof *texts);
}

TEST(texts_that_json_parse_rejects_are_invalid)
{
    static const char *const texts[] = { "",
                                         " ",
                                         "{",
                                         "[",
                                         "}",
                                         "]",
                                         "{]",
                                         "[}",
                                         "[1}",
                                         "{\"a\":1]",
                                         "{\"a\":}",
                                         "{\"a\"}",
                                         "{\"a\":1,}",
                                         "{,}",
                                         "{1:2}",
                                         "{a:1}",
                                         "{'a':1}",
                                         "[1,]",
                                         "[,1]",
                                         "[1 2]",
                                         "[1,,2]",
                                         "[]]",
                                         "{}{}",
                                         "{} x",
                                         "1 2",
                                         "nul",
                                         "nulll",
                                         "True",
                                         "truex",
                                         "tru",
                                         "NaN",
                                         "Infinity",
                                         "-",
                                         "+1",
                                         "01",
                                         "-01",
                                         "1.",
                                         ".5",
                                         "1e",
                                         "1e+",
                                         "1.e5",
                                         "0x10",
                                         "1_0",
                                         "\"",
                                         "\"a",
                                         "\"a\\\"",
                                         "\"\\x\"",
                                         "\"\\u12\"",
                                         "\"\\u12g4\"",
                                         "\"\\u\"",
                                         "\"a\tb\"",
                                         "\"a\nb\"",
                                         "\"\x1f\"",
                                         "// c\n1",
                                         "\xef\xbb\xbf{}",
                                         "\xc2\xa0{}",
                                         "\v1",
                                         "\f1",
                                         "\xff",
                                         "{\"a\"\xff:1}",
                                         "{\"a\":1 \"b\":2}",
                                         "[\"a\":1]" };

    all_are(false, texts, sizeof texts / sizeof *texts);
    assert_false(json_valid((struct slice){ NULL, 0 }));
    assert_false(json_valid(SLICE("1\0")));
    assert_false(json_valid(SLICE("\"a\0b\"")));
}

TEST(every_proper_prefix_of_a_row_is_invalid)
{
    static const char row[] =
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"t\":\"\\u00e9"
        "\\\\\"},-1.5e3,true,false,null]},\"uuid\":\"x\"}";

    assert_true(valid(row));
    for (size_t n = 0; n < sizeof row - 1; n++)
        assert_false(json_valid((struct slice){ row, n }));
}

/* Depths on both sides of every size of the nesting stack, and far beyond any call stack. */
TEST(depth_has_no_limit)
{
    for (size_t depth = 500; depth < 3000000; depth = depth < 1100 ? depth + 1 : depth * 3) {
        struct buf text = { 0 };

        assert_int_equal(buf_reserve(&text, depth * 10), ERR_OK);
        for (size_t i = 0; i < depth; i++)
            assert_int_equal(buf_add(&text, i % 3 ? SLICE("{\"k\":") : SLICE("[")), ERR_OK);
        assert_int_equal(buf_add(&text, SLICE("1")), ERR_OK);
        for (size_t i = depth; i-- > 0;)
            assert_int_equal(buf_add_byte(&text, i % 3 ? '}' : ']'), ERR_OK);

        assert_true(json_valid(buf_slice(&text)));
        text.n--;
        assert_false(json_valid(buf_slice(&text)));
        text.p[text.n++] = '}';
        assert_false(json_valid(buf_slice(&text)));
        buf_fini(&text);
    }
}

TEST(a_control_character_anywhere_in_a_long_string_is_found)
{
    char text[400];

    memset(text, 'x', sizeof text);
    text[0] = text[sizeof text - 1] = '"';
    assert_true(json_valid((struct slice){ text, sizeof text }));
    for (size_t i = 1; i < sizeof text - 1; i++) {
        text[i] = '\n';
        assert_false(json_valid((struct slice){ text, sizeof text }));
        text[i] = 'x';
    }
}

/* Wherever the blocks that a string is read in end. */
TEST(an_escape_anywhere_in_a_long_string_is_read)
{
    static const struct {
        const char *escape;
        bool valid;
    } escapes[] = { { "\\n", true },      { "\\\"", true },     { "\\\\", true },
                    { "\\u00e9", true },  { "\\\\\\/", true },  { "\\uD83D\\ude80", true },
                    { "\\x", false },     { "\\u00g0", false }, { "\\u12\"", false },
                    { "\\\\\\q", false }, { "\"", false },      { "\\u\\n12", false } };

    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        for (size_t at = 0; at < 150; at++) {
            char text[400];
            int n = snprintf(
                text, sizeof text, "\"%.*s%s%.*s\"", (int)at,
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                escapes[i].escape, (int)(150 - at) / 2 + 7,
                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");

            if (json_valid_plain((struct slice){ text, (size_t)n }) != escapes[i].valid)
                fail_msg("%s at %zu is %s", escapes[i].escape, at,
                         escapes[i].valid ? "refused" : "accepted");
            assert_false(json_valid_plain((struct slice){ text, (size_t)n - 1 }));
            memcpy(text + n - 6, "\\u00e\"", 6); /* the quote is where a digit belongs */
            assert_false(json_valid_plain((struct slice){ text, (size_t)n }));
        }
    }
}
