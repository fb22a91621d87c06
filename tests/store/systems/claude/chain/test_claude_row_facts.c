#include "tests/test.h"

#include "store/systems/claude/chain/row_facts.h"

static int compare(const char *a, const char *b)
{
    struct slice x = slice_of(a), y = slice_of(b);

    assert_int_equal(claude_collate(x, y), -claude_collate(y, x));
    return claude_collate(x, y);
}

TEST(timestamps_of_one_form_are_sorted_by_time)
{
    assert_int_equal(compare("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:02.000Z"), -1);
    assert_int_equal(compare("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:01.000Z"), 0);
    assert_int_equal(compare("", "2026"), -1);
}

/* The results of localeCompare of node 20 in an English locale. */
TEST(punctuation_sorts_before_digits_and_digits_before_letters)
{
    assert_int_equal(compare("10:00:00", "10:00.5"), -1);
    assert_int_equal(compare("-", "+"), -1);
    assert_int_equal(compare("9", "a"), -1);
    assert_int_equal(compare("~", "0"), -1);
}

TEST(case_only_breaks_ties)
{
    assert_int_equal(compare("a", "A"), -1);
    assert_int_equal(compare("aB", "Ab"), -1);
    assert_int_equal(compare("A", "b"), -1);
}

TEST(control_characters_are_ignored)
{
    assert_int_equal(compare("a\001b", "ab"), 0);
    assert_int_equal(compare("\001", ""), 0);
}

/* ---- rows ---- */

TEST(only_a_string_of_the_list_is_in_it)
{
    static const char *const names[] = { "plan", "auto", NULL };

    assert_true(claude_string_in(SLICE("\"auto\""), names));
    assert_true(claude_string_in(SLICE("\"pl\\u0061n\""), names));
    assert_false(claude_string_in(SLICE("\"automatic\""), names));
    assert_false(claude_string_in(SLICE("auto"), names));
    assert_false(claude_string_in((struct slice){ NULL, 0 }, names));
}

TEST(a_block_is_an_object_of_its_type)
{
    struct arena a = { 0 };
    struct id128 id;

    assert_true(claude_block_is(SLICE("{\"type\":\"text\"}"), "text"));
    assert_false(claude_block_is(SLICE("{\"type\":\"image\"}"), "text"));
    assert_false(claude_block_is(SLICE("\"text\""), "text"));
    assert_true(
        claude_block_id(SLICE("{\"type\":\"tool_use\",\"id\":\"t1\"}"), "tool_use", "id", &a, &id));
    assert_true(id128_eq(id, id128_of(SLICE("t1"))));
    assert_false(
        claude_block_id(SLICE("{\"type\":\"tool_use\",\"id\":1}"), "tool_use", "id", &a, &id));
    arena_fini(&a);
}

TEST(ids_are_ordered_by_both_halves)
{
    const struct id128 low = { 1, 9 }, high = { 2, 0 }, higher = { 2, 1 };

    assert_true(claude_id_compare(low, high) < 0);
    assert_true(claude_id_compare(higher, high) > 0);
    assert_int_equal(claude_id_compare(high, high), 0);
}

TEST(values_stay_in_the_order_in_which_they_came)
{
    struct arena a = { 0 };
    struct claude_values values = { 0 };
    static const char digits[] = "0123456789";

    for (size_t i = 0; i < 10; i++)
        assert_int_equal(claude_values_add(&values, &a, (struct slice){ digits + i, 1 }), ERR_OK);

    assert_int_equal(values.n, 10);
    for (size_t i = 0; i < 10; i++)
        assert_true(values.p[i].p == digits + i);
    arena_fini(&a);
}

TEST(members_are_copied_byte_by_byte_and_left_out_if_absent)
{
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    claude_write_value(&j, "empty", (struct slice){ NULL, 0 });
    claude_write_value(&j, "n", SLICE("1.50"));
    claude_copy_member(&j, SLICE("{\"a\":{\"x\": \"\\u0041\"}}"), "a", "b");
    claude_copy_member(&j, SLICE("{\"a\":1}"), "c", "c");
    claude_end_row(&j);

    assert_int_equal(j.rc, ERR_OK);
    assert_string_equal(buf_cstr(&out), "{\"n\":1.50,\"b\":{\"x\": \"\\u0041\"}}\n");
    buf_fini(&out);
}
