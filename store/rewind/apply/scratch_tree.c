#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/rewind/plan/beneath.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/source.h"

/* A copy of a project whose files can be set to any point of a session:
 *
 *   <dir>/tree/    the copy
 *   <dir>/first/N  the copied content of file number N, from the first time that a point changes it
 *
 * Each setting compares the wanted bytes with what the file has, so that a build in the copy finds new times only on
 * files that differ. */

/* Compared as bytes: it has no padding. */
struct scratch_content {
    uint8_t sha256[SHA256_BYTES];
    uint32_t mode;
    uint32_t exists;
};

struct scratch_file {
    struct scratch_content first, now;
    size_t setting; /* the last one that decided about it */
};

struct scratch_tree {
    struct arena arena;
    const char *dir, *root, *tree;
    int fd; /* the open directory `tree` */
    struct hasher hasher;
    struct slice_set paths; /* in the copy; the numbers are those of file[] */
    struct scratch_file *file;
    size_t settings;
};

/* ---- the copy ---- */

/* Programs work in the project meanwhile: a file that has gone is left out, and one that grows or shrinks is copied as it
 * was found. */
static enum err_code scratch_tree_copy_file(const FTSENT *f, const char *to, struct hasher *hasher,
                                            struct err *e)
{
    enum { TRIES = 10 };
    const struct timespec times[2] = { f->fts_statp->st_atim, f->fts_statp->st_mtim };
    uint8_t sha256[SHA256_BYTES];
    struct span bytes;
    enum err_code rc = ERR_STALE;
    const int in = open(f->fts_accpath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (in < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, f->fts_path, "open");
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (out < 0) {
        rc = err_sys(e, to, "create");
        close(in);
        return rc;
    }

    /* A file that shrinks while it is read is read again from its beginning. */
    for (int i = 0; rc == ERR_STALE && i < TRIES; i++) {
        rc = i > 0 && (ftruncate(out, 0) || lseek(out, 0, SEEK_SET) < 0)
                 ? err_sys(e, to, "empty")
                 : span_of_file(in, f->fts_path, &bytes, e);
        bytes.whole = false;
        if (!rc)
            rc = hasher_span(hasher, &bytes, out, to, sha256, e);
    }
    if (!rc && (fchmod(out, f->fts_statp->st_mode & 0777) || futimens(out, times)))
        rc = err_sys(e, to, "set the mode and the time");
    if (close(out) && !rc)
        rc = err_sys(e, to, "write");
    close(in);
    return rc;
}

/* A link into the project would lead a command out of the copy. */
static enum err_code scratch_tree_copy_link(const struct scratch_tree *t, const FTSENT *f,
                                            const char *to, struct arena *a, struct err *e)
{
    char text[PATH_MAX];
    const ssize_t n = readlink(f->fts_accpath, text, sizeof text - 1);
    const char *target = text;

    if (n < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, f->fts_path, "read link");
    text[n] = '\0';
    if (path_under((struct slice){ text, (size_t)n }, slice_of(t->root)))
        NEED(target = arena_format(a, "%s%s", t->tree, text + strlen(t->root)));
    return symlink(target, to) ? err_sys(e, to, "create") : ERR_OK;
}

static enum err_code scratch_tree_copy(struct scratch_tree *t, struct err *e)
{
    char *const roots[] = { (char *)t->root, NULL };
    AUTO_ARENA a = { 0 };
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
    FTSENT *f;
    enum err_code rc = fts ? ERR_OK : err_sys(e, t->root, "read directory");

    /* Git's files are left out, and so is the copy itself if it is inside the project. A directory gets its mode when
     * it is complete, because files cannot be created in a read-only one. */
    while (!rc && (errno = 0, f = fts_read(fts))) {
        arena_reset(&a);
        const char *to = arena_format(&a, "%s%s", t->tree, f->fts_path + strlen(t->root));

        if (!to) {
            rc = err_nomem(e);
        } else if (f->fts_level > 0 &&
                   (strcmp(f->fts_name, ".git") == 0 || strcmp(f->fts_path, t->dir) == 0)) {
            fts_set(fts, f, FTS_SKIP);
        } else if (f->fts_info == FTS_D) {
            if (f->fts_level > 0 && mkdir(to, 0700))
                rc = err_sys(e, to, "make directory");
        } else if (f->fts_info == FTS_DP) {
            if (f->fts_level > 0 && chmod(to, (f->fts_statp->st_mode & 0777) | S_IRWXU))
                rc = err_sys(e, to, "set the mode");
        } else if (f->fts_info == FTS_F) {
            rc = scratch_tree_copy_file(f, to, &t->hasher, e);
        } else if (f->fts_info == FTS_SL || f->fts_info == FTS_SLNONE) {
            rc = scratch_tree_copy_link(t, f, to, &a, e);
        } else if (f->fts_info != FTS_DEFAULT && (f->fts_level == 0 || f->fts_errno != ENOENT)) {
            errno = f->fts_errno;
            rc = err_sys(e, f->fts_path, "read");
        }
    }
    if (!rc && errno)
        rc = err_sys(e, t->root, "read directory");
    if (fts)
        fts_close(fts);
    return rc;
}

enum err_code scratch_tree_open(const char *root, const char *temp_dir, struct scratch_tree **out,
                                struct err *e)
{
    struct scratch_tree *t = calloc(1, sizeof *t);
    struct disk_usage all = { 0 };
    char *dir = NULL;
    enum err_code rc = ERR_OK;

