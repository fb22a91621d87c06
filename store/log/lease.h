#ifndef STORE_LOG_LEASE_H
#define STORE_LOG_LEASE_H

#include <stdbool.h>

#include "lite/base/err.h"
#include "store/fs/file_at.h"

/* A write lease: granted only while no other descriptor of the file is open anywhere on this machine, and
 * while it is held the next open waits. So a lease proves that nobody is writing, and keeps it so for the
 * few milliseconds in which a log may be cut. (Measured in SAFETY.md 1.3: 12,414 cuts beside live writers, 0
 * records lost.) Hold it for under 5 ms: readers wait too, and openers with O_NONBLOCK are turned away.
 *
 * The kernel announces a waiting opener by SIGIO, whose default action ends the process. So the announcement goes to
 * the thread that takes the lease, which holds the signal back until the lease is given back: a program that we are a
 * part of never sees it, whatever its other threads do.
 *
 * The kernel takes the lease away from a process that was stopped for longer than /proc/sys/fs/lease-break-time, and
 * tells nobody: so lease_is_held is asked directly before each call that could destroy what another wrote. */
struct lease {
    int fd; /* borrowed */
    struct signal_hold hold;
};

/* False: someone has the file open, the file system has no leases, or it is not our file. All of them mean
 * "treat as live". The thread that took a lease drops it. */
bool lease_acquire(struct lease *l, int fd);
bool lease_is_held(const struct lease *l);
void lease_release(struct lease *l);
/* Has anybody the file open right now? Takes a lease for a moment. False where that cannot be known. */
bool lease_file_in_use(const char *path);
/* The same for a descriptor, the only one of its file here, which is closed. */
bool lease_fd_in_use_close(int fd);

/* Does anybody have the file open for writing, or mapped so? The descriptor is open for reading only. Takes a read lease
 * for a moment, which readers never notice. Unknown: the file system has no leases, or it is not our file. */
enum lease_writer { LEASE_NO_WRITER, LEASE_WRITER, LEASE_UNKNOWN };
enum lease_writer lease_writer(int fd);

/* The lock that programs writing to the same session hold for each other: flock(2), exclusive, on an empty file beside
 * the log, 0600, which is left in its place (goat.md B5). It dies with its holder. */

/* Waits up to 5 s: then ERR_LOCKED. Makes the file where it is missing; not through a link (ERR_UNSAFE). */
MUST_CHECK enum err_code log_lock_acquire(const char *path, int *fd, struct err *e);
void log_lock_release(int fd);
/* Does somebody hold it right now? No file: nobody. */
bool log_lock_is_held(const char *path);

#endif
