#include "store/systems/common/usage_rows.h"

#include "lite/base/buf.h"
#include "tests/support/folder.h"
#include "tests/test.h"

#define ANSWER                                                                                     \
    "{\"type\":\"assistant\",\"uuid\":\"u1\",\"requestId\":\"r1\","                                \
    "\"timestamp\":\"1970-01-01T00:00:05Z\",\"message\":{\"id\":\"m1\",\"model\":\"opus\","        \
    "\"usage\":{\"input_tokens\":3,\"output_tokens\":4,\"cache_read_input_tokens\":5,"             \
    "\"cache_creation_input_tokens\":6}}}"

TEST(an_answer_has_its_ids_its_time_and_its_counts)
{
    struct arena a = { 0 };
    struct usage_record u;

    assert_true(usage_of_row(SLICE(ANSWER), &a, &u));

    assert_true(slice_eq(u.answer, SLICE("m1")) && slice_eq(u.request, SLICE("r1")));
    assert_true(slice_eq(u.message, SLICE("u1")) && slice_eq(u.model, SLICE("opus")));
    assert_int_equal(u.time_ms, 5000);
    assert_int_equal(u.input, 3);
    assert_int_equal(u.output, 4);
    assert_int_equal(u.cache_read, 5);
    assert_int_equal(u.cache_write, 6);
    assert_true(isnan(u.cost) && !u.copied && !u.aside);
    arena_fini(&a);
}

TEST(a_sub_agents_answer_in_a_row_of_progress_counts)
{
    struct arena a = { 0 };
    struct usage_record u;

    assert_true(usage_of_row(
        SLICE("{\"type\":\"progress\",\"uuid\":\"p\",\"data\":{\"message\":" ANSWER "}}"), &a, &u));

    assert_int_equal(u.output, 4);
    assert_int_equal(u.message.n, 0);
    arena_fini(&a);
}

TEST(copies_sub_agents_and_recorded_costs_are_noticed)
{
    struct arena a = { 0 };
    struct usage_record u;

    assert_true(usage_of_row(
        SLICE("\0 {\"isSidechain\":true,\"forkedFrom\":{\"sessionId\":\"s\"},\"costUSD\":0.25,"
              "\"message\":{\"usage\":{}}}"),
        &a, &u));

    assert_true(u.copied && u.aside && u.cost == 0.25 && u.time_ms == TIME_NONE);
    arena_fini(&a);
}

TEST(what_is_no_count_is_none)
{
    static const char *const rows[] = {
        "",
        "{",
        "[\"usage\"]",
        "{\"usage\":{\"input_tokens\":1}}",
        "{\"message\":{\"usage\":7}}",
        "{\"message\":\"\\\"usage\\\"\"}",
        "{\"message\":{\"usage\":{\"input_tokens\":1}}",
        "{\"data\":{\"message\":{\"message\":{\"usage\":[]}}}}",
    };
    struct arena a = { 0 };
    struct usage_record u;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(usage_of_row(slice_of(rows[i]), &a, &u));
    assert_true(usage_of_row(
        SLICE("{\"costUSD\":-1,\"timestamp\":\"soon\",\"message\":{\"id\":7,\"usage\":{"
              "\"input_tokens\":-4,\"output_tokens\":1.5,"
              "\"cache_read_input_tokens\":\"9\","
              "\"cache_creation_input_tokens\":99999999999999999999}}}"),
        &a, &u));
    assert_int_equal(u.input + u.output + u.cache_read + u.cache_write, 0);
    assert_true(isnan(u.cost) && u.time_ms == TIME_NONE && u.answer.n == 0);
    arena_fini(&a);
}

/* ---- the rows of a file ---- */

struct seen {
    char text[256];
    size_t rows, longest;
};

static enum err_code see_row(struct slice row, void *arg, struct err *e)
{
    struct seen *s = arg;

    (void)e;
    s->rows++;
    s->longest = row.n > s->longest ? row.n : s->longest;
    if (row.n < 20) {
        strncat(s->text, row.p, row.n);
        strcat(s->text, "|");
    }
    return ERR_OK;
}

TEST(only_rows_with_the_mark_are_handed_over)
{
    struct seen s = { .rows = 0 };

    assert_int_equal(usage_rows_of_bytes(SLICE("no\nmark 1\n\nmark mark\nno\nend mark"), "mark",
                                         see_row, &s, NULL),
                     ERR_OK);

    assert_string_equal(s.text, "mark 1|mark mark|end mark|");

    /* A damaged document may have no rows at all, and their bytes are then at no address. */
    assert_int_equal(usage_rows_of_bytes((struct slice){ NULL, 0 }, "mark", see_row, &s, NULL),
                     ERR_OK);
    assert_int_equal(s.rows, 3);
}

/* Rows that are longer than what is read at once, and rows at the seams. */
TEST(rows_of_a_file_are_those_of_its_bytes)
{
    enum { N = 1500, LONG = 700 * 1024 };
    struct folder f;
    struct seen s = { .rows = 0 };
    struct buf bytes = { 0 };
    char path[4096];

    folder_make(&f);
    for (int i = 0; i < N; i++)
        assert_int_equal(
            buf_addf(&bytes, "%*s%s\n", i == 702 ? LONG : i, "", i % 3 ? "no" : "mark"), ERR_OK);
    assert_int_equal(buf_addf(&bytes, "the mark"), ERR_OK);
    folder_put(&f, "a.jsonl", buf_slice(&bytes));

    assert_int_equal(
        usage_rows_of_file(folder_path(&f, "a.jsonl", path), 0, "mark", NULL, see_row, &s, NULL),
        ERR_OK);

    assert_int_equal(s.rows, N / 3 + 1);
    assert_int_equal(s.longest, LONG + 4);
    buf_fini(&bytes);
    folder_remove(&f);
}

TEST(a_raised_flag_ends_the_reading)
{
    const atomic_bool cancel = true;
    struct folder f;
    struct seen s = { .rows = 0 };
    char path[4096];

    folder_make(&f);
    folder_put(&f, "a.jsonl", SLICE("mark\n"));

    assert_int_equal(
        usage_rows_of_file(folder_path(&f, "a.jsonl", path), 0, "mark", &cancel, see_row, &s, NULL),
        ERR_CANCELLED);
    assert_int_equal(s.rows, 0);
    folder_remove(&f);
}
