#ifndef STORE_FS_SIGNAL_HOLD_H
#define STORE_FS_SIGNAL_HOLD_H

#include <signal.h>
#include <stdbool.h>

/* A signal that the kernel sends a thread for what it does itself: SIGXFSZ for a write behind a limit, SIGIO for a lease
 * that somebody waits for. Its default action ends the process, and the process may be a host that we are a part of.
 * So it is held back for this thread only, and taken away where it came: what the process does about its signals stays
 * as it is. The thread that begins ends. */
struct signal_hold {
    int signo;
    sigset_t before;
    bool pending; /* one was there already: it is the host's */
};

void signal_hold_begin(struct signal_hold *h, int signo);
/* fd: the descriptor that the signal tells of; one that tells of anything else is the host's, and sent again. -1: any is
 * ours. errno is kept. */
void signal_hold_end(struct signal_hold *h, int fd);

#endif
