#include "store/fs/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/kernel.h"

/* A move to another file system must not lose bytes that exist only once, although the source may
 * be written to meanwhile, and a crash may come between any two calls.
 *
 *   copy under a temporary name, read back, synced -> own name -> compare all -> remove the source
 *
 * No file of the source is removed before its bytes were found in the copy once more, and the first
 * difference ends the removal. Attributes have an order: the owner, whose change clears set-id
 * bits, then extended attributes, the mode, and the times, for a directory after all that is in it.
 * Links are never followed, and devices, sockets and FIFOs are refused. */

enum { LIST_MAX = 65536, VALUE_MAX = 65536 }; /* limits of the kernel */

static const char acl_front[] = "system.posix_acl_";

/* ---- reading attributes ---- */

/* A NUL ends each name. On a file system without extended attributes, a file has none. */
static enum err_code list_names(int fd, struct buf *names, const char *path, struct err *e)
{
    NEED(!buf_reserve(names, LIST_MAX));
    ssize_t k = fs_xattr_list(fd, names->p, LIST_MAX);

    names->n = k > 0 ? (size_t)k : 0;
    return k >= 0 || errno == ENOTSUP ? ERR_OK : err_sys(e, path, "keep the extended attributes");
}

static enum err_code read_attribute(int fd, struct arena *a, const char *name, const char *path,
                                    struct attrs *out, struct err *e)
{
    AUTO_BUF value = { 0 };

    NEED(!buf_reserve(&value, VALUE_MAX));
    ssize_t k = fs_xattr_get(fd, name, value.p, VALUE_MAX);

    if (k < 0)
        return err_sys(e, path, "keep the extended attributes");
    struct attr *list = arena_grow(a, out->x, out->n, sizeof *list),
                x = { .name = arena_copy(a, slice_of(name)).p,
                      .value = arena_copy(a, (struct slice){ value.p, (size_t)k }) };

    if (a->failed)
        return err_nomem(e);
    out->x = list;
    out->x[out->n++] = x;
    return ERR_OK;
}

enum err_code fs_attrs_get(int fd, struct arena *a, const char *path, struct attrs *out,
                           struct err *e)
{
    AUTO_BUF names = { 0 };
    struct stat st;

    if (fstat(fd, &st))
        return err_sys(e, path, "look at");
    TRY(list_names(fd, &names, path, e));
    struct attrs x = { .mode = st.st_mode & 07777,
                       .uid = st.st_uid,
                       .gid = st.st_gid,
                       .mtime_ns = time_ns(st.st_mtim) };

    for (const char *name = names.p; name < names.p + names.n; name += strlen(name) + 1)
        TRY(read_attribute(fd, a, name, path, &x, e));
    *out = x;
    return ERR_OK;
}

bool fs_attrs_copy(struct arena *a, struct attrs *x)
{
    struct attr *list = arena_zalloc(a, sizeof *list * (x->n + 1));

    for (size_t i = 0; i < x->n && list; i++) {
        list[i].name = arena_copy(a, slice_of(x->x[i].name)).p;
        list[i].value = arena_copy(a, x->x[i].value);
    }
    x->x = list;
    return !a->failed;
}

/* ---- setting attributes ---- */

static bool attrs_have(const struct attrs *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->x[i].name, name) == 0)
            return true;
    return false;
}

static enum err_code drop_inherited(int fd, const struct attrs *x, const char *path, struct err *e)
{
    AUTO_BUF names = { 0 };
    TRY(list_names(fd, &names, path, e));
    for (const char *name = names.p; name < names.p + names.n; name += strlen(name) + 1)
        if (strncmp(name, acl_front, sizeof acl_front - 1) == 0 && !attrs_have(x, name) &&
            fs_xattr_remove(fd, name))
            return err_sys(e, path, "remove an inherited access list");
    return ERR_OK;
}

