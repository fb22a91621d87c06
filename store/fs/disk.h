#ifndef STORE_FS_DISK_H
#define STORE_FS_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/fs/kernel.h"

/* The few ways in which this library changes a disk. Every write path is made of them, so that their promises hold
 * everywhere:
 *
 * - They are plain system calls, without stdio; each one is checked.
 * - EINTR and short writes are looped over. An fsync that failed is never repeated on the same descriptor, because the
 *   kernel may have dropped the pages and forgotten the error.
 * - A name leads to either nothing or the whole file, even after a power cut (except with disk_put_file).
 * - Links are never followed in the last part of a file's name. */

/* Writes all bytes at the present offset. After an error some bytes may have been written; *done (may be NULL) is how
 * many. */
MUST_CHECK enum err_code disk_write(int fd, struct slice bytes, size_t *done, const char *path,
                                    struct err *e);
/* Also returns ERR_OK if the file system has nothing to sync there (EINVAL). */
MUST_CHECK enum err_code disk_sync(int fd, const char *path, struct err *e);
/* Starts writing back bytes that were written, so that a large file reaches the disk while the rest is still being
 * made. */
void disk_start_sync(int fd, int64_t at, int64_t n);
/* Makes changes of the names in a directory durable. */
MUST_CHECK enum err_code disk_sync_dir(const char *dir, struct err *e);
/* The same for the directory that the last part of a path is in. */
MUST_CHECK enum err_code disk_sync_parent(const char *path, struct err *e);

/* mkdir -p with a mode; each new directory is made durable. Links on the way are followed, as every other program
 * does. */
MUST_CHECK enum err_code disk_make_dir(const char *dir, mode_t mode, struct err *e);
/* mkdir -p with mode 0700; each new directory is made durable. ERR_UNSAFE if the last directory exists and is a link
 * or another user's: state and trash must not be redirected. */
MUST_CHECK enum err_code disk_private_dir(const char *dir, struct err *e);

/* The same for a directory of our state below another of ours (`above`). If other users can write to `above`, or have any
 * permission for the new directory (a wrong umask, a copy), they lose it, because the records in them are executed. */
MUST_CHECK enum err_code disk_own_dir(const char *above, const char *dir, struct err *e);
/* ERR_UNSAFE if it belongs to another user, who may have planted it. ERR_NOT_FOUND. */
MUST_CHECK enum err_code disk_check_own(const char *path, struct err *e);

/* Renames without replacing: -1 with EEXIST. If the file system cannot guarantee that (NFS, FUSE, exFAT), it checks
 * first, which leaves a race; so use it only for names that no other program would create, in directories of ours or
 * for new ids. */
int disk_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* A new file that has no name until it is complete. Order: disk_new_open, any writes to fd, then disk_new_publish,
 * disk_new_replace or disk_new_discard. A crash before that leaves nothing (O_TMPFILE) or, on file systems without
 * O_TMPFILE, one temporary file named ".reprise-<random>.tmp", which disk_new_sweep removes. A replace uses the same
 * name for a moment. */
struct disk_new {
    int fd;
    bool lazy_dir;   /* set by the caller if it syncs the directory later, once for many files */
    bool named;      /* the file is in its place, whatever else failed */
    int dir;         /* the directory of the name */
    char temp[48];   /* "" if it has no name */
    char path[4096]; /* the path of the directory, for errors */
};

MUST_CHECK enum err_code disk_new_open(const char *dir, mode_t mode, struct disk_new *out,
                                       struct err *e);
/* Syncs the bytes, gives the file its name and syncs the directory. Never replaces: ERR_STALE if the name exists.
 * Always ends the disk_new. If it fails after the file got its name, the error text contains "it is in place". */
MUST_CHECK enum err_code disk_new_publish(struct disk_new *f, const char *name, struct err *e);
/* The same, replacing the present file (a small document of ours, or one that its owner replaces too). */
MUST_CHECK enum err_code disk_new_replace(struct disk_new *f, const char *name, struct err *e);
/* Sets *is to whether the file is the one that may be replaced. */
typedef enum err_code disk_expects_fn(const char *path, void *arg, bool *is, struct err *e);
/* The same for a document that other programs write: it is asked about when the new file has taken its place, so nothing
 * that was written until then is lost. Otherwise it gets its name back: ERR_STALE. Where names cannot be exchanged, it is
 * asked about directly before it is replaced. */
