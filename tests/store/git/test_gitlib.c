#include "tests/test.h"

#include <git2.h>

#include "store/git/gitfiles.h"

static void libgit2_is_started_once(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(gitlib_ready());
    assert_int_equal(git_libgit2_init(), 2);
    assert_int_equal(git_libgit2_shutdown(), 1);
}

static void libgit2_survives_a_shutdown_by_the_host(void **state)
{
    git_repository *repo = NULL;

    (void)state;
    assert_true(git_libgit2_init() > 0);
    assert_true(gitlib_ready());
    assert_true(git_libgit2_shutdown() > 0);
    assert_int_equal(git_repository_open(&repo, "/dev/null"), GIT_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libgit2_is_started_once),
        cmocka_unit_test(libgit2_survives_a_shutdown_by_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