enum err_code fs_attrs_apply(int fd, const struct attrs *x, const char *path, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st))
        return err_sys(e, path, "look at");
    if ((st.st_uid != x->uid || st.st_gid != x->gid) && fchown(fd, x->uid, x->gid))
        return err_sys(e, path, "keep the owner");

    TRY(drop_inherited(fd, x, path, e));
    for (size_t i = 0; i < x->n; i++)
        if (fs_xattr_set(fd, x->x[i].name, x->x[i].value.p, x->x[i].value.n))
            return err_sys(e, path, "keep the extended attributes");
    return ERR_OK;
}

static bool is_a_persons(const char *name)
{
    static const char front[] = "user.";

    return strncmp(name, front, sizeof front - 1) == 0 ||
           strncmp(name, acl_front, sizeof acl_front - 1) == 0;
}

/* Returns true if the file system refuses such attributes, or refuses them from us. */
static bool is_refused(int sys)
{
    return sys == ENOTSUP || sys == EPERM || sys == EACCES || sys == EINVAL;
}

enum err_code fs_attrs_apply_portable(int fd, const struct attrs *x, const char *path,
                                      struct err *e)
{
    if (fchown(fd, x->uid, x->gid) && errno != EPERM)
        return err_sys(e, path, "keep the owner");
    TRY(drop_inherited(fd, x, path, e));
    for (size_t i = 0; i < x->n; i++) {
        const struct attr *one = &x->x[i];

        if (fs_xattr_set(fd, one->name, one->value.p, one->value.n) &&
            (is_a_persons(one->name) || !is_refused(errno)))
            return err_sys(e, path, "keep the extended attributes");
    }
    return ERR_OK;
}

enum { COPY_BYTES = 128 * 1024 };

static enum err_code read_some(int fd, char *p, size_t *got, const char *path, struct err *e)
{
    ssize_t k;

    do
        k = read(fd, p, COPY_BYTES);
    while (k < 0 && errno == EINTR);
    if (k < 0)
        return err_sys(e, path, "read");
    *got = (size_t)k;
    return ERR_OK;
}

static enum err_code fs_copy_bytes(int in, const char *from, int out, const char *to, char *piece,
                                   struct err *e)
{
    for (;;) {
        size_t got;

        TRY(read_some(in, piece, &got, from, e));
        if (got == 0)
            return ERR_OK;
        TRY(disk_write(out, (struct slice){ piece, got }, NULL, to, e));
    }
}

/* Reads both again from the start. The copy may come from the page cache, which is as good, because the kernel will
 * write these bytes. */
static enum err_code copy_same_bytes(int a, int b, char *piece, const char *path, struct err *e)
{
    char *other = piece + COPY_BYTES;

    if (lseek(a, 0, SEEK_SET) < 0 || lseek(b, 0, SEEK_SET) < 0)
        return err_sys(e, path, "seek");
    for (;;) {
        size_t m, n;
        TRY(read_some(a, piece, &m, path, e));
        TRY(read_some(b, other, &n, path, e));
        if (m != n || memcmp(piece, other, m) != 0)
            return err_set(e, ERR_STALE, path, "the copy differs from the original");
        if (m == 0)
            return ERR_OK;
    }
}

/* The mode is set after the owner, which clears set-id bits, and after everything that needs write permission; times
 * are set last. */
static enum err_code copy_attributes(int in, int out, const struct stat *st, const char *to,
                                     struct err *e)
{
    struct timespec t[2] = { st->st_atim, st->st_mtim };
    AUTO_ARENA a = { 0 };
    struct attrs x;

    TRY(fs_attrs_get(in, &a, to, &x, e));
    TRY(fs_attrs_apply_portable(out, &x, to, e));
    if (fchmod(out, st->st_mode & 07777))
        return err_sys(e, to, "keep the mode");
    if (futimens(out, t))
        return err_sys(e, to, "keep the time");
    return ERR_OK;
}

static enum err_code fs_copy_file(const char *from, const char *to, char *piece, struct err *e)
{
    struct stat st;
    AUTO_FD in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    AUTO_FD out = -1;

