#include "store/rewind/apply/entry_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/record/record.h"

/* After a crash only the disk shows how far an entry got, and its path may lead to another place by
 * then. So each directory is reached from the root of the entry without following links, and each
 * file is compared with the two that the plan describes: the seen one and the wanted one.
 *
 *   kind -> other name in the record (same inode) -> known inode and times -> bytes
 *
 * A file that is neither of the two, or is being written, is ENTRY_FILE_OTHER: a person may need
 * it, so no caller may discard its bytes. A directory above an entry goes only if it is empty and
 * still has the mode and owner on record. */

static enum err_code entry_files_open_root(struct reach *r, const struct rewind_tx_entry *x,
                                           struct err *e)
{
    if (r->root && strcmp(r->root, x->root) == 0)
        return ERR_OK;
    entry_reach_fini(r);
    TRY(beneath_same_root(x->root, x->root_id, &r->fd, e));
    r->root = x->root;
    return ERR_OK;
}

enum err_code entry_reach_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                              const char **name, struct err *e)
{
    TRY(entry_files_open_root(r, x, e));
    return beneath_parent(r->fd, x->root, x->path, dir, name, e);
}

enum err_code entry_reach_make_dir(struct reach *r, const struct rewind_tx_entry *x,
                                   struct dirs *like, int *dir, const char **name, struct err *e)
{
    TRY(entry_files_open_root(r, x, e));
    return beneath_make_parent(r->fd, x->root, x->path, like, dir, name, e);
}

enum err_code entry_reach_temp_dir(struct reach *r, const struct rewind_tx_entry *x, int *dir,
                                   struct err *e)
{
    char path[PATH_MAX];
    const char *name;

    rewind_tx_temp_path(x, path);
    TRY(entry_files_open_root(r, x, e));
    return beneath_parent(r->fd, x->root, path, dir, &name, e);
}

enum err_code entry_reach_make_temp_dir(struct reach *r, const struct rewind_tx_entry *x,
                                        struct dirs *like, int *dir, struct err *e)
{
    char path[PATH_MAX];
    const char *name;

    rewind_tx_temp_path(x, path);
    TRY(entry_files_open_root(r, x, e));
    return beneath_make_parent(r->fd, x->root, path, like, dir, &name, e);
}

void entry_reach_fini(struct reach *r)
{
    if (r->root)
        close(r->fd);
    r->root = NULL;
}

bool entry_files_is_seen(const struct rewind_tx_entry *x, struct file_id id)
{
    struct file_id seen = rewind_tx_seen_id(&x->seen);

    return rewind_tx_same_file(id, seen) && id.mtime_ns == seen.mtime_ns;
}

/* Whatever happens to a file puts a new ctime on it. */
static bool same_id(struct file_id a, struct file_id b)
{
    return rewind_tx_same_file(a, b) && a.ctime_ns == b.ctime_ns;
}

static void entry_files_compare(const struct rewind_tx_entry *x, const uint8_t sha256[SHA256_BYTES],
                                enum entry_file *out)
{
    if (x->seen.exists && memcmp(sha256, x->seen.sha256, SHA256_BYTES) == 0)
        *out = ENTRY_FILE_SEEN;
    else if (x->action != REWIND_DELETE && memcmp(sha256, x->wanted, SHA256_BYTES) == 0)
        *out = ENTRY_FILE_WANTED;
}

static enum err_code entry_files_read_link(const struct entry_files *at, int dir, const char *name,
                                           enum entry_file *out, struct file_id *id, struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    char text[PATH_MAX];
    struct stat st;
    size_t n;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !source_read_link(dir, name, text, &n))
        return err_sys(e, at->x->path, "read a link");
    TRY(hasher_bytes(&at->c->hasher, (struct slice){ text, n }, sha256, e));
    source_mark_kind(S_IFLNK, sha256);
    *id = rewind_tx_file_id(&st);
    entry_files_compare(at->x, sha256, out);
    return ERR_OK;
}

/* Reads the file under a name. Its bytes decide: a power cut may have made an equal file again, and
 * times and sizes would not show a save of equal size within one tick of the clock. */
enum err_code entry_files_read(const struct entry_files *at, int dir, const char *name,
                               enum entry_file *out, struct file_id *id, struct err *e)
{
    uint8_t sha256[SHA256_BYTES];
    struct span all;
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    *out = ENTRY_FILE_OTHER;
    if (fd < 0 && errno == ELOOP)
        return entry_files_read_link(at, dir, name, out, id, e);
    if (fd < 0)
        return err_sys(e, at->x->path, "open");
    enum err_code rc = span_of_file(fd, at->x->path, &all, e);

