#include "tests/test.h"

#include "lite/base/buf.h"

static void bytes_are_kept_in_order_across_growth(void **state)
{
    (void)state;
    struct buf b = { 0 };

    for (int i = 0; i < 1000; i++)
        assert_int_equal(buf_add_byte(&b, (char)(i & 0x7f)), ERR_OK);

    assert_int_equal(b.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(b.p[i], i & 0x7f);
    buf_fini(&b);
    assert_null(b.p);
}

static void an_impossible_size_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    struct buf b = { 0 };

    assert_int_equal(buf_add(&b, SLICE("abc")), ERR_OK);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), ERR_NOMEM);
    assert_true(slice_eq(buf_slice(&b), SLICE("abc")));
    buf_fini(&b);
}

static void formatted_text_is_appended(void **state)
{
    (void)state;
    struct buf b = { 0 };

    assert_int_equal(buf_addf(&b, "%d of %s", 3, "412"), ERR_OK);
    assert_string_equal(buf_cstr(&b), "3 of 412");
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_kept_in_order_across_growth),
        cmocka_unit_test(an_impossible_size_is_refused_and_changes_nothing),
        cmocka_unit_test(formatted_text_is_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
