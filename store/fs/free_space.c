#include "store/fs/free_space.h"

#include <errno.h>

bool free_space_bytes(const struct statvfs *fs, int64_t *bytes)
{
    uint64_t blocks = fs->f_bavail, size = fs->f_frsize;

    if (fs->f_blocks == 0 || size == 0)
        return false;
    *bytes = blocks > INT64_MAX / size ? INT64_MAX : (int64_t)(blocks * size);
    return true;
}

enum err_code free_space_check(const char *dir, int64_t need, const char *what, struct err *e)
{
    struct statvfs fs;
    int64_t bytes, want = need + need / 20;

    if (statvfs(dir, &fs))
        return ERR_OK;
    if (fs.f_flag & ST_RDONLY) {
        errno = EROFS;
        return err_sys(e, dir, "make room for a rewind");
    }
    if (!free_space_bytes(&fs, &bytes) || bytes >= want)
        return ERR_OK;
    return err_set(e, ERR_IO, dir, "%s needs %lld bytes, and %lld are free", what, (long long)want,
                   (long long)bytes);
}
