#include "store/fork.h"

#include <unistd.h>

void fork_drop(const struct fork_result *fork)
{
    if (fork->staged)
        unlink(fork->staged);
}
