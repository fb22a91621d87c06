#include "store/rewind/attrs.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lite/time.h"
#include "store/rewind/member.h"

enum { LIST_MAX = 65536, VALUE_MAX = 65536 }; /* of the kernel */

static const char acl_front[] = "system.posix_acl_";

/* ---- taking ---- */

static enum err_code no_memory(const char *path, struct err *e)
{
    return err_set(e, ERR_NOMEM, path, "keep the extended attributes: out of memory");
}

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
                x = { .name = arena_copy(a, (struct slice){ name, strlen(name) }).p,
                      .value = arena_copy(a, (struct slice){ value, (size_t)k }) };

    if (a->failed)
        return no_memory(path, e);
    out->x = list;
    out->x[out->n++] = x;
    return ERR_OK;
}

enum err_code attrs_take(int fd, struct arena *a, const char *path, struct attrs *out,
                         struct err *e)
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

bool attrs_keep(struct arena *a, struct attrs *x)
{
    struct attr *list = arena_zalloc(a, sizeof *list * (x->n + 1));

    for (size_t i = 0; i < x->n && list; i++) {
        list[i].name = arena_copy(a, (struct slice){ x->x[i].name, strlen(x->x[i].name) }).p;
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

static bool has(const struct attrs *x, const char *name)
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
        if (strncmp(name, acl_front, sizeof acl_front - 1) == 0 && !has(x, name) &&
            fremovexattr(fd, name))
            rc = err_sys(e, path, "drop an inherited access list");
    return rc;
}

enum err_code attrs_put(int fd, const struct attrs *x, const char *path, struct err *e)
{
    enum err_code rc = put_owner(fd, x, path, e);

    if (!rc)
        rc = drop_inherited(fd, x, path, e);
    for (size_t i = 0; i < x->n && !rc; i++)
        if (fsetxattr(fd, x->x[i].name, x->x[i].value.p, x->x[i].value.n, 0))
            rc = err_sys(e, path, "keep the extended attributes");
    return rc;
}

/* ---- in a record ---- */

static bool write_list(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *list = cJSON_AddArrayToObject(o, "xattrs");
    bool ok = list != NULL;

    for (size_t i = 0; i < x->n && ok; i++) {
        cJSON *one = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(list, one) &&
             member_put_text(one, "name", x->x[i].name, scratch) &&
             member_put_bytes(one, "value", x->x[i].value, scratch);
    }
    return ok;
}

bool attrs_write(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *to = cJSON_AddObjectToObject(o, "attrs");

    return to && member_put_int(to, "mode", x->mode) && member_put_int(to, "uid", x->uid) &&
           member_put_int(to, "gid", x->gid) && member_put_int(to, "mtime", x->mtime_ns) &&
           (x->n == 0 || write_list(to, x, scratch));
}

static bool read_list(const cJSON *list, struct arena *a, struct attrs *out)
{
    out->x = arena_zalloc(a, sizeof *out->x * (size_t)(cJSON_GetArraySize(list) + 1));
    bool ok = out->x && (!list || cJSON_IsArray(list));

    for (const cJSON *one = list ? list->child : NULL; one && ok; one = one->next) {
        struct attr *x = &out->x[out->n++];

        ok = member_text(one, "name", a, &x->name) && member_bytes(one, "value", a, &x->value);
    }
    return ok;
}

bool attrs_read(const cJSON *o, struct arena *a, struct attrs *out)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(o, "attrs");
    int64_t mode, uid, gid;
    struct attrs x = { 0 };

    if (!member_int(from, "mode", &mode) || !member_int(from, "uid", &uid) ||
        !member_int(from, "gid", &gid) || !member_int(from, "mtime", &x.mtime_ns) ||
        !read_list(cJSON_GetObjectItemCaseSensitive(from, "xattrs"), a, &x))
        return false;
    x.mode = (uint32_t)mode & 07777;
    x.uid = (uint32_t)uid;
    x.gid = (uint32_t)gid;
    *out = x;
    return true;
}
