#include "tests/test.h"

#include "store/git/tree_ignore.h"

/* One list of rules and what git says about a path: each case was compared with `git check-ignore -v --no-index`. */
TEST(rules_match_as_in_git)
{
    static const struct {
        const char *rules, *path;
        int dir, result;
    } cases[] = {
        { "archive/\n", "archive", 1, 1 },
        { "archive/\n", "archive", 0, 0 },
        { "archive/\n", "a/archive", 1, 1 },
        { "/archive\n", "a/archive", 1, 0 },
        { "*.log", "a/b/c.log", 0, 1 },
        { "*.log\n!keep.log\n", "a/keep.log", 0, -1 },
        { "!keep.log\n*.log\n", "a/keep.log", 0, 1 },
        { "a/*.log\n", "a/b/c.log", 0, 0 },
        { "a/*.log\n", "x/a/c.log", 0, 0 },
        { "a/**/c.log\n", "a/c.log", 0, 1 },
        { "a/**/c.log\n", "a/x/y/c.log", 0, 1 },
        { "**/c.log\n", "c.log", 0, 1 },
        { "a/**\n", "a/x/y", 0, 1 },
        { "a/**\n", "a", 1, 0 },
        { "# a\n\\#b\n", "#b", 0, 1 },
        { "\\!x\n", "!x", 0, 1 },
        { "x \n", "x", 0, 1 },
        { "x\\ \n", "x ", 0, 1 },
        { "data.[a-f]x?\r\n", "data.bxy", 0, 1 },
        { "data.[!a-f]\n", "data.b", 0, 0 },
        { "data.[]-]\n", "data.]", 0, 1 },
        { "*a*b*c\n", "xaxbxbx", 0, 0 },
        { "*a*b*c\n", "xaxbxbxc", 0, 1 },
        { "\xef\xbb\xbfx\n", "x", 0, 1 },
        { "/\n", "x", 1, 0 },
        { "\n\n", "x", 0, 0 },
        { "", "x", 0, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got =
            tree_ignore_match(slice_of(cases[i].rules), slice_of(cases[i].path), cases[i].dir != 0);

        if (got != cases[i].result)
            fail_msg("%s for %s: %d", cases[i].rules, cases[i].path, got);
    }
}

/* What cannot be matched within bounds, or not at all, counts as ignored. */
TEST(doubts_count_as_ignored)
{
    char rules[4096] = "", path[4096] = "";

    for (int i = 0; i < 30; i++) {
        strcat(rules, "**/a/");
        strcat(path, "a/a/a/a/");
    }
    strcat(rules, "b");
    strcat(path, "c");
    assert_int_equal(tree_ignore_match(slice_of(rules), slice_of(path), false), 1);
    assert_int_equal(tree_ignore_match(SLICE("x[[:alpha:]]\n"), SLICE("xy"), false), 1);
    assert_int_equal(tree_ignore_match(SLICE("x[\n"), SLICE("xy"), false), 1);
}
