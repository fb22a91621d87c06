#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/slice.h"

/* Texts of few letters, so that nearly every position looks like a match, cut at every length so that a read past the
 * end is noticed. */
TEST(random_texts_give_the_results_of_memmem)
{
    size_t found = 0, missing = 0;

    srand(3);
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)rand() % 150, part_n = 1 + (size_t)rand() % 12;
        char *text = malloc(n), part[12];
        unsigned letters = 2 + (unsigned)rand() % 3;

        assert_non_null(text);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('a' + (unsigned)rand() % letters);
        for (size_t i = 0; i < part_n; i++)
            part[i] = (char)('a' + (unsigned)rand() % letters);
        const char *at = slice_find(text, n, part, part_n);

        assert_ptr_equal(at, memmem(text, n, part, part_n));
        *(at ? &found : &missing) += 1;
        free(text);
    }
    assert_true(found > 1000 && missing > 1000);
}

static const char *find_slowly(const char *p, size_t n, const char *part, size_t part_n)
{
    for (size_t i = 0; i + part_n <= n; i++) {
        size_t k = 0;

        while (k < part_n && (p[i + k] == part[k] || (part[k] >= 'a' && part[k] <= 'z' &&
                                                      p[i + k] == part[k] - 'a' + 'A')))
            k++;
        if (k == part_n)
            return p + i;
    }
    return NULL;
}

/* The bytes beside letters of either case, which differ from them in one bit, are not taken for letters. */
TEST(small_letters_are_found_as_capital_ones)
{
    static const char some[] = "aAbBzZ@`[{ \xe1\xc1";
    size_t found = 0, missing = 0;

    srand(4);
    for (int round = 0; round < 40000; round++) {
        size_t n = 1 + (size_t)rand() % 150, part_n = 1 + (size_t)rand() % 5;
        char *text = malloc(n), part[5];

        assert_non_null(text);
        for (size_t i = 0; i < n; i++)
            text[i] = some[(size_t)rand() % (sizeof some - 1)];
        for (size_t i = 0; i < part_n; i++)
            part[i] = "abz@`[{ \xe1"[rand() % 9];
        const char *at = slice_find_folded(text, n, part, part_n);

        assert_ptr_equal(at, find_slowly(text, n, part, part_n));
        *(at ? &found : &missing) += 1;
        free(text);
    }
    assert_true(found > 1000 && missing > 1000);
}

TEST(nothing_is_found_in_an_empty_text)
{
    assert_null(slice_find(NULL, 0, "a", 1));
    assert_null(slice_find("abc", 3, "abcd", 4));
    assert_ptr_not_equal(slice_find("abc", 3, "", 0), NULL);
}
