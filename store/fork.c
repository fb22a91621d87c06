#include "store/fork.h"

#include "store/change/copy.h"

/* What cannot be removed lies in a directory of our own and does no harm. */
static void drop(const char *path)
{
    if (path && copy_remove(path, NULL))
        return;
}

void fork_drop(const struct fork_result *fork)
{
    drop(fork->staged);
    drop(fork->staged_files);
}
