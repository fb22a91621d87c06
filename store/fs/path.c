#include "store/fs/path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/file_at.h"

static bool path_is_dots(const char *part, size_t n, size_t dots)
{
    return n == dots + 1 && memcmp(part + 1, "..", dots) == 0;
}

const char *path_normalize(const char *dir, const char *path, struct arena *a)
{
    char *whole =
        path[0] == '/' ? arena_format(a, "%s", path) : arena_format(a, "%s/%s", dir, path);
    char *to = whole;

    for (char *part = whole; part && *part;) {
        char *end = strchrnul(part + 1, '/');
        size_t n = (size_t)(end - part); /* including the slash before it */

        if (path_is_dots(part, n, 2)) {
            while (to > whole && *--to != '/')
                ;
        } else if (n > 1 && !path_is_dots(part, n, 1)) {
            memmove(to, part, n);
            to += n;
        }
        part = end;
    }
    if (!whole)
        return NULL;
    if (to == whole)
        *to++ = '/';
    *to = '\0';
    return whole;
}

const char *path_real(const char *path, struct arena *a)
{
    char above[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof above)
        return path;
    memcpy(above, path, n + 1);
    while (n > 1 && !realpath(above, real)) {
        while (n > 1 && above[n - 1] != '/')
            n--;
        n -= n > 1;
        above[n] = '\0';
    }
    if (n <= 1)
        return path;
    return path[n] ? arena_format(a, "%s%s", real, path + n) : arena_copy_text(a, real);
}

/* The rest of a path below root, with its slash; NULL: it is not below. */
static const char *below(const char *root, const char *path)
{
    size_t n = strlen(root);

    return strncmp(root, path, n) == 0 && path[n] == '/' && n > 1 ? path + n : NULL;
}

static bool has_newer_link(const char *root, const char *path, int64_t time_ms)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    struct stat sb;
    bool any = false;

    for (size_t i = strlen(root) + 1; i <= n && n < sizeof part && !any; i++) {
        if (path[i] && path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        any = lstat(part, &sb) == 0 && S_ISLNK(sb.st_mode) && time_ms_of(sb.st_mtim) > time_ms;
    }
    return any;
}

const char *path_real_below(const char *root, const char *path, int64_t time_ms, struct arena *a)
{
    if (!below(root, path) || (time_ms != TIME_NONE && has_newer_link(root, path, time_ms)))
        return path;
    const char *real = path_real(path, a), *real_root = real ? path_real(root, a) : NULL;

    if (!real_root)
        return NULL;
    const char *name = below(real_root, real);

    return name && strcmp(name, below(root, path)) != 0 ? arena_format(a, "%s%s", root, name)
                                                        : path;
}

bool path_parent(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n >= PATH_MAX)
        return false;
    memcpy(out, n ? path : (slash ? "/" : "."), n ? n : 1);
    out[n ? n : 1] = '\0';
    return true;
}

enum err_code path_new_file(const char *cwd, const char *path, struct arena *a, const char **dir,
                            const char **full, struct err *e)
{
    const char *whole = path[0] == '/' ? path : arena_format(a, "%s/%s", cwd, path);
    const char *name = whole ? strrchr(whole, '/') + 1 : NULL;
    char parent[PATH_MAX], real[PATH_MAX];

    NEED(name);
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return err_set(e, ERR_USAGE, path, "write to: not the name of a file");
    if (!path_parent(whole, parent))
        return err_set(e, ERR_UNSAFE, path, "write to: the name is too long");
    if (!realpath(parent, real))
        return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, parent, "write into: no such directory")
                               : err_sys(e, parent, "write into");
    NEED(*dir = arena_copy_text(a, real));
    NEED(*full = arena_format(a, "%s/%s", real[1] ? real : "", name));
    if (strlen(*full) >= PATH_MAX)
        return err_set(e, ERR_UNSAFE, path, "write to: the name is too long");
    return ERR_OK;
}

bool path_under(struct slice path, struct slice root)
{
    while (root.n && root.p[root.n - 1] == '/')
        root.n--;
    return path.n >= root.n && memcmp(path.p, root.p, root.n) == 0 &&
           (path.n == root.n || path.p[root.n] == '/');
}

enum {
    ENTRY_BYTES = 64,   /* that a session's name needs in a directory, about */
    ENTRIES_A_LOOK = 4, /* entries that are read in the time of one look-up */
    BITS_A_NAME = 16,
    PROBES = 2,
    FEWEST_BITS = 1024,
};

static struct slice dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (struct slice){ path, slash ? (size_t)(slash - path) : 0 };
}