    if (!t)
        return err_nomem(e);
    t->fd = -1;
    t->root = arena_copy_text(&t->arena, root);
    dir = arena_format(&t->arena, "%s/reprise-bisect-XXXXXX", temp_dir);

    /* The space is checked before anything is written. */
    rc = !t->root || !dir ? err_nomem(e) : disk_usage_add(root, &all, e);
    if (!rc)
        rc = disk_check_space(temp_dir, all.bytes, "the copy of the project", e);
    if (!rc && !mkdtemp(dir))
        rc = err_sys(e, dir, "make directory");
    if (!rc) {
        const char *first = arena_format(&t->arena, "%s/first", dir);

        /* From here on, scratch_tree_close() removes the directory. */
        t->dir = dir;
        t->tree = arena_format(&t->arena, "%s/tree", dir);
        rc = !first || !t->tree                                ? err_nomem(e)
             : mkdir(first, 0700) != 0 || mkdir(t->tree, 0700) ? err_sys(e, dir, "make directory")
                                                               : scratch_tree_copy(t, e);
    }
    if (!rc)
        rc = beneath_root(t->tree, &t->fd, e);
    if (rc)
        scratch_tree_close(t);
    else
        *out = t;
    return rc;
}

void scratch_tree_close(struct scratch_tree *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    if (t->dir && copy_remove(t->dir, NULL))
        errno = 0; /* it is a temporary directory, and the system removes it at last */
    hasher_fini(&t->hasher);
    slice_set_fini(&t->paths);
    free(t->file);
    arena_fini(&t->arena);
    free(t);
}

const char *scratch_tree_path(const struct scratch_tree *t)
{
    return t->tree;
}

/* ---- setting its files ---- */

static enum err_code scratch_tree_first(struct scratch_tree *t, size_t number, struct arena *a,
                                        const char **out, struct err *e)
{
    *out = arena_format(a, "%s/first/%zu", t->dir, number);
    return *out ? ERR_OK : err_nomem(e);
}

/* Moves the copied file away, so that its content is known at every later setting. ERR_UNSAFE: it is no regular file. */
static enum err_code scratch_tree_adopt(struct scratch_tree *t, const char *path, size_t number,
                                        struct scratch_file *f, struct arena *a, struct err *e)
{
    const char *name, *first;
    struct span bytes;
    struct stat st;
    int dir, fd;
    enum err_code rc = beneath_parent(t->fd, t->tree, path, &dir, &name, e);

    *f = (struct scratch_file){ .setting = 0 };

    /* A file that does not exist is adopted as absent: restoring it means removing it. */
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        close(dir);
        return ERR_OK;
    }
    rc = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)
             ? err_set(e, ERR_UNSAFE, path, "not a regular file")
             : span_of_file(fd, path, &bytes, e);
    if (!rc)
        rc = hasher_span(&t->hasher, &bytes, -1, NULL, f->first.sha256, e);
    if (!rc)
        rc = scratch_tree_first(t, number, a, &first, e);

    /* A rename saves the time and the space of a second copy. */
    if (!rc && renameat(dir, name, AT_FDCWD, first))
        rc = err_sys(e, path, "move");
    if (!rc) {
        f->first.exists = true;
        f->first.mode = st.st_mode & 0777;
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return rc;
}

