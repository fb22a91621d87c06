#include "store/log/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static bool take(struct lease *l, int fd, int kind)
{
    const struct f_owner_ex own = { .type = F_OWNER_TID, .pid = gettid() };

    *l = (struct lease){ .fd = fd };
    signal_hold_begin(&l->hold, SIGIO);
    /* An owner that is set before the lease stays. With a signal that is named the kernel says of which descriptor. */
    if (fcntl(fd, F_SETOWN_EX, &own) == 0 && fcntl(fd, F_SETSIG, SIGIO) == 0 &&
        fcntl(fd, F_SETLEASE, kind) == 0)
        return true;
    signal_hold_end(&l->hold, fd);
    return false;
}

bool lease_acquire(struct lease *l, int fd)
{
    return take(l, fd, F_WRLCK);
}

bool lease_is_held(const struct lease *l)
{
    return fcntl(l->fd, F_GETLEASE) == F_WRLCK;
}

void lease_release(struct lease *l)
{
    fcntl(l->fd, F_SETLEASE, F_UNLCK);
    signal_hold_end(&l->hold, l->fd);
}

enum lease_writer lease_writer(int fd)
{
    struct lease lease;

    if (!take(&lease, fd, F_RDLCK))
        return errno == EAGAIN ? LEASE_WRITER : LEASE_UNKNOWN;
    lease_release(&lease);
    return LEASE_NO_WRITER;
}

bool lease_fd_in_use_close(int fd)
{
    struct lease lease;
    bool taken = lease_acquire(&lease, fd), busy = !taken && errno == EAGAIN;

    if (taken)
        lease_release(&lease);
    close(fd);
    return busy;
}

bool lease_file_in_use(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    return fd >= 0 && lease_fd_in_use_close(fd);
}
