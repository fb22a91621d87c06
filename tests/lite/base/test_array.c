#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "tests/support/faults/memory.h"

struct numbers {
    uint64_t *number;
    size_t n, cap;
};

static void items_survive_growth(void **state)
{
    struct numbers a = { NULL, 0, 0 };

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(array_reserve(a.number, a.cap, a.n + 1));
        a.number[a.n++] = i;
    }
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(a.number[i], i);
    assert_int_equal(a.cap, 1024);
    free(a.number);
}

static void reserving_available_capacity_moves_nothing(void **state)
{
    struct numbers a = { NULL, 0, 0 };

    (void)state;
    assert_true(array_reserve(a.number, a.cap, 40));
    assert_int_equal(a.cap, 40);

    uint64_t *before = a.number;

    assert_true(array_reserve(a.number, a.cap, 40));
    assert_ptr_equal(a.number, before);
    free(a.number);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    struct numbers a = { NULL, 0, 0 };

    (void)state;
    assert_true(array_reserve(a.number, a.cap, 1));

    struct numbers before = a;

    memory_fail_at(1);
    assert_false(array_reserve(a.number, a.cap, a.cap + 1));
    memory_fail_at(0);
    assert_memory_equal(&a, &before, sizeof a);
    assert_false(array_reserve(a.number, a.cap, SIZE_MAX));
    assert_memory_equal(&a, &before, sizeof a);
    free(a.number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_survive_growth),
        cmocka_unit_test(reserving_available_capacity_moves_nothing),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
