#include <sys/signalfd.h>
#include <unistd.h>

#include "store/proc/signals.h"

int proc_signals_open(struct proc_signals *s, const sigset_t *set)
{
    *s = (struct proc_signals){ .fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK) };
    return s->fd < 0 ? -1 : 0;
}

void proc_signals_close(struct proc_signals *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int proc_signals_next(const struct proc_signals *s)
{
    struct signalfd_siginfo info;

    return read(s->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void proc_signals_pause(struct proc_signals *s)
{
    (void)s;
}

void proc_signals_continue(struct proc_signals *s)
{
    (void)s;
}
