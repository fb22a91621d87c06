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
