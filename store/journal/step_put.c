#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/fs/file_at.h"
#include "store/journal/step_internal.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum err_code dir_of(const char *path, struct arena *a, const char **dir, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct slice d =
        slash == path ? SLICE("/") : (struct slice){ path, slash ? (size_t)(slash - path) : 0 };

    if (!slash)
        d = SLICE(".");
    *dir = arena_copy(a, d).p;
    return *dir ? ERR_OK : err_nomem(e);
}

/* What a PUT finds at its place. */
enum err_code step_put_matches(const struct step *s, struct slice want, bool want_absent,
                               bool *same, int64_t *mtime, struct err *e)
{
    struct stat st;
    int fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    *same = false;
    if (fd < 0 && errno == ENOENT) {
        *same = want_absent;
        *mtime = MTIME_NOW;
        return ERR_OK;
    }
    if (fd < 0)
        return err_sys(e, s->path, "open");
    enum err_code rc = fstat(fd, &st) ? err_sys(e, s->path, "look at the file") : ERR_OK;

    if (!rc) {
        *mtime = file_at_mtime(&st);
        if (!want_absent && S_ISREG(st.st_mode) && st.st_size == (off_t)want.n)
            rc = file_at_holds(fd, want, 0, same, s->path, e);
    }
    close(fd);
    return rc;
}

static enum err_code put_write(const struct step *s, const char *dir, struct err *e)
{
    struct disk_new f;
    enum err_code rc = disk_new_open(dir, 0600, &f, e);

    if (rc)
        return rc;
    rc = disk_write(f.fd, s->bytes, NULL, s->path, e);
    if (!rc && s->mode && fchmod(f.fd, s->mode))
        rc = err_sys(e, s->path, "set the mode");
    if (!rc && !file_at_set_mtime(f.fd, s->mtime_ns))
        rc = err_sys(e, s->path, "set the time");
    if (rc) {
        disk_new_discard(&f);
        return rc;
    }
    return s->old_absent ? disk_new_publish(&f, base_name(s->path), e)
                         : disk_new_replace(&f, base_name(s->path), e);
}

/* The directory's own name is made durable in the one above it. */
static enum err_code dir_sync_name(const char *dir, struct arena *a, struct err *e)
{
    const char *above;
    enum err_code rc = dir_of(dir, a, &above, e);

    return rc ? rc : disk_sync_dir(above, e);
}

static enum err_code put_in(const struct step *s, const char *dir, struct arena *a, struct err *e)
{
    bool made = s->with_dir && mkdir(dir, 0700) == 0;

    if (s->with_dir && !made && errno != EEXIST)
        return err_sys(e, dir, "make directory");
    enum err_code rc = put_write(s, dir, e);

    if (!rc && made)
        rc = dir_sync_name(dir, a, e);
    else if (rc && made && rmdir(dir))
        err_wrap(e, rc, "and an empty directory stays behind");
    return rc;
}

static enum err_code put_out(const struct step *s, const char *dir, struct arena *a, struct err *e)
{
    if (!s->old_absent && unlink(s->path))
        return err_sys(e, s->path, "remove");
    if (!s->with_dir)
        return disk_sync_dir(dir, e);
    if (rmdir(dir) == 0)
        return dir_sync_name(dir, a, e);
    return errno == ENOTEMPTY || errno == EEXIST ? disk_sync_dir(dir, e)
                                                 : err_sys(e, dir, "remove directory");
}

enum err_code step_put_do(struct step *s, struct arena *a, struct err *e)
{
    const char *dir;
    bool same;
    enum err_code rc = dir_of(s->path, a, &dir, e);

    if (!rc)
        rc = step_put_matches(s, s->old, s->old_absent, &same, &s->old_mtime_ns, e);
    if (rc)
        return rc;
    if (!same)
        return err_set(e, ERR_STALE, s->path, "write: something else is there now");
    return s->absent ? put_out(s, dir, a, e) : put_in(s, dir, a, e);
}

/* A read-only file system refuses before it looks: is there a directory, and is it empty? */
static bool is_empty_dir(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    size_t n = 0;

    if (!d)
        return errno != ENOENT;
    while ((x = readdir(d)))
        n += strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0;
    closedir(d);
    return n == 0;
}

static bool nothing_to_remove(int sys, const char *dir)
{
    return sys == ENOENT || sys == ENOTEMPTY || sys == EEXIST ||
           (sys == EROFS && !is_empty_dir(dir));
}

/* Temporary names go, durably, and a directory of ours that is empty where it is to go: nobody looks for them again
 * once the record is gone. */
static enum err_code tidy(const struct step *s, bool dir_goes, struct arena *a, struct err *e)
{
    const char *dir;
    enum err_code rc = dir_of(s->path, a, &dir, e);

    if (!rc && !disk_new_sweep(dir))
        rc = err_sys(e, dir, "remove temporary files");
    if (rc)
        return rc;
    if (s->with_dir && dir_goes) {
        int sys = rmdir(dir) ? errno : 0;

        if (sys == 0 || sys == ENOENT)
            return dir_sync_name(dir, a, e);
        if (!nothing_to_remove(sys, dir)) {
            errno = sys;
            return err_sys(e, dir, "remove directory");
        }
    }
    rc = disk_sync_dir(dir, e);
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

enum err_code step_put_repair(const struct step *s, struct arena *a, struct err *e)
{
    return tidy(s, s->old_absent, a, e);
}

enum err_code step_put_clean_up(const struct step *s, struct arena *a, struct err *e)
{
    enum err_code rc = tidy(s, s->absent, a, e);
    const char *dir;

    if (!rc)
        rc = dir_of(s->path, a, &dir, e);
    return rc || !s->with_dir ? rc : dir_sync_name(dir, a, e);
}
