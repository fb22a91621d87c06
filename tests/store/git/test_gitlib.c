#include "tests/test.h"

#include <git2.h>

#include "store/git/gitfiles.h"

TEST(libgit2_is_started_once)
{
    for (int i = 0; i < 3; i++)
        assert_true(gitlib_ready());
    assert_int_equal(git_libgit2_init(), 2);
    assert_int_equal(git_libgit2_shutdown(), 1);
}

TEST(libgit2_survives_a_shutdown_by_the_host)
{
    git_repository *repo = NULL;

    assert_true(git_libgit2_init() > 0);
    assert_true(gitlib_ready());
    assert_true(git_libgit2_shutdown() > 0);
    assert_int_equal(git_repository_open(&repo, "/dev/null"), GIT_ENOTFOUND);
}
