#include "store/maintenance/trash.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <string.h>

#include "lite/io/file.h"
#include "lite/json/jsonout.h"
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

/* ---- printing ---- */

static void write_encoded_text(struct jsonout *j, const char *key, const char *text,
                               struct buf *scratch)
{
    if (!j->rc)
        j->rc = record_percent_encode(slice_of(text), scratch);
    jsonout_key(j, key);
    jsonout_text(j, buf_slice(scratch)); /* even if empty */
}

static void put_refs(struct jsonout *j, const struct trash_item *item, struct buf *scratch)
{
    if (item->refs == 0)
        return;
    jsonout_key(j, "refs");
    jsonout_open(j, '[');
    for (size_t k = 0; k < item->refs; k++) {
        jsonout_open(j, '{');
        write_encoded_text(j, "git", item->ref[k].was.git, scratch);
        write_encoded_text(j, "name", item->ref[k].was.name, scratch);
        write_encoded_text(j, "tip", item->ref[k].was.tip, scratch);
        write_encoded_text(j, "kept", item->ref[k].kept, scratch);
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
}

static void put_item(struct jsonout *j, const struct trash_item *item, struct buf *scratch)
{
    jsonout_open(j, '{');
    write_encoded_text(j, "system", item->system, scratch);
    write_encoded_text(j, "store", item->store, scratch);
    write_encoded_text(j, "session", item->session, scratch);
    write_encoded_text(j, "title", item->title, scratch);
    if (item->dir)
        write_encoded_text(j, "dir", item->dir, scratch);
    jsonout_int_member(j, "deleted", item->deleted_ms);
    jsonout_int_member(j, "bytes", item->bytes);
    jsonout_int_member(j, "files", item->files);
    jsonout_key(j, "from");
    jsonout_open(j, '[');
    for (size_t k = 0; k < item->parts; k++) {
        jsonout_open(j, '{');
        write_encoded_text(j, "path", item->from[k], scratch);
        jsonout_close(j, '}');
    }
    jsonout_close(j, ']');
    put_refs(j, item, scratch);
    jsonout_close(j, '}');
}

enum err_code trash_info_print(const struct trash_list *list, struct buf *out, struct err *e)
{
    struct buf scratch = { 0 };
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_key(&j, "items");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        put_item(&j, &list->item[i], &scratch);
    jsonout_close(&j, ']');
    jsonout_int_member(&j, "version", VERSION);
    jsonout_close(&j, '}');
    buf_fini(&scratch);
    return j.rc ? err_nomem(e) : ERR_OK;
}

/* ---- parsing ---- */

static const char *trash_info_get_text(const cJSON *o, const char *key, struct arena *a)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    struct slice text;

    return cJSON_IsString(v) && record_percent_decode(v->valuestring, a, &text) ? text.p : NULL;
}

static int64_t get_number(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

    return cJSON_IsNumber(v) ? (int64_t)v->valuedouble : 0;
}

static bool get_refs(const cJSON *o, struct arena *a, struct trash_item *item)
{
    const cJSON *ref, *refs = cJSON_GetObjectItemCaseSensitive(o, "refs");
    bool ok = true;

    item->ref = arena_zalloc(a, sizeof *item->ref * ((size_t)cJSON_GetArraySize(refs) + 1));
    if (!item->ref)
        return false;
    cJSON_ArrayForEach(ref, refs)
    {
        struct trash_ref *x = &item->ref[item->refs++];

        *x = (struct trash_ref){ { trash_info_get_text(ref, "git", a),
                                   trash_info_get_text(ref, "name", a),
                                   trash_info_get_text(ref, "tip", a) },
                                 trash_info_get_text(ref, "kept", a) };
        ok = ok && x->was.git && x->was.name && x->was.tip && x->kept;
    }
    return ok;
}

struct batch {
    const char *dir, *name;
    bool numbered; /* the names of its parts consist of numbers only */
};

static bool get_item(const cJSON *o, const struct batch *b, size_t n, struct arena *a,
                     struct trash_item *item)
{
    const cJSON *part, *from = cJSON_GetObjectItemCaseSensitive(o, "from");

    *item = (struct trash_item){ .system = trash_info_get_text(o, "system", a),
                                 .store = trash_info_get_text(o, "store", a),
                                 .session = trash_info_get_text(o, "session", a),
                                 .title = trash_info_get_text(o, "title", a),
                                 .dir = trash_info_get_text(o, "dir", a),
                                 .deleted_ms = get_number(o, "deleted"),
                                 .bytes = get_number(o, "bytes"),
                                 .files = get_number(o, "files") };
    size_t most = (size_t)cJSON_GetArraySize(from);

    item->trash_id = arena_format(a, "%s.%zu", b->name, n);
    item->part = arena_zalloc(a, sizeof *item->part * (most + 1));
    item->from = arena_zalloc(a, sizeof *item->from * (most + 1));
    bool ok = item->system && item->store && item->session && item->title && item->trash_id &&
              item->part && item->from && get_refs(o, a, item) && (most > 0 || item->refs > 0);

    cJSON_ArrayForEach(part, from)
    {
        if (!ok)
            break;
        item->from[item->parts] = trash_info_get_text(part, "path", a);
        item->part[item->parts] =
            trash_part_path(a, b->dir, n, item->parts, b->numbered ? "" : item->session);
        ok = item->from[item->parts] && item->part[item->parts];
        item->parts++;
    }
    item->path = ok && item->parts ? item->from[0] : item->store;
    return ok;
}

/* Makes room for `more` items; the old array stays in the arena. */
static bool reserve_items(struct trash_list *list, size_t more)
{
    struct trash_item *grown = arena_zalloc(&list->arena, sizeof *grown * (list->n + more + 1));

    if (!grown)
        return false;
    if (list->n)
        memcpy(grown, list->item, sizeof *grown * list->n);
    list->item = grown;
    return true;
}

static enum err_code parse_info(struct slice text, const char *dir, const char *batch,
                                struct trash_list *out, struct err *e)
{
    cJSON *root = cJSON_ParseWithLength(text.p, text.n);
    const cJSON *o, *items = cJSON_GetObjectItemCaseSensitive(root, "items");
    struct batch b = { dir, batch, get_number(root, "version") < VERSION };
    size_t before = out->n, n = 0;
    enum err_code rc = ERR_OK;

    if (!cJSON_IsArray(items))
        rc = err_set(e, ERR_FORMAT, dir, "the list of its contents is damaged");
    else if (!reserve_items(out, (size_t)cJSON_GetArraySize(items)))
        rc = err_nomem(e);
    cJSON_ArrayForEach(o, items)
    {
        if (rc)
            break;
        if (get_item(o, &b, n++, &out->arena, &out->item[out->n]))
            out->n++;
        else
            rc = err_set(e, ERR_FORMAT, dir, "the list of its contents is damaged");
    }
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
