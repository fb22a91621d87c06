#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/radix.h"

/* Keys that differ in the bits of `mask` only. */
static void fill(uint64_t *key, size_t n, uint64_t mask)
{
    uint64_t seed = 42;

    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        key[i] = (seed >> 7 | seed << 57) & mask;
    }
}

/* Sorts items by as many bits of their keys as fit; items equal in these bits keep their order. */
static void sorts(size_t n, uint64_t mask)
{
    uint64_t *key = calloc(n + 1, sizeof *key), *item = calloc(n + 1, sizeof *item);
    uint64_t *spare = calloc(n + 1, sizeof *spare), values = 0;
    unsigned bits = radix_value_bits(n);

    assert_non_null(key);
    assert_non_null(item);
    assert_non_null(spare);
    fill(key, n, mask);
    for (size_t i = 0; i < n; i++)
        item[i] = i;
    unsigned lost = radix_pack(item, key, n, bits);

    radix_sort(item, spare, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t value = item[i] & (((uint64_t)1 << bits) - 1);

        values += value;
        assert_true(value < n);
        if (i == 0)
            continue;
        uint64_t before = item[i - 1] & (((uint64_t)1 << bits) - 1);

        if (item[i - 1] >> bits == item[i] >> bits) {
            assert_true(before < value);
            assert_true(
                (key[before] > key[value] ? key[before] - key[value] : key[value] - key[before]) >>
                    lost ==
                0);
        } else {
            assert_true(key[before] < key[value]);
        }
    }
    assert_int_equal(values, n ? (uint64_t)n * (n - 1) / 2 : 0);
    free(key);
    free(item);
    free(spare);
}

TEST(few_and_many_items_are_sorted_stably)
{
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

TEST(keys_lose_only_the_bits_that_do_not_fit)
{
    const uint64_t near[] = { UINT64_MAX - 3, UINT64_MAX, UINT64_MAX - 1 };
    const uint64_t far[] = { 0, UINT64_MAX, UINT64_MAX - 1 };
    uint64_t item[] = { 0, 1, 2 }, again[] = { 0, 1, 2 };

    assert_int_equal(radix_value_bits(3), 2);
    assert_int_equal(radix_pack(item, near, 3, 2), 0);
    assert_int_equal(item[0], 0 << 2 | 0);
    assert_int_equal(item[1], 3 << 2 | 1);
    assert_int_equal(item[2], 2 << 2 | 2);
    assert_int_equal(radix_pack(again, far, 3, 2), 2);
    assert_int_equal(again[1] >> 2, again[2] >> 2);
    assert_true(again[0] >> 2 < again[1] >> 2);
}