    if (in < 0)
        return err_sys(e, from, "open");
    if (fstat(in, &st))
        return err_sys(e, from, "examine the file");
    out = open(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0)
        return err_sys(e, to, "create");
    TRY(fs_copy_bytes(in, from, out, to, piece, e));
    TRY(copy_same_bytes(in, out, piece, from, e));
    TRY(copy_attributes(in, out, &st, to, e));
    return disk_sync(out, to, e);
}

static enum err_code copy_link(const char *from, const char *to, const struct stat *st,
                               struct err *e)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof target - 1);
    struct timespec t[2] = { st->st_atim, st->st_mtim };

    if (n < 0)
        return err_sys(e, from, "read link");
    target[n] = '\0';
    if (symlink(target, to))
        return err_sys(e, to, "make link");
    /* Some file systems give links no times of their own. */
    if (utimensat(AT_FDCWD, to, t, AT_SYMLINK_NOFOLLOW) && errno != EOPNOTSUPP && errno != ENOSYS)
        return err_sys(e, to, "keep the times");
    errno = 0;
    return ERR_OK;
}

/* Files with several names that were found so far, and where the first name was copied to. */
struct link {
    dev_t dev;
    ino_t ino;
    char *copy;
};

/* The state that is kept from entry to entry. */
struct copy_walk {
    char *piece; /* room for two pieces of a file */
    struct link *link;
    size_t links, cap;
};

static void copy_walk_fini(struct copy_walk *t)
{
    for (size_t i = 0; i < t->links; i++)
        free(t->link[i].copy);
    free(t->link);
    free(t->piece);
}

static const char *fs_copy_of(const struct copy_walk *t, const struct stat *st)
{
    for (size_t i = 0; i < t->links; i++)
        if (t->link[i].dev == st->st_dev && t->link[i].ino == st->st_ino)
            return t->link[i].copy;
    return NULL;
}

/* Names of one file inside the tree are names of one file again, if the file system supports
 * that. */
static enum err_code copy_name(const FTSENT *f, const char *to, struct copy_walk *t, struct err *e)
{
    const struct stat *st = f->fts_statp;
    const char *first = st->st_nlink > 1 ? fs_copy_of(t, st) : NULL;

    if (first && link(first, to) == 0)
        return ERR_OK;
    enum err_code rc = fs_copy_file(f->fts_accpath, to, t->piece, e);

    if (rc || st->st_nlink == 1 || first)
        return rc;
    char *copy = array_reserve(t->link, t->cap, t->links + 1) ? strdup(to) : NULL;

    if (!copy)
        return err_nomem(e);
    t->link[t->links++] = (struct link){ st->st_dev, st->st_ino, copy };
    return ERR_OK;
}

static enum err_code fs_copy_entry(const FTSENT *f, const char *to, struct copy_walk *t,
                                   struct err *e)
{
    switch (f->fts_info) {
    case FTS_D:
        TRY(disk_check_names(f->fts_accpath, e));
        return mkdir(to, 0700) ? err_sys(e, to, "make directory") : ERR_OK;
    case FTS_DP: {
        /* A directory gets its mode and times when everything in it is there. */
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        AUTO_FD in = open(f->fts_accpath, flags);
        AUTO_FD out = in < 0 ? -1 : open(to, flags);

        if (out < 0)
            return err_sys(e, in < 0 ? f->fts_accpath : to, "open directory");
        TRY(copy_attributes(in, out, f->fts_statp, to, e));
        return disk_sync(out, to, e);
    }
    case FTS_F: return copy_name(f, to, t, e);
    case FTS_SL:
    case FTS_SLNONE: return copy_link(f->fts_accpath, to, f->fts_statp, e);
    case FTS_DEFAULT:
        return err_set(e, ERR_UNSAFE, f->fts_path, "copy: neither a file, a directory nor a link");
    default: errno = f->fts_errno; return err_sys(e, f->fts_path, "read directory");
    }
}

DEFINE_CLEANUP(FTS, fts_close);

static enum err_code copy_tree_open(const char *root, FTS **fts, struct err *e)
{
    AUTO_FREE char *copy = strdup(root);
    char *roots[] = { copy, NULL };

