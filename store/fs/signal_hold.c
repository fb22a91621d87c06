#include "store/fs/signal_hold.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void signal_hold_begin(struct signal_hold *h, int signo)
{
    sigset_t set;

    h->signo = signo;
    sigemptyset(&set);
    h->pending = sigpending(&set) == 0 && sigismember(&set, signo) == 1;
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_BLOCK, &set, &h->before);
}

/* What was sent to the thread comes before what was sent to the process. */
static void discard_pending(const struct signal_hold *h, int fd)
{
    const struct timespec now = { 0 };
    siginfo_t info;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, h->signo);
    if (sigtimedwait(&set, &info, &now) == h->signo && fd >= 0 && info.si_fd != fd)
        syscall(SYS_rt_sigqueueinfo, getpid(), h->signo, &info);
}

void signal_hold_end(struct signal_hold *h, int fd)
{
    int error = errno;

    if (!h->pending)
        discard_pending(h, fd);
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    errno = error;
}
