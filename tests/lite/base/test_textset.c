#include "tests/test.h"

#include "lite/base/slice.h"

enum { MANY = 40000 };

TEST(texts_are_numbered_in_insertion_order)
{
    struct slice_set set = { .n = 0 };
    uint32_t number;

    assert_int_equal(slice_set_find(&set, SLICE("one")), SLICE_SET_NONE);
    assert_int_equal(slice_set_add(&set, SLICE("one"), &number), ERR_OK);
    assert_int_equal(number, 0);
    assert_int_equal(slice_set_add(&set, SLICE("two"), &number), ERR_OK);
    assert_int_equal(number, 1);
    assert_int_equal(slice_set_add(&set, SLICE("one"), &number), ERR_OK);
    assert_int_equal(number, 0);
    assert_int_equal(set.n, 2);
    assert_int_equal(slice_set_find(&set, SLICE("two")), 1);
    assert_int_equal(slice_set_find(&set, SLICE("tw")), SLICE_SET_NONE);
    slice_set_fini(&set);
    assert_int_equal(slice_set_find(&set, SLICE("two")), SLICE_SET_NONE);
}

TEST(texts_are_any_bytes)
{
    struct slice_set set = { .n = 0 };
    uint32_t a, b, none;

    assert_int_equal(slice_set_add(&set, ((struct slice){ "x\0a", 3 }), &a), ERR_OK);
    assert_int_equal(slice_set_add(&set, ((struct slice){ "x\0b", 3 }), &b), ERR_OK);
    assert_int_equal(slice_set_add(&set, ((struct slice){ NULL, 0 }), &none), ERR_OK);
    assert_int_not_equal(a, b);
    assert_int_equal(slice_set_find(&set, SLICE("")), none);
    assert_int_equal(slice_set_find(&set, ((struct slice){ "x\0b", 3 })), b);
    slice_set_fini(&set);
}

/* Every slot that is probed costs the same; few are probed to find any text. */
TEST(lookups_take_few_probes)
{
    static char text[MANY][24];
    struct slice_set set = { .n = 0 };
    uint32_t number;
    size_t longest = 0, run = 0;

    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "/src/dir%d/file%d.c", i % 100, i);
        assert_int_equal(slice_set_add(&set, slice_of(text[i]), &number), ERR_OK);
        assert_int_equal(number, i);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(slice_set_find(&set, slice_of(text[i])), i);
    for (size_t i = 0; i < set.slots; i++) {
        run = set.slot[i] == SLICE_SET_NONE ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 200);
    slice_set_fini(&set);
}