MUST_CHECK enum err_code disk_new_replace_expected(struct disk_new *f, const char *name,
                                                   disk_expects_fn *fn, void *arg, struct err *e);
/* Removes a document that other programs write: it is asked about when it has a name that they do not know, so nothing that
 * was written until then is lost. Otherwise it gets its name back: ERR_STALE. It does not sync the directory. */
MUST_CHECK enum err_code disk_remove_expected(const char *dir, const char *name,
                                              disk_expects_fn *fn, void *arg, struct err *e);
void disk_new_discard(struct disk_new *f);
/* Chooses another directory of the same file system for the name. */
MUST_CHECK enum err_code disk_new_move(struct disk_new *f, const char *dir, struct err *e);
/* Writes a piece of it; the argument is a struct disk_new. */
MUST_CHECK enum err_code disk_new_write(struct slice bytes, void *arg, struct err *e);
/* Returns true if this is the name of a temporary file. */
bool disk_is_temp(const char *name);
/* Removes the temporary files that crashes left in a directory. One that a running process holds (flock) stays.
 * Returns false with errno if another one may have stayed. */
bool disk_new_sweep(const char *dir);

/* A small document in one go: disk_new_open, write, and disk_new_publish or disk_new_replace. */
MUST_CHECK enum err_code disk_create_file(const char *dir, const char *name, struct slice bytes,
                                          mode_t mode, struct err *e);
MUST_CHECK enum err_code disk_replace_file(const char *dir, const char *name, struct slice bytes,
                                           mode_t mode, struct err *e);

/* A new document that only has to survive this process: it is not synced, and a kill may leave a part of it.
 * ERR_STALE if the name exists. */
MUST_CHECK enum err_code disk_put_file(const char *dir, const char *name, struct slice bytes,
                                       mode_t mode, struct err *e);

/* The disk usage of a file or directory: the lengths of all files in it. Links are not followed; a link counts with
 * the length of its text. */
struct disk_usage {
    int64_t files, bytes;
    int64_t newest_ms; /* the newest mtime found, directories included; 0 if nothing was found */
};

/* Reads the names of a directory to their end, because fts(3) takes an error there for the end: what it walks would count
 * as whole. */
MUST_CHECK enum err_code disk_check_names(const char *path, struct err *e);
/* Adds anything but a directory, from its lstat. */
void disk_usage_add_file(const struct stat *st, struct disk_usage *w);
/* Adds a path and everything below it to w. A missing path adds nothing. */
MUST_CHECK enum err_code disk_usage_add(const char *path, struct disk_usage *w, struct err *e);

/* Sets *bytes to the bytes that are free for us, at most INT64_MAX. Returns false if the file
 * system does not report that: ramfs and some network file systems have no blocks, which does not
 * mean that they are full. */
bool disk_free_bytes(const struct statvfs *fs, int64_t *bytes);
/* Checks for room for `need` bytes and a twentieth more where `dir` is, before the first byte is written. (A disk that
 * becomes full later is noticed while staging, and everything is undone.) The text of the ERR_IO contains how much
 * `what` needs. ERR_OK if the free space cannot be determined. */
MUST_CHECK enum err_code disk_check_space(const char *dir, int64_t need, const char *what,
                                          struct err *e);

/* A file without a name, through which code that reads files (such as a system its transcripts) can read bytes in
 * memory. If the kernel has such files, nothing reaches a disk. */
struct fs_memory_file {
    int fd;                /* -1: closed */
    char path[FS_FD_PATH]; /* valid while it is open */
};

MUST_CHECK enum err_code fs_memory_file_open(struct fs_memory_file *f, struct slice bytes,
                                             struct err *e);
void fs_memory_file_close(struct fs_memory_file *f);

#endif
