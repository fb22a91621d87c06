#include "tests/test.h"

#include "lite/json/json.h"
#include "lite/scan/key_scan.h"
#include "support/generated_rows.h"

/* Counts how often a key was decoded; the linker puts this in front of the real function. */
static unsigned decoded;

bool __real_json_string_is(struct slice quoted, const char *text);
bool __wrap_json_string_is(struct slice quoted, const char *text);

bool __wrap_json_string_is(struct slice quoted, const char *text)
{
    decoded++;
    return __real_json_string_is(quoted, text);
}

static struct key_scan_names the_names(void)
{
    struct key_scan_names names = { 0 };

    key_scan_names_add(&names, "type");
    key_scan_names_add(&names, "uuid");
    key_scan_names_add(&names, "message");
    return names;
}

/* Scans in chunks of `step` bytes; the whole line is in memory for looking back. */
static struct key_scan scan(key_scan_feed_fn *feed, const struct key_scan_names *names,
                            struct slice line, size_t step)
{
    struct key_scan_source source = { .held = line };
    struct key_scan s;

    key_scan_begin(&s, names, &source);
    for (size_t at = 0; at < line.n && !s.broken; at += step)
        feed(&s, at, (struct slice){ line.p + at, line.n - at < step ? line.n - at : step });
    s.source = NULL;
    return s;
}

static void expect_same(const struct key_scan *a, const struct key_scan *b)
{
    assert_int_equal(a->ended && !a->broken, b->ended && !b->broken);
    if (!a->ended || a->broken)
        return;
    assert_int_equal(a->found, b->found);
    for (unsigned i = 0; i < a->names->n; i++)
        if (a->found >> i & 1)
            assert_int_equal(a->value[i], b->value[i]);
}

TEST(the_last_of_each_top_level_key_is_found)
{
    struct key_scan_names names = the_names();
    struct slice line = SLICE("\"type\":1,\"a\":{\"uuid\":2,\"b\":[\"type\"]},\"type\" :3}");
    struct key_scan s = scan(key_scan_best(), &names, line, line.n);

    assert_true(s.ended && !s.broken);
    assert_int_equal(s.found, 1);
    assert_int_equal(s.value[0], line.n - 2);
}

/* Nearly all keys of a row are unwanted ones: decoding each of them would cost more than all the rest. */
TEST(only_a_key_with_a_backslash_is_decoded)
{
    struct key_scan_names names = the_names();
    struct slice plain = SLICE("\"type\":1,\"typf\":2,\"a\":{\"\\u0075uid\":3}}");
    struct slice escaped = SLICE("\"t\\u0079pe\":1}");

    decoded = 0;
    struct key_scan s = scan(key_scan_best(), &names, plain, plain.n);

    assert_int_equal(s.found, 1);
    assert_int_equal(decoded, 0);
    s = scan(key_scan_best(), &names, escaped, escaped.n);
    assert_int_equal(s.found, 1);
    assert_int_not_equal(decoded, 0);
}

/* The scan engines of this machine, terminated by NULL. */
struct scans {
    key_scan_feed_fn *feed[4];
};

static struct scans all_scans(void)
{
    key_scan_feed_fn *best = key_scan_best();

#if defined(__x86_64__)
    if (best == key_scan_feed_avx512)
        return (struct scans){ { best, key_scan_feed_avx2, key_scan_feed_portable } };
#endif
    if (best != key_scan_feed_portable)
        return (struct scans){ { best, key_scan_feed_portable } };
    return (struct scans){ { key_scan_feed_portable } };
}

static void expect_type_behind(key_scan_feed_fn *feed, struct slice line)
{
    struct key_scan_names names = the_names();
    struct key_scan s = scan(feed, &names, line, line.n);

    assert_true(s.ended && !s.broken);
    assert_int_equal(s.found, 1);
    assert_int_equal(s.value[0], line.n - 2);
}

TEST(runs_of_backslashes_of_every_length_and_place)
{
    struct scans scans = all_scans();

    for (unsigned before = 0; before < 70; before++) {
        for (unsigned run = 0; run < 140; run++) {
            char text[320];
            size_t n = 0;

            n += (size_t)sprintf(text, "\"a\":\"%*s", (int)before, "");
            memset(text + n, '\\', run);
            n += run;
            n += (size_t)sprintf(text + n, run % 2 ? "\" \",\"type\":1}" : "\",\"type\":1}");
            for (size_t k = 0; scans.feed[k]; k++)
                expect_type_behind(scans.feed[k], (struct slice){ text, n });
        }
    }
}

TEST(engines_and_chunks_agree_on_valid_and_damaged_rows)
{
    static const size_t steps[] = { 1, 3, 63, 64, 65, 128 };
    struct key_scan_names names = the_names();
    struct scans scans = all_scans();
    struct rng dice = { 6364136223846793005u };

    for (int round = 0; round < 5000; round++) {
        struct buf b = { 0 };
        struct slice line;
        struct key_scan hop;

        rows_line(&b, &dice);
        line = buf_slice(&b);
        hop = scan(key_scan_feed_portable, &names, line, line.n + 1);
        for (size_t k = 0; scans.feed[k]; k++) {
            struct key_scan whole = scan(scans.feed[k], &names, line, line.n + 1);

            expect_same(&hop, &whole);
            for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
                struct key_scan pieces = scan(scans.feed[k], &names, line, steps[i]);

                expect_same(&hop, &pieces);
            }
        }
        buf_fini(&b);
    }
}