    NEED(copy);
    *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    return *fts ? ERR_OK : err_sys(e, root, "read directory");
}

/* Called for each entry with the path that belongs to it in the other tree. */
typedef enum err_code entry_fn(const FTSENT *f, const char *other, struct copy_walk *t,
                               struct err *e);

static enum err_code tree_each(const char *from, const char *to, entry_fn *fn, struct err *e)
{
    CLEANUP(copy_walk_fini) struct copy_walk t = { .piece = malloc((size_t)COPY_BYTES * 2) };
    AUTO_FREE char *other = NULL;
    CLEANUP(fts_close_at) FTS *fts = NULL;
    FTSENT *f;
    const size_t root = strlen(from);

    NEED(t.piece);
    TRY(copy_tree_open(from, &fts, e));
    while (errno = 0, (f = fts_read(fts))) {
        free(other);
        if (asprintf(&other, "%s%s", to, f->fts_path + root) < 0) {
            other = NULL;
            return err_nomem(e);
        }
        TRY(fn(f, other, &t, e));
    }
    return errno ? err_sys(e, from, "read directory") : ERR_OK;
}

enum err_code copy_tree(const char *from, const char *to, struct err *e)
{
    return tree_each(from, to, fs_copy_entry, e);
}

enum err_code copy_remove(const char *path, struct err *e)
{
    CLEANUP(fts_close_at) FTS *fts = NULL;
    FTSENT *f;
    bool there;

    TRY(file_at_stat(path, &there, NULL, e));
    if (!there)
        return ERR_OK;
    TRY(copy_tree_open(path, &fts, e));
    while (errno = 0, (f = fts_read(fts)))
        if (f->fts_info != FTS_D &&
            (f->fts_info == FTS_DP ? rmdir(f->fts_accpath) : unlink(f->fts_accpath)))
            return err_sys(e, f->fts_path, "remove");
    return errno ? err_sys(e, path, "read directory") : ERR_OK;
}

/* ---- the rest of a source ---- */

static enum err_code equal_links(const char *a, const char *b, struct err *e)
{
    char one[PATH_MAX], two[PATH_MAX];
    ssize_t m = readlink(a, one, sizeof one), n = readlink(b, two, sizeof two);

    if (m < 0 || n < 0)
        return err_sys(e, a, "read link");
    return m == n && memcmp(one, two, (size_t)m) == 0
               ? ERR_OK
               : err_set(e, ERR_STALE, a, "the copy differs from the original");
}

static enum err_code compare_entry(const FTSENT *f, const char *copy, struct copy_walk *t,
                                   struct err *e)
{
    switch (f->fts_info) {
    case FTS_D:
    case FTS_DP: return ERR_OK;
    case FTS_F: {
        const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        AUTO_FD in = open(f->fts_accpath, flags);
        AUTO_FD out = in < 0 ? -1 : open(copy, flags);

        if (out < 0)
            return err_sys(e, in < 0 ? f->fts_accpath : copy, "open");
        return copy_same_bytes(in, out, t->piece, f->fts_accpath, e);
    }
    case FTS_SL:
    case FTS_SLNONE: return equal_links(f->fts_accpath, copy, e);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS: errno = f->fts_errno; return err_sys(e, f->fts_path, "read directory");
    default: return err_set(e, ERR_STALE, f->fts_path, "something was added here since the copy");
    }
}

static enum err_code settle_entry(const FTSENT *f, const char *copy, struct copy_walk *t,
                                  struct err *e)
{
    TRY(compare_entry(f, copy, t, e));
    if (f->fts_info == FTS_D)
        return ERR_OK;
    if (f->fts_info == FTS_DP ? rmdir(f->fts_accpath) : unlink(f->fts_accpath))
        return err_sys(e, f->fts_path, "remove");
    return ERR_OK;
}

/* A file that is missing in the copy is a difference. */
enum err_code copy_compare(const char *from, const char *to, struct err *e)
{
    enum err_code rc = tree_each(from, to, compare_entry, e);

