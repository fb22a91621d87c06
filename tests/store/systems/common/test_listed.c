#include "tests/test.h"

#include "store/systems/common/edits/tool_edits.h"

/* What the output of a command shows of a file, and what it does not show. */

static enum listed by(const char *command, const char *output, const char *path)
{
    return listed_by_command(slice_of(command), "/w", slice_of(output), path);
}

TEST(ls_shows_what_is_not_in_its_directory)
{
    assert_int_equal(by("ls", "a.txt  b.txt\n", "/w/c.txt"), LISTED_ABSENT);
    assert_int_equal(by("ls", "a.txt  b.txt\n", "/w/b.txt"), LISTED_PRESENT);
    assert_int_equal(by("ls", "a.txt\n", "/w/new/deep/c.txt"), LISTED_ABSENT);
    assert_int_equal(by("ls", "new\n", "/w/new/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "a.txt\n", "/w/.hidden"), LISTED_UNKNOWN);
    assert_int_equal(by("ls -la", ".\n..\na.txt\n", "/w/.hidden"), LISTED_ABSENT);
    assert_int_equal(by("ls", "", "/w/a.txt"), LISTED_ABSENT);
    assert_int_equal(by("ls", "a.txt\n", "/v/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "a.txt\n", "/w"), LISTED_UNKNOWN);
}

TEST(ls_of_another_directory)
{
    assert_int_equal(by("ls src", "a.c\n", "/w/src/b.c"), LISTED_ABSENT);
    assert_int_equal(by("ls src", "a.c\n", "/w/b.c"), LISTED_UNKNOWN);
    assert_int_equal(by("cd src && ls", "a.c\n", "/w/src/b.c"), LISTED_ABSENT);
    assert_int_equal(by("pwd && ls", "/w\na.c\n", "/w/b.c"), LISTED_ABSENT);
    assert_int_equal(by("ls ..", "w\n", "/v"), LISTED_UNKNOWN);
    assert_int_equal(by("ls -l src", "src -> lib\n", "/w/src/b.c"), LISTED_UNKNOWN); /* a link */
    assert_int_equal(by("ls -l src/", "b.h\n", "/w/src/b.c"), LISTED_ABSENT);
    assert_int_equal(by("ls a b", "a:\n\nb:\n", "/w/a/c"), LISTED_UNKNOWN);
}

TEST(ls_of_a_tree_needs_the_part_about_the_directory)
{
    static const char tree[] = "Output: .:\nbin  new.txt\n\n./bin:\nopen.sh  sub\n\n./bin/sub:\n";

    assert_int_equal(by("ls -R", tree, "/w/bin/new.txt"), LISTED_ABSENT);
    assert_int_equal(by("ls -R", tree, "/w/bin/open.sh"), LISTED_PRESENT);
    assert_int_equal(by("ls -R", tree, "/w/bin/sub/x"), LISTED_ABSENT);
    assert_int_equal(by("ls -R", tree, "/w/deep/er/x"), LISTED_ABSENT);
    assert_int_equal(by("ls -R", ".:\nlink\n", "/w/link/x"), LISTED_UNKNOWN); /* not followed */
    assert_int_equal(by("ls -R bin", "bin:\nsub\n\nbin/sub:\ny\n", "/w/bin/sub/x"), LISTED_ABSENT);
}

TEST(find_does_not_follow_links)
{
    static const char tree[] = ".\n./a.txt\n./sub\n./sub/b.txt\n./link\n";

    assert_int_equal(by("find .", tree, "/w/c.txt"), LISTED_ABSENT);
    assert_int_equal(by("find .", tree, "/w/sub/c.txt"), LISTED_ABSENT);
    assert_int_equal(by("find .", tree, "/w/sub/b.txt"), LISTED_PRESENT);
    assert_int_equal(by("find .", tree, "/w/link/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("find . -not -path './.git/*'", tree, "/w/c.txt"), LISTED_ABSENT);
    assert_int_equal(by("find . -maxdepth 1", tree, "/w/sub/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("find . -type f", tree, "/w/c.txt"), LISTED_UNKNOWN); /* may be a link */
    assert_int_equal(by("find . -name '*.c'", tree, "/w/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("find link", "link\n", "/w/link/c.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("find .", "[Old output]\n", "/w/c.txt"), LISTED_UNKNOWN);
}

TEST(other_commands_show_nothing)
{
    static const char *const commands[] = { "ls | head -5", "ls; true",
                                            "ls > x",       "ls *.c",
                                            "ls $DIR",      "ls `pwd`",
                                            "ls -I c.txt",  "ls -d .",
                                            "ls && rm x",   "echo a && ls",
                                            "rg --files",   "ls --hide=c.txt",
                                            "ls &",         "ls || pwd",
                                            "cd src; ls",   "cd ~ && ls",
                                            "ls 'a",        "ls\nls src",
                                            "cd .. && ls",  "ls && ls",
                                            "find . | wc",  "",
                                            "pwd",          "cd src" };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        assert_int_equal(by(commands[i], "a.txt\n", "/w/c.txt"), LISTED_UNKNOWN);
}

TEST(a_name_may_be_printed_in_another_way)
{
    assert_int_equal(by("ls", "ba.txt\n", "/w/a.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "README\n", "/w/readme"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "a-long-na\nme.txt\n", "/w/a-long-name.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "'d d.txt'\n", "/w/d d.txt"), LISTED_UNKNOWN);
    assert_int_equal(by("ls", "l??den.md\n",
                        "/w/l\xc3\xa4"
                        "den.md"),
                     LISTED_UNKNOWN);
    assert_int_equal(by("ls", "x.md\n",
                        "/w/l\xc3\xa4"
                        "den.md"),
                     LISTED_ABSENT);
}

TEST(only_the_whole_output_of_a_command_that_succeeded_counts)
{
    assert_true(listed_is_whole(SLICE("Output: a\nError: (none)\nExit Code: 0\nSignal: (none)\n")));
    assert_true(listed_is_whole(SLICE("a\n<shellId: 0 completed with exit code 0>")));
    assert_true(listed_is_whole(SLICE("a\nb\n")));
    assert_false(listed_is_whole(SLICE("Output: a\nExit Code: 2\n")));
    assert_false(listed_is_whole(SLICE("a\n<shellId: 0 completed with exit code 10>")));
    assert_false(listed_is_whole(SLICE("a\n... [200 lines truncated]\n")));
    assert_false(listed_is_whole(SLICE("[Old tool result content cleared]")));
    assert_false(listed_is_whole(SLICE("Background command started. PID: 7\n")));
    assert_false(listed_is_whole(SLICE("ls: cannot open directory 'x': Permission denied\n")));
}
