#include "store/systems/exathena/rewind/saved_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/file_at.h"

enum { SHA_BYTES = 32, VERSION_DIGITS = 18 };

void saved_name(struct slice path, char hex[SHA_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sha[SHA_BYTES] = { 0 };
    unsigned n = 0;

    if (!EVP_Digest(path.p, path.n, sha, &n, EVP_sha256(), NULL))
        n = 0; /* a name that no path has */
    for (size_t i = 0; i < SHA_BYTES; i++) {
        hex[2 * i] = digits[sha[i] >> 4];
        hex[2 * i + 1] = digits[sha[i] & 15];
    }
    hex[SHA_HEX] = '\0';
}

/* ---- versions ---- */

/* "12.bin" is version 12; "007.bin", "-5.bin" and "x.bin" are none. */
static bool version_of(const char *name, const char *suffix, int64_t *version)
{
    size_t n = strspn(name, "0123456789");

    if (n == 0 || n > VERSION_DIGITS || (name[0] == '0' && n > 1) || strcmp(name + n, suffix) != 0)
        return false;
    *version = strtoll(name, NULL, 10);
    return true;
}

struct reading {
    struct saved_file *f;
    int64_t absent; /* highest tombstone */
};

static void take_name(struct reading *r, const char *name)
{
    struct saved_file *f = r->f;
    int64_t version;

    if (version_of(name, ".bin", &version)) {
        f->versions++;
        f->first |= version == 0;
        f->newest = version > f->newest ? version : f->newest;
    } else if (version_of(name, ".tombstone", &version)) {
        f->first_absent |= version == 0;
        r->absent = version > r->absent ? version : r->absent;
    } else if (strcmp(name, "path") != 0 && name[0] != '.') {
        f->strange++;
    }
}

static enum err_code read_version_names(struct reading *r, struct err *e)
{
    struct dirent *entry;
    int fd = open(r->f->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        int sys = errno;

        if (fd >= 0)
            close(fd);
        errno = sys;
        return err_sys(e, r->f->dir, "look at saved files");
    }
    while ((entry = readdir(dir)))
        take_name(r, entry->d_name);
    closedir(dir);
    return ERR_OK;
}

static enum err_code read_path(struct saved_file *f, const char *name, struct arena *a,
                               struct err *e)
{
    const char *file = arena_format(a, "%s/path", f->dir);
    struct buf bytes = { 0 };
    char hex[SHA_HEX + 1];

    if (!file)
        return err_nomem(e);
    enum err_code rc = file_read_all(AT_FDCWD, file, 0, PATH_MAX, &bytes, e);

    if (rc == ERR_IO) { /* not to know is an error: a plan without this file would be half of one */
        err_wrap(e, rc, "look at saved files");
    } else if (rc || !bytes.n || memchr(bytes.p, '\0', bytes.n)) {
        f->why = "it is not written whose copies these are";
        rc = rc == ERR_NOMEM ? err_set(e, rc, f->dir, "look at saved files") : ERR_OK;
    } else {
        saved_name(buf_slice(&bytes), hex);
        f->path = arena_copy(a, buf_slice(&bytes)).p;
        if (!f->path)
            rc = err_nomem(e);
        else if (strcmp(hex, name) != 0)
            f->why = "its saved copies lie under the name of another path";
    }
    buf_fini(&bytes);
    return rc;
}

enum err_code saved_file_read(const char *dir, const char *name, struct arena *a,
                              struct saved_file *out, struct err *e)
{
    struct saved_file f = { .dir = arena_format(a, "%s/%s", dir, name), .newest = -1 };
    struct reading r = { .f = &f, .absent = -1 };

    if (!f.dir)
        return err_nomem(e);
    enum err_code rc = read_version_names(&r, e);

    if (!rc)
        rc = read_path(&f, name, a, e);
    f.newest_absent = f.newest >= 0 && r.absent == f.newest;
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
        return errno == ENOENT ? ERR_OK : err_sys(e, path, "look at saved files");
    *is = S_ISDIR(sb.st_mode);
    return ERR_OK;
}

static enum err_code add_saved_file(struct saved_files *list, const char *dir, const char *name,
                                    struct arena *a, struct err *e)
{
    struct saved_file *more = arena_grow(a, list->file, list->n, sizeof *more);

    if (!more)
        return err_nomem(e);
    list->file = more;
    enum err_code rc = saved_file_read(dir, name, a, &more[list->n], e);

    list->n += rc == ERR_OK;
    return rc;
}

enum err_code saved_no_link(const struct exathena *x, const char *dir, struct err *e)
{
    enum err_code rc = file_at_reject_link(x->history, e);

    return rc ? rc : file_at_reject_link(dir, e);
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
        rc = err_sys(e, path, "look at saved files");
    while (dir && !rc && (errno = 0, entry = readdir(dir))) {
        rc = is_saved_dir(dirfd(dir), path, entry->d_name, &is, e);
        if (!rc && is)
            rc = add_saved_file(&list, path, entry->d_name, a, e);
    }
    if (dir && !rc && errno)
        rc = err_sys(e, path, "look at saved files");
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
    return rc == ERR_NOMEM || rc == ERR_IO ? err_wrap(e, rc, "look at saved files") : ERR_OK;
}
