#include "store/log/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/fs/kernel.h"
#include "store/proc/process.h"

static bool take_lease(struct lease *l, int fd, enum fs_lease kind)
{
    *l = (struct lease){ .fd = fd };
    fs_signal_hold(&l->hold, SIGIO);
    if (fs_lease_set(fd, kind) == 0)
        return true;
    fs_signal_release(&l->hold, fd);
    return false;
}

bool lease_acquire(struct lease *l, int fd)
{
    return take_lease(l, fd, FS_LEASE_WRITE);
}

const char *lease_refusal(void)
{
    return errno == EAGAIN ? "a program has the session open"
                           : "there is no lease here to prove that no program has the session open";
}

bool lease_is_held(const struct lease *l)
{
    return fs_lease_is_held(l->fd);
}

void lease_release(struct lease *l)
{
    (void)fs_lease_set(l->fd, FS_LEASE_NONE);
    fs_signal_release(&l->hold, l->fd);
}

enum lease_writer lease_writer(int fd)
{
    struct lease lease;

    if (!take_lease(&lease, fd, FS_LEASE_READ))
        return errno == EAGAIN ? LEASE_WRITER : LEASE_UNKNOWN;
    lease_release(&lease);
    return LEASE_NO_WRITER;
}

static enum lease_use use_without_lease(int fd, const char *path)
{
    switch (open_files_ask(fd, path)) {
    case OPEN_FILES_OURS: return LEASE_FREE;
    case OPEN_FILES_OTHERS: return LEASE_IN_USE;
    case OPEN_FILES_UNKNOWN: break;
    }
    return LEASE_NOT_KNOWN;
}

enum lease_use lease_fd_use_close(int fd, const char *path)
{
    struct lease lease;
    enum lease_use use = LEASE_FREE;

    if (lease_acquire(&lease, fd))
        lease_release(&lease);
    else
        use = errno == EAGAIN ? LEASE_IN_USE : use_without_lease(fd, path);
    close(fd);
    return use;
}

enum lease_use lease_file_use(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return errno == ENOENT ? LEASE_FREE : LEASE_NOT_KNOWN;
    return lease_fd_use_close(fd, path);
}

struct live lease_live(const char *path)
{
    switch (lease_file_use(path)) {
    case LEASE_IN_USE:
        return (struct live){ .state = LIVE_RUNNING, .why = "a program has the session open" };
    case LEASE_NOT_KNOWN:
        return (struct live){ .state = LIVE_UNKNOWN,
                              .why = "it cannot be determined which programs have it open" };
    case LEASE_FREE: break;
    }
    return (struct live){ .state = LIVE_QUIET, .why = "no program has the session open" };
}

/* Short steps: whoever holds it may take it again at once, so it is free for moments only. */
enum { WAIT_MS = 5000, STEP_MS = 5 };

enum err_code log_lock_acquire(const char *path, int *fd, struct err *e)
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

/* A child that the process forked meanwhile also has the descriptor, so closing ours would not release the lock. */
void log_lock_release(int fd)
{
    if (fd >= 0 && flock(fd, LOCK_UN))
        errno = 0; /* then closing it has to do */
    if (fd >= 0)
        close(fd);
}

bool log_lock_is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;

    close(fd);
    return held;
}
