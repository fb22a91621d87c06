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

#include "store/fs/attrs.h"
#include "store/fs/disk.h"

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

static enum err_code copy_bytes(int in, int out, char *piece, const char *path, struct err *e)
{
    for (;;) {
        size_t got;
        enum err_code rc = read_some(in, piece, &got, path, e);

        if (rc || got == 0)
            return rc;
        rc = disk_write(out, (struct slice){ piece, got }, NULL, path, e);
        if (rc)
            return rc;
    }
}

/* Reads both again from the start. The page cache may answer for the copy, which is as good: what is compared
 * is what the kernel will write. */
static enum err_code same_bytes(int a, int b, char *piece, const char *path, struct err *e)
{
    char *other = piece + COPY_BYTES;

    if (lseek(a, 0, SEEK_SET) < 0 || lseek(b, 0, SEEK_SET) < 0)
        return err_sys(e, path, "seek");
    for (;;) {
        size_t m, n;
        enum err_code rc = read_some(a, piece, &m, path, e);

        if (!rc)
            rc = read_some(b, other, &n, path, e);
        if (rc)
            return rc;
        if (m != n || memcmp(piece, other, m) != 0)
            return err_set(e, ERR_STALE, path, "the copy differs from what was copied");
        if (m == 0)
            return ERR_OK;
    }
}

/* The mode comes behind the owner, which clears set-id bits, and behind what needs the right to write; times last. */
static enum err_code copy_attributes(int in, int out, const struct stat *st, const char *to,
                                     struct err *e)
{
    struct timespec t[2] = { st->st_atim, st->st_mtim };
    struct arena a = { 0 };
    struct attrs x;
    enum err_code rc = attrs_get(in, &a, to, &x, e);

    if (!rc)
        rc = attrs_apply_portable(out, &x, to, e);
    if (!rc && fchmod(out, st->st_mode & 07777))
        rc = err_sys(e, to, "keep the mode");
    if (!rc && futimens(out, t))
        rc = err_sys(e, to, "keep the time");
    arena_fini(&a);
    return rc;
}

static enum err_code copy_file(const char *from, const char *to, char *piece, struct err *e)
{
    struct stat st;
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), out = -1;
    enum err_code rc = in < 0 ? err_sys(e, from, "open") : ERR_OK;

    if (!rc && fstat(in, &st))
        rc = err_sys(e, from, "look at the file");
    if (!rc) {
        out = open(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (out < 0)
            rc = err_sys(e, to, "create");
    }
    if (!rc)
        rc = copy_bytes(in, out, piece, to, e);
    if (!rc)
        rc = same_bytes(in, out, piece, to, e);
    if (!rc)
        rc = copy_attributes(in, out, &st, to, e);
    if (!rc)
        rc = disk_sync(out, to, e);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
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
    if (utimensat(AT_FDCWD, to, t, AT_SYMLINK_NOFOLLOW))
        errno = 0;
    return ERR_OK;
}

/* A directory gets its mode and times when everything in it is there. */
static enum err_code finish_dir(const char *from, const char *to, const struct stat *st,
                                struct err *e)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int in = open(from, flags), out = in < 0 ? -1 : open(to, flags);
    enum err_code rc = out < 0 ? err_sys(e, in < 0 ? from : to, "open directory") : ERR_OK;

    if (!rc)
        rc = copy_attributes(in, out, st, to, e);
    if (!rc)
        rc = disk_sync(out, to, e);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
}

/* Files with several names that were met, and where the first of them was copied to. */
struct link {
    dev_t dev;
    ino_t ino;
    char *copy;
};

/* What is carried from entry to entry. */
struct trip {
    char *piece; /* room for two pieces of a file */
    struct link *link;
    size_t links;
};

static enum err_code remember_hard_link(struct trip *t, const struct stat *st, const char *to,
                                        struct err *e)
{
    struct link *more = realloc(t->link, (t->links + 1) * sizeof *more);

    if (more)
        t->link = more;
    char *copy = more ? strdup(to) : NULL;

    if (!copy)
        return err_nomem(e);
    t->link[t->links++] = (struct link){ st->st_dev, st->st_ino, copy };
    return ERR_OK;
}

static const char *copy_of(const struct trip *t, const struct stat *st)
{
    for (size_t i = 0; i < t->links; i++)
        if (t->link[i].dev == st->st_dev && t->link[i].ino == st->st_ino)
            return t->link[i].copy;
    return NULL;
}

/* Names of one file inside the tree are names of one file again, where the file system knows such a thing. */
static enum err_code copy_name(const FTSENT *f, const char *to, struct trip *t, struct err *e)
{
    const struct stat *st = f->fts_statp;
    const char *first = st->st_nlink > 1 ? copy_of(t, st) : NULL;

    if (first && link(first, to) == 0)
        return ERR_OK;
    enum err_code rc = copy_file(f->fts_accpath, to, t->piece, e);

    return rc || st->st_nlink == 1 || first ? rc : remember_hard_link(t, st, to, e);
}

