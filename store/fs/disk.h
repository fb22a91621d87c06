#ifndef STORE_FS_DISK_H
#define STORE_FS_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"

/* The few ways in which this library changes a disk. Every write path is made of these, so that what they
 * promise holds everywhere:
 *
 *  - plain system calls, no stdio: each can fail alone, and each is looked at;
 *  - EINTR and short writes are looped over; an fsync that failed is never tried again on the same
 *    descriptor (the kernel may have dropped the pages and forgotten the error);
 *  - a name shows either nothing or the whole file, also after a power cut;
 *  - symlinks are never followed in the last part of a name. */

/* Writes all of it at the present offset. After an error some bytes may have been written; *done (may be
 * NULL) says how many. */
MUST_CHECK enum err_code disk_write(int fd, struct slice bytes, size_t *done, const char *path,
                                    struct err *e);
/* ERR_OK also where the file system has nothing to sync there (EINVAL). */
MUST_CHECK enum err_code disk_sync(int fd, const char *path, struct err *e);
/* Lets the disk begin with bytes that were written: a large file is then synced while it is still being made. */
void disk_start_sync(int fd, int64_t at, int64_t n);
/* Makes what happened to the names in a directory durable. */
MUST_CHECK enum err_code disk_sync_dir(const char *dir, struct err *e);
/* The same for the directory that the last part of a path is in. */
MUST_CHECK enum err_code disk_sync_parent(const char *path, struct err *e);

/* mkdir -p with a mode, each new directory made durable. Links on the way are followed, as for every other program. */
MUST_CHECK enum err_code disk_make_dir(const char *dir, mode_t mode, struct err *e);
/* mkdir -p with mode 0700, each new directory made durable. An existing last directory must be ours and no
 * link (ERR_UNSAFE): state and trash must not be steered elsewhere. */
MUST_CHECK enum err_code disk_private_dir(const char *dir, struct err *e);

/* A directory of our state, below another of ours: as disk_private_dir, and both are closed to others where they are not
 * (a wrong umask, a copy): what is in there is carried out. */
MUST_CHECK enum err_code disk_own_dir(const char *above, const char *dir, struct err *e);
/* ERR_UNSAFE: it belongs to another user, who may have put it there to have it carried out. ERR_NOT_FOUND. */
MUST_CHECK enum err_code disk_check_own(const char *path, struct err *e);

/* Gives a file or a directory another name, and replaces nothing: -1 with EEXIST. Where the file system cannot promise
 * that (NFS, FUSE, exFAT) it looks first, and a gap remains: for names that nobody else would make, in directories of
 * ours or new ids. */
int disk_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* A new file that has no name until it is complete. Order: disk_new_open, any writes to fd,
 * disk_new_publish or disk_new_discard. A crash before publish leaves nothing (O_TMPFILE) or, on file systems
 * without it, one temp named ".reprise-<random>.tmp" that disk_new_sweep removes. The same name is there for a
 * moment before a replace. */
struct disk_new {
    int fd;
    bool lazy_dir;   /* set by the caller: the directory is synced later, once for many files */
    bool named;      /* whatever else failed: the file is in its place */
    int dir;         /* the directory the name will lie in */
    char temp[48];   /* "" with O_TMPFILE */
    char path[4096]; /* of the directory, for errors */
};

MUST_CHECK enum err_code disk_new_open(const char *dir, mode_t mode, struct disk_new *out,
                                       struct err *e);
/* Syncs the bytes, gives the file its name, syncs the directory. Never replaces: ERR_STALE when the name
 * exists. Ends the disk_new, whatever happens. A failure behind the naming says that the file is in its place. */
MUST_CHECK enum err_code disk_new_publish(struct disk_new *f, const char *name, struct err *e);
/* The same, replacing what lies there (a small document of ours, or one that its owner replaces too). */
MUST_CHECK enum err_code disk_new_replace(struct disk_new *f, const char *name, struct err *e);
void disk_new_discard(struct disk_new *f);
/* Is this the name of a temp? */
bool disk_is_temp(const char *name);
/* Removes the temps that crashes left in a directory. One that a running process holds (flock) stays. False with
 * errno: another may have stayed. */
bool disk_new_sweep(const char *dir);

/* A small document in one go: disk_new_open, write, disk_new_replace. */
MUST_CHECK enum err_code disk_replace_file(const char *dir, const char *name, struct slice bytes,
                                           mode_t mode, struct err *e);

/* What a file or a directory weighs: the bytes of all files in it, as their lengths say. Links are not followed and
 * weigh what their text does. */
struct disk_usage {
    int64_t files, bytes;
    int64_t newest_ms; /* the newest mtime of what was looked at, directories too; 0: nothing was */
};

/* Adds what is no directory, as lstat told it. */
void disk_usage_add_file(const struct stat *st, struct disk_usage *w);
/* Adds to w. A path that is not there weighs nothing. */
MUST_CHECK enum err_code disk_usage_add(const char *path, struct disk_usage *w, struct err *e);

/* Is there room for what is going to be written? Asked before the first byte of it is: a disk that turns out to be full
 * is met while staging, and everything is taken back. */

/* The free bytes of a file system, for us; more than an int64_t holds: INT64_MAX. False where it does not tell: ramfs
 * and some network file systems have no blocks at all, which is not the same as none free. */
bool disk_free_bytes(const struct statvfs *fs, int64_t *bytes);
/* Room for `need` bytes and a twentieth, where `dir` lies? ERR_IO says what, in the words of `what`, needs how much.
 * ERR_OK also where it cannot be known. */
MUST_CHECK enum err_code disk_check_space(const char *dir, int64_t need, const char *what,
                                          struct err *e);

#endif
