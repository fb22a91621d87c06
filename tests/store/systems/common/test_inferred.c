#include "tests/test.h"

#include "store/systems/common/inferred.h"

/* A file that a command may have made smaller may have been there before. */
static bool shortens(const char *command)
{
    return inferred_may_shorten(slice_of(command), "/w/logs/big.log");
}

TEST(a_command_that_keeps_a_part_may_shorten)
{
    static const char *const commands[] = {
        "truncate -s 0 big.log",
        "truncate -s 0 2>/dev/null logs/big.log",
        "2>&1 truncate -s 0 big.log",
        "truncate -s 0 <&- big.log",
        "sudo truncate -s 0 big.log",
        "sudo -u root /usr/bin/truncate -s 0 big.log",
        "env LC_ALL=C head -n 1 big.log > x && mv x big.log",
        "LC_ALL=C sed -i 1d big.log",
        "nice -n 5 sed -i 1d big.log",
        "bash -c \"truncate -s 0 big.log\"",
        "sh -c ': > big.log'",
        "sudo sh -c '> big.log'",
        "(cd logs; truncate -s 0 big.log)",
        "find . -name big.log -exec truncate -s 0 {} +; truncate -s 0 big.log",
        "echo big.log; truncate -s 0 big.log",
        "tail -n 10 big.log | sponge big.log",
        "grep -v x < logs/big.log | tee x",
        "cp /dev/null big.log",
        "cat /dev/null > big.log",
        "echo -n > big.log",
        "printf '' >| big.log",
        "> big.log",
        ">big.log",
        "true > 'big.log'",
        "for f in *.log; do : > $f; done",
        "xargs truncate -s 0 < list",
        "dd if=/dev/zero of=big.log bs=1 count=1",
    };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!shortens(commands[i]))
            fail_msg("%s", commands[i]);
}

TEST(a_command_that_makes_a_file_does_not)
{
    static const char *const commands[] = {
        "echo new > big.log",
        "echo more >> big.log",
        "printf 'head and tail' > big.log",
        "make > big.log 2>&1",
        "make 2>/dev/null > x; gcc -o big.log x.c",
        "cp other big.log",
        "touch big.log",
        "sort list > big.log",
        "cat a b | tee big.log",
        "python3 make.py --out=big.log",
        "truncate -s 0 other; echo new > big.log",
    };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (shortens(commands[i]))
            fail_msg("%s", commands[i]);
}

static bool fits(const char *text, const char *diff, bool reverse, const char *want)
{
    struct arena a = { 0 };
    struct slice out = { "", 0 };
    bool fits = false;

    assert_int_equal(inferred_patch(slice_of(text), slice_of(diff), reverse, &a, &out, &fits),
                     ERR_OK);
    if (fits && want)
        assert_true(slice_eq(out, slice_of(want)));
    arena_fini(&a);
    return fits;
}

/* A diff proves something only if all of it is there and stands where its headers say. */
TEST(a_patch_fits_as_a_whole_or_not_at_all)
{
    static const char text[] = "1\n2\n3\n4\n5\n", patched[] = "1\ntwo\n3\n4\n5\nsix\n";
    static const char whole[] = "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -5 +5,2 @@\n 5\n+six\n";
    static const char *const others[] = {
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n",                              /* the rest is cut off */
        "@@ -1,3 +1,3 @@\n 1\n-2\n",                                    /* and what it adds, too */
        "@@ -1,3 +1,3 @@\n",                                            /* everything is */
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n 4\n",                      /* more than it says */
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -5 +6,2 @@\n 5\n+six\n", /* elsewhere */
        "@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n",
    };

    assert_true(fits(text, whole, false, patched));
    assert_true(fits(patched, whole, true, text));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (fits(text, others[i], false, NULL) || fits(patched, others[i], true, NULL))
            fail_msg("%s", others[i]);
    assert_true(fits("", "@@ -0,0 +1 @@\n+new\n", false, "new\n"));
    assert_true(fits("new\n", "@@ -0,0 +1 @@\n+new\n", true, ""));
    assert_true(fits("old\n", "@@ -1 +0,0 @@\n-old\n", false, ""));
}
