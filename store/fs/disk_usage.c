#include "store/fs/disk.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"

/* How much of a disk is used, and how much is free. */

static void add_time(const struct stat *st, struct disk_usage *w)
{
    int64_t ms = time_ms_of(st->st_mtim);

    w->newest_ms = ms > w->newest_ms ? ms : w->newest_ms;
}

void disk_usage_add_file(const struct stat *st, struct disk_usage *w)
{
    w->files++;
    w->bytes += st->st_size;
    add_time(st, w);
}

enum err_code disk_usage_add(const char *path, struct disk_usage *w, struct err *e)
{
    char *copy = strdup(path);
    char *roots[] = { copy, NULL };
    FTS *fts = copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    FTSENT *f;

    if (!fts) {
        free(copy);
        return err_sys(e, path, "read directory");
    }
    while ((f = fts_read(fts))) {
        switch (f->fts_info) {
        case FTS_F:
        case FTS_SL:
        case FTS_SLNONE:
        case FTS_DEFAULT: disk_usage_add_file(f->fts_statp, w); break;
        case FTS_D: add_time(f->fts_statp, w); break;
        default: break;
        }
    }
    fts_close(fts);
    free(copy);
    return ERR_OK;
}

bool disk_free_bytes(const struct statvfs *fs, int64_t *bytes)
{
    uint64_t blocks = fs->f_bavail, size = fs->f_frsize;

    if (fs->f_blocks == 0 || size == 0)
        return false;
    *bytes = blocks > INT64_MAX / size ? INT64_MAX : (int64_t)(blocks * size);
    return true;
}

enum err_code disk_check_space(const char *dir, int64_t need, const char *what, struct err *e)
{
    struct statvfs fs;
    int64_t bytes, want = need + need / 20;

    if (statvfs(dir, &fs))
        return ERR_OK;
    if (fs.f_flag & ST_RDONLY) {
        errno = EROFS;
        return err_sys(e, dir, "check the free space");
    }
    if (!disk_free_bytes(&fs, &bytes) || bytes >= want)
        return ERR_OK;
    return err_set(e, ERR_IO, dir, "%s needs %lld bytes, and %lld are free", what, (long long)want,
                   (long long)bytes);
}
