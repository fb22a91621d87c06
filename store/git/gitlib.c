#include "store/git/gitlib.h"

#include <git2.h>

/* libgit2 counts who started it. Of all our calls one stays counted. */
bool gitlib_ready(void)
{
    int started = git_libgit2_init();

    if (started > 1)
        git_libgit2_shutdown();
    return started > 0;
}