/* from: where the wanted bytes are; NULL: there is to be no file. */
static enum err_code scratch_tree_put(struct scratch_tree *t, const char *path,
                                      struct scratch_file *f, const struct span *from,
                                      uint32_t mode, struct err *e)
{
    struct scratch_content want = { .exists = from != NULL, .mode = from ? mode : 0 };
    uint8_t written[SHA256_BYTES];
    const char *name;
    int dir, fd = -1;
    enum err_code rc = ERR_OK;

    if (from)
        rc = hasher_span(&t->hasher, from, -1, NULL, want.sha256, e);
    if (rc || memcmp(&want, &f->now, sizeof want) == 0)
        return rc;
    rc = beneath_make_parent(t->fd, t->tree, path, NULL, &dir, &name, e);
    if (rc)
        return rc;

    /* The file is created anew, so that a link that a command left there is not followed. */
    if (unlinkat(dir, name, 0) && errno != ENOENT)
        rc = err_sys(e, path, "remove");
    if (!rc && from && (fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
        rc = err_sys(e, path, "create");
    if (!rc && from)
        rc = hasher_span(&t->hasher, from, fd, path, written, e);
    if (!rc && from && fchmod(fd, mode))
        rc = err_sys(e, path, "set the mode");
    if (fd >= 0 && close(fd) && !rc)
        rc = err_sys(e, path, "write");
    close(dir);
    if (!rc)
        f->now = want;
    return rc;
}

static enum err_code scratch_tree_restore(struct scratch_tree *t, size_t number, struct arena *a,
                                          struct err *e)
{
    struct scratch_file *f = &t->file[number];
    const char *path = t->paths.text[number].p, *first;
    struct span bytes;

    if (!f->first.exists)
        return scratch_tree_put(t, path, f, NULL, 0, e);
    TRY(scratch_tree_first(t, number, a, &first, e));
    const int fd = open(first, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(e, first, "open");
    enum err_code rc = span_of_file(fd, first, &bytes, e);

    if (!rc)
        rc = scratch_tree_put(t, path, f, &bytes, f->first.mode, e);
    close(fd);
    return rc;
}

/* *known is false if the state at the point is not known, or the path leads out of the copy. */
static enum err_code scratch_tree_set_one(struct scratch_tree *t, const struct rewind_target *x,
                                          struct arena *a, bool *known, struct err *e)
{
    const struct slice named = slice_of(x->path);
    struct span bytes = { .fd = -1 };
    uint32_t number;
    enum err_code rc;

    *known = false;
    if (!path_under(named, slice_of(t->root)) || pathrule_forbids(named, x->exact) ||
        x->want == REWIND_UNKNOWN || x->source.kind)
        return ERR_OK;
    const size_t files = t->paths.n;
    const char *path = arena_format(&t->arena, "%s%s", t->tree, x->path + strlen(t->root));

    NEED(path);
    if (slice_set_add(&t->paths, slice_of(path), &number))
        return err_nomem(e);

    /* A path that is new is adopted first. If it is not a regular file, it is marked and never set. */
    if (number == files) {
        struct scratch_file *more = realloc(t->file, (files + 1) * sizeof *more);

        NEED(more);
        t->file = more;
        rc = scratch_tree_adopt(t, path, number, &t->file[number], a, e);
        if (rc == ERR_UNSAFE) {
            t->file[number].setting = SIZE_MAX;
            return ERR_OK;
        }
        if (rc)
            return rc;
    }
    struct scratch_file *f = &t->file[number];

    if (f->setting == SIZE_MAX)
        return ERR_OK;
    if (x->want == REWIND_BYTES) {
        rc = source_open(&x->source, &bytes, e);
        if (rc)
            return rc == ERR_FORMAT ? ERR_OK : rc;
    }

    /* A point that does not record the mode leaves the mode that the file has in the project. */
    rc = scratch_tree_put(t, path, f, x->want == REWIND_BYTES ? &bytes : NULL,
                          x->has_mode       ? x->mode & 0777
                          : f->first.exists ? f->first.mode
                                            : 0644,
                          e);
    if (x->want == REWIND_BYTES)
        span_close(&bytes);
    f->setting = t->settings;
    *known = !rc;
    return rc;
}

enum err_code scratch_tree_set(struct scratch_tree *t, const struct rewind_plan *plan,
                               struct scratch_state *out, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF state = { 0 };
    bool known;

    *out = (struct scratch_state){ 0 };
    t->settings++;
    for (size_t i = 0; plan && i < plan->n; i++) {
        arena_reset(&a);
        TRY(scratch_tree_set_one(t, &plan->target[i], &a, &known, e));
        out->unknown += !known;
    }

    /* Files that an earlier setting changed, and this one does not name, get their first content back. */
    for (size_t i = 0; i < t->paths.n; i++) {
        struct scratch_file *f = &t->file[i];

        if (f->setting == SIZE_MAX)
            continue;
        if (f->setting != t->settings) {
            arena_reset(&a);
            TRY(scratch_tree_restore(t, i, &a, e));
        }

        /* Files as in the project are left out, so that equal states have equal hashes. */
        if (memcmp(&f->now, &f->first, sizeof f->now) == 0)
            continue;
        out->changed++;
        if (buf_addf(&state, "%zu", i) ||
            buf_add(&state, (struct slice){ (const char *)&f->now, sizeof f->now }))
            return err_nomem(e);
    }
    return hasher_bytes(&t->hasher, buf_slice(&state), out->sha256, e);
}
