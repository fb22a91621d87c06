#include "tests/test.h"

#include "store/rewind/diff/linediff.h"

#define BASE "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

static void assert_merged(const char *ancestor, const char *ours, const char *theirs,
                          const char *want)
{
    struct arena a = { 0 };
    struct slice out = { NULL, 0 };
    bool clean;

    assert_int_equal(linediff_merge(slice_of(ancestor), slice_of(ours), slice_of(theirs), &a, &out,
                                    &clean, NULL),
                     ERR_OK);
    assert_int_equal(clean, want != NULL);
    if (want) {
        assert_int_equal(out.n, strlen(want));
        assert_memory_equal(out.p, want, out.n);
    }
    arena_fini(&a);
}

TEST(changes_of_both_sides_are_merged)
{
    assert_merged(BASE, "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n",
                  "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n",
                  "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_merged(BASE, BASE, "", "");
    assert_merged("", "new\n", "", "new\n");
}

TEST(changes_to_the_same_lines_conflict)
{
    assert_merged(BASE, "one\ntwo\nmine\nfour\nfive\nsix\nseven\n",
                  "one\ntwo\ntheirs\nfour\nfive\nsix\nseven\n", NULL);
}

TEST(binary_files_are_not_merged)
{
    struct arena a = { 0 };
    struct slice out;
    bool clean = true;

    assert_int_equal(
        linediff_merge(SLICE("a\0b"), SLICE("a\0b"), SLICE("c"), &a, &out, &clean, NULL), ERR_OK);
    assert_false(clean);
}
