#include "store/rewind/plan/dirs.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "store/journal/attrs_json.h"
#include "store/journal/record_json.h"

/* The newest first: files come directory by directory. */
struct dir_like *dirs_find(const struct dirs *list, struct slice path)
{
    for (size_t i = list->n; i > 0; i--) {
        struct dir_like *d = &list->dir[i - 1];

        if (strncmp(d->path, path.p, path.n) == 0 && d->path[path.n] == '\0')
            return d;
    }
    return NULL;
}

bool dirs_add(struct dirs *list, struct arena *a, struct slice path, const struct attrs *x)
{
    if (dirs_find(list, path))
        return true;
    struct dir_like *all = arena_grow(a, list->dir, list->n, sizeof *all),
                    d = { .path = arena_copy(a, path).p, .attrs = *x };

    if (!attrs_copy(a, &d.attrs)) /* of all that was asked of the arena */
        return false;
    list->dir = all;
    list->dir[list->n++] = d;
    return true;
}

bool dirs_add_all(struct dirs *list, struct arena *a, const struct dirs *from)
{
    bool ok = true;

    for (size_t i = 0; i < from->n && ok; i++) {
        const char *path = from->dir[i].path;

        ok = dirs_add(list, a, slice_of(path), &from->dir[i].attrs);
    }
    return ok;
}

bool dirs_write(cJSON *root, const struct dirs *list, struct buf *scratch)
{
    cJSON *array = cJSON_AddArrayToObject(root, "dirs");
    bool ok = array != NULL;

    for (size_t i = 0; i < list->n && ok; i++) {
        cJSON *o = cJSON_CreateObject();

        ok = cJSON_AddItemToArray(array, o) &&
             record_json_set_text(o, "path", list->dir[i].path, scratch) &&
             attrs_json_write(o, &list->dir[i].attrs, scratch);
    }
    return ok;
}

bool dirs_read(const cJSON *root, struct arena *a, struct dirs *out)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(root, "dirs");
    struct dirs list = { 0 };

    if (!cJSON_IsArray(array))
        return false;
    list.dir = arena_zalloc(a, sizeof *list.dir * (size_t)(cJSON_GetArraySize(array) + 1));
    bool ok = list.dir != NULL;

    for (const cJSON *o = array->child; o && ok; o = o->next) {
        struct dir_like *d = &list.dir[list.n++];

        ok = record_json_text(o, "path", a, &d->path) && attrs_json_read(o, a, &d->attrs);
    }
    *out = list;
    return ok;
}
