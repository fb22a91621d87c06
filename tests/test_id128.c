#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lite/id128.h"

static void a_uuid_is_its_bytes(void **state)
{
    (void)state;
    struct id128 id = id128_of(SLICE("01234567-89ab-cdef-0011-223344556677"));

    assert_true(id.hi == 0x0123456789abcdefu);
    assert_true(id.lo == 0x0011223344556677u);
}

/* SHA-256("abc") begins ba7816bf 8f01cfea 414140de 5dae2223 (FIPS 180-2, B.1). */
static void any_other_text_is_the_front_of_its_sha256(void **state)
{
    (void)state;
    struct id128 id = id128_of(SLICE("abc"));

    assert_true(id.hi == 0xba7816bf8f01cfeau);
    assert_true(id.lo == 0x414140de5dae2223u);
}

static void what_only_resembles_a_uuid_is_another_id(void **state)
{
    (void)state;
    struct id128 id = id128_of(SLICE("01234567-89ab-cdef-0011-22334455667a"));

    assert_false(id128_eq(id, id128_of(SLICE("01234567-89AB-cdef-0011-22334455667a"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567-89ab-cdef-0011-22334455667g"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567089ab-cdef-0011-22334455667a"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567-89ab-cdef-0011-22334455667"))));
}

static void no_text_is_the_id_that_means_none(void **state)
{
    (void)state;
    assert_false(id128_none(id128_of(SLICE(""))));
    assert_false(id128_none(id128_of(SLICE("00000000-0000-0000-0000-000000000000"))));
    assert_true(id128_none((struct id128){ 0, 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uuid_is_its_bytes),
        cmocka_unit_test(any_other_text_is_the_front_of_its_sha256),
        cmocka_unit_test(what_only_resembles_a_uuid_is_another_id),
        cmocka_unit_test(no_text_is_the_id_that_means_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
