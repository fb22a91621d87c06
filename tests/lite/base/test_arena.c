#include "tests/test.h"

#include "lite/base/arena.h"

TEST(allocations_do_not_move)
{
    struct arena a = { 0 };
    struct slice first = arena_copy(&a, SLICE("first"));

    for (int i = 0; i < 500; i++)
        assert_non_null(arena_alloc(&a, 300));

    assert_true(slice_eq(first, SLICE("first")));
    assert_int_equal(first.p[first.n], '\0');
    arena_fini(&a);
}

TEST(every_piece_is_aligned_for_any_type)
{
    struct arena a = { 0 };

    for (size_t n = 0; n < 100; n++)
        assert_int_equal((uintptr_t)arena_alloc(&a, n) % _Alignof(max_align_t), 0);
    arena_fini(&a);
}

TEST(texts_are_contiguous)
{
    struct arena a = { 0 };
    const struct slice texts[] = { SLICE("one"), { NULL, 0 }, SLICE("/"), SLICE("two") };
    const struct slice endless[] = { SLICE("one"), { "", SIZE_MAX } };

    assert_string_equal(arena_concat(&a, texts, 4), "one/two");
    assert_string_equal(arena_concat(&a, texts, 0), "");
    assert_null(arena_concat(&a, endless, 2));
    assert_true(a.failed);
    arena_fini(&a);
}

TEST(texts_that_fit_are_copied_into_one_block)
{
    struct arena a = { 0 };
    char many[1000];
    struct slice one = SLICE("one"), none = { NULL, 0 }, long_one = { many, sizeof many };
    const struct slice *const texts[] = { &one, &none, &long_one };

    memset(many, 'x', sizeof many);
    arena_fit(&a, texts, 3);
    const struct arena_block *block = a.newest;

    assert_non_null(block);
    for (size_t i = 0; i < 3; i++)
        assert_true(slice_eq(arena_copy(&a, *texts[i]), *texts[i]));
    assert_ptr_equal(a.newest, block);
    arena_copy(&a, one); /* there was room for no more */
    assert_ptr_not_equal(a.newest, block);
    arena_fini(&a);
}

TEST(an_impossible_size_returns_null)
{
    struct arena a = { 0 };

    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_true(a.failed);
    a.failed = false;
    assert_null(arena_copy(&a, (struct slice){ "", SIZE_MAX }).p);
    assert_true(a.failed);
    assert_non_null(arena_alloc(&a, 8));
    arena_reset(&a);
    assert_non_null(arena_zalloc(&a, 8));
    arena_fini(&a);
}
