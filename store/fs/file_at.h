#ifndef STORE_FS_FILE_AT_H
#define STORE_FS_FILE_AT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* A signal that the kernel sends a thread for its own actions: SIGXFSZ for a write beyond a limit, SIGIO for a lease
 * that another process waits for. Its default action ends the process, which may be a host that we are a part of. So
 * it is blocked for this thread only and discarded when it arrives; how the process handles its signals does not
 * change. The thread that holds it must release it. */
struct signal_hold {
    int signo;
    sigset_t before;
    bool pending; /* one was pending before: it is the host's */
};

void fs_signal_hold(struct signal_hold *h, int signo);
/* fd is the descriptor that our signal is about. A signal about another one is the host's and is sent again. With -1
 * every signal is ours. errno is kept. */
void fs_signal_release(struct signal_hold *h, int fd);

/* Positioned I/O: bytes at an offset of a file, never reached through a link. */

#define MTIME_NOW INT64_MIN /* leave the time to the kernel */

/* Sets *there to whether anything has this name. st may be NULL. It is an error if that cannot be determined. */
MUST_CHECK enum err_code file_at_stat(const char *path, bool *there, struct stat *st,
                                      struct err *e);
/* ERR_UNSAFE if the path is a link, which could lead anywhere. A missing file is fine. */
MUST_CHECK enum err_code file_at_reject_link(const char *path, struct err *e);
/* Opens a regular file for reading and writing and stats it; the caller closes it. ERR_UNSAFE for a link or anything
 * but a regular file. */
MUST_CHECK enum err_code file_at_open(const char *path, int *fd, struct stat *st, struct err *e);
/* Opens a directory below another, one step at a time: no part may be a link, and `relative` has no "..", so no step
 * can leave it. -1 with errno. */
int file_at_walk(int dir, const char *relative);
/* Sets *same to whether the file has these bytes at the offset. A failure to read is an error. */
MUST_CHECK enum err_code file_at_holds(int fd, struct slice bytes, int64_t offset, bool *same,
                                       const char *path, struct err *e);
/* Reads up to n bytes; fewer at the end of the file. */
MUST_CHECK enum err_code file_at_read(int fd, char *out, size_t n, int64_t offset, size_t *got,
                                      const char *path, struct err *e);
/* Writes all bytes, without a sync. After an error a part may have been written. */
MUST_CHECK enum err_code file_at_write(int fd, struct slice bytes, int64_t offset, const char *path,
                                       struct err *e);
/* Overwrites n bytes with a line of blanks, which needs no space and does not disturb other writers. */
MUST_CHECK enum err_code file_at_blank(int fd, size_t n, int64_t offset, const char *path,
                                       struct err *e);
int64_t file_at_mtime(const struct stat *st); /* ns since the epoch */
/* Sets the mtime; MTIME_NOW does nothing. Lack of permission is not a failure, because only the bytes matter. Returns
 * false with errno if the disk failed; a repair must then be tried again. */
bool file_at_set_mtime(int fd, int64_t ns);

#endif
