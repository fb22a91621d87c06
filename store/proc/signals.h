#ifndef STORE_PROC_SIGNALS_H
#define STORE_PROC_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Blocked signals that are read from a descriptor: by signalfd on Linux (signals_linux.c), or else by a thread that
 * waits for them and writes their numbers to a pipe (signals_portable.c, -DREPRISE_PORTABLE=ON). */
struct proc_signals {
    int fd; /* readable when a signal has come */
    sigset_t set;
    int in; /* the rest is for the thread */
    bool runs;
    pthread_t thread;
};

/* All threads must block these signals already. -1 with errno. */
int proc_signals_open(struct proc_signals *s, const sigset_t *set);
void proc_signals_close(struct proc_signals *s);
/* The next signal that has come, or 0. */
int proc_signals_next(const struct proc_signals *s);
/* Between pause and continue, a signal that this thread unblocks takes its usual action and is not read from fd. */
void proc_signals_pause(struct proc_signals *s);
void proc_signals_continue(struct proc_signals *s);

#endif
