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

static void changes_of_both_sides_are_merged(void **state)
{
    (void)state;
    assert_merged(BASE, "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n",
                  "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n",
                  "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_merged(BASE, BASE, "", "");
    assert_merged("", "new\n", "", "new\n");
}

static void changes_to_the_same_lines_conflict(void **state)
{
    (void)state;
    assert_merged(BASE, "one\ntwo\nmine\nfour\nfive\nsix\nseven\n",
                  "one\ntwo\ntheirs\nfour\nfive\nsix\nseven\n", NULL);
}

static void binary_files_are_not_merged(void **state)
{
    struct arena a = { 0 };
    struct slice out;
    bool clean = true;

    (void)state;
    assert_int_equal(
        linediff_merge(SLICE("a\0b"), SLICE("a\0b"), SLICE("c"), &a, &out, &clean, NULL), ERR_OK);
    assert_false(clean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_both_sides_are_merged),
        cmocka_unit_test(changes_to_the_same_lines_conflict),
        cmocka_unit_test(binary_files_are_not_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
