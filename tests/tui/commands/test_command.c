#include "tests/test.h"

#include <unistd.h>

#include "tui/commands/command.h"

TEST(exit_codes_are_those_of_the_contract)
{
    assert_int_equal(command_exit_code(ERR_OK), 0);
    assert_int_equal(command_exit_code(ERR_IO), 1);
    assert_int_equal(command_exit_code(ERR_NOMEM), 1);
    assert_int_equal(command_exit_code(ERR_USAGE), 2);
    assert_int_equal(command_exit_code(ERR_NOT_FOUND), 3);
    assert_int_equal(command_exit_code(ERR_STALE), 4);
    assert_int_equal(command_exit_code(ERR_UNSAFE), 4);
    assert_int_equal(command_exit_code(ERR_LOCKED), 4);
    assert_int_equal(command_exit_code(ERR_FORMAT), 5);
    assert_int_equal(command_exit_code(ERR_CANCELLED), 130);
}

TEST(a_warning_is_one_line_with_the_reason_first)
{
    struct invocation in = { .exit_code = 0 };
    char line[256];
    int fd[2];

    assert_int_equal(pipe(fd), 0);
    in.err_fd = fd[1];
    command_warn(&in, ERR_STALE, "/tmp/a.jsonl", "undo: skipped %d file%s", 2, "s");
    close(fd[1]);
    ssize_t n = read(fd[0], line, sizeof line - 1);

    close(fd[0]);
    assert_true(n > 0);
    line[n] = '\0';
    assert_string_equal(line, "reprise: skipped 2 files: undo: /tmp/a.jsonl\n");
}

/* Every command that takes the id of a session can be limited to a system. */
TEST(ids_are_looked_up_in_one_system_on_request)
{
    size_t n = 0;

    for (const struct command *c = commands_table; c->run || c->on_session; c++) {
        const char *id = strstr(c->operands, "ID");

        if (!id || (id > c->operands && id[-1] != ' ' && id[-1] != '['))
            continue;
        assert_true(c->options & OPTION_BIT(SYSTEM));
        assert_true(c->options & OPTION_BIT(NO_WORKTREES));
        n++;
    }
    assert_in_range(n, 23, 100);
    assert_true(commands_table[0].options & OPTION_BIT(SYSTEM)); /* --resume ID */
}