static struct presence_dir *find_dir(struct presence *p, struct slice path)
{
    for (size_t i = 0; i < p->n && i < PRESENCE_DIRS; i++)
        if (slice_eq(p->dir[i].path, path))
            return &p->dir[i];
    return NULL;
}

static bool dir_path(const struct presence_dir *d, char out[PATH_MAX])
{
    if (d->path.n == 0 || d->path.n >= PATH_MAX)
        return false;
    memcpy(out, d->path.p, d->path.n);
    out[d->path.n] = '\0';
    return true;
}

/* ---- names ---- */

/* FNV-1a. A name that was chosen to collide with a session's costs one look-up and nothing else. */
static uint64_t path_hash_of(const char *name)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3;
    return h;
}

static size_t probe(const struct presence_dir *d, uint64_t hash, int i)
{
    return (size_t)(hash >> (32 * i) ^ hash >> (32 * i + 15)) & (d->bits_n - 1);
}

static bool path_may_have(const struct presence_dir *d, const char *name)
{
    uint64_t hash = path_hash_of(name);

    for (int i = 0; i < PROBES; i++) {
        size_t bit = probe(d, hash, i);

        if (!(d->bits[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

/* If it cannot be read, names are looked up one by one, as before. */
static void read_dir_names(struct presence_dir *d)
{
    char path[PATH_MAX];
    DIR *dir = dir_path(d, path) ? opendir(path) : NULL;
    const struct dirent *entry;
    size_t bits = FEWEST_BITS;
    bool whole = false;

    while (bits / BITS_A_NAME < (size_t)d->scan_after_misses * ENTRIES_A_LOOK)
        bits *= 2;
    d->scan_after_misses = 0;
    if (dir && (d->bits = calloc(bits / 8, 1))) {
        d->bits_n = bits;
        while (errno = 0, (entry = readdir(dir))) {
            const char *name = entry->d_name;

            uint64_t hash = path_hash_of(name);

            for (int i = 0; i < PROBES; i++) {
                size_t bit = probe(d, hash, i);

                d->bits[bit / 8] |= (unsigned char)(1u << bit % 8);
            }
        }
        whole = errno == 0;
    }
    if (dir)
        closedir(dir);

    /* An incomplete filter would make files that exist look absent. */
    if (!whole) {
        free(d->bits);
        d->bits = NULL;
    }
}

/* ---- directories ---- */

static void learn_dir(struct presence *p, struct slice path)
{
    struct presence_dir *d = &p->dir[p->n++ % PRESENCE_DIRS];
    char text[PATH_MAX];
    struct stat st;
    bool there = true; /* a directory that is not known to be gone is examined */

    free(d->bits);
    *d = (struct presence_dir){ .path = path };
    if (!dir_path(d, text) || file_at_stat(text, &there, &st, NULL))
        return;
    d->gone = !there;
    if (there && st.st_size / (ENTRY_BYTES * ENTRIES_A_LOOK) < UINT_MAX / 64)
        d->scan_after_misses = (unsigned)(st.st_size / (ENTRY_BYTES * ENTRIES_A_LOOK)) + 1;
}

enum err_code path_presence_lookup(struct presence *p, const char *path, bool *there,
                                   struct stat *st, struct err *e)
{
    struct slice dir = dir_of(path);
    struct presence_dir *d = find_dir(p, dir);

    *there = false;
    if (d && (d->gone || (d->bits && !path_may_have(d, path + dir.n + 1))))
        return ERR_OK;
    TRY(file_at_stat(path, there, st, e));
    if (!*there) {
        if (!d)
            learn_dir(p, dir);
        else if (d->scan_after_misses && ++d->misses >= d->scan_after_misses)
            read_dir_names(d);
    }
    return ERR_OK;
}

void path_presence_fini(struct presence *p)
{
    for (size_t i = 0; i < PRESENCE_DIRS; i++)
        free(p->dir[i].bits);
    *p = (struct presence){ .n = 0 };
}

bool path_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_is_real_dir(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum err_code path_each_file(const char *dir, int depth, path_file_fn *fn, void *arg, struct err *e)
{
    AUTO_DIR *names = opendir(dir);
    AUTO_ARENA a = { 0 };
    const struct dirent *x;

    while (names && (x = readdir(names))) {
        struct stat st;

        arena_reset(&a);
        const char *path = arena_format(&a, "%s/%s", dir, x->d_name);

        NEED(path);
        if (x->d_name[0] == '.' || lstat(path, &st))
            continue;
        if (S_ISREG(st.st_mode))
            TRY(fn(path, arg, e));
        else if (S_ISDIR(st.st_mode) && depth > 0)
            TRY(path_each_file(path, depth - 1, fn, arg, e));
    }
    return ERR_OK;
}
