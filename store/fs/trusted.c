#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/path.h"

/* In a sticky directory others cannot replace what they do not own. Links cannot be written to. */
static enum err_code check_trusted(const char *path, const struct stat *root, const struct stat *sb,
                                   struct err *e)
{
    /* The owner of the root directory is the administrator: in a user namespace that may be another
     * number than 0. */
    if (sb->st_uid != 0 && sb->st_uid != geteuid() && sb->st_uid != root->st_uid)
        return err_set(e, ERR_UNSAFE, path, "it belongs to another user");

    if (S_ISLNK(sb->st_mode) || (S_ISDIR(sb->st_mode) && sb->st_mode & S_ISVTX))
        return ERR_OK;

    /* Many systems give each user a group of his own with the same number, and make all files
     * writable by the group. */
    bool own_group = sb->st_gid == geteuid() && geteuid() != 0;

    return (!(sb->st_mode & S_IWOTH) && (!(sb->st_mode & S_IWGRP) || own_group))
               ? ERR_OK
               : err_set(e, ERR_UNSAFE, path, "it can be written by others");
}

/* Replaces the rest of the path by what the link at `done` leads to. */
static bool follow_trusted(const char *done, char rest[PATH_MAX])
{
    char target[PATH_MAX], below[PATH_MAX];
    ssize_t n = readlink(done, target, sizeof target - 1);

    if (n < 0)
        return false;
    target[n] = '\0';
    memcpy(below, rest, PATH_MAX);
    errno = ENAMETOOLONG;
    return (size_t)snprintf(rest, PATH_MAX, "%s/%s", target, below) < PATH_MAX;
}

enum err_code path_trusted(const char *cwd, const char *path, struct err *e)
{
    enum { LINKS_MOST = 40 };
    AUTO_BUF room = { 0 };
    char rest[PATH_MAX], *done;
    struct stat root, sb;
    int links = 0;

    if ((size_t)snprintf(rest, sizeof rest, "%s/%s", path[0] == '/' ? "" : cwd, path) >=
        sizeof rest)
        return err_set(e, ERR_UNSAFE, path, "the name is too long");
    NEED(!buf_reserve(&room, PATH_MAX));
    done = room.p;
    *done = '\0';
    if (stat("/", &root) != 0)
        return err_sys(e, "/", "check who can write to it");
    enum err_code rc = check_trusted("/", &root, &root, e);

    /* Each directory and link on the way counts, since whoever can write to one can replace what is below it. */
    while (!rc && rest[0]) {
        size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/"), at = strlen(done);
        bool up = n == 2 && memcmp(rest + skip, "..", 2) == 0;

        if (up)
            *(strrchr(done, '/') ? strrchr(done, '/') : done) = '\0';
        else if (n && !(n == 1 && rest[skip] == '.') &&
                 (size_t)snprintf(done + at, PATH_MAX - at, "/%.*s", (int)n, rest + skip) >=
                     PATH_MAX - at)
            return err_set(e, ERR_UNSAFE, path, "the name is too long");
        memmove(rest, rest + skip + n, strlen(rest + skip + n) + 1);

        /* Nothing was added, and the directories above were checked on the way here. */
        if (up || done[at] == '\0')
            continue;
        if (lstat(done, &sb) != 0)
            return err_sys(e, done, "check who can write to it");
        rc = check_trusted(done, &root, &sb, e);
        if (!rc && S_ISLNK(sb.st_mode)) {
            if (links++ == LINKS_MOST)
                return err_set(e, ERR_UNSAFE, path, "too many links");
            if (!follow_trusted(done, rest))
                return err_sys(e, done, "check who can write to it");

            /* The target replaces the link; an absolute one begins at the root again. */
            done[rest[0] == '/' ? 0 : at] = '\0';
        }
    }
    return rc;
}
