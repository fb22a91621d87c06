#include "tests/support/folder.h"

#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/buf.h"

void folder_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}

void folder_make(struct folder *f)
{
    const char *base = getenv("TMPDIR");

    snprintf(f->path, sizeof f->path, "%s/reprise-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(f->path));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static FTS *walk(const char *path)
{
    char copy[4096];
    char *roots[] = { copy, NULL };

    snprintf(copy, sizeof copy, "%s", path);
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);

    assert_non_null(fts);
    return fts;
}

void folder_remove(struct folder *f)
{
    FTS *fts = walk(f->path);
    FTSENT *x;

    while ((x = fts_read(fts))) {
        if (x->fts_info == FTS_D)
            chmod(x->fts_accpath, 0700);
        else if (x->fts_info == FTS_DP)
            rmdir(x->fts_accpath);
        else
            unlink(x->fts_accpath);
    }
    fts_close(fts);
}

const char *folder_path(const struct folder *f, const char *name, char out[4096])
{
    assert_true(snprintf(out, 4096, "%s/%s", f->path, name) < 4096);
    return out;
}

void folder_dir(const struct folder *f, const char *name)
{
    char path[4096];

    folder_path(f, name, path);
    for (char *p = path + strlen(f->path) + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *p = '/';
    }
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
}

void folder_put(const struct folder *f, const char *name, struct slice bytes)
{
    char path[4096], dir[4096];

    snprintf(dir, sizeof dir, "%s", name);
    if (strrchr(dir, '/')) {
        *strrchr(dir, '/') = '\0';
        folder_dir(f, dir);
    }
    FILE *o = fopen(folder_path(f, name, path), "wb");

    assert_non_null(o);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, o), bytes.n);
    assert_int_equal(fclose(o), 0);
}

void folder_mtime(const struct folder *f, const char *name, int64_t ns)
{
    char path[4096];
    struct timespec t[2] = { { .tv_nsec = UTIME_OMIT },
                             { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 } };

    assert_int_equal(utimensat(AT_FDCWD, folder_path(f, name, path), t, AT_SYMLINK_NOFOLLOW), 0);
}

bool folder_has(const struct folder *f, const char *name)
{
    char path[4096];
    struct stat st;

    return lstat(folder_path(f, name, path), &st) == 0;
}

char *folder_get(const struct folder *f, const char *name, size_t *n)
{
    char path[4096];
    FILE *in = fopen(folder_path(f, name, path), "rb");
    struct stat st;

    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &st), 0);
    char *p = malloc((size_t)st.st_size + 1);

    assert_non_null(p);
    *n = fread(p, 1, (size_t)st.st_size, in);
    p[*n] = '\0';
    fclose(in);
    return p;
}

bool folder_is(const struct folder *f, const char *name, const char *text)
{
    size_t n;
    char *p = folder_get(f, name, &n);
    bool same = n == strlen(text) && memcmp(p, text, n) == 0;

    free(p);
    return same;
}

/* FNV-1a: good enough to distinguish two test files. */
static uint64_t sum_of(const char *path)
{
    uint64_t h = 1469598103934665603u;
    FILE *in = fopen(path, "rb");
    int c;

    if (!in)
        return 0;
    while ((c = getc(in)) != EOF)
        h = (h ^ (uint64_t)c) * 1099511628211u;
    fclose(in);
    return h;
}

char *folder_image(const struct folder *f, const char *name)
{
    char path[4096];
    struct buf out = { 0 };
    FTS *fts = walk(folder_path(f, name, path));
    size_t root = strlen(path);
    FTSENT *x;

    while ((x = fts_read(fts))) {
        const struct stat *st = x->fts_statp;
        bool file = x->fts_info == FTS_F;

        if (x->fts_info == FTS_DP)
            continue;
        assert_int_equal(buf_addf(&out, "%s %o", x->fts_path + root, st->st_mode), ERR_OK);
        if (file)
            assert_int_equal(buf_addf(&out, " %lld %lld.%09ld %llx", (long long)st->st_size,
                                      (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
                                      (unsigned long long)sum_of(x->fts_accpath)),
                             ERR_OK);
        assert_int_equal(buf_add_byte(&out, '\n'), ERR_OK);
    }
    fts_close(fts);
    assert_non_null(buf_cstr(&out));
    return out.p;
}

/* The size in a line of an image of a log (whose name is empty if it is all of the image), and what is before it; 0 if
 * it is not of a log. */
static long long log_size(struct slice line, struct slice *front)
{
    static const char end[] = ".jsonl ";
    const char *at = memmem(line.p, line.n, end, sizeof end - 1);
    size_t n = at ? (size_t)(at - line.p) + sizeof end - 1 : 1;
    char mode[8];
    long long size = 0;

    if ((!at && line.p[0] != ' ') || sscanf(line.p + n, "%7s %lld ", mode, &size) != 2)
        return 0;
    *front = (struct slice){ line.p, n + strlen(mode) };
    return size;
}

static bool has_grown(struct slice before, struct slice now)
{
    struct slice name, other;
    long long size = log_size(before, &name);

    return size > 0 && log_size(now, &other) > size && slice_eq(name, other);
}

bool folder_image_is_grown(const char *before, const char *now)
{
    struct slice a = slice_of(before), b = slice_of(now), old, new;
    bool torn, same = true;

    while (same && a.n && b.n)
        same = slice_line(&a, &old, &torn) && slice_line(&b, &new, &torn) &&
               (slice_eq(old, new) || has_grown(old, new));
    return same && a.n == b.n;
}
