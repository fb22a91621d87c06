#ifndef TUI_TERM_SIGNALS_H
#define TUI_TERM_SIGNALS_H

#include <signal.h>

#include "lite/base/err.h"

/* Signals that the loop waits for. While they are blocked they are read from a descriptor and interrupt nothing: SIGTERM,
 * SIGHUP, SIGINT, SIGQUIT, SIGWINCH and SIGTSTP. They are blocked before the first thread starts, so that every thread
 * blocks them. */
struct signals {
    int fd;          /* readable when a signal has come */
    sigset_t before; /* restored by signals_unblock() */
};

MUST_CHECK enum err_code signals_block(struct signals *s, struct err *e);
void signals_unblock(struct signals *s);
/* The next signal that has come, or 0. */
int signals_next(const struct signals *s);
/* Stops the job as Ctrl+Z does, and returns when it continues. */
void signals_stop_here(const struct signals *s);
/* Waits for a child that has the terminal: signals from the keyboard are for the child only. Returns the status of
 * waitpid(). */
int signals_wait_for(pid_t child);

#endif
