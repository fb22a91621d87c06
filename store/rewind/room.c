#include "store/rewind/room.h"

#include <errno.h>

bool room_free(const struct statvfs *fs, int64_t *bytes)
{
    uint64_t blocks = fs->f_bavail, size = fs->f_frsize;

    if (fs->f_blocks == 0 || size == 0)
        return false;
    *bytes = blocks > INT64_MAX / size ? INT64_MAX : (int64_t)(blocks * size);
    return true;
}

enum err_code room_check(const char *dir, int64_t need, const char *what, struct err *e)
{
    struct statvfs fs;
    int64_t bytes, want = need + need / 20;

    if (statvfs(dir, &fs))
        return ERR_OK;
    if (fs.f_flag & ST_RDONLY) {
        errno = EROFS;
        return err_sys(e, dir, "make room for a rewind");
    }
    if (!room_free(&fs, &bytes) || bytes >= want)
        return ERR_OK;
    return err_set(e, ERR_IO, dir, "%s needs %lld bytes, and %lld are free", what, (long long)want,
                   (long long)bytes);
}
