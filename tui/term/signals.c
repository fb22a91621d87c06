#include "tui/term/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int held[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH, SIGTSTP };

static void held_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        sigaddset(set, held[i]);
}

enum err_code signals_block(struct signals *s, struct err *e)
{
    sigset_t set;

    held_set(&set);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->fd < 0)
        return err_sys(e, "", "wait for signals");
    sigprocmask(SIG_BLOCK, &set, &s->before);
    return ERR_OK;
}

void signals_unblock(struct signals *s)
{
    close(s->fd);
    s->fd = -1;
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

int signals_next(const struct signals *s)
{
    struct signalfd_siginfo info;

    return read(s->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void signals_stop_here(const struct signals *s)
{
    sigset_t stop, before;

    (void)s;
    signal(SIGTSTP, SIG_DFL); /* curses has installed its own handler */
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    /* The whole job, as the terminal does it. An orphaned job is not stopped: no shell could continue it. */
    kill(0, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int signals_wait_for(pid_t child)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    sigset_t stop, before;
    int status = 0;

    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    signal(SIGTSTP, SIG_DFL); /* Ctrl+Z stops both, and fg continues both */
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}
