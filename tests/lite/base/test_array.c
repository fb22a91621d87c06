#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "tests/support/faults/memory.h"

struct numbers {
    uint64_t *number;
    size_t n, cap;
};

TEST(items_survive_growth)
{
    struct numbers a = { NULL, 0, 0 };

    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(array_reserve(a.number, a.cap, a.n + 1));
        a.number[a.n++] = i;
    }
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(a.number[i], i);
    assert_int_equal(a.cap, 1024);
    free(a.number);
}

TEST(reserving_available_capacity_moves_nothing)
{
    struct numbers a = { NULL, 0, 0 };

    assert_true(array_reserve(a.number, a.cap, 40));
    assert_int_equal(a.cap, 40);

    uint64_t *before = a.number;

    assert_true(array_reserve(a.number, a.cap, 40));
    assert_ptr_equal(a.number, before);
    free(a.number);
}

TEST(a_failed_allocation_changes_nothing)
{
    struct numbers a = { NULL, 0, 0 };

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
