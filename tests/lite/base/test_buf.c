#include "tests/test.h"

#include "lite/base/buf.h"

TEST(bytes_are_kept_in_order_across_growth)
{
    struct buf b = { 0 };

    for (int i = 0; i < 1000; i++)
        assert_int_equal(buf_add_byte(&b, (char)(i & 0x7f)), ERR_OK);

    assert_int_equal(b.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(b.p[i], i & 0x7f);
    buf_fini(&b);
    assert_null(b.p);
}

TEST(an_impossible_size_is_refused_and_changes_nothing)
{
    struct buf b = { 0 };

    assert_int_equal(buf_add(&b, SLICE("abc")), ERR_OK);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), ERR_NOMEM);
    assert_true(slice_eq(buf_slice(&b), SLICE("abc")));
    buf_fini(&b);
}

TEST(formatted_text_is_appended)
{
    struct buf b = { 0 };

    assert_int_equal(buf_addf(&b, "%d of %s", 3, "412"), ERR_OK);
    assert_string_equal(buf_cstr(&b), "3 of 412");
    buf_fini(&b);
}
