#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/commands/report.h"

static void exit_codes_are_those_of_the_contract(void **state)
{
    (void)state;
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

static void a_failure_is_one_clean_line(void **state)
{
    struct err e = { 0 };
    char line[256];
    int fd[2];

    (void)state;
    errno = EACCES;
    err_sys(&e, "/tmp/a\x1b[31m\nb", "open transcript");
    assert_int_equal(pipe(fd), 0);
    out_report(fd[1], &e);
    close(fd[1]);
    ssize_t n = read(fd[0], line, sizeof line - 1);

    close(fd[0]);
    assert_true(n > 0);
    line[n] = '\0';
    assert_string_equal(line, "reprise: Permission denied: open transcript: /tmp/a^[[31m b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_those_of_the_contract),
        cmocka_unit_test(a_failure_is_one_clean_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
