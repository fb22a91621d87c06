#ifndef STORE_FS_KERNEL_H
#define STORE_FS_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What some kernels can do and others cannot. kernel_linux.c uses the calls of Linux; kernel_portable.c, which is built
 * instead with -DREPRISE_PORTABLE=ON, uses POSIX calls, or fails as a Linux without the call would
 * (docs/architecture.md, "Portability"). Results are those of system calls: -1 with errno. */

/* Returns true if this error says that the kernel or the file system cannot do the following two. */
static inline bool fs_is_lacking(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* Renames without replacing: EEXIST. */
int fs_rename_new(int from_dir, const char *from, int to_dir, const char *to);
/* Exchanges two names of one directory in one step. */
int fs_exchange(int dir, const char *a, const char *b);

/* Opens a directory below another. No part of `relative` may be a link, and it has no "..", so it cannot lead out. */
int fs_open_below(int root, const char *relative);
/* Returns true if the open directory is the one that this path leads to, and the path is free of links. Also returns
 * true if that cannot be known. */
bool fs_is_at(int dir, const char *path);

/* A new file without a name, in the file system of a directory: EOPNOTSUPP if the system has no such files. */
int fs_open_nameless(int dir, mode_t mode);
/* Gives the file a name; never replaces another. */
int fs_name_nameless(int fd, int dir, const char *name);

/* A new file in memory, for reading and writing, or one in the directory for temporary files whose name is removed
 * already. `what` is a name for debugging. */
int fs_open_memory(const char *what);
enum { FS_FD_PATH = 32 };
/* A path under which this process can open the file of a descriptor again, as long as the descriptor is open. */
void fs_fd_path(int fd, char out[FS_FD_PATH]);

/* A descriptor that keeps the file of another one, also after its last name is gone, without counting as a program that
 * has it open. It is read through fs_fd_path. -1 if the system has no such descriptors. */
int fs_open_reference(int fd);

/* Begins to write back bytes that were written. Only a hint; errno is kept. */
void fs_start_writeback(int fd, int64_t at, int64_t n);

/* ---- what is known of an open file ---- */

/* Returns true if it is a mount point in its directory. Where the kernel cannot report that, only mounts of other file
 * systems are found. */
bool fs_is_mount(int fd, int dir);
/* The number of the mount that a path below an open directory is in ("": the directory itself); 0 if not known. Returns
 * false if nothing is known of the path. */
bool fs_mount_of(int dir, const char *path, uint64_t *mount, uint64_t *dev);
/* Returns true if it is immutable or can only be appended to. */
bool fs_is_fixed(int fd);
/* Locks a part of an open file, shared, until the descriptor is closed, whatever other descriptors of the process are
 * closed meanwhile. Returns false if another program has it for itself. Where there are no such locks, nothing is done. */
bool fs_hold_shared(int fd, int64_t at, int64_t n);
/* ns since the epoch; 0 if the file system does not record it. A file that was born before some moment existed then,
 * perhaps under another name. A later birth proves that it did not exist only if fs_births_are_true. */
int64_t fs_born_ns(int fd);
/* Returns true if a file of this file system keeps its time of birth as long as it exists. Others, such as overlayfs,
 * replace a file that is written, or report what a server makes of it; unknown ones count as such. So does a file that an
 * overlayfs copied into its upper layer. */
bool fs_births_are_true(int fd);
/* The same for the number of a kind of file system, as statfs reports it. */
bool fs_kind_keeps_births(uint32_t kind);
bool fs_is_overlay(int fd);
/* Returns false if a directory may get another inode number while nothing happens to it, as on an overlayfs whose layers
 * are on several file systems. */
bool fs_keeps_dir_numbers(int dir);
/* Returns true if other machines may write to its file system, which a lease does not notice. fd -1: by its path. */
bool fs_is_shared(int fd, const char *path);

/* ---- extended attributes of an open file: as the calls of Linux with these names ---- */

/* ENOTSUP also on a system that has other calls for them. */
ssize_t fs_xattr_list(int fd, char *names, size_t size);
ssize_t fs_xattr_get(int fd, const char *name, void *value, size_t size);
int fs_xattr_set(int fd, const char *name, const void *value, size_t size);
int fs_xattr_remove(int fd, const char *name);

/* ---- leases: store/log/lease.h ---- */

enum fs_lease { FS_LEASE_NONE, FS_LEASE_READ, FS_LEASE_WRITE };

/* Takes or gives up a lease. If another process waits to open the file, this thread gets SIGIO. EAGAIN: the file is
 * open elsewhere. Any other error: there are no leases here. */
int fs_lease_set(int fd, enum fs_lease kind);
/* Returns true if this is a write lease that is still held. */
bool fs_lease_is_held(int fd);

/* Discards a pending signal of this kind of the thread. One about a descriptor other than fd is the host's and is sent
 * again; with -1 any is discarded. */
void fs_signal_discard(int signo, int fd);

/* ---- watching folders ---- */

/* Watches folders for files that appear, grow or vanish: with inotify (kernel_linux.c), or else with a thread that looks
 * every second, or less often if that takes long (kernel_portable.c, -DREPRISE_PORTABLE=ON). */
struct fs_watch;

/* NULL if nothing can be watched. */
struct fs_watch *fs_watch_new(void);
void fs_watch_free(struct fs_watch *w); /* may be NULL */
/* A descriptor that is readable after a change. */
int fs_watch_fd(const struct fs_watch *w);
/* Returns false if the folder is gone or unreadable, or nothing more can be watched. `deep`: each folder that appears
 * in it is watched too. */
bool fs_watch_add(struct fs_watch *w, const char *folder, bool deep);
/* Consumes all changes so far. Returns false if there were no changes. */
bool fs_watch_read(struct fs_watch *w);

#endif
