#include "store/journal/attrs_json.h"

#include <cjson/cJSON.h>

#include "store/journal/record_json.h"

static bool write_list(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *list = cJSON_AddArrayToObject(o, "xattrs");
    bool ok = list != NULL;

    for (size_t i = 0; i < x->n && ok; i++) {
        cJSON *one = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(list, one) &&
             record_json_set_text(one, "name", x->x[i].name, scratch) &&
             record_json_set_bytes(one, "value", x->x[i].value, scratch);
    }
    return ok;
}

bool attrs_json_write(cJSON *o, const struct attrs *x, struct buf *scratch)
{
    cJSON *to = cJSON_AddObjectToObject(o, "attrs");

    return to && record_json_set_int(to, "mode", x->mode) &&
           record_json_set_int(to, "uid", x->uid) && record_json_set_int(to, "gid", x->gid) &&
           record_json_set_int(to, "mtime", x->mtime_ns) &&
           (x->n == 0 || write_list(to, x, scratch));
}

static bool read_list(const cJSON *list, struct arena *a, struct attrs *out)
{
    out->x = arena_zalloc(a, sizeof *out->x * (size_t)(cJSON_GetArraySize(list) + 1));
    bool ok = out->x && (!list || cJSON_IsArray(list));

    for (const cJSON *one = list ? list->child : NULL; one && ok; one = one->next) {
        struct attr *x = &out->x[out->n++];

        ok = record_json_text(one, "name", a, &x->name) &&
             record_json_bytes(one, "value", a, &x->value);
    }
    return ok;
}

bool attrs_json_read(const cJSON *o, struct arena *a, struct attrs *out)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(o, "attrs");
    int64_t mode, uid, gid;
    struct attrs x = { 0 };

    if (!record_json_int(from, "mode", &mode) || !record_json_int(from, "uid", &uid) ||
        !record_json_int(from, "gid", &gid) || !record_json_int(from, "mtime", &x.mtime_ns) ||
        !read_list(cJSON_GetObjectItemCaseSensitive(from, "xattrs"), a, &x))
        return false;
    x.mode = (uint32_t)mode & 07777;
    x.uid = (uint32_t)uid;
    x.gid = (uint32_t)gid;
    *out = x;
    return true;
}
