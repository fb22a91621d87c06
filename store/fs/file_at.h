#ifndef STORE_FS_FILE_AT_H
#define STORE_FS_FILE_AT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A signal that the kernel sends a thread for what it does itself: SIGXFSZ for a write behind a limit, SIGIO for a lease
 * that somebody waits for. Its default action ends the process, and the process may be a host that we are a part of.
 * So it is held back for this thread only, and taken away where it came: what the process does about its signals stays
 * as it is. The thread that begins ends. */
struct signal_hold {
    int signo;
    sigset_t before;
    bool pending; /* one was there already: it is the host's */
};

void fs_signal_hold(struct signal_hold *h, int signo);
/* fd: the descriptor that the signal tells of; one that tells of anything else is the host's, and sent again. -1: any is
 * ours. errno is kept. */
void fs_signal_release(struct signal_hold *h, int fd);

/* A place on the disk, and bytes at a place in a file: looked at and written by offset, never through a link. */

#define MTIME_NOW INT64_MIN /* leave the time to the kernel */

/* Is there anything under this name? st may be NULL. What cannot be looked at may be there: not to know is an error. */
MUST_CHECK enum err_code file_at_stat(const char *path, bool *there, struct stat *st,
                                      struct err *e);
/* ERR_UNSAFE: a link stands there, which could lead anywhere. Nothing there is fine. */
MUST_CHECK enum err_code file_at_reject_link(const char *path, struct err *e);
/* Opens a regular file for reading and writing, and looks at it; the caller closes. ERR_UNSAFE: a link, or no regular
 * file. */
MUST_CHECK enum err_code file_at_open(const char *path, int *fd, struct stat *st, struct err *e);
/* Do these bytes lie at the offset? Not to know is an error: much is decided by the answer. */
MUST_CHECK enum err_code file_at_holds(int fd, struct slice bytes, int64_t offset, bool *same,
                                       const char *path, struct err *e);
/* Reads up to n bytes; fewer at the end of the file. */
MUST_CHECK enum err_code file_at_read(int fd, char *out, size_t n, int64_t offset, size_t *got,
                                      const char *path, struct err *e);
/* Writes all of it, unsynced. After an error a part may have been written. */
MUST_CHECK enum err_code file_at_write(int fd, struct slice bytes, int64_t offset, const char *path,
                                       struct err *e);
/* A line of blanks in place of n bytes: that needs no room, and harms nothing of others, wherever they write. */
MUST_CHECK enum err_code file_at_blank(int fd, size_t n, int64_t offset, const char *path,
                                       struct err *e);
int64_t file_at_mtime(const struct stat *st); /* ns since the epoch */
/* Sets the mtime; MTIME_NOW does nothing. A time that may not be put back is no reason to fail: the bytes are what counts. False with errno: the disk failed,
 * and who mends something will have to come again. */
bool file_at_set_mtime(int fd, int64_t ns);

#endif
