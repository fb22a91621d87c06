#include "store/systems/exathena/exathena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/api/host.h"
#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/fs/path.h"
#include "store/fs/span.h"

enum { VERSION_DIGITS = 18 };

void saved_name(struct slice path, char hex[SHA_HEX + 1])
{
    uint8_t sha[SHA256_BYTES] = { 0 }; /* zeros belong to no path */
    struct hasher h = { 0 };

    if (hasher_bytes(&h, path, sha, NULL))
        memset(sha, 0, sizeof sha);
    hasher_fini(&h);
    hasher_hex(sha, hex);
}

/* ---- versions ---- */

/* "12.bin" is version 12; "007.bin", "-5.bin" and "x.bin" are not versions. */
static bool version_of(const char *name, const char *suffix, int64_t *version)
{
    size_t n = strspn(name, "0123456789");

    if (n == 0 || n > VERSION_DIGITS || (name[0] == '0' && n > 1) || strcmp(name + n, suffix) != 0)
        return false;
    *version = strtoll(name, NULL, 10);
    return true;
}

static enum err_code read_version_names(struct saved_file *f, struct err *e)
{
    struct dirent *entry;
    int fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        /* The reason of the failure must survive close. */
        int sys = errno;

        if (fd >= 0)
            close(fd);
        errno = sys;
        return err_sys(e, f->dir, "read saved files");
    }
    while (errno = 0, (entry = readdir(dir))) {
        const char *name = entry->d_name;

        int64_t version;

        if (version_of(name, ".bin", &version)) {
            f->versions++;
            f->first |= version == 0;
            f->newest = version > f->newest ? version : f->newest;
        } else if (version_of(name, ".tombstone", &version)) {
            f->first_absent |= version == 0;
            f->newest_tombstone = version > f->newest_tombstone ? version : f->newest_tombstone;
        } else if (strcmp(name, "path") != 0 && name[0] != '.') {
            f->strange++;
        }
    }
    enum err_code rc = errno ? err_sys(e, f->dir, "read saved files") : ERR_OK;

    closedir(dir);
    return rc;
}

static enum err_code exathena_read_path(struct saved_file *f, const char *name, struct arena *a,
                                        struct err *e)
{
    const char *file = arena_format(a, "%s/path", f->dir);
    struct buf bytes = { 0 };
    char hex[SHA_HEX + 1];

    if (!file)
        return err_nomem(e);
    enum err_code rc = file_read_all(AT_FDCWD, file, 0, PATH_MAX, &bytes, e);

    if (rc == ERR_IO) { /* an error, because a plan without this file would be incomplete */
        err_wrap(e, rc, "read saved files");
    } else if (rc || !bytes.n || memchr(bytes.p, '\0', bytes.n)) {
        f->why = "the path of these copies is not recorded";
        rc = rc == ERR_NOMEM ? err_set(e, rc, f->dir, "read saved files") : ERR_OK;
    } else {
        saved_name(buf_slice(&bytes), hex);
        f->path = arena_copy(a, buf_slice(&bytes)).p;
        if (!f->path)
            rc = err_nomem(e);
        else if (strcmp(hex, name) != 0)
            f->why = "its saved copies are under the name of another path";
    }
    buf_fini(&bytes);
    return rc;
}

/* One saved file, by the name of its directory. */
static enum err_code saved_file_read(const char *dir, const char *name, struct arena *a,
                                     struct saved_file *out, struct err *e)
{
    struct saved_file f = { .dir = arena_format(a, "%s/%s", dir, name),
                            .newest = -1,
                            .newest_tombstone = -1 };

    if (!f.dir)
        return err_nomem(e);
    enum err_code rc = read_version_names(&f, e);

    if (!rc)
        rc = exathena_read_path(&f, name, a, e);
    f.newest_absent = f.newest >= 0 && f.newest_tombstone == f.newest;
    if (!rc && !f.why && !f.first)
        f.why = "its first saved copy is missing";
    if (!rc)
        *out = f;
    return rc;
}

/* ---- all of them ---- */

static int compare_saved_path(const void *a, const void *b)
{
    const struct saved_file *x = a, *y = b;

    return strcmp(x->path ? x->path : x->dir, y->path ? y->path : y->dir);
}

