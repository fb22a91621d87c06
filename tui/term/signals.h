#ifndef TUI_TERM_SIGNALS_H
#define TUI_TERM_SIGNALS_H

#include <signal.h>

#include "lite/base/err.h"

/* Signals as something to wait for: while they are held they are read from a descriptor instead of breaking in.
 * Held before the first thread starts, so that threads hold them too. */
struct signals {
    int fd;
    sigset_t before;
};

MUST_CHECK enum err_code signals_block(struct signals *s, struct err *e);
void signals_unblock(struct signals *s);
/* The next one that came; 0: none. */
int signals_next(const struct signals *s);
/* Stops the program as Ctrl+Z does (the job, not the shell), and returns when it goes on. */
void signals_stop_here(const struct signals *s);
/* Waits for a child that has the terminal; keys that send signals are meant for it, not for us. The status as
 * waitpid gives it. */
int signals_wait_for(pid_t child);

#endif
