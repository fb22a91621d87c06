#include "tests/test.h"

#include "lite/base/arena.h"
#include "store/systems/entire/entire.h"

#define ROW(id, out)                                                                               \
    "{\"type\":\"assistant\",\"message\":{\"id\":\"" id "\",\"usage\":{\"input_tokens\":10,"       \
    "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":30,\"output_tokens\":" out     \
    "}}}\n"

static void assert_tokens(const struct entire_tokens *t, int64_t in, int64_t made, int64_t read,
                          int64_t out, int64_t calls)
{
    assert_true(t->known);
    assert_int_equal(t->n[TOKEN_INPUT], in);
    assert_int_equal(t->n[TOKEN_CACHE_CREATION], made);
    assert_int_equal(t->n[TOKEN_CACHE_READ], read);
    assert_int_equal(t->n[TOKEN_OUTPUT], out);
    assert_int_equal(t->n[TOKEN_CALLS], calls);
}

/* Streaming writes the same answer several times, with more and more output. */
TEST(a_streamed_answer_counts_once)
{
    struct entire_tokens t;

    assert_int_equal(
        entire_tokens_count(SLICE(ROW("m1", "1") ROW("m1", "40") ROW("m1", "7") ROW("m2", "5")), 0,
                            &t, NULL),
        ERR_OK);

    assert_tokens(&t, 20, 40, 60, 45, 2);
}

TEST(lines_before_the_checkpoint_do_not_count)
{
    struct entire_tokens t;

    assert_int_equal(
        entire_tokens_count(SLICE(ROW("m1", "1") "not json\n" ROW("m2", "5")), 1, &t, NULL),
        ERR_OK);

    assert_tokens(&t, 10, 20, 30, 5, 1);
}

TEST(rows_without_usage_leave_it_unknown)
{
    struct entire_tokens t;

    assert_int_equal(entire_tokens_count(SLICE("{\"type\":\"user\"}\n{\"type\":\"assistant\","
                                               "\"message\":{\"id\":\"m\"}}\n[1]\n"),
                                         0, &t, NULL),
                     ERR_OK);

    assert_false(t.known);
}

TEST(a_value_is_read_and_written)
{
    struct arena a = { 0 };
    struct entire_tokens t = entire_tokens_read(
        SLICE("{\"input_tokens\":1,\"output_tokens\":4,\"subagent_tokens\":{\"input_tokens\":9}}"));
    struct slice json = entire_tokens_json(&t, &a);

    assert_tokens(&t, 1, 0, 0, 4, 0);
    assert_true(slice_eq(
        json, SLICE("{\"input_tokens\":1,\"cache_creation_tokens\":0,\"cache_read_tokens\":0,"
                    "\"output_tokens\":4,\"api_call_count\":0,"
                    "\"subagent_tokens\":{\"input_tokens\":9}}")));
    arena_fini(&a);
}

/* A pushed document may claim any number. */
TEST(a_sum_does_not_overflow)
{
    struct entire_tokens sum = { .subagents = SLICE("") },
                         t = entire_tokens_read(SLICE("{\"input_tokens\":9223372036854775807}"));

    entire_tokens_add(&sum, &t);
    entire_tokens_add(&sum, &t);

    assert_true(sum.n[TOKEN_INPUT] == INT64_MAX);
}

TEST(settings_have_names)
{
    assert_int_equal(entire_tokens_setting(SLICE("cache-read-tokens")), TOKEN_CACHE_READ);
    assert_int_equal(entire_tokens_setting(SLICE("api-calls")), TOKEN_CALLS);
    assert_int_equal(entire_tokens_setting(SLICE("tokens")), TOKEN_COUNT);
}
