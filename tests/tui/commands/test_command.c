#include "tests/test.h"

#include "tui/commands/command.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_are_those_of_the_contract),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
