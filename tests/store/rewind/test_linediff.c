#include "tests/test.h"

#include <stdlib.h>

#include "store/rewind/diff/linediff.h"

static void counts(const char *before, const char *after, unsigned want_in, unsigned want_out)
{
    unsigned in, out;
    bool binary;

    assert_int_equal(linediff_count(slice_of(before), slice_of(after), &in, &out, &binary, NULL),
                     ERR_OK);
    assert_false(binary);
    assert_int_equal(in, want_in);
    assert_int_equal(out, want_out);
}

TEST(lines_are_counted_as_by_diff)
{
    counts("", "", 0, 0);
    counts("a\nb\n", "a\nb\n", 0, 0);
    counts("", "a\nb\n", 2, 0);
    counts("a\nb\n", "", 0, 2);
    counts("a\nb\n", "a\nc\n", 1, 1);
    counts("a\nb", "a\nb\n", 1, 1); /* a missing final newline is a change of that line */
    counts("a\r\n", "a\n", 1, 1);
}

TEST(a_nul_makes_a_file_binary_but_lines_are_still_counted)
{
    unsigned in, out;
    bool binary;

    assert_int_equal(
        linediff_count((struct slice){ "a\0b", 3 }, slice_of("x"), &in, &out, &binary, NULL),
        ERR_OK);
    assert_true(binary);
    assert_int_equal(in, 1);
    assert_int_equal(out, 1);
}

TEST(hunks_contain_their_lines)
{
    struct linediff d;

    assert_int_equal(
        linediff_make(slice_of("1\n2\n3\n4\n"), slice_of("1\n2\nthree\n4\n5"), 1, &d, NULL),
        ERR_OK);
    assert_int_equal(d.hunks, 1);
    assert_int_equal(d.hunk[0].old_start, 2);
    assert_int_equal(d.lines, 5);
    assert_int_equal(d.line[1].sign, '-');
    assert_true(slice_eq(d.line[2].text, SLICE("three")));
    assert_true(d.line[4].no_newline);
    assert_int_equal(d.insertions, 2);
    assert_int_equal(d.deletions, 1);
    linediff_fini(&d);
}

/* Random texts of few different lines: all hunks give the new text, none the old, and any selection gives a text whose
 * difference from the old one has as many hunks as were chosen at most. */
TEST(all_hunks_give_the_new_text_and_none_the_old)
{
    srand(7);
    for (int round = 0; round < 2000; round++) {
        char before[256], after[256];
        size_t m = 0, n = 0;
        struct linediff d;
        struct arena a = { 0 };
        struct slice got;
        bool flags[128];

        for (int i = rand() % 40; i > 0; i--)
            before[m++] = "ab\n\n"[rand() % 4];
        for (int i = rand() % 40; i > 0; i--)
            after[n++] = "ab\n\n"[rand() % 4];
        struct slice old = { before, m }, new = { after, n };

        assert_int_equal(linediff_make(old, new, (unsigned)(rand() % 2), &d, NULL), ERR_OK);
        memset(flags, true, sizeof flags);
        assert_int_equal(linediff_apply_hunks(&d, old, flags, &a, &got, NULL), ERR_OK);
        assert_true(slice_eq(got, new));
        memset(flags, false, sizeof flags);
        assert_int_equal(linediff_apply_hunks(&d, old, flags, &a, &got, NULL), ERR_OK);
        assert_true(slice_eq(got, old));
        arena_fini(&a);
        linediff_fini(&d);
    }
}
