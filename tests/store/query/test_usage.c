#include "store/query/usage.h"

#include "tests/test.h"

static struct usage_record record(const char *answer, const char *request, int64_t input)
{
    struct usage_record u = usage_record_empty();

    u.answer = slice_of(answer);
    u.request = slice_of(request);
    u.model = SLICE("opus");
    u.input = input;
    u.time_ms = input;
    return u;
}

static void add(struct usage_set *set, uint32_t session, struct usage_record u)
{
    assert_int_equal(usage_set_add(set, session, &u), ERR_OK);
}

static int64_t input_of(const struct usage_set *set)
{
    int64_t sum = 0;

    for (size_t i = 0; i < set->n; i++)
        sum += set->answer[i].tokens[USAGE_INPUT];
    return sum;
}

TEST(of_the_rows_of_an_answer_the_largest_counts)
{
    struct usage_set set = { .n = 0 };

    add(&set, 0, record("a", "r", 5));
    add(&set, 0, record("a", "r", 9));
    add(&set, 0, record("a", "r", 7));
    add(&set, 0, record("a", "r2", 100));

    assert_int_equal(set.n, 2);
    assert_int_equal(input_of(&set), 109);
    usage_set_fini(&set);
}

TEST(answers_without_an_id_count_each)
{
    struct usage_set set = { .n = 0 };

    add(&set, 0, record("", "r", 5));
    add(&set, 0, record("", "r", 5));

    assert_int_equal(input_of(&set), 10);
    usage_set_fini(&set);
}

TEST(a_copy_counts_where_it_was_copied_from)
{
    struct usage_record copy = record("a", "r", 5);
    struct usage_set set = { .n = 0 };

    copy.copied = true;
    add(&set, 0, copy);
    add(&set, 1, record("a", "r", 5));
    add(&set, 2, copy);

    assert_int_equal(set.n, 1);
    assert_int_equal(set.answer[0].session, 1);
    usage_set_fini(&set);
}

/* The side question is read first: the rows of the answer are still one. */
TEST(a_side_questions_copy_does_not_count_beside_the_answer)
{
    struct usage_record aside = record("a", "other", 50);
    struct usage_set set = { .n = 0 };

    aside.aside = true;
    add(&set, 0, aside);
    add(&set, 0, record("a", "r", 5));
    add(&set, 0, record("a", "r", 5));
    add(&set, 0, aside);

    assert_int_equal(set.n, 1);
    assert_int_equal(input_of(&set), 5);
    usage_set_fini(&set);
}

TEST(ids_do_not_run_into_each_other)
{
    struct usage_set set = { .n = 0 };

    add(&set, 0, record("ab", "c", 1));
    add(&set, 0, record("a", "bc", 1));
    add(&set, 0, record("abc", "", 1));

    assert_int_equal(set.n, 3);
    usage_set_fini(&set);
}

TEST(sums_stay_at_the_largest_number)
{
    struct usage_sum sum = { .answers = 0 };
    const struct usage_answer a = { .time_ms = 7,
                                    .tokens = { INT64_MAX - 1, 4, 0, 0 },
                                    .cost = (double)NAN };

    usage_sum_add(&sum, &a, (double)NAN);
    usage_sum_add(&sum, &a, 0.5);

    assert_true(sum.tokens[USAGE_INPUT] == INT64_MAX && usage_sum_total(&sum) == INT64_MAX);
    assert_int_equal(sum.tokens[USAGE_OUTPUT], 8);
    assert_int_equal(sum.answers, 2);
    assert_int_equal(sum.unpriced, 1);
    assert_true(sum.has_cost && sum.cost == 0.5 && sum.first_ms == 7);
}

TEST(a_sum_knows_the_first_and_the_last_time)
{
    struct usage_sum sum = { .answers = 0 };
    struct usage_answer a = { .time_ms = TIME_NONE, .tokens = { 1 }, .cost = 1 };

    assert_true(usage_sum_is_empty(&sum));
    usage_sum_add(&sum, &a, 1);
    assert_true(sum.first_ms == TIME_NONE && !usage_sum_is_empty(&sum));
    a.time_ms = -5;
    usage_sum_add(&sum, &a, 1);
    a.time_ms = 9;
    usage_sum_add(&sum, &a, 1);

    assert_int_equal(sum.first_ms, -5);
    assert_int_equal(sum.last_ms, 9);
}
