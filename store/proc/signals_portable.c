#include <errno.h>
#include <unistd.h>

#include "store/proc/process.h"
#include "store/proc/signals.h"

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

/* A signal that is ignored by default may be dropped before the thread waits for it, so it gets a handler, which never
 * runs. */
static void keep_ignored(const sigset_t *set)
{
    const struct sigaction keep = { .sa_handler = do_nothing };
    struct sigaction now;

    if (sigismember(set, SIGWINCH) == 1 && sigaction(SIGWINCH, NULL, &now) == 0 &&
        now.sa_handler == SIG_DFL)
        sigaction(SIGWINCH, &keep, NULL);
}

int proc_signals_open(struct proc_signals *s, const sigset_t *set)
{
    int ends[2];

    *s = (struct proc_signals){ .fd = -1, .in = -1, .set = *set };
    if (proc_pipe(ends, true))
        return -1;
    s->fd = ends[0];
    s->in = ends[1];
    keep_ignored(set);
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
