#include "tests/test.h"

#include <stdlib.h>

#include "lite/json/scan.h"

enum { LONGEST = 300 };

/* The bytes end where the allocation ends, so that a sanitizer sees a read past them. */
static char *text_of(size_t n, char fill)
{
    char *p = malloc(n ? n : 1);

    assert_non_null(p);
    memset(p, fill, n);
    return p;
}

TEST(a_stop_byte_is_found_at_every_offset_of_every_length)
{
    static const char stops[] = { '"', '\\', '\n', '\0', 0x1f };

    for (size_t n = 1; n <= LONGEST; n += n < 80 ? 1 : 13) {
        char *p = text_of(n, 'x');

        for (size_t i = 0; i < n; i++) {
            p[i] = stops[i % sizeof stops];
            assert_ptr_equal(scan_string(p, p + n), p + i);
            p[i] = 'x';
        }
        free(p);
    }
}

TEST(no_other_byte_is_a_stop_byte)
{
    for (int c = 0x20; c < 256; c++) {
        if (c == '"' || c == '\\')
            continue;
        for (size_t n = 0; n <= LONGEST; n += 37) {
            char *p = text_of(n, (char)c);

            assert_ptr_equal(scan_string(p, p + n), p + n);
            free(p);
        }
    }
}

TEST(the_first_of_several_stop_bytes_is_found)
{
    for (size_t n = 2; n <= LONGEST; n += 7) {
        char *p = text_of(n, '"');

        for (size_t i = 0; i < n; i++) {
            assert_ptr_equal(scan_string(p, p + n), p + i);
            p[i] = 'x';
        }
        free(p);
    }
}

static const char *string_end(const char *text)
{
    return scan_string_end(text, text + strlen(text));
}

TEST(escaped_quotes_do_not_end_a_string)
{
    static const char plain[] = "abc\" tail", quote[] = "a\\\"b\"", slash[] = "a\\\\\" \"";

    assert_ptr_equal(string_end(plain), plain + 3);
    assert_ptr_equal(string_end(quote), quote + 4);
    assert_ptr_equal(string_end(slash), slash + 3);
}

TEST(raw_control_characters_are_skipped)
{
    static const char text[] = "a\tb\n\"";

    assert_ptr_equal(string_end(text), text + 4);
}

/* Escapes and ends at every offset of a block and of the remainder after the last one. */
TEST(string_ends_agree_with_a_plain_scan)
{
    uint64_t seed = 1;

    for (int round = 0; round < 20000; round++) {
        static const char bytes[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\\\\\\n\"";
        char text[260];
        size_t n = 0;

        for (; n < (size_t)round % sizeof text; n++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[n] = bytes[(seed >> 33) % (sizeof bytes - 1)];
        }
        const char *want = text, *end = text + n;

        while (want < end && *want != '"')
            want += *want == '\\' ? 2 : 1;
        assert_ptr_equal(scan_string_end(text, end), want < end ? want : NULL);
    }
}

TEST(a_truncated_string_has_no_end)
{
    assert_null(string_end(""));
    assert_null(string_end("abc"));
    assert_null(string_end("abc\\"));
    assert_null(string_end("abc\\\""));
    assert_null(string_end("\n"));
}

/* Counts the brackets outside of strings byte by byte. */
static const char *plain_nested_end(const char *p, const char *end)
{
    size_t depth = 0;
    bool in_string = false;

    for (; p < end; p++) {
        if (in_string && *p == '\\')
            p++;
        else if (*p == '"')
            in_string = !in_string;
        else if (!in_string && (*p == '{' || *p == '['))
            depth++;
        else if (!in_string && (*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

/* Dense JSON, long strings with escapes, and backslashes outside of strings; the bytes end where the allocation ends. */
TEST(nested_ends_agree_with_a_plain_count)
{
    static const char *const kinds[] = { "{[}]\"\"::,,1 ",
                                         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\\\{}\"\n",
                                         "xxxxxxxxxxxxxxxxxxxxx{{{}\"\"", "{}\"\"\\\\x" };
    uint64_t seed = 1;
    int ended = 0;

    for (int round = 0; round < 40000; round++) {
        size_t n = 1 + (size_t)round % 400, kind = 0, left = 0;
        char *text = text_of(n, '[');

        for (size_t i = 1; i < n; i++, left--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            if (!left) {
                kind = (seed >> 33) % (round % 4 ? 3 : 4);
                left = 1 + (seed >> 40) % 120;
            }
            text[i] = kinds[kind][(seed >> 33) % strlen(kinds[kind])];
        }
        const char *want = plain_nested_end(text, text + n);

        assert_ptr_equal(scan_nested_end(text, text + n), want);
        ended += want != NULL;
        free(text);
    }
    assert_in_range(ended, 4000, 36000);
}

TEST(a_nested_value_ends_at_every_offset)
{
    for (size_t n = 2; n <= LONGEST; n++) {
        char *text = text_of(n, 'x');

        text[0] = '{';
        text[n - 1] = '}';
        assert_ptr_equal(scan_nested_end(text, text + n), text + n);
        assert_null(scan_nested_end(text, text + n - 1));
        if (n > 4) { /* the same as one string, whose last byte is an escaped quote */
            text[1] = text[n - 2] = '"';
            assert_ptr_equal(scan_nested_end(text, text + n), text + n);
            text[n - 3] = '\\';
            assert_null(scan_nested_end(text, text + n));
        }
        free(text);
    }
}
