#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
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

void proc_boot(char *out, size_t cap)
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
    *age = time_ms_of(t);
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

static bool process_portable_prepare(int fd, bool nonblocking)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
           (!nonblocking || fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
}

/* A program that another thread starts in between inherits the pipe, which it only keeps open. */
int proc_pipe(int ends[2], bool nonblocking)
{
    if (pipe(ends))
        return -1;
    if (process_portable_prepare(ends[0], nonblocking) &&
        process_portable_prepare(ends[1], nonblocking))
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

/* Ends by being cancelled, in sigwait or in write. */
static void *pass_on(void *arg)
{
    const struct proc_signals *s = arg;
    int number;

    while (sigwait(&s->set, &number) == 0) {
        unsigned char byte = (unsigned char)number;

        if (write(s->in, &byte, 1) != 1)
            continue; /* the pipe is full of signals that were not read */
    }
    return NULL;
}

void proc_signals_continue(struct proc_signals *s)
{
    s->runs = s->runs || pthread_create(&s->thread, NULL, pass_on, s) == 0;
}

void proc_signals_pause(struct proc_signals *s)
{
    if (!s->runs)
        return;
    pthread_cancel(s->thread);
    pthread_join(s->thread, NULL);
    s->runs = false;
}

static void do_nothing(int number)
{
    (void)number;
}

int proc_signals_open(struct proc_signals *s, const sigset_t *set)
{
    int ends[2];

    *s = (struct proc_signals){ .fd = -1, .in = -1, .set = *set };
    if (proc_pipe(ends, true))
        return -1;
    s->fd = ends[0];
    s->in = ends[1];

    /* A signal that is ignored by default may be dropped before the thread waits for it, so it
     * gets a handler, which never runs. */
    const struct sigaction keep = { .sa_handler = do_nothing };
    struct sigaction now;

    if (sigismember(set, SIGWINCH) == 1 && sigaction(SIGWINCH, NULL, &now) == 0 &&
        now.sa_handler == SIG_DFL)
        sigaction(SIGWINCH, &keep, NULL);

    proc_signals_continue(s);
    if (s->runs)
        return 0;
    proc_signals_close(s);
    errno = EAGAIN;
    return -1;
}

void proc_signals_close(struct proc_signals *s)
{
    proc_signals_pause(s);
    if (s->fd >= 0) {
        close(s->fd);
        close(s->in);
    }
    s->fd = s->in = -1;
}

int proc_signals_next(const struct proc_signals *s)
{
    unsigned char number;

    return read(s->fd, &number, 1) == 1 ? number : 0;
}
