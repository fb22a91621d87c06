#include "store/log/lease.h"

#include <fcntl.h>

bool lease_take(int fd)
{
    return fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

void lease_drop(int fd)
{
    fcntl(fd, F_SETLEASE, F_UNLCK);
}