static bool exact(key_validate_fn *fn, const struct key_scan_names *names, struct slice line,
                  struct key_scan *s)
{
    struct key_scan_source source = { .held = line };

    key_scan_begin(s, names, &source);
    fn(s, 0, line);
    s->source = NULL;
    return s->ended && !s->broken;
}

/* Checks that all engines of this machine agree whether the line is exact. */
static bool all_exact(const struct key_scan_names *names, struct slice line, struct key_scan *s)
{
    key_validate_fn *const engines[] = {
        key_validate_best(),
#if defined(__x86_64__)
        key_scan_best() != key_scan_feed_portable ? key_validate_avx2 : NULL
#endif
    };
    bool valid = exact(key_validate_portable, names, line, s);

    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct key_scan other;

        if (!engines[i])
            continue;
        assert_int_equal(exact(engines[i], names, line, &other), valid);
        expect_same(s, &other);
    }
    return valid;
}

/* Puts the text into a line at every offset of a block. */
static void expect_exact(const char *text, bool valid)
{
    struct key_scan_names names = the_names();

    for (int before = 0; before < 70; before++) {
        char line[512];
        int n =
            snprintf(line, sizeof line, "{\"a\":\"%*s\",\"b\":%s,\"uuid\":7}", before, "", text);
        struct slice object = { line, (size_t)n };
        struct key_scan s;

        assert_int_equal(all_exact(&names, object, &s), valid);
    }
}

TEST(exact_lines_are_those_json_parse_accepts)
{
    static const char *const good[] = {
        "0",
        "-0",
        "10",
        "1.5",
        "-1e5",
        "1E+07",
        "true",
        "false ",
        "null\t",
        "\"\"",
        "\"\\u00aF\"",
        "\"\\ud800\"",
        "[]",
        "{}",
        "[[],{}]",
        "[1,\"a\",{}]",
        "{\"a\":{\"b\":[1]}}",
        " [ 1 , 2 ] ",
        "\"\\\\\"",
        "\"\\\"\"",
        "\"\x7f\"",
        "\"\xff\"",
        "\"\\b\\f\\n\\r\\t\\/\"",
        "\"[{,:\"",
    };
    static const char *const bad[] = {
        "",           "01",          "-",
        "1.",         ".5",          "1e",
        "+1",         "tru",         "truex",
        "true\"\"",   "nul",         "NaN",
        "\"\\x\"",    "\"\\u00g0\"", "\"\\u12\"",
        "\"\x01\"",   "\"\x1f\"",    "[1,]",
        "[,1]",       "[1 2]",       "{,}",
        "{\"a\"}",    "{\"a\":}",    "{\"a\":1,}",
        "{1:2}",      "[1}",         "{\"a\":1]",
        "\"a\"\"b\"", "1 2",         "\"a\" x",
        "\\",         "\x01",        "\xef\xbb\xbf",
        "1,2",        "[:]",         "1\x0c",
        "'a'",        "{\"a\" 1}",   "{\"a\"::1}",
        "\"\\ \"",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_exact(good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_exact(bad[i], false);
}

TEST(every_byte_after_a_backslash_is_judged)
{
    for (int c = 1; c < 256; c++) {
        char letter[16], digit[16];

        snprintf(letter, sizeof letter, "\"\\%c0000\"", c);
        snprintf(digit, sizeof digit, "\"\\u0%c00\"", c);
        expect_exact(letter, strchr("\"\\/bfnrtu", c) != NULL);
        expect_exact(digit, strchr("0123456789abcdefABCDEF", c) != NULL);
    }
}

TEST(exact_engines_agree_at_every_depth)
{
    struct key_scan_names names = the_names();

    for (size_t depth = 60; depth < 70; depth++) {
        struct buf b = { 0 };
        struct key_scan s;

        rows_put(&b, "{\"type\":");
        for (size_t i = 0; i < depth; i++)
            rows_put(&b, i % 2 ? "{\"a\":" : "[");
        rows_put(&b, "1");
        for (size_t i = depth; i > 0; i--)
            rows_put(&b, i % 2 ? "]" : "}");
        rows_put(&b, ",\"uuid\":2}");
        assert_true(all_exact(&names, buf_slice(&b), &s));
        assert_int_equal(s.found, 3);
        buf_fini(&b);
    }
}

TEST(exact_engines_agree_on_valid_and_damaged_rows)
{
    struct key_scan_names names = the_names();
    struct rng dice = { 1442695040888963407u };

    for (int round = 0; round < 20000; round++) {
        struct buf b = { 0 };
        struct key_scan s;

        rows_line(&b, &dice);
        if (b.n && *b.p == '{')
            all_exact(&names, buf_slice(&b), &s);
        buf_fini(&b);
    }
}
