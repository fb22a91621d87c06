#include "store/log/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool lease_take(int fd)
{
    return fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

void lease_drop(int fd)
{
    fcntl(fd, F_SETLEASE, F_UNLCK);
}

bool lease_refused_close(int fd)
{
    bool busy = !lease_take(fd) && errno == EAGAIN;

    close(fd);
    return busy;
}

bool lease_refused(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    return fd >= 0 && lease_refused_close(fd);
}