static enum err_code is_saved_dir(int dir, const char *path, const char *name, bool *is,
                                  struct err *e)
{
    struct stat sb;

    *is = false;
    if (name[0] == '.')
        return ERR_OK;
    if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "read saved files");
    *is = S_ISDIR(sb.st_mode);
    return ERR_OK;
}

/* ERR_UNSAFE if the directory of all saved files, or of this session's, is a link. */
static enum err_code saved_no_link(const struct exathena *x, const char *dir, struct err *e)
{
    TRY(file_at_reject_link(x->history, e));
    return file_at_reject_link(dir, e);
}

enum err_code saved_files_read(const struct exathena *x, struct slice session, struct arena *a,
                               struct saved_files *out, struct err *e)
{
    const char *path = arena_format(a, "%s/%.*s", x->history, SLICE_ARG(session));
    struct saved_files list = { .n = 0 };
    struct dirent *entry;
    enum err_code rc = path ? ERR_OK : err_nomem(e);
    DIR *dir = NULL;
    bool is;

    if (!rc)
        rc = saved_no_link(x, path, e);
    if (!rc)
        dir = opendir(path);
    if (!rc && !dir && errno != ENOENT && errno != ENOTDIR)
        rc = err_sys(e, path, "read saved files");

    /* A failure of readdir differs from the end of the directory in errno alone. */
    while (dir && !rc && (errno = 0, entry = readdir(dir))) {
        rc = is_saved_dir(dirfd(dir), path, entry->d_name, &is, e);
        if (rc || !is)
            continue;
        struct saved_file *more = arena_grow(a, list.file, list.n, sizeof *more);

        if (more)
            list.file = more;
        rc = more ? saved_file_read(path, entry->d_name, a, &more[list.n], e) : err_nomem(e);
        list.n += rc == ERR_OK;
    }
    if (dir && !rc && errno)
        rc = err_sys(e, path, "read saved files");
    if (dir)
        closedir(dir);
    if (rc)
        return rc;
    if (list.n)
        qsort(list.file, list.n, sizeof *list.file, compare_saved_path);
    *out = list;
    return ERR_OK;
}

enum err_code saved_newest_is(const struct saved_file *f, struct slice bytes, bool *is,
                              struct err *e)
{
    struct arena a = { 0 };
    struct buf old = { 0 };
    const char *path = arena_format(&a, "%s/%lld.bin", f->dir, (long long)f->newest);
    enum err_code rc = path ? ERR_OK : ERR_NOMEM;

    *is = false;
    if (f->newest < 0)
        path = NULL;
    if (path) {
        rc = file_read_all(AT_FDCWD, path, 0, bytes.n, &old, e);
        *is = !rc && slice_eq(buf_slice(&old), bytes);
    }
    buf_fini(&old);
    arena_fini(&a);
    return rc == ERR_NOMEM || rc == ERR_IO ? err_wrap(e, rc, "read saved files") : ERR_OK;
}

/* Saves the present contents of a file, as the library does before each edit. If they equal the
 * newest version, nothing is written; otherwise the next version is written, which for a missing
 * file is an empty copy with a tombstone. The library continues the numbers from there.
 *
 * The order of writes is the library's: the copy, the tombstone, and for a first version the path,
 * without which the versions are not counted. If the tombstone were written first and a crash left
 * only it, it would be mistaken for part of the library's next version, and a rewind would remove the
 * file. A lone tombstone is skipped nevertheless. */

enum { FILE_MODE = 0644, DIRECTORY_MODE = 0755, FILE_MOST = 1 << 30 };

struct saving {
    const struct exathena *x;
    const char *path; /* the path of the file, lexically clean */
    const char *dir;  /* the directory of its versions */
    struct arena *a;
    struct buf bytes;
    bool absent;
    struct saved_file saved; /* the versions on disk */
};

/* Links are followed: the contents of the target are saved under the link's own name, as the
 * library does. */
static enum err_code exathena_read_present_file(struct saving *s, struct err *e)
{
    struct stat sb;

    s->absent = false;
    s->bytes.n = 0;
    if (stat(s->path, &sb)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return err_sys(e, s->path, "checkpoint");
        s->absent = true;
        return ERR_OK;
    }
    return file_read_all(AT_FDCWD, s->path, FILE_FOLLOW, FILE_MOST, &s->bytes, e);
}

