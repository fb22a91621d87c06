#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lite/index_pass.h"
#include "lite/json.h"
#include "lite/time.h"
#include "support/rows.h"
#include "support/scratch.h"

enum { USER = 1, ASSISTANT = 2 };
enum { META = 1, SIDE = 2 };

static const char *const kinds[] = { "user", "assistant", NULL };
static const char *const marks[] = { "isMeta", "side", NULL };
static const struct index_keys keys = { .type = "type",
                                        .id = "uuid",
                                        .parent = "parentUuid",
                                        .time = "timestamp",
                                        .kinds = kinds,
                                        .marks = marks };

#define ID "11111111-2222-4333-8444-555555555555"

static struct index index_text(struct slice text, unsigned flags)
{
    struct index ix = { 0 };

    assert_int_equal(index_bytes(&ix, text, 0, &keys, flags, NULL), ERR_OK);
    return ix;
}

/* The only line of an index, whatever is asked of it. */
static struct index_line only_line(struct slice text, unsigned flags)
{
    struct index ix = index_text(text, flags);
    struct index_line line;

    assert_int_equal(ix.n, 1);
    line = ix.line[0];
    index_fini(&ix);
    return line;
}

#define ONLY(text) only_line(SLICE(text), 0)

static void expect_same(const struct index *a, const struct index *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->torn_tail, b->torn_tail);
    assert_int_equal(a->broken, b->broken);
    for (size_t i = 0; i < a->n; i++)
        assert_memory_equal(&a->line[i], &b->line[i], sizeof *a->line);
}

static struct file open_file(const char *path)
{
    struct file f;

    assert_int_equal(file_open(AT_FDCWD, path, 0, &f, NULL), ERR_OK);
    return f;
}

/* The file's index with buffers of these sizes, added to ix. */
static void index_file(struct index *ix, const char *path, unsigned flags, size_t read, size_t hold)
{
    struct file f = open_file(path);
    struct index_pass pass = { ix, &f, &keys, flags, NULL, read, hold };

    assert_int_equal(index_pass_run(&pass, NULL), ERR_OK);
    file_close(&f);
}

