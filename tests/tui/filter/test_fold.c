#include "tests/test.h"

#include "tui/filter/fold.h"

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static int by_bytes(struct slice a, struct slice b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order ? sign(order) : (a.n > b.n) - (a.n < b.n);
}

static int by_keys(struct slice a, struct slice b, bool *go_on)
{
    uint64_t x[TITLE_KEYS], y[TITLE_KEYS];

    fold_title_keys(a, x);
    fold_title_keys(b, y);
    *go_on = fold_title_is_cut(x[TITLE_KEYS - 1]);
    for (size_t i = 0; i < TITLE_KEYS; i++) {
        assert_true(i > 0 || x[i] < TITLE_NONE);
        if (x[i] != y[i])
            return x[i] > y[i] ? 1 : -1;
    }
    return 0;
}

/* Keys compare as the bytes do, or are equal and leave it to the remaining bytes. */
static void check(struct slice a, struct slice b)
{
    bool go_on;
    int keys = by_keys(a, b, &go_on), bytes = by_bytes(a, b);

    if (keys == 0 && go_on)
        assert_true(a.n >= TITLE_SAME && b.n >= TITLE_SAME && memcmp(a.p, b.p, TITLE_SAME) == 0);
    else
        assert_int_equal(keys, bytes);
}

TEST(a_text_is_found_without_regard_to_case_and_accents)
{
    assert_true(fold_has(SLICE("Crème brûlée"), "BRULEE"));
    assert_true(fold_has(SLICE("brulee"), "brûlée"));
    assert_false(fold_has(SLICE("brulee"), "bruleen"));
    assert_false(fold_has(SLICE(""), "x"));
    assert_false(fold_has(SLICE("x"), ""));
    assert_false(fold_has((struct slice){ NULL, 0 }, ""));
}

TEST(any_two_bytes_keep_their_order)
{
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            const char x[] = { 'a', (char)a, 'm' }, y[] = { 'a', (char)b, 'm' };

            check((struct slice){ x, 3 }, (struct slice){ y, 3 });
            check((struct slice){ x, 2 }, (struct slice){ y, 3 });
            check((struct slice){ x, 1 }, (struct slice){ y, 2 });
        }
}

TEST(titles_of_any_bytes_keep_their_order)
{
    enum { LENGTH = 48, ROUNDS = 20000 };
    static const char some[] = "ab z`{-0\x00\x1f\x7f\x80\xbf\xc3\xff";
    uint64_t seed = 7;
    char text[2][LENGTH];

    for (int round = 0; round < ROUNDS; round++) {
        size_t n[2], same;

        for (size_t i = 0; i < (size_t)2 * LENGTH; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[i / LENGTH][i % LENGTH] = some[(seed >> 33) % (sizeof some - 1)];
        }
        n[0] = (seed >> 40) % (LENGTH + 1);
        n[1] = (seed >> 48) % (LENGTH + 1);
        same = (seed >> 56) % (LENGTH + 1);
        memcpy(text[1], text[0], same);
        check((struct slice){ text[0], n[0] }, (struct slice){ text[1], n[1] });
    }
}

TEST(keys_end_with_their_title)
{
    uint64_t key[TITLE_KEYS];

    fold_title_keys(SLICE("fix loops"), key); /* nine */
    assert_true(fold_title_is_cut(key[0]));
    assert_int_equal(key[1], 0);
    fold_title_keys(SLICE("fix loop"), key);
    assert_false(fold_title_is_cut(key[0]));
    fold_title_keys((struct slice){ NULL, 0 }, key);
    assert_int_equal(key[0], 0);
    assert_false(fold_title_is_cut(TITLE_NONE));
}
