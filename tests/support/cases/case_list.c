#include <stdlib.h>
#include <sys/stat.h>

#include "tests/test.h"

enum { TESTS_MAX = 256 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t n;

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    if (n == TESTS_MAX)
        abort();
    tests[n++] = (struct CMUnitTest){
        .name = name, .test_func = test, .setup_func = set_up, .teardown_func = tear_down
    };
}

int test_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    if (n == 0)
        abort();
    umask(022); /* tests speak of modes, and the user's mask is not part of them */
    return _cmocka_run_group_tests("tests", tests, n, set_up, tear_down);
}
