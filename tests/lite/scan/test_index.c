#include "tests/test.h"

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/scan/index_internal.h"
#include "support/generated_rows.h"
#include "support/index_fixture.h"

/* The only line of an index, for any set of wanted fields. */
static struct index_line only_line(struct slice text, unsigned flags)
{
    struct index ix = indexed(text, flags);
    struct index_line line;

    assert_int_equal(ix.n, 1);
    line = ix.line[0];
    index_fini(&ix);
    return line;
}

#define ONLY(text) only_line(SLICE(text), 0)

TEST(a_row_yields_type_id_parent_time_and_flags)
{
    struct index_line line =
        ONLY("{\"parentUuid\":\"p\",\"isMeta\":true,\"side\":false,\"type\":\"assistant\","
             "\"message\":{\"type\":\"x\",\"uuid\":\"nested\"},\"uuid\":\"" ID "\","
             "\"timestamp\":\"1970-01-01T00:00:01.500Z\"}\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, ASSISTANT);
    assert_true(id128_eq(line.id, id128_of(SLICE(ID))));
    assert_true(id128_eq(line.parent, id128_of(SLICE("p"))));
    assert_int_equal(line.time_ms, 1500);
    assert_int_equal(line.marks, META);
}

TEST(the_type_may_be_the_first_member)
{
    static const char *const roles[] = { "user", "tool", NULL };
    static const struct index_keys inner = { .type = "role", .kinds = roles, .inner = "message" };
    const struct {
        struct slice line;
        unsigned kind;
    } cases[] = {
        { SLICE("{\"message\":{\"role\":\"tool\",\"content\":\"\"}}\n"), 2 },
        { SLICE("{\"role\":\"user\",\"message\":{\"role\":\"tool\"}}\n"), 2 },
        { SLICE("{\"role\":\"user\"}\n"), 1 },
        { SLICE("{\"role\":\"user\",\"message\":{\"a\":1,\"role\":\"tool\"}}\n"), 0 },
        { SLICE("{\"role\":\"user\",\"message\":null}\n"), 0 },
        { SLICE("{\"message\":{\"role\":\"user\"},\"message\":{}}\n"), 0 },
        { SLICE("{\"message\":{\"role\":7}}\n"), 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct index ix = { 0 };

        assert_int_equal(index_bytes(&ix, cases[i].line, 0, &inner, INDEX_VALIDATE, NULL), ERR_OK);
        assert_int_equal(ix.n, 1);
        assert_int_equal(ix.line[0].state, LINE_OK);
        assert_int_equal(ix.line[0].kind, cases[i].kind);
        index_fini(&ix);
    }
}

TEST(missing_fields_are_empty)
{
    struct index_line line = ONLY("{\"uuid\":7,\"parentUuid\":null,\"type\":\"other\"}\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, 0);
    assert_true(id128_none(line.id) && id128_none(line.parent));
    assert_true(line.time_ms == TIME_NONE);
    assert_int_equal(line.marks, 0);
}

TEST(a_short_time_is_not_extended_to_a_later_quote)
{
    struct index_line line = ONLY("{\"timestamp\":\"1970-01-02\",\"abcdefghijk\":\"\"}\n");

    assert_int_equal(line.time_ms, 86400000);
}

TEST(the_last_of_duplicate_keys_counts)
{
    struct index_line line =
        ONLY("{\"type\":\"user\",\"isMeta\":true,\"uuid\":\"a\",\"type\":\"assistant\","
             "\"uuid\":5,\"isMeta\":null,\"side\":{}}\n");

    assert_int_equal(line.kind, ASSISTANT);
    assert_true(id128_none(line.id));
    assert_int_equal(line.marks, SIDE);
}

TEST(escapes_in_keys_and_texts_are_decoded)
{
    struct index_line line = ONLY("{\"\\u0074ype\":\"\\u0075ser\",\"uu\\u0069d\":\"a\\n\","
                                  "\"not\\\"type\":1,\"isMeta \\\\\":true}\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    assert_true(id128_eq(line.id, id128_of(SLICE("a\n"))));
    assert_int_equal(line.marks, 0);
}

TEST(blanks_and_a_carriage_return_do_not_matter)
{
    struct index_line line = ONLY(" \t{ \"type\"   :\t \"user\" , \"side\" : 1 } \r\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    assert_int_equal(line.marks, SIDE);
    assert_int_equal(line.length, sizeof(" \t{ \"type\"   :\t \"user\" , \"side\" : 1 } \r") - 1);
}

TEST(damaged_lines_are_flagged_and_later_lines_are_read)
{
    const struct {
        struct slice text;
        enum index_state state;
    } cases[] = {
        { SLICE("{\"type\":\"us"), LINE_BROKEN },                /* cut inside a string */
        { SLICE("{\"type\":\"us\\"), LINE_BROKEN },              /* cut after a backslash */
        { SLICE("{\"a\":[1,{}"), LINE_BROKEN },                  /* cut between brackets */
        { SLICE("{\"a\":1}{\"b\":2}"), LINE_BROKEN },            /* glued */
        { SLICE("{\"a\":\"x{\"type\":\"user\"}"), LINE_BROKEN }, /* spliced */
        { SLICE("{\"a\":1}x"), LINE_BROKEN },
        { SLICE("{\"a\":1}}"), LINE_BROKEN },
        { SLICE("{\"a\"\\:1}"), LINE_BROKEN },
        { SLICE("\xef\xbb\xbf{}"), LINE_BROKEN }, /* a BOM is no blank */
        { SLICE("[{}]"), LINE_BROKEN },
        { SLICE("7"), LINE_BROKEN },
        { SLICE(""), LINE_BLANK },
        { SLICE(" \r"), LINE_BLANK },
        { SLICE("\0\0\0\0"), LINE_BLANK },
        { SLICE("\0\0{}"), LINE_OK }, /* a record after a run of NULs */
        { SLICE("{}\0"), LINE_BROKEN },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = { 0 };
        struct index ix;

        assert_int_equal(buf_add(&b, cases[i].text), ERR_OK);
        assert_int_equal(buf_add(&b, SLICE("\n{\"type\":\"user\"}\n")), ERR_OK);
        ix = indexed(buf_slice(&b), 0);
        assert_int_equal(ix.n, 2);
        assert_int_equal(ix.line[0].state, cases[i].state);
        assert_int_equal(ix.line[0].length, cases[i].text.n);
        assert_int_equal(ix.line[1].state, LINE_OK);
        assert_int_equal(ix.line[1].kind, USER);
        assert_int_equal(ix.broken, cases[i].state == LINE_BROKEN);
        index_fini(&ix);
        buf_fini(&b);
    }
}

TEST(only_the_exact_pass_validates_values)
{
    struct slice line = SLICE("{\"type\":\"user\",\"a\":nonsense}\n");

    assert_int_equal(only_line(line, 0).state, LINE_OK);
    assert_int_equal(only_line(line, INDEX_VALIDATE).state, LINE_BROKEN);
    assert_int_equal(only_line(line, INDEX_VALIDATE).kind, 0);
}

TEST(a_hundred_thousand_levels_are_one_line)
{
    struct buf b = { 0 };
    struct index_line line;

    rows_put(&b, "{\"a\":");
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "[");
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "]");
    rows_put(&b, ",\"type\":\"user\"}\n");

    line = only_line(buf_slice(&b), INDEX_VALIDATE);
    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    buf_fini(&b);
}

TEST(a_text_beyond_the_limit_is_ignored)
{
    for (size_t n = INDEX_TEXT_MAX; n <= INDEX_TEXT_MAX + 1; n++) {
        struct buf b = { 0 };

        rows_put(&b, "{\"uuid\":\"");
        while (b.n < n + 9)
            rows_put(&b, "x");
        rows_put(&b, "\"}\n");
        assert_int_equal(id128_none(only_line(buf_slice(&b), 0).id), n > INDEX_TEXT_MAX);
        buf_fini(&b);
    }
}

/* A naive reader of the fields, as the header defines them, through the JSON reader. */
static bool counts(struct slice v)
{
    return json_type(v) != JSON_NULL && json_type(v) != JSON_FALSE && !slice_eq(v, SLICE("\"\"")) &&
           !slice_eq(v, SLICE("0"));
}

static struct index_line naive_line(struct slice text, int64_t offset)
{
    struct index_line line = {
        .offset = offset, .length = (uint32_t)text.n, .time_ms = TIME_NONE, .state = LINE_BROKEN
    };
    struct arena a = { 0 };
    struct slice v, t;

    while (text.n && (unsigned char)*text.p <= ' ')
        text = (struct slice){ text.p + 1, text.n - 1 };
    if (text.n == 0)
        line.state = LINE_BLANK;
    if (text.n == 0 || *text.p != '{' || !json_valid_plain(text))
        return line;
    line.state = LINE_OK;
    if (json_get(text, "type", &v) && json_type(v) == JSON_STRING)
        line.kind = json_string_is(v, "user")        ? USER
                    : json_string_is(v, "assistant") ? ASSISTANT
                                                     : 0;
    if (json_get_text(text, "uuid", &a, &t))
        line.id = id128_of(t);
    if (json_get_text(text, "parentUuid", &a, &t))
        line.parent = id128_of(t);
    if (!json_get_text(text, "timestamp", &a, &t) || !time_parse(t, &line.time_ms))
        line.time_ms = TIME_NONE;
    for (unsigned i = 0; marks[i]; i++)
        if (json_get(text, marks[i], &v) && counts(v))
            line.marks |= (uint16_t)(1u << i);
    arena_fini(&a);
    return line;
}

TEST(the_index_agrees_with_a_naive_reader)
{
    struct rng rng = { 88172645463325252u };

    for (int round = 0; round < 3000; round++) {
        struct buf b = { 0 };
        struct index ix;
        struct slice rest, text;
        bool torn;
        size_t i = 0;

        for (unsigned n = rng_roll(&rng, 6); n > 0; n--) {
            rows_line(&b, &rng);
            rows_put(&b, n > 1 || rng_roll(&rng, 4) ? "\n" : "");
        }
        ix = indexed(buf_slice(&b), INDEX_VALIDATE);
        rest = buf_slice(&b);
        while (slice_line(&rest, &text, &torn)) {
            struct index_line line = naive_line(text, text.p - b.p);

            assert_true(i < ix.n);
            assert_memory_equal(&ix.line[i], &line, sizeof line);
            i++;
        }
        assert_int_equal(i, ix.n);
        index_fini(&ix);
        buf_fini(&b);
    }
}

TEST(the_cost_of_a_line_is_bounded)
{
    struct buf b = { 0 };
    struct index ix;

    assert_true(sizeof(struct index_line) <= 56);
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "{}\n");
    ix = indexed(buf_slice(&b), 0);
    assert_true(ix.cap * sizeof *ix.line <= ix.n * 64);
    index_fini(&ix);
    buf_fini(&b);
}

/* Thirty megabytes of newlines once took three gigabytes of memory. */
TEST(empty_lines_are_indexed_only_up_to_a_limit)
{
    struct buf many = { 0 };
    struct index ix = { 0 };
    struct err e = { 0 };
    size_t lines = INDEX_LINES_FREE + INDEX_LINES_FREE / 32;

    assert_int_equal(buf_reserve(&many, lines), ERR_OK);
    memset(many.p, '\n', lines);
    assert_int_equal(index_bytes(&ix, (struct slice){ many.p, INDEX_LINES_FREE }, 0, &keys, 0, &e),
                     ERR_OK);
    assert_int_equal(ix.n, INDEX_LINES_FREE);
    index_fini(&ix);
    assert_int_equal(index_bytes(&ix, (struct slice){ many.p, lines }, 0, &keys, 0, &e),
                     ERR_UNSUPPORTED);
    assert_true(ix.n <= INDEX_LINES_FREE + INDEX_LINES_FREE / 32);
    index_fini(&ix);
    buf_fini(&many);
    assert_int_equal(index_check_count(100 * (size_t)INDEX_LINES_FREE,
                                       100 * (int64_t)INDEX_LINES_FREE * INDEX_LINE_BYTES, &e),
                     ERR_OK);
}

/* A line of one gigabyte once took three of memory; no client can hold it. */
TEST(a_line_longer_than_any_string_is_broken)
{
    struct index_reader r;
    struct key_scan s = { .ended = true };

    index_reader_init(&r, &keys, 0);
    assert_int_equal(index_line_found(&r, &s, 7, INDEX_LINE_MAX).state, LINE_OK);
    struct index_line line = index_line_found(&r, &s, 7, (uint64_t)INDEX_LINE_MAX + 1);

    assert_int_equal(line.state, LINE_BROKEN);
    assert_int_equal(line.length, UINT32_MAX);
}
