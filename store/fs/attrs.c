#include "store/fs/attrs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lite/base/time.h"

enum { LIST_MAX = 65536, VALUE_MAX = 65536 }; /* of the kernel */

static const char acl_front[] = "system.posix_acl_";

/* ---- taking ---- */

/* A file system without them has none. */
static enum err_code list_names(int fd, char names[LIST_MAX], size_t *n, const char *path,
                                struct err *e)
{
    ssize_t k = flistxattr(fd, names, LIST_MAX);

    *n = k > 0 ? (size_t)k : 0;
    return k >= 0 || errno == ENOTSUP ? ERR_OK : err_sys(e, path, "keep the extended attributes");
}

static enum err_code take_one(int fd, struct arena *a, const char *name, const char *path,
                              struct attrs *out, struct err *e)
{
    char value[VALUE_MAX];
    ssize_t k = fgetxattr(fd, name, value, sizeof value);

    if (k < 0)
        return err_sys(e, path, "keep the extended attributes");
    struct attr *list = arena_grow(a, out->x, out->n, sizeof *list),
                x = { .name = arena_copy(a, slice_of(name)).p,
                      .value = arena_copy(a, (struct slice){ value, (size_t)k }) };

    if (a->failed)
        return err_nomem(e);
    out->x = list;
    out->x[out->n++] = x;
    return ERR_OK;
}

enum err_code attrs_get(int fd, struct arena *a, const char *path, struct attrs *out, struct err *e)
{
    char names[LIST_MAX];
    size_t n = 0;
    struct stat st;
    enum err_code rc =
        fstat(fd, &st) ? err_sys(e, path, "look at") : list_names(fd, names, &n, path, e);

    if (rc)
        return rc;
    struct attrs x = { .mode = st.st_mode & 07777,
                       .uid = st.st_uid,
                       .gid = st.st_gid,
                       .mtime_ns = time_ns(st.st_mtim) };

    for (const char *name = names; name < names + n && !rc; name += strlen(name) + 1)
        rc = take_one(fd, a, name, path, &x, e);
    if (!rc)
        *out = x;
    return rc;
}

bool attrs_copy(struct arena *a, struct attrs *x)
{
    struct attr *list = arena_zalloc(a, sizeof *list * (x->n + 1));

    for (size_t i = 0; i < x->n && list; i++) {
        list[i].name = arena_copy(a, slice_of(x->x[i].name)).p;
        list[i].value = arena_copy(a, x->x[i].value);
    }
    x->x = list;
    return !a->failed;
}

/* ---- putting ---- */

static enum err_code put_owner(int fd, const struct attrs *x, const char *path, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st))
        return err_sys(e, path, "look at");
    if ((st.st_uid != x->uid || st.st_gid != x->gid) && fchown(fd, x->uid, x->gid))
        return err_sys(e, path, "keep the owner");
    return ERR_OK;
}

static bool attrs_have(const struct attrs *x, const char *name)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->x[i].name, name) == 0)
            return true;
    return false;
}

static enum err_code drop_inherited(int fd, const struct attrs *x, const char *path, struct err *e)
{
    char names[LIST_MAX];
    size_t n;
    enum err_code rc = list_names(fd, names, &n, path, e);

    for (const char *name = names; !rc && name < names + n; name += strlen(name) + 1)
        if (strncmp(name, acl_front, sizeof acl_front - 1) == 0 && !attrs_have(x, name) &&
            fremovexattr(fd, name))
            rc = err_sys(e, path, "drop an inherited access list");
    return rc;
}

enum err_code attrs_apply(int fd, const struct attrs *x, const char *path, struct err *e)
{
    enum err_code rc = put_owner(fd, x, path, e);

    if (!rc)
        rc = drop_inherited(fd, x, path, e);
    for (size_t i = 0; i < x->n && !rc; i++)
        if (fsetxattr(fd, x->x[i].name, x->x[i].value.p, x->x[i].value.n, 0))
            rc = err_sys(e, path, "keep the extended attributes");
    return rc;
}

static bool is_a_persons(const char *name)
{
    static const char front[] = "user.";

    return strncmp(name, front, sizeof front - 1) == 0 ||
           strncmp(name, acl_front, sizeof acl_front - 1) == 0;
}

/* Did the system answer that this is not for us, or not for here? */
static bool is_refused(int sys)
{
    return sys == ENOTSUP || sys == EPERM || sys == EACCES || sys == EINVAL;
}

enum err_code attrs_apply_portable(int fd, const struct attrs *x, const char *path, struct err *e)
{
    if (fchown(fd, x->uid, x->gid) && errno != EPERM)
        return err_sys(e, path, "keep the owner");
    enum err_code rc = drop_inherited(fd, x, path, e);

    for (size_t i = 0; i < x->n && !rc; i++) {
        const struct attr *one = &x->x[i];

        if (fsetxattr(fd, one->name, one->value.p, one->value.n, 0) &&
            (is_a_persons(one->name) || !is_refused(errno)))
            rc = err_sys(e, path, "keep the extended attributes");
    }
    return rc;
}