static void a_row_says_type_id_parent_time_and_marks(void **state)
{
    (void)state;
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

static void what_is_not_there_is_none(void **state)
{
    (void)state;
    struct index_line line = ONLY("{\"uuid\":7,\"parentUuid\":null,\"type\":\"other\"}\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, 0);
    assert_true(id128_none(line.id) && id128_none(line.parent));
    assert_true(line.time_ms == TIME_NONE);
    assert_int_equal(line.marks, 0);
}

static void of_duplicate_keys_the_last_one_counts(void **state)
{
    (void)state;
    struct index_line line =
        ONLY("{\"type\":\"user\",\"isMeta\":true,\"uuid\":\"a\",\"type\":\"assistant\","
             "\"uuid\":5,\"isMeta\":null,\"side\":{}}\n");

    assert_int_equal(line.kind, ASSISTANT);
    assert_true(id128_none(line.id));
    assert_int_equal(line.marks, SIDE);
}

static void escapes_in_keys_and_texts_are_decoded(void **state)
{
    (void)state;
    struct index_line line = ONLY("{\"\\u0074ype\":\"\\u0075ser\",\"uu\\u0069d\":\"a\\n\","
                                  "\"not\\\"type\":1,\"isMeta \\\\\":true}\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    assert_true(id128_eq(line.id, id128_of(SLICE("a\n"))));
    assert_int_equal(line.marks, 0);
}

static void blanks_and_a_carriage_return_do_not_matter(void **state)
{
    (void)state;
    struct index_line line = ONLY(" \t{ \"type\"   :\t \"user\" , \"side\" : 1 } \r\n");

    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    assert_int_equal(line.marks, SIDE);
    assert_int_equal(line.length, sizeof(" \t{ \"type\"   :\t \"user\" , \"side\" : 1 } \r") - 1);
}

static void damaged_lines_are_told_and_the_next_ones_are_whole(void **state)
{
    (void)state;
    const struct {
        struct slice text;
        enum index_state state;
    } cases[] = {
        { SLICE("{\"type\":\"us"), LINE_BROKEN },                /* cut inside a string */
        { SLICE("{\"type\":\"us\\"), LINE_BROKEN },              /* cut behind a backslash */
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
        { SLICE("\0\0{}"), LINE_OK }, /* a record behind a run of NULs */
        { SLICE("{}\0"), LINE_BROKEN },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = { 0 };
        struct index ix;

        assert_int_equal(buf_add(&b, cases[i].text), ERR_OK);
        assert_int_equal(buf_add(&b, SLICE("\n{\"type\":\"user\"}\n")), ERR_OK);
        ix = index_text(buf_slice(&b), 0);
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

static void only_exact_asks_whether_values_are_json(void **state)
{
    (void)state;
    struct slice line = SLICE("{\"type\":\"user\",\"a\":nonsense}\n");

    assert_int_equal(only_line(line, 0).state, LINE_OK);
    assert_int_equal(only_line(line, INDEX_EXACT).state, LINE_BROKEN);
    assert_int_equal(only_line(line, INDEX_EXACT).kind, 0);
}

static void a_hundred_thousand_levels_are_one_line(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct index_line line;

    rows_put(&b, "{\"a\":");
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "[");
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "]");
    rows_put(&b, ",\"type\":\"user\"}\n");

    line = only_line(buf_slice(&b), INDEX_EXACT);
    assert_int_equal(line.state, LINE_OK);
    assert_int_equal(line.kind, USER);
    buf_fini(&b);
}

static void a_text_beyond_the_limit_is_none(void **state)
{
    (void)state;
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

static void a_torn_tail_is_looked_at_again_when_the_file_grew(void **state)
{
    const char *path = scratch_write(state, "a", SLICE("{\"type\":\"user\"}\n{\"type\":\"assi"));
    struct index ix = { 0 }, whole = { 0 };

    index_file(&ix, path, 0, 64, 64);
    assert_true(ix.torn_tail);
    assert_int_equal(ix.n, 2);
    assert_int_equal(ix.broken, 1);
    assert_int_equal(ix.end, 16);

    scratch_append(state, "a", SLICE("stant\"}\n"));
    index_file(&ix, path, 0, 64, 64);
    index_file(&whole, path, 0, 4096, 4096);
    assert_int_equal(ix.line[1].kind, ASSISTANT);
    assert_int_equal(ix.broken, 0);
    expect_same(&ix, &whole);

    index_file(&ix, path, 0, 64, 64); /* nothing new: nothing changes */
    expect_same(&ix, &whole);
    index_fini(&ix);
    index_fini(&whole);
}

static void a_file_cut_behind_the_index_is_stale(void **state)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{}\n"));
    struct index ix = { 0 };
    struct file f;

    index_file(&ix, path, 0, 64, 64);
    assert_int_equal(truncate(path, 3), 0);
    f = open_file(path);
    assert_int_equal(index_build(&ix, &f, &keys, 0, NULL, NULL), ERR_STALE);
    file_close(&f);
    index_fini(&ix);
}

static void a_file_cut_during_the_pass_is_indexed_as_far_as_it_reads(void **state)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{\"type\":\"user\"}\n{}\n"));
    struct index ix = { 0 };
    struct file f = open_file(path); /* remembers the size it had */

    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(index_build(&ix, &f, &keys, 0, NULL, NULL), ERR_OK);

    assert_int_equal(ix.n, 2);
    assert_int_equal(ix.end, 3);
    assert_true(ix.torn_tail);
    assert_int_equal(ix.line[1].length, 5);
    file_close(&f);
    index_fini(&ix);
}

static void a_stop_ends_the_pass_and_a_later_one_goes_on(void **state)
{
    const char *path = scratch_write(state, "a", SLICE("{}\n{}\n"));
    struct index ix = { 0 };
    struct file f = open_file(path);
    atomic_bool stop = true;
    struct err e;

    assert_int_equal(index_build(&ix, &f, &keys, 0, &stop, &e), ERR_CANCELLED);
    stop = false;
    assert_int_equal(index_build(&ix, &f, &keys, 0, &stop, NULL), ERR_OK);
    assert_int_equal(ix.n, 2);
    file_close(&f);
    index_fini(&ix);
}

static void an_empty_file_has_no_lines(void **state)
{
    struct index ix = { 0 };

    index_file(&ix, scratch_write(state, "a", SLICE("")), 0, 64, 64);
    assert_int_equal(ix.n, 0);
    assert_false(ix.torn_tail);
    index_fini(&ix);
}

/* What the words of the header say, through the JSON reader. */
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
    if (text.n == 0 || *text.p != '{' || !json_valid(text))
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

static void the_index_is_what_a_naive_reader_finds(void **state)
{
    (void)state;
    struct dice dice = { 88172645463325252u };

    for (int round = 0; round < 3000; round++) {
        struct buf b = { 0 };
        struct index ix;
        struct slice rest, text;
        bool torn;
        size_t i = 0;

        for (unsigned n = dice_roll(&dice, 6); n > 0; n--) {
            rows_line(&b, &dice);
            rows_put(&b, n > 1 || dice_roll(&dice, 4) ? "\n" : "");
        }
        ix = index_text(buf_slice(&b), INDEX_EXACT);
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

static void buffers_of_any_size_give_the_same_index(void **state)
{
    static const struct {
        size_t read, hold;
    } sizes[] = { { 1, 1 }, { 7, 7 }, { 16, 64 }, { 63, 63 }, { 64, 128 }, { 100, 1000 } };
    struct dice dice = { 362436069u };

    for (int round = 0; round < 60; round++) {
        unsigned flags = dice_roll(&dice, 2) ? INDEX_EXACT : 0;
        struct buf b = { 0 };
        struct index whole;
        const char *path;

        for (int n = 0; n < 20; n++) {
            rows_line(&b, &dice);
            rows_put(&b, n < 19 || dice_roll(&dice, 2) ? "\n" : "");
        }
        path = scratch_write(state, "a", buf_slice(&b));
        whole = index_text(buf_slice(&b), flags);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct index ix = { 0 };

            index_file(&ix, path, flags, sizes[i].read, sizes[i].hold);
            expect_same(&ix, &whole);
            index_fini(&ix);
        }
        index_fini(&whole);
        buf_fini(&b);
    }
}

static void growth_byte_by_byte_gives_the_same_index(void **state)
{
    struct dice dice = { 521288629u };
    struct index ix = { 0 }, whole;
    struct buf b = { 0 };
    const char *path = scratch_write(state, "a", SLICE(""));

    for (int n = 0; n < 6; n++) {
        rows_line(&b, &dice);
        rows_put(&b, "\n");
    }
    for (size_t i = 0; i < b.n; i++) {
        scratch_append(state, "a", (struct slice){ b.p + i, 1 });
        index_file(&ix, path, 0, 64, 64);
        whole = index_text((struct slice){ b.p, i + 1 }, 0);
        expect_same(&ix, &whole);
        index_fini(&whole);
    }
    index_fini(&ix);
    buf_fini(&b);
}

/* A line of 40 MB through a buffer of 8 KB: its keys at either end are found. */
static void a_huge_line_is_indexed_without_holding_it(void **state)
{
    const char *path = scratch_path(state, "a");
    FILE *f = fopen(path, "wb");
    static char text[1 << 20];
    struct index ix = { 0 };

    assert_non_null(f);
    memset(text, 'x', sizeof text);
    fputs("{\"uuid\":\"" ID "\",\"a\":\"", f);
    for (int i = 0; i < 40; i++)
        assert_int_equal(fwrite(text, 1, sizeof text, f), sizeof text);
    fputs("\\\"\",\"type\":\"user\"}\n{\"type\":\"assistant\"}\n", f);
    assert_int_equal(fclose(f), 0);

    index_file(&ix, path, 0, 4096, 8192);
    assert_int_equal(ix.n, 2);
    assert_int_equal(ix.line[0].state, LINE_OK);
    assert_int_equal(ix.line[0].kind, USER);
    assert_true(id128_eq(ix.line[0].id, id128_of(SLICE(ID))));
    assert_true(ix.line[0].length > 40u << 20);
    assert_int_equal(ix.line[1].kind, ASSISTANT);
    index_fini(&ix);
}

static void the_cost_of_a_line_is_bounded(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct index ix;

    assert_true(sizeof(struct index_line) <= 56);
    for (int i = 0; i < 100000; i++)
        rows_put(&b, "{}\n");
    ix = index_text(buf_slice(&b), 0);
    assert_true(ix.cap * sizeof *ix.line <= ix.n * 64);
    index_fini(&ix);
    buf_fini(&b);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_says_type_id_parent_time_and_marks),
        cmocka_unit_test(what_is_not_there_is_none),
        cmocka_unit_test(of_duplicate_keys_the_last_one_counts),
        cmocka_unit_test(escapes_in_keys_and_texts_are_decoded),
        cmocka_unit_test(blanks_and_a_carriage_return_do_not_matter),
        cmocka_unit_test(damaged_lines_are_told_and_the_next_ones_are_whole),
        cmocka_unit_test(only_exact_asks_whether_values_are_json),
        cmocka_unit_test(a_hundred_thousand_levels_are_one_line),
        cmocka_unit_test(a_text_beyond_the_limit_is_none),
        IN_SCRATCH(a_torn_tail_is_looked_at_again_when_the_file_grew),
        IN_SCRATCH(a_file_cut_behind_the_index_is_stale),
        IN_SCRATCH(a_file_cut_during_the_pass_is_indexed_as_far_as_it_reads),
        IN_SCRATCH(a_stop_ends_the_pass_and_a_later_one_goes_on),
        IN_SCRATCH(an_empty_file_has_no_lines),
        cmocka_unit_test(the_index_is_what_a_naive_reader_finds),
        IN_SCRATCH(buffers_of_any_size_give_the_same_index),
        IN_SCRATCH(growth_byte_by_byte_gives_the_same_index),
        IN_SCRATCH(a_huge_line_is_indexed_without_holding_it),
        cmocka_unit_test(the_cost_of_a_line_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