    /* Its state is recorded before it is read, so that bytes written meanwhile are noticed the next
     * time. */
    if (!rc && fstat(fd, &st))
        rc = err_sys(e, at->x->path, "look at");
    if (!rc)
        rc = hasher_span(&at->c->hasher, &all, -1, NULL, sha256, e);
    close(fd);
    if (rc == ERR_STALE) /* being written */
        return ERR_OK;
    if (rc)
        return rc;
    *id = rewind_tx_file_id(&st);
    entry_files_compare(at->x, sha256, out);
    return ERR_OK;
}

/* Identifies a file by inode and times. Returns false if this process did not handle it, or if it
 * was changed since. */
static bool by_sight(const struct rewind_tx_entry *x, const struct stat *st, enum entry_file *out)
{
    struct file_id id = rewind_tx_file_id(st);

    if (same_id(x->staged, id))
        *out = ENTRY_FILE_WANTED;
    else if (same_id(x->taken, id) ||
             (entry_files_is_seen(x, id) && id.ctime_ns == x->seen.ctime_ns))
        *out = ENTRY_FILE_SEEN;
    else
        return false;
    return true;
}

/* Identifies it by its other name in the record: while that exists, no other file can get its inode
 * number. */
static bool is_adopted(const struct entry_files *at, const struct stat *st)
{
    char path[TX_PATH_MAX];
    struct stat kept;

    if (!at->x->adopts)
        return false;
    rewind_tx_adopted_path(at->c->tx, at->x, path);
    return lstat(path, &kept) == 0 && kept.st_dev == st->st_dev && kept.st_ino == st->st_ino;
}

enum err_code entry_files_release(const struct entry_files *at, struct err *e)
{
    char path[TX_PATH_MAX];
    struct stat st, kept;

    if (at->x->outcome != REWIND_DONE || !at->x->adopts)
        return ERR_OK;
    rewind_tx_adopted_path(at->c->tx, at->x, path);
    if (at->dir < 0)
        return ERR_OK;
    if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) || lstat(path, &kept))
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
    if (kept.st_dev != st.st_dev || kept.st_ino != st.st_ino)
        return ERR_OK;
    if (unlink(path))
        return err_sys(e, path, "remove a second name of a restored file");
    *strrchr(path, '/') = '\0';
    return disk_sync_dir(path, e);
}

enum lease_writer entry_files_writer(const struct entry_files *at)
{
    int fd =
        openat(at->temp_dir, at->temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0) /* a link has no writers */
        return errno == ELOOP ? LEASE_NO_WRITER : LEASE_UNKNOWN;
    enum lease_writer answer = lease_writer(fd);

    close(fd);
    return answer;
}

/* If `id` is not NULL, the bytes are read, and *id is the state of the file at that time. */
static enum err_code identify_file(const struct entry_files *at, int dir, const char *name,
                                   enum entry_file *out, struct file_id *id, struct err *e)
{
    struct file_id unused;
    struct stat st;

    *out = ENTRY_FILE_NONE;
    if (dir < 0)
        return ERR_OK;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ERR_OK : err_sys(e, at->x->path, "look at");
    *out = ENTRY_FILE_OTHER;
    /* What is in a directory belongs to other entries. */
    if (S_ISDIR(st.st_mode)) {
        *out = at->x->action != REWIND_DELETE && S_ISDIR(at->x->mode) ? ENTRY_FILE_WANTED
               : at->x->seen.exists && S_ISDIR(at->x->seen.mode)      ? ENTRY_FILE_SEEN
                                                                      : ENTRY_FILE_OTHER;
        return ERR_OK;
    }
    if (S_ISREG(st.st_mode) && is_adopted(at, &st)) {
        *out = ENTRY_FILE_WANTED;
        return ERR_OK;
    }
    if ((!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) || (!id && by_sight(at->x, &st, out)))
        return ERR_OK;
    return entry_files_read(at, dir, name, out, id ? id : &unused, e);
}

enum err_code entry_files_identify(const struct entry_files *at, int dir, const char *name,
                                   enum entry_file *out, struct err *e)
{
    return identify_file(at, dir, name, out, NULL, e);
}

/* The bytes are always compared, because the file may have been written to before the exchange. */
enum err_code entry_files_identify_moved(const struct entry_files *at, enum entry_file *out,
                                         struct err *e)
{
    struct file_id id = { 0 };

    TRY(identify_file(at, at->temp_dir, at->temp, out, &id, e));
    if (*out == ENTRY_FILE_SEEN)
        at->x->taken = id;
    return ERR_OK;
}

