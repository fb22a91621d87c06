#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "lite/radix.h"

/* Keys that differ in the bits of `mask` only; values tell where an item stood. */
static void fill(struct radix_item *item, size_t n, uint64_t mask)
{
    uint64_t seed = 42;

    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        item[i] = (struct radix_item){ .key = (seed >> 7) & mask, .value = (uint32_t)i };
    }
}

static void sorts(size_t n, uint64_t mask)
{
    struct radix_item *item = calloc(n + 1, sizeof *item), *spare = calloc(n + 1, sizeof *spare);
    uint64_t values = 0;

    assert_non_null(item);
    assert_non_null(spare);
    fill(item, n, mask);
    struct radix_item *before = calloc(n + 1, sizeof *before);

    assert_non_null(before);
    for (size_t i = 0; i < n; i++)
        before[i] = item[i];
    radix_sort(item, spare, n);
    for (size_t i = 0; i < n; i++) {
        values += item[i].value;
        assert_true(item[i].key == before[item[i].value].key);
        if (i == 0)
            continue;
        assert_true(item[i - 1].key <= item[i].key);
        if (item[i - 1].key == item[i].key) /* stable */
            assert_true(item[i - 1].value < item[i].value);
    }
    assert_int_equal(values, n ? (uint64_t)n * (n - 1) / 2 : 0);
    free(before);
    free(item);
    free(spare);
}

static void few_and_many_are_sorted_and_equal_ones_stay(void **state)
{
    (void)state;
    static const size_t counts[] = { 0, 1, 2, 47, 48, 49, 300, 511, 512, 5000 };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        sorts(counts[i], UINT64_MAX);
        sorts(counts[i], 0x7);
        sorts(counts[i], 0xff00000000000000u);
        sorts(counts[i], 0x00ff00ff00000fffu);
        sorts(counts[i], 0x5f1f1f5f1f5f1f1fu); /* letters and blanks */
        sorts(counts[i], 0x8000000000000001u);
        sorts(counts[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_and_many_are_sorted_and_equal_ones_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
