#include "store/systems/common/edits/tool_edits.h"
#include "tests/test.h"

#define TREE                                                                                                                     \
    "├───a.txt\n├───.git/...\n├───deep/\n│   ├───er/\n│   │   └───x y.txt\n│   " \
    "└───...\n└───src/\n"                                                                                        \
    "    └───c.py\n\n"

static bool lacks(const char *tree, const char *name)
{
    const struct listing l = { .root = "/p", .tree = slice_of(tree), .most = 200 };

    return listing_lacks(&l, slice_of(name));
}

TEST(a_listing_shows_which_files_are_absent)
{
    assert_false(lacks(TREE, "a.txt"));
    assert_true(lacks(TREE, "b.txt"));
    assert_false(lacks(TREE, "src/c.py"));
    assert_true(lacks(TREE, "src/d.py"));
    assert_true(lacks(TREE, "new/d.py"));
    assert_true(lacks(TREE, "deep/er/y"));
    assert_true(lacks(TREE, "a.txt/inside"));
    assert_true(lacks("├── beds.txt\n└── weeds.txt\n```\nmore", "tulips.txt"));
    assert_true(lacks("(empty directory)\n```", "tulips.txt"));
}

TEST(what_a_listing_leaves_out_may_be_there)
{
    const struct listing full = { .root = "/p", .tree = SLICE(TREE), .most = 8 };
    const struct listing ignoring = { .root = "/p",
                                      .tree = SLICE("├───.gitignore\n└───a\n"),
                                      .skips_ignored = true };

    assert_false(lacks(TREE, ".git/config"));
    assert_false(lacks(TREE, "deep/other"));
    assert_false(lacks("├── src/\n└── ... and 3 more entries\n", "b.txt"));
    assert_false(lacks("└── src/\n", "src/a"));
    assert_false(lacks("[not readable]", "a"));
    assert_false(lacks(TREE, "a\nb"));
    assert_false(listing_lacks(&full, SLICE("b.txt")));
    assert_false(listing_lacks(&ignoring, SLICE("b")));
}

TEST(a_read_shows_the_text_of_a_file)
{
    struct arena a = { 0 };
    struct slice path;

    assert_true(slice_eq(read_call_text(SLICE("one\ntwo\n"), &a), SLICE("one\ntwo\n")));
    assert_true(slice_eq(read_call_text(SLICE("1\tone\n2\ttwo"), &a), SLICE("one\ntwo")));
    assert_true(slice_eq(read_call_text(SLICE("   1→one\n   2→\n"), &a), SLICE("one\n")));
    assert_true(slice_eq(read_call_text(SLICE("1. one\n3. two"), &a), SLICE("1. one\n3. two")));
    assert_true(read_call_path(SLICE("Read"), SLICE("{\"path\":\"a b\"}"), &a, &path));
    assert_true(slice_eq(path, SLICE("a b")));
    assert_false(read_call_path(SLICE("Read"), SLICE("{\"path\":\"a\",\"limit\":1}"), &a, &path));
    assert_false(read_call_path(SLICE("Write"), SLICE("{\"path\":\"a\"}"), &a, &path));
    arena_fini(&a);
}