enum err_code entry_files_open(struct entry_files_context *c, size_t i, struct entry_files *at,
                               struct err *e)
{
    *at = (struct entry_files){ .c = c, .x = &c->tx->entry[i] };
    rewind_tx_temp_name(c->tx, i, at->temp);
    at->name = strrchr(at->x->path, '/') + 1;
    at->dir = at->temp_dir = -1;
    /* While that directory is there, another one that is missing was removed or not made yet. */
    if (at->x->up)
        TRY(entry_reach_temp_dir(&c->reach, at->x, &at->temp_dir, e));
    enum err_code rc = entry_reach_dir(&c->reach, at->x, &at->dir, &at->name, e);

    if (at->x->up && (rc == ERR_NOT_FOUND || rc == ERR_UNSAFE))
        rc = ERR_OK;
    else if (!at->x->up)
        at->temp_dir = at->dir;
    if (!rc && !at->x->mode_only)
        rc = entry_names_settle(at, e);
    if (rc)
        entry_files_close(at);
    return rc;
}

void entry_files_close(struct entry_files *at)
{
    if (at->temp_dir != at->dir)
        close_at(&at->temp_dir);
    close_at(&at->dir);
}

enum err_code entry_files_remove_temp(const struct entry_files *at, struct err *e)
{
    const bool is_dir = at->x->action != REWIND_DELETE && S_ISDIR(at->x->mode);

    return unlinkat(at->temp_dir, at->temp, is_dir ? AT_REMOVEDIR : 0)
               ? err_sys(e, at->x->path, "remove a temporary file")
               : ERR_OK;
}

void entry_files_fini(struct entry_files_context *c)
{
    entry_reach_fini(&c->reach);
    hasher_fini(&c->hasher);
}

enum err_code rewind_tx_wait_error(const struct rewind_tx_entry *x, enum err_code rc, struct err *e)
{
    switch (rc) {
    case ERR_NOT_FOUND:
        return err_set(e, ERR_IO, x->path, "its directory was moved away or is not mounted");
    case ERR_UNSAFE:
        return err_set(e, ERR_IO, x->path, "a link or a file has replaced its directory");
    case ERR_STALE:
        return err_set(e, ERR_IO, x->root, "another directory has replaced the project");
    default: return rc;
    }
}

/* Directories above an entry that are removed if they are empty: those that a rewind created and
 * discards again, and those that contained only what it deletes. They are opened like everything
 * else: a directory that was replaced with a link is not followed. The attributes of each are
 * recorded before it may be removed. */

struct above {
    int root;
    char path[PATH_MAX]; /* an entry's path is shorter, and below its root */
    size_t floor;
    unsigned left;
};

/* A root that is gone has no directories: ERR_NOT_FOUND. */
static enum err_code above_open(const struct rewind_tx_entry *x, struct above *a, struct err *e)
{
    snprintf(a->path, sizeof a->path, "%s", x->path);

    const char *root = x->root;
    size_t n = strlen(root);

    while (n && root[n - 1] == '/')
        n--;
    a->floor = n;

    a->left = x->dirs;
    return beneath_same_root(x->root, x->root_id, &a->root, e);
}

/* One level up; false at the last of them. */
static bool above_next(struct above *a)
{
    if (a->left == 0)
        return false;
    a->left--;
    *strrchr(a->path, '/') = '\0';
    return strlen(a->path) > a->floor;
}

/* ---- taking away ---- */

/* *gone: the directory above may be empty now. The directory is looked up first, because a
 * read-only file system fails before it reports a missing one. */
static enum err_code remove_in(int dir, const char *name, const char *path, const struct dirs *as,
                               bool *gone, struct err *e)
{
    struct stat st;

    *gone = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0;
    if (*gone)
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "examine directory");

    /* A directory with another mode or owner than the recorded one is not ours to remove. */
    const struct dir_like *d = as ? beneath_dirs_find(as, slice_of(path)) : NULL;

    if (as && (!d || d->attrs.mode != (st.st_mode & 07777) || d->attrs.uid != st.st_uid ||
               d->attrs.gid != st.st_gid))
        return ERR_OK;

    *gone = unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    /* An overlayfs without extended attributes cannot remove a lower directory, which stays for ever. */
    if (!*gone && errno == EIO && fs_is_overlay(dir))
        return ERR_OK;
    if (!*gone && (errno == EIO || errno == ENOSPC || errno == EDQUOT || errno == EROFS))
        return err_sys(e, path, "remove an empty directory");
    return ERR_OK;
}

