#include "store/rewind/plan/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/log/lease.h"
#include "store/rewind/plan/beneath.h"

static void let_go(struct look *l)
{
    if (l->is_open)
        span_close(&l->file);
    l->is_open = false;
}

void look_fini(struct look *l)
{
    let_go(l);
    source_content_fini(&l->present);
}

bool look_is_written(const struct look *l)
{
    return l->is_open && lease_writer(l->file.fd) == LEASE_WRITER;
}

static void set_rule(struct look *l, enum rewind_rule rule, const char *why)
{
    l->rule = rule;
    l->why = why;
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_stat(struct look *l, const struct stat *st)
{
    l->seen = (struct rewind_seen){ .exists = true,
                                    .dev = st->st_dev,
                                    .ino = st->st_ino,
                                    .size = st->st_size,
                                    .mtime_ns = ns_of(st->st_mtim),
                                    .ctime_ns = ns_of(st->st_ctim),
                                    .mode = st->st_mode & 07777 };
}

/* Is the directory the one that was recorded? Asked of the kernel, by the descriptor that is used. */
static bool is_real_parent(int fd, const char *real_parent)
{
    char self[64], real[PATH_MAX];

    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(self, real, sizeof real - 1);

    if (n < 0)
        return true; /* no /proc: the walk without links is what stands */
    real[n] = '\0';
    return strcmp(real, real_parent) == 0;
}

static void judge_type(struct look *l, const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        set_rule(l, REWIND_RULE_LINK, "a symbolic link is there now");
    else if (S_ISDIR(st->st_mode))
        set_rule(l, REWIND_RULE_TYPE, "a directory is there now");
    else if (!S_ISREG(st->st_mode))
        set_rule(l, REWIND_RULE_TYPE, "a FIFO, socket or device is there now");
    else if (st->st_nlink > 1)
        set_rule(l, REWIND_RULE_HARD_LINK, "the file has other names (hard links)");
}

static enum err_code read_present_file(int dir, const char *name, const char *path, struct look *l,
                                       struct err *e)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0 && err_is_exhausted(errno))
        return err_sys(e, path, "open");
    if (fd < 0) {
        set_rule(l, REWIND_RULE_ACCESS, "it cannot be read");
        return ERR_OK;
    }
    l->is_mount = beneath_is_mount(fd, dir);
    l->at = beneath_at(dir);
    enum err_code rc = span_of_file(fd, path, &l->file, e);

    if (!rc)
        rc = source_content_read(&l->file, NULL, &l->present, e);
    /* Of the descriptor, after the bytes: what is compared at apply is what was read. */
    if (!rc && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        take_stat(l, &st);
    l->is_open = !rc;
    if (rc)
        close(fd);
    if (rc == ERR_NOMEM)
        return rc;
    if (rc)
        set_rule(l, REWIND_RULE_ACCESS,
                 rc == ERR_STALE ? "it is being written right now" : "it cannot be read");
    else
        memcpy(l->seen.sha256, l->present.sha256, sizeof l->seen.sha256);
    return ERR_OK;
}

static enum err_code look_in(int dir, const char *name, const char *path, struct look *l,
                             struct err *e)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            set_rule(l, REWIND_RULE_ACCESS, "it cannot be examined");
        return ERR_OK;
    }
    take_stat(l, &st);
    judge_type(l, &st);
    return l->rule ? ERR_OK : read_present_file(dir, name, path, l, e);
}

enum err_code look_at(int root_fd, const char *root, const char *path, const char *real_parent,
                      struct look *out, struct err *e)
{
    int dir;
    const char *name;
    struct err why = { 0 };
    struct source_content keep = out->present;

    let_go(out);
    *out = (struct look){ .present = { .bytes = keep.bytes, .hasher = keep.hasher } };
    out->present.bytes.n = 0;
    enum err_code rc = beneath_parent(root_fd, root, path, &dir, &name, &why);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK; /* its directory is gone, and so is it */
    if (rc == ERR_UNSAFE)
        set_rule(out, REWIND_RULE_LINK, "a link or file took the place of a parent directory");
    else if (rc && err_is_exhausted(why.sys)) {
        errno = why.sys;
        return err_sys(e, path, "open its directory");
    } else if (rc)
        set_rule(out, REWIND_RULE_ACCESS, "its directory cannot be opened");
    if (rc)
        return ERR_OK;
    if (real_parent && !is_real_parent(dir, real_parent))
        set_rule(out, REWIND_RULE_PARENT, "its directory is not the original one");
    else
        rc = look_in(dir, name, path, out, e);
    close(dir);
    return rc;
}
