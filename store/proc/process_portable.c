#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/proc/process.h"

enum { FDS_MAX = 65536 };

const char *proc_table(void)
{
    return NULL;
}

bool proc_info(pid_t pid, struct proc_info *out)
{
    (void)pid, (void)out;
    return false;
}

void proc_domain(char *out, size_t cap)
{
    if (cap)
        out[0] = '\0';
}

bool proc_is_boot(struct slice id)
{
    (void)id;
    return true; /* then the process is looked up, and counts as running if it exists */
}

/* The clock starts with the machine, which is at least as old as the process. */
bool proc_age_ms(int64_t *age)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t))
        return false;
    *age = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    return true;
}

/* Where `cmake --install` puts it. */
bool proc_program(char *out, size_t cap)
{
    size_t n = sizeof REPRISE_PROGRAM;

    if (n > cap)
        return false;
    memcpy(out, REPRISE_PROGRAM, n);
    return true;
}

enum proc_lock proc_lock_of(const char *table, const struct stat *file, pid_t *pid)
{
    (void)table, (void)file, (void)pid;
    return PROC_LOCK_UNKNOWN;
}

int proc_end_fd(pid_t child)
{
    (void)child;
    return -1;
}

static bool prepare(int fd, bool nonblocking)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
           (!nonblocking || fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
}

/* A program that another thread starts in between inherits the pipe, which it only keeps open. */
int proc_pipe(int ends[2], bool nonblocking)
{
    if (pipe(ends))
        return -1;
    if (prepare(ends[0], nonblocking) && prepare(ends[1], nonblocking))
        return 0;
    int error = errno;

    close(ends[0]);
    close(ends[1]);
    errno = error;
    return -1;
}

/* One by one, those that are open now and are not closed anyway. */
int proc_spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    long end = sysconf(_SC_OPEN_MAX);
    int rc = 0;

    end = end < 0 || end > FDS_MAX ? FDS_MAX : end;
    for (int fd = first; fd < end && !rc; fd++) {
        int flags = fcntl(fd, F_GETFD);

        if (flags >= 0 && !(flags & FD_CLOEXEC))
            rc = posix_spawn_file_actions_addclose(actions, fd);
    }
    return rc;
}
