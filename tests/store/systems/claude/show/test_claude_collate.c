#include "tests/test.h"

#include "store/systems/claude/chain/row_facts.h"

static int compare(const char *a, const char *b)
{
    struct slice x = { a, strlen(a) }, y = { b, strlen(b) };

    assert_int_equal(claude_collate(x, y), -claude_collate(y, x));
    return claude_collate(x, y);
}

static void timestamps_of_one_form_are_sorted_by_time(void **state)
{
    (void)state;

    assert_int_equal(compare("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:02.000Z"), -1);
    assert_int_equal(compare("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:01.000Z"), 0);
    assert_int_equal(compare("", "2026"), -1);
}

/* The results of localeCompare of node 20 in an English locale. */
static void punctuation_sorts_before_digits_and_digits_before_letters(void **state)
{
    (void)state;

    assert_int_equal(compare("10:00:00", "10:00.5"), -1);
    assert_int_equal(compare("-", "+"), -1);
    assert_int_equal(compare("9", "a"), -1);
    assert_int_equal(compare("~", "0"), -1);
}

static void case_only_breaks_ties(void **state)
{
    (void)state;

    assert_int_equal(compare("a", "A"), -1);
    assert_int_equal(compare("aB", "Ab"), -1);
    assert_int_equal(compare("A", "b"), -1);
}

static void control_characters_are_ignored(void **state)
{
    (void)state;

    assert_int_equal(compare("a\001b", "ab"), 0);
    assert_int_equal(compare("\001", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_of_one_form_are_sorted_by_time),
        cmocka_unit_test(punctuation_sorts_before_digits_and_digits_before_letters),
        cmocka_unit_test(case_only_breaks_ties),
        cmocka_unit_test(control_characters_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