static enum err_code locate_saved_file(struct saving *s, const char *file, struct slice session,
                                       struct err *e)
{
    char hex[SHA_HEX + 1];
    struct stat sb;

    s->path = path_normalize(s->x->project, file, s->a);
    if (!s->path)
        return err_nomem(e);
    saved_name(slice_of(s->path), hex);
    const char *parent = arena_format(s->a, "%s/%.*s", s->x->history, SLICE_ARG(session));

    s->dir = parent ? arena_format(s->a, "%s/%s", parent, hex) : NULL;
    if (!s->dir)
        return err_nomem(e);
    s->saved = (struct saved_file){ .dir = s->dir, .newest = -1 };
    TRY(saved_no_link(s->x, parent, e));
    if (lstat(s->dir, &sb))
        return errno == ENOENT ? ERR_OK : err_sys(e, s->dir, "checkpoint");
    return saved_file_read(parent, hex, s->a, &s->saved, e);
}

static bool has_saved_name(const struct saving *s, const char *name)
{
    struct stat sb;
    const char *path = arena_format(s->a, "%s/%s", s->dir, name);

    return path && lstat(path, &sb) == 0;
}

/* Sets *is if the newest version is the copy of a missing file whose tombstone a crash prevented:
 * without a path it is not counted yet. */
static enum err_code is_half(const struct saving *s, bool named, bool *is, struct err *e)
{
    *is = false;
    if (named || !s->absent || s->saved.newest < 0 || s->saved.newest_absent)
        return ERR_OK;
    return saved_newest_is(&s->saved, SLICE(""), is, e);
}

static enum err_code exathena_save_version(struct saving *s, bool same, struct err *e)
{
    bool named = has_saved_name(s, "path"), half = false;
    bool unnamed = !named && s->absent && s->saved.newest_absent; /* only the path is missing */
    enum err_code rc = disk_make_dir(s->dir, DIRECTORY_MODE, e);

    disk_new_sweep(s->dir); /* temporary files that a crash left */
    if (!rc)
        rc = is_half(s, named, &half, e);
    if (!rc && !same && !unnamed) {
        char bin[48], tombstone[48];
        int64_t version = s->saved.newest - half;

        do {
            version++;
            snprintf(bin, sizeof bin, "%lld.bin", (long long)version);
            snprintf(tombstone, sizeof tombstone, "%lld.tombstone", (long long)version);
        } while (has_saved_name(s, tombstone));
        if (!half)
            rc = disk_create_file(s->dir, bin, buf_slice(&s->bytes), FILE_MODE, e);
        rc = rc || !s->absent ? rc : disk_create_file(s->dir, tombstone, SLICE(""), FILE_MODE, e);
    }
    return rc || named ? rc : disk_create_file(s->dir, "path", slice_of(s->path), FILE_MODE, e);
}

enum err_code exathena_checkpoint(const struct store *st, const struct session_ref *ref,
                                  const struct host_checkpoint *req, struct arena *a,
                                  struct host_checkpointed *out, struct err *e)
{
    struct saving s = { .x = exathena_of(st), .a = a };
    struct host_checkpointed done = { .id = arena_copy(a, req->message) };
    enum err_code rc = done.id.p ? ERR_OK : err_nomem(e);

    if (!rc && !exathena_is_id(ref->id))
        rc = err_set(e, ERR_UNSAFE, ref->path.p, "checkpoint: the id is not a plain name");
    for (size_t i = 0; i < req->files && !rc; i++) {
        /* One version of each file; nothing is saved twice. */
        bool same = false;

        rc = locate_saved_file(&s, req->file[i], ref->id, e);

        if (!rc)
            rc = exathena_read_present_file(&s, e);
        /* Compares as the library does: an empty file equals a missing one. */
        if (!rc && s.saved.newest >= 0 && !s.absent)
            rc = saved_newest_is(&s.saved, buf_slice(&s.bytes), &same, e);
        if (!rc)
            rc = exathena_save_version(&s, same, e);
        done.files += !rc;
        done.fresh += !rc && !same;
    }
    buf_fini(&s.bytes);
    if (!rc)
        *out = done;
    return rc;
}
