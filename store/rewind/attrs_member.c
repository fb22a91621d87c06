#include "store/rewind/attrs_member.h"

#include <cjson/cJSON.h>

#include "store/rewind/member.h"

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
