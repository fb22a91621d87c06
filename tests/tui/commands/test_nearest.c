#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/commands/nearest.h"

static void distances_count_single_mistakes(void **state)
{
    (void)state;
    assert_int_equal(option_distance("list", "list"), 0);
    assert_int_equal(option_distance("lsit", "list"), 1);
    assert_int_equal(option_distance("lst", "list"), 1);
    assert_int_equal(option_distance("listt", "list"), 1);
    assert_int_equal(option_distance("mesages", "messages"), 1);
    assert_int_equal(option_distance("", "info"), 4);
    assert_int_equal(option_distance("info", ""), 4);
}

static void a_word_longer_than_any_is_cut(void **state)
{
    char word[200];

    (void)state;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(option_distance(word, "list"), OPTION_WORD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_single_mistakes),
        cmocka_unit_test(a_word_longer_than_any_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
