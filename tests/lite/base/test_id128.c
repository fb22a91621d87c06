#include "tests/test.h"

#include "lite/base/id.h"

TEST(a_uuid_is_its_bytes)
{
    struct id128 id = id128_of(SLICE("01234567-89ab-cdef-0011-223344556677"));

    assert_true(id.hi == 0x0123456789abcdefu);
    assert_true(id.lo == 0x0011223344556677u);
}

/* SHA-256 of these 56 bytes begins 248d6a61 d20638b8 e5c02693 0c3e6039 (FIPS 180-2, B.2). */
TEST(the_id_of_a_long_text_is_a_prefix_of_its_sha256)
{
    struct id128 id = id128_of(SLICE("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));

    assert_true(id.hi == 0x248d6a61d20638b8u);
    assert_true(id.lo == 0xe5c026930c3e6039u);
}

/* Every length around the ones where the method changes, every position, and NULs too. */
TEST(texts_that_differ_anywhere_have_different_ids)
{
    enum { LONGEST = 20 };
    char text[LONGEST] = { 0 };

    for (size_t n = 0; n < LONGEST; n++) {
        struct id128 id = id128_of((struct slice){ text, n });

        assert_false(id128_none(id));
        assert_false(id128_eq(id, id128_of((struct slice){ text, n + 1 })));
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)0xff;
            assert_false(id128_eq(id, id128_of((struct slice){ text, n })));
            text[i] = 0;
        }
        assert_true(id128_eq(id, id128_of((struct slice){ text, n })));
    }
}

TEST(a_text_that_resembles_a_uuid_has_another_id)
{
    struct id128 id = id128_of(SLICE("01234567-89ab-cdef-0011-22334455667a"));

    assert_false(id128_eq(id, id128_of(SLICE("01234567-89AB-cdef-0011-22334455667a"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567-89ab-cdef-0011-22334455667g"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567089ab-cdef-0011-22334455667a"))));
    assert_false(id128_eq(id, id128_of(SLICE("01234567-89ab-cdef-0011-22334455667"))));
}

TEST(no_text_has_the_null_id)
{
    assert_false(id128_none(id128_of(SLICE(""))));
    assert_false(id128_none(id128_of(SLICE("00000000-0000-0000-0000-000000000000"))));
    assert_true(id128_none((struct id128){ 0, 0 }));
}
