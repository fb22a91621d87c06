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

static void a_stop_byte_is_found_at_every_offset_of_every_length(void **state)
{
    (void)state;
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

static void no_other_byte_is_a_stop_byte(void **state)
{
    (void)state;

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

static void the_first_of_several_stop_bytes_is_found(void **state)
{
    (void)state;

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

static void escaped_quotes_do_not_end_a_string(void **state)
{
    (void)state;
    static const char plain[] = "abc\" tail", quote[] = "a\\\"b\"", slash[] = "a\\\\\" \"";

    assert_ptr_equal(string_end(plain), plain + 3);
    assert_ptr_equal(string_end(quote), quote + 4);
    assert_ptr_equal(string_end(slash), slash + 3);
}

static void raw_control_characters_are_skipped(void **state)
{
    (void)state;
    static const char text[] = "a\tb\n\"";

    assert_ptr_equal(string_end(text), text + 4);
}

/* Escapes and ends at every offset of a block and of the remainder after the last one. */
static void string_ends_agree_with_a_plain_scan(void **state)
{
    (void)state;
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

static void a_truncated_string_has_no_end(void **state)
{
    (void)state;

    assert_null(string_end(""));
    assert_null(string_end("abc"));
    assert_null(string_end("abc\\"));
    assert_null(string_end("abc\\\""));
    assert_null(string_end("\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_byte_is_found_at_every_offset_of_every_length),
        cmocka_unit_test(no_other_byte_is_a_stop_byte),
        cmocka_unit_test(the_first_of_several_stop_bytes_is_found),
        cmocka_unit_test(escaped_quotes_do_not_end_a_string),
        cmocka_unit_test(raw_control_characters_are_skipped),
        cmocka_unit_test(string_ends_agree_with_a_plain_scan),
        cmocka_unit_test(a_truncated_string_has_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
