#ifndef LITE_IO_FILE_H
#define LITE_IO_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lite/base/buf.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The identity and state of a file when it was opened: enough to determine later whether it is still that file, and
 * whether anything was written since. */
struct file_id {
    uint64_t dev, ino;
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* since the epoch */
    int64_t ctime_ns;
};

struct stat;
struct file_id file_id_of(const struct stat *st);

struct file {
    int fd; /* -1 when closed */
    struct file_id id;
    uint32_t mode;
};

enum file_flags {
    FILE_FOLLOW = 1, /* follow a symlink in the last part; without it a link is ERR_UNSAFE */
};

/* Opens a regular file for reading, relative to dirfd (AT_FDCWD for a path). It never blocks on a FIFO and never
 * makes a terminal the controlling one. ERR_UNSAFE for anything but a regular file. Reading does not change the file;
 * O_NOATIME is used if allowed. The caller closes it. */
MUST_CHECK enum err_code file_open(int dirfd, const char *name, unsigned flags, struct file *out,
                                   struct err *e);
void file_close(struct file *f);

/* Reads up to n bytes at an offset, looping over short reads and EINTR. *got < n only at the end of the file; a file
 * that shrank meanwhile gives fewer bytes, not an error. The error names no path: use err_at. */
MUST_CHECK enum err_code file_read(const struct file *f, int64_t offset, char *p, size_t n,
                                   size_t *got, struct err *e);
/* The same into a buffer, whose contents it replaces. */
MUST_CHECK enum err_code file_read_part(const struct file *f, int64_t offset, size_t n,
                                        struct buf *out, struct err *e);
/* Appends the whole file to out, even if its reported size is 0 (/proc). ERR_FORMAT if it is larger than max bytes. For
 * small documents, never for transcripts. On failure out is unchanged. */
MUST_CHECK enum err_code file_read_all(int dirfd, const char *name, unsigned flags, size_t max,
                                       struct buf *out, struct err *e);

#endif
