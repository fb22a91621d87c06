#include "tests/test.h"

#include "lite/base/id.h"

static struct id128 numbered(uint64_t n)
{
    return (struct id128){ 1, n };
}

TEST(ids_are_numbered_in_insertion_order)
{
    struct idset set = { 0 };
    uint32_t number;

    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(idset_add(&set, numbered(i * 7), &number), ERR_OK);
        assert_int_equal(number, i);
    }
    assert_int_equal(idset_add(&set, numbered(7), &number), ERR_OK);

    assert_int_equal(number, 1);
    assert_int_equal(set.n, 10000);
    assert_int_equal(idset_find(&set, numbered(7 * 9999)), 9999);
    assert_false(idset_has(&set, numbered(3)));
    idset_fini(&set);
}

TEST(an_empty_set_contains_nothing)
{
    struct idset set = { 0 };

    assert_false(idset_has(&set, numbered(0)));
    assert_int_equal(idset_find(&set, numbered(0)), IDSET_NONE);
    idset_fini(&set);
}
