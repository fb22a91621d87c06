#include "store/host/memory_row.h"

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"

static bool first_text(struct slice row, const char *const paths[], struct arena *a,
                       struct slice *text)
{
    struct slice value;

    for (size_t i = 0; paths[i]; i++)
        if (json_at(row, paths[i], &value) && json_type(value) == JSON_STRING &&
            json_text(value, a, text) && text->n)
            return true;
    *text = SLICE("");
    return false;
}

static struct slice memory_role(struct slice row, struct arena *a)
{
    static const char *const paths[] = { "role", "message.role", "data.message.role", NULL };
    struct slice role;

    if (!first_text(row, paths, a, &role))
        return SLICE("other");
    return slice_eq(role, SLICE("model")) ? SLICE("assistant") : role;
}

/* The text of a message, or the texts of its parts. */
static bool memory_text(struct slice row, struct arena *a, struct slice *out)
{
    static const char *const plain[] = { "text", "content", "message.content",
                                         "data.message.content", NULL };
    AUTO_BUF all = { 0 };
    struct slice list, part, text;
    struct json_iter it;

    if (first_text(row, plain, a, out))
        return true;
    for (size_t i = 1; plain[i]; i++) {
        if (!json_at(row, plain[i], &list) || json_type(list) != JSON_ARRAY)
            continue;
        json_iter_open(&it, list);
        while (json_list_next(&it, &part))
            if (json_get_text(part, "text", a, &text) && text.n &&
                ((all.n && buf_add_byte(&all, '\n')) || buf_add(&all, text)))
                return false;
    }
    *out = arena_copy(a, buf_slice(&all));
    return out->p != NULL;
}

static struct slice memory_quoted(struct slice text, struct arena *a)
{
    AUTO_BUF out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_text(&j, text);
    return j.rc ? (struct slice){ NULL, 0 } : arena_copy(a, buf_slice(&out));
}

enum err_code memory_row_add(struct slice row, struct arena *a, struct slice *id, struct buf *rows)
{
    static const char *const ids[] = { "id", "uuid", NULL };
    char drawn[HOST_ID];
    struct slice text, there;
    struct json_edit lacking[3];
    size_t n = 0;

    if (!first_text(row, ids, a, id)) {
        host_generate_id(drawn);
        *id = arena_copy(a, slice_of(drawn));
    }
    if (!id->p || !memory_text(row, a, &text))
        return ERR_NOMEM;

    /* The row stays as it was written, and only the members that readers need are added. */
    const struct json_edit member[] = { { .name = "id", .value = memory_quoted(*id, a) },
                                        { .name = "role",
                                          .value = memory_quoted(memory_role(row, a), a) },
                                        { .name = "text", .value = memory_quoted(text, a) } };

    for (size_t i = 0; i < 3; i++) {
        if (!member[i].value.p)
            return ERR_NOMEM;
        if (!json_get(row, member[i].name, &there) || json_type(there) != JSON_STRING)
            lacking[n++] = member[i];
    }
    return (n ? json_edit(rows, row, lacking, n) : buf_add(rows, row)) || buf_add_byte(rows, '\n')
               ? ERR_NOMEM
               : ERR_OK;
}