static enum err_code copy_entry(const FTSENT *f, const char *to, struct trip *t, struct err *e)
{
    switch (f->fts_info) {
    case FTS_D: return mkdir(to, 0700) ? err_sys(e, to, "make directory") : ERR_OK;
    case FTS_DP: return finish_dir(f->fts_accpath, to, f->fts_statp, e);
    case FTS_F: return copy_name(f, to, t, e);
    case FTS_SL:
    case FTS_SLNONE: return copy_link(f->fts_accpath, to, f->fts_statp, e);
    case FTS_DEFAULT:
        return err_set(e, ERR_UNSAFE, f->fts_path, "copy: neither a file, a directory nor a link");
    default: errno = f->fts_errno; return err_sys(e, f->fts_path, "read directory");
    }
}

static enum err_code tree_open(const char *root, FTS **fts, struct err *e)
{
    char *copy = strdup(root);
    char *roots[] = { copy, NULL };

    if (!copy)
        return err_nomem(e);
    *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    free(copy);
    return *fts ? ERR_OK : err_sys(e, root, "read directory");
}

/* Called for each entry with the path that belongs to it in the other tree. */
typedef enum err_code entry_fn(const FTSENT *f, const char *other, struct trip *t, struct err *e);

static void trip_end(struct trip *t)
{
    for (size_t i = 0; i < t->links; i++)
        free(t->link[i].copy);
    free(t->link);
    free(t->piece);
}

static enum err_code tree_each(const char *from, const char *to, entry_fn *fn, struct err *e)
{
    FTS *fts = NULL;
    FTSENT *f;
    struct trip t = { .piece = malloc((size_t)COPY_BYTES * 2) };
    char *other = NULL;
    size_t root = strlen(from);
    enum err_code rc = t.piece ? tree_open(from, &fts, e) : err_nomem(e);

    while (!rc && (errno = 0, f = fts_read(fts))) {
        free(other);
        if (asprintf(&other, "%s%s", to, f->fts_path + root) < 0) {
            other = NULL;
            rc = err_nomem(e);
            break;
        }
        rc = fn(f, other, &t, e);
    }
    if (!rc && errno)
        rc = err_sys(e, from, "read directory");
    if (fts)
        fts_close(fts);
    free(other);
    trip_end(&t);
    return rc;
}

enum err_code copy_tree(const char *from, const char *to, struct err *e)
{
    return tree_each(from, to, copy_entry, e);
}

enum err_code copy_remove(const char *path, struct err *e)
{
    FTS *fts = NULL;
    FTSENT *f;
    struct stat st;

    if (lstat(path, &st))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "look at");
    enum err_code rc = tree_open(path, &fts, e);

    while (!rc && (errno = 0, f = fts_read(fts))) {
        if (f->fts_info == FTS_D)
            continue;
        if (f->fts_info == FTS_DP ? rmdir(f->fts_accpath) : unlink(f->fts_accpath))
            rc = err_sys(e, f->fts_path, "remove");
    }
    if (!rc && errno)
        rc = err_sys(e, path, "read directory");
    if (fts)
        fts_close(fts);
    return rc;
}

/* ---- what is left of a source ---- */

static enum err_code equal_files(const char *a, const char *b, char *piece, struct err *e)
{
    int in = open(a, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int out = open(b, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    enum err_code rc = in < 0 || out < 0 ? err_sys(e, in < 0 ? a : b, "open") : ERR_OK;

    if (!rc)
        rc = same_bytes(in, out, piece, a, e);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
}

static enum err_code equal_links(const char *a, const char *b, struct err *e)
{
    char one[PATH_MAX], two[PATH_MAX];
    ssize_t m = readlink(a, one, sizeof one), n = readlink(b, two, sizeof two);

    if (m < 0 || n < 0)
        return err_sys(e, a, "read link");
    return m == n && memcmp(one, two, (size_t)m) == 0
               ? ERR_OK
               : err_set(e, ERR_STALE, a, "the copy differs from what was copied");
}

static enum err_code compare_entry(const FTSENT *f, const char *copy, struct trip *t, struct err *e)
{
    switch (f->fts_info) {
    case FTS_D:
    case FTS_DP: return ERR_OK;
    case FTS_F: return equal_files(f->fts_accpath, copy, t->piece, e);
    case FTS_SL:
    case FTS_SLNONE: return equal_links(f->fts_accpath, copy, e);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS: errno = f->fts_errno; return err_sys(e, f->fts_path, "read directory");
    default: return err_set(e, ERR_STALE, f->fts_path, "something was put here since the copy");
    }
}

static enum err_code settle_entry(const FTSENT *f, const char *copy, struct trip *t, struct err *e)
{
    enum err_code rc = compare_entry(f, copy, t, e);

    if (rc || f->fts_info == FTS_D)
        return rc;
    if (f->fts_info == FTS_DP ? rmdir(f->fts_accpath) : unlink(f->fts_accpath))
        return err_sys(e, f->fts_path, "remove");
    return ERR_OK;
}

/* What is missing in the copy is a difference. */
enum err_code copy_compare(const char *from, const char *to, struct err *e)
{
    enum err_code rc = tree_each(from, to, compare_entry, e);

    return rc == ERR_NOT_FOUND ? err_set(e, ERR_STALE, from, "it changed since the copy") : rc;
}

enum err_code copy_remove_source(const char *from, const char *to, struct err *e)
{
    return tree_each(from, to, settle_entry, e);
}