enum err_code rewind_tx_prune(const struct rewind_tx_entry *x, const struct dirs *as, struct err *e)
{
    struct above a;
    bool more = true;
    enum err_code rc = above_open(x, &a, e);

    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    while (!rc && more && above_next(&a)) {
        const char *name;
        AUTO_FD dir = -1;

        rc = beneath_parent(a.root, x->root, a.path, &dir, &name, e);
        more = rc == ERR_NOT_FOUND; /* never made, or gone already */
        if (rc) {
            rc = rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
            continue;
        }

        /* The directory is synced no matter who removed the entry, because a crash may have come before the removal was
         * durable. */
        rc = remove_in(dir, name, a.path, as, &more, e);
        if (!rc && more)
            rc = disk_sync(dir, a.path, e);
    }
    close(a.root);
    return rc;
}

/* ---- writing down ---- */

/* *fd is -1 if the directory is gone or may not be read. */
static enum err_code open_dir(const struct above *a, const struct rewind_tx_entry *x, int *fd,
                              struct err *e)
{
    const char *name;
    int dir;
    enum err_code rc = beneath_parent(a->root, x->root, a->path, &dir, &name, e);

    *fd = -1;
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    *fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 && errno != ENOENT && errno != EACCES && errno != ENOTDIR && errno != ELOOP)
        rc = err_sys(e, a->path, "open directory");
    close(dir);
    return rc;
}

static struct dir_like *entry_files_known(const struct rewind_tx *tx, const struct above *a)
{
    return beneath_dirs_find(&tx->dirs, slice_of(a->path));
}

enum err_code rewind_tx_record_dirs(struct rewind_tx *tx, const struct rewind_tx_entry *x,
                                    struct err *e)
{
    struct above a;
    enum err_code rc = above_open(x, &a, e);

    if (rc)
        return rc;
    while (!rc && above_next(&a)) {
        int fd = -1;

        if (!entry_files_known(tx, &a))
            rc = open_dir(&a, x, &fd, e);
        if (fd < 0)
            continue;
        struct attrs was;

        rc = fs_attrs_get(fd, &tx->arena, a.path, &was, e);

        /* A directory whose owner could not be restored is not recorded, and so is not removed; nor is one that may not
         * be read. */
        if (!rc && (geteuid() == 0 || geteuid() == was.uid) &&
            !beneath_dirs_add(&tx->dirs, &tx->arena, slice_of(a.path), &was))
            rc = err_nomem(e);
        close(fd);
    }
    close(a.root);
    return rc;
}

/* ---- giving times back ---- */

/* A time is not worth a failure. */
static void put_times_above(const struct rewind_tx *tx, const struct rewind_tx_entry *x)
{
    struct above a;
    struct err unused;

    if (above_open(x, &a, &unused))
        return;
    while (above_next(&a)) {
        const struct dir_like *d = entry_files_known(tx, &a);
        int fd;

        if (!d || !d->made || open_dir(&a, x, &fd, &unused) || fd < 0)
            continue;
        file_at_set_mtime(fd, d->attrs.mtime_ns);
        close(fd);
    }
    close(a.root);
}

void rewind_tx_restore_dir_times(const struct rewind_tx *tx)
{
    for (size_t i = 0; i < tx->n && tx->dirs.n; i++)
        if (tx->entry[i].action == REWIND_CREATE)
            put_times_above(tx, &tx->entry[i]);
}

/* The parents of all entries, each by name once. */
static int compare_entry_path(const void *a, const void *b)
{
    const struct rewind_tx_entry *const *x = a, *const *y = b;

    return strcmp((*x)->path, (*y)->path);
}

static size_t entry_files_dir_length(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

static bool same_dir(const char *a, const char *b)
{
    size_t n = entry_files_dir_length(a);

    return n == entry_files_dir_length(b) && memcmp(a, b, n) == 0;
}

static enum err_code sync_entry_dir(const struct rewind_tx_entry *x, struct err *e)
{
    const char *name;
    int fd, dir;
    enum err_code rc = beneath_same_root(x->root, x->root_id, &fd, e);

    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_STALE ? ERR_OK : rc;
    rc = beneath_parent(fd, x->root, x->path, &dir, &name, e);
    close(fd);
    if (rc)
        return rc == ERR_NOT_FOUND || rc == ERR_UNSAFE ? ERR_OK : rc;
    rc = disk_sync(dir, x->path, e);
    close(dir);
    return rc;
}

enum err_code rewind_tx_sync_dirs(const struct rewind_tx *tx, struct err *e)
{
    const struct rewind_tx_entry **x = malloc(sizeof *x * (tx->n + 1));
    enum err_code rc = ERR_OK;

    if (!x)
        return err_nomem(e);
    for (size_t i = 0; i < tx->n; i++)
        x[i] = &tx->entry[i];
    qsort(x, tx->n, sizeof *x, compare_entry_path);
    for (size_t i = 0; i < tx->n && !rc; i++)
        if (i == 0 || !same_dir(x[i - 1]->path, x[i]->path))
            rc = sync_entry_dir(x[i], e);
    free(x);
    return rc;
}
