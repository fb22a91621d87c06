#include "store/log/filelock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 5000, STEP_MS = 50 };

enum err_code filelock_acquire(const char *path, int *fd, struct err *e)
{
    const struct timespec nap = { .tv_nsec = STEP_MS * 1000000L };

    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
    if (*fd < 0)
        return errno == ELOOP ? err_set(e, ERR_UNSAFE, path, "take the lock: it is a link")
                              : err_sys(e, path, "take the lock");
    for (int waited = 0; flock(*fd, LOCK_EX | LOCK_NB); waited += STEP_MS) {
        if ((errno == EWOULDBLOCK || errno == EINTR) && waited < WAIT_MS) {
            nanosleep(&nap, NULL);
            continue;
        }
        enum err_code rc =
            errno == EWOULDBLOCK || errno == EINTR
                ? err_set(e, ERR_LOCKED, path, "take the lock: another program has held it for 5 s")
                : err_sys(e, path, "take the lock");

        close(*fd);
        *fd = -1;
        return rc;
    }
    return ERR_OK;
}

void filelock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool filelock_is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

    close(fd);
    return held;
}
