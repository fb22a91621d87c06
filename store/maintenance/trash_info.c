#include "store/maintenance/trash.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "store/journal/record.h"

enum {
    VERSION = 2,     /* in version 1, the names of parts consisted of numbers only */
    NAMED_MOST = 64, /* the longest id that becomes part of a name */
    INFO_MAX = 256 << 20,
};

char *trash_part_path(struct arena *a, const char *dir, size_t n, size_t k, const char *session)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strlen(session);

    if (length == 0 || length > NAMED_MOST || strspn(session, plain) != length)
        return arena_format(a, "%s/%zu.%zu", dir, n, k);
    return arena_format(a, "%s/%zu.%zu.%s", dir, n, k, session);
}

void trash_list_fini(struct trash_list *list)
{
    arena_fini(&list->arena);
    *list = (struct trash_list){ 0 };
}

/* clang-format off */
#define REF(key, member) RECORD_FIELD(key, RECORD_TEXT, struct trash_ref, member)
static const struct record_field ref_fields[] = {
    REF("git", was.git), REF("name", was.name), REF("tip", was.tip), REF("kept", kept),
};
#define ITEM(key, kind, member) RECORD_FIELD(key, kind, struct trash_item, member)
static const struct record_field item_fields[] = {
    ITEM("system", RECORD_TEXT, system),   ITEM("store", RECORD_TEXT, store),
    ITEM("session", RECORD_TEXT, session), ITEM("title", RECORD_TEXT, title),
    ITEM("dir", RECORD_OPTIONAL, dir),     ITEM("deleted", RECORD_NUMBER, deleted_ms),
    ITEM("bytes", RECORD_NUMBER, bytes),   ITEM("files", RECORD_NUMBER, files),
};
/* clang-format on */
static const struct record_table ref_table = RECORD_TABLE(struct trash_ref, ref_fields);
static const struct record_table item_table = RECORD_TABLE(struct trash_item, item_fields);

static bool put_items(cJSON *root, const struct trash_list *list, struct buf *scratch)
{
    cJSON *items = cJSON_AddArrayToObject(root, "items");

    for (const struct trash_item *x = list->item; items && x < list->item + list->n; x++) {
        cJSON *o = cJSON_CreateObject();

        if (!cJSON_AddItemToArray(items, o) || !record_put(o, &item_table, x, scratch) ||
            !record_put_list(o, "from", &record_paths, x->from, x->parts, scratch) ||
            (x->refs && !record_put_list(o, "refs", &ref_table, x->ref, x->refs, scratch)))
            return false;
    }
    return items && cJSON_AddNumberToObject(root, "version", VERSION);
}

enum err_code trash_info_print(const struct trash_list *list, struct buf *out, struct err *e)
{
    AUTO_BUF scratch = { 0 };
    cJSON *root = cJSON_CreateObject();
    char *text = put_items(root, list, &scratch) ? cJSON_PrintUnformatted(root) : NULL;
    enum err_code rc = text && !buf_add(out, slice_of(text)) ? ERR_OK : err_nomem(e);

    cJSON_free(text);
    cJSON_Delete(root);
    return rc;
}

struct batch {
    const char *dir, *name;
    bool numbered; /* the names of its parts consist of numbers only */
};

static bool get_item(const cJSON *o, const struct batch *b, size_t n, struct arena *a,
                     struct trash_item *item)
{
    if (!record_get(o, &item_table, item, a) ||
        !record_get_list(o, "from", &record_paths, &item->from, &item->parts, a) ||
        !record_get_list(o, "refs", &ref_table, &item->ref, &item->refs, a))
        return false;
    item->trash_id = arena_format(a, "%s.%zu", b->name, n);
    item->part = arena_zalloc(a, sizeof *item->part * (item->parts + 1));
    for (size_t k = 0; item->part && k < item->parts; k++)
        item->part[k] = trash_part_path(a, b->dir, n, k, b->numbered ? "" : item->session);
    item->path = item->parts ? item->from[0] : item->store;
    return !a->failed && (item->parts > 0 || item->refs > 0);
}

static enum err_code parse_info(struct slice text, const char *dir, const char *batch,
                                struct trash_list *out, struct err *e)
{
    cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    const cJSON *o, *items = cJSON_GetObjectItemCaseSensitive(root, "items");
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "version");
    struct batch b = { dir, batch, !cJSON_IsNumber(version) || version->valuedouble < VERSION };
    size_t before = out->n, n = 0;
    enum err_code rc = ERR_OK;

    if (!cJSON_IsArray(items))
        rc = err_set(e, ERR_FORMAT, dir, "the list of its contents is damaged");
    else {
        /* The old array stays in the arena. */
        const size_t most = out->n + (size_t)cJSON_GetArraySize(items) + 1;
        struct trash_item *grown = arena_zalloc(&out->arena, sizeof *grown * most);

        if (grown && out->n)
            memcpy(grown, out->item, sizeof *grown * out->n);
        if (grown)
            out->item = grown;
        else
            rc = err_nomem(e);
    }
    cJSON_ArrayForEach(o, items)
    {
        if (rc)
            break;
        if (get_item(o, &b, n++, &out->arena, &out->item[out->n]))
            out->n++;
        else
            rc = out->arena.failed
                     ? err_nomem(e)
                     : err_set(e, ERR_FORMAT, dir, "the list of its contents is damaged");
    }

    /* A list that is damaged adds none of its items. */
    if (rc)
        out->n = before;
    cJSON_Delete(root);
    return rc;
}

enum err_code trash_info_read(const char *dir, const char *batch, struct trash_list *out,
                              struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    const char *path = arena_format(&a, "%s/info", dir);

    TRY(path ? file_read_all(AT_FDCWD, path, 0, INFO_MAX, &text, e) : err_nomem(e));
    return parse_info(buf_slice(&text), dir, batch, out, e);
}