    return rc == ERR_NOT_FOUND ? err_set(e, ERR_STALE, from, "it changed since the copy") : rc;
}

enum err_code copy_remove_source(const char *from, const char *to, struct err *e)
{
    return tree_each(from, to, settle_entry, e);
}

/* An unfinished copy has this suffix, beside its destination. Recovery removes one that a crash left. */
static const char copy_suffix[] = ".reprise-copy";

/* Leaves alone what is there. */
static enum err_code put_back_entry(const FTSENT *f, const char *other, struct copy_walk *t,
                                    struct err *e)
{
    struct stat st;

    return f->fts_info != FTS_DP && lstat(other, &st) == 0 ? ERR_OK : fs_copy_entry(f, other, t, e);
}

enum err_code fs_move_repair(const char *from, const char *to, struct err *e)
{
    char temp[PATH_MAX];

    (void)from;
    if ((size_t)snprintf(temp, sizeof temp, "%s%s", to, copy_suffix) >= sizeof temp)
        return ERR_OK;
    return copy_remove(temp, e);
}

enum err_code fs_move(const char *from, const char *to, struct err *e)
{
    if (disk_rename_new(AT_FDCWD, from, AT_FDCWD, to) == 0)
        return ERR_OK;
    if (errno == EEXIST)
        return err_set(e, ERR_STALE, to, "move: the name is taken");
    if (errno != EXDEV)
        return err_sys(e, from, "move");

    /* On another file system it is copied under a temporary name, and the source is removed
     * last. */
    char temp[PATH_MAX];

    if ((size_t)snprintf(temp, sizeof temp, "%s%s", to, copy_suffix) >= sizeof temp)
        return err_set(e, ERR_UNSAFE, to, "the name is too long");
    enum err_code rc = copy_remove(temp, e);

    if (!rc)
        rc = copy_tree(from, temp, e);
    if (!rc && disk_rename_new(AT_FDCWD, temp, AT_FDCWD, to))
        rc = errno == EEXIST ? err_set(e, ERR_STALE, to, "move: the name is taken")
                             : err_sys(e, to, "name the copy");
    if (rc) {
        if (copy_remove(temp, NULL))
            err_wrap(e, rc, "an unfinished copy remains");
        return rc;
    }
    TRY(disk_sync_parent(to, e));
    /* Bytes that a live writer added since the copy must not be lost. All of the source is compared before its first
     * file is removed, so that a refusal leaves it as it was. */
    rc = copy_compare(from, to, e);
    if (!rc)
        rc = copy_remove_source(from, to, e);
    /* If the source changed meanwhile, what was removed of it comes back. ERR_STALE would mean that nothing remains. */
    if (rc && (tree_each(to, from, put_back_entry, NULL) || copy_remove(to, NULL)))
        return err_wrap(e, ERR_IO, "a copy remains");
    return rc;
}

enum err_code fs_move_is_done(const char *from, const char *to, bool *done, struct err *e)
{
    bool there, left;
    struct stat x, y;

    *done = false;
    TRY(file_at_stat(to, &there, &y, e));
    if (!there)
        return ERR_OK;
    TRY(file_at_stat(from, &left, &x, e));
    if (!left) {
        *done = true;
        return ERR_OK;
    }
    /* Both exist: a copy across file systems has its name, and its source is not removed yet. Within one file system
     * this cannot be our move. The contents decide, and nothing is removed that is not also in the other place. */
    if (x.st_dev == y.st_dev)
        return ERR_OK;
    enum err_code rc = copy_compare(from, to, e);

    if (!rc) {
        rc = copy_remove_source(from, to, e);
        *done = rc == ERR_OK;
    } else if (rc == ERR_STALE) { /* perhaps it was being moved back */
        rc = copy_compare(to, from, e);
        rc = rc ? rc : copy_remove_source(to, from, e);
    }
    return rc == ERR_STALE ? ERR_OK : rc;
}

enum err_code fs_move_sync(const char *from, const char *to, struct err *e)
{
    TRY(disk_sync_parent(to, e));
    return disk_sync_parent(from, e);
}
