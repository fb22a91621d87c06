#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/disk.h"
#include "store/rewind/beneath.h"
#include "store/rewind/pathrule.h"
#include "store/rewind/rewind.h"
#include "store/rewind/source.h"

/* A scratch copy: the files as they were at the point, in a directory of its own. Nothing of the user's is read or
 * touched, so none of the rules that protect it apply; the names do all the same, as they come out of the store. */

static const char outside_name[] =
    "outside"; /* where files from outside the project go, by their whole path */

static enum err_code check_empty(const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    const struct dirent *x;
    bool empty = true;

    if (!d)
        return errno == ENOENT ? ERR_OK : err_sys(e, dir, "open directory");
    while (empty && (x = readdir(d)))
        empty = strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0;
    closedir(d);
    return empty ? ERR_OK : err_set(e, ERR_STALE, dir, "restore into: the directory is not empty");
}

static const char *path_in(const struct rewind_plan *plan, const char *dir, const char *path,
                           struct arena *a)
{
    struct slice p = { path, strlen(path) };

    if (plan->root && pathrule_under(p, (struct slice){ plan->root, strlen(plan->root) }))
        return arena_format(a, "%s%s", dir, path + strlen(plan->root));
    return arena_format(a, "%s/%s%s", dir, outside_name, path);
}

static enum err_code write_file(int dir, const char *name, const char *path,
                                const struct rewind_target *t, struct slice bytes, struct err *e)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, path, "create");
    enum err_code rc = disk_write(fd, bytes, NULL, path, e);

    if (!rc && fchmod(fd, t->has_mode ? t->mode & 0777 : 0644))
        rc = err_sys(e, path, "set the mode");
    if (close(fd) && !rc)
        rc = err_sys(e, path, "write");
    return rc;
}

static enum err_code put_one(const struct rewind_plan *plan, const struct rewind_target *t,
                             int root, const char *dir, struct rewind_into_result *out,
                             struct err *e)
{
    struct content wanted = { 0 };
    const char *path = path_in(plan, dir, t->path, &out->arena), *name, *why = t->why;
    struct slice named = { t->path, strlen(t->path) };
    int parent;

    if (!path)
        return err_set(e, ERR_NOMEM, t->path, "restore into: out of memory");
    enum pathrule rule = pathrule_check(named, &why);
    enum err_code rc = rule == PATHRULE_BAD || rule == PATHRULE_GIT || t->want == REWIND_UNKNOWN
                           ? ERR_FORMAT
                           : source_read(&t->source, &wanted, NULL);

    if (!rc)
        rc = beneath_make_parent(root, dir, path, &parent, &name, NULL, e);
    else if (rc == ERR_FORMAT) {
        out->left_out++;
        content_fini(&wanted);
        return ERR_OK;
    }
    if (!rc) {
        rc = write_file(parent, name, path, t, buf_slice(&wanted.bytes), e);
        close(parent);
    }
    out->written += rc == ERR_OK;
    content_fini(&wanted);
    return rc;
}

enum err_code rewind_into(const struct rewind_plan *plan, const struct rewind_options *options,
                          const char *dir, struct rewind_into_result *out, struct err *e)
{
    struct rewind_into_result r = { 0 };
    int root = -1;
    enum err_code rc = check_empty(dir, e);

    if (!rc)
        rc = disk_private_dir(dir, e);
    if (!rc)
        rc = beneath_root(dir, &root, e);
    for (size_t i = 0; i < plan->n && !rc; i++) {
        const struct rewind_target *t = &plan->target[i];

        if (t->want != REWIND_ABSENT && rewind_is_chosen(options, t->path))
            rc = put_one(plan, t, root, dir, &r, e);
    }
    if (root >= 0)
        close(root);
    if (rc)
        rewind_into_fini(&r);
    else
        *out = r;
    return rc;
}

void rewind_into_fini(struct rewind_into_result *r)
{
    arena_fini(&r->arena);
    *r = (struct rewind_into_result){ 0 };
}
