#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/item_list.h"

/* Removes what a host hid from the conversation: tool calls that a row names in hostHiddenToolUseIds, and their
 * results. The calls that the host ran instead show the message of the call it hid, and the content that the host
 * keeps for readers (hostContent). */

/* A text for each id. */
struct texts {
    struct idset ids;
    struct slice *text; /* owned; texts in the arena; empty: removed again */
    size_t cap;
};

struct hiding {
    struct claude_log *log;
    struct claude_item_list out;
    struct idset calls, twice; /* tool ids; those that two rows have */
    struct texts hidden;       /* the message that contained a hidden call */
    struct texts alone;        /* the row to show for a hidden call that was all of its message */
    struct idset ran;          /* calls that the host ran */
};

static enum err_code claude_set_text(struct texts *t, struct id128 id, struct slice text)
{
    uint32_t at;

    if (idset_add(&t->ids, id, &at))
        return ERR_NOMEM;
    if (!array_reserve(t->text, t->cap, at + 1))
        return ERR_NOMEM;
    t->text[at] = text;
    return ERR_OK;
}

static struct slice *get(const struct texts *t, struct id128 id)
{
    uint32_t at = idset_find(&t->ids, id);

    return at == IDSET_NONE || t->text[at].n == 0 ? NULL : &t->text[at];
}

static size_t count_blocks(struct slice row, struct slice *first)
{
    struct json_iter it;
    struct slice key, block;
    size_t n = 0;

    if (!claude_content(row, &it))
        return 0;
    while (json_iter_next(&it, &key, &block))
        if (n++ == 0)
            *first = block;
    return n;
}

/* Writes a row with another message or content, and without the members of a denial if there was one. */
static void write_edited_row(struct jsonout *j, struct slice row, struct slice message,
                             struct slice content, bool denied)
{
    static const char *const off[] = { "message", "toolDenialKind", "toolDenialUnanswered" };
    struct json_iter it;
    struct slice key, value;

    jsonout_open(j, '{');
    for (bool more = json_iter_open(&it, row); more && json_iter_next(&it, &key, &value);) {
        bool leave = json_string_is(key, off[0]) ||
                     (denied && (json_string_is(key, off[1]) || json_string_is(key, off[2])));

        if (leave)
            continue;
        jsonout_raw_key(j, key);
        jsonout_raw(j, value);
    }
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    for (bool more = json_iter_open(&it, message); more && json_iter_next(&it, &key, &value);) {
        if (json_string_is(key, "content"))
            continue;
        jsonout_raw_key(j, key);
        jsonout_raw(j, value);
    }
    jsonout_raw_member(j, "content", content);
    jsonout_close(j, '}');
    jsonout_close(j, '}');
}

static enum err_code add_edited_item(struct hiding *h, const struct claude_item *item,
                                     struct slice row, struct slice message, struct slice content,
                                     bool denied, struct err *e)
{
    struct buf out = { 0 };
    struct jsonout j;

    jsonout_init(&j, &out);
    write_edited_row(&j, row, message, content, denied);
    enum err_code rc =
        j.rc ? j.rc : claude_item_list_add_made(&h->out, h->log, item->line, buf_slice(&out), e);

    buf_fini(&out);
    if (!rc)
        h->out.item[h->out.n - 1].flags = item->flags;
    return rc;
}

/* What the host keeps for readers, if it belongs to this very block. */
static bool host_content(struct slice row, struct slice block, const char *id_key,
                         struct slice *content)
{
    struct json_iter it;
    struct slice kept, type, key, value, same = { NULL, 0 }, a, b;
    size_t n = 0;

    if (!json_get(row, "hostContent", &kept) || json_type(kept) != JSON_ARRAY ||
        !json_get(block, "type", &type) || !json_iter_open(&it, kept))
        return false;
    while (json_iter_next(&it, &key, &value)) {
        if (json_type(value) != JSON_OBJECT || !json_get(value, "type", &a) || !slice_eq(a, type))
            continue;
        same = value;
        n++;
    }

    /* With two blocks of this type it is not certain which one is meant. */
    if (n != 1)
        return false;
    const char *const keys[] = { id_key, "name" };

    for (size_t i = 0; i < 2; i++) {
        bool in_a = json_get(same, keys[i], &a), in_b = json_get(block, keys[i], &b);

        if (in_a != in_b || (in_a && !slice_eq(a, b)))
            return false;
    }
    *content = kept;
    return true;
}

static bool list_has_id(struct slice list, struct id128 id, struct arena *a)
{
    struct json_iter it;
    struct slice key, value;

    if (json_type(list) != JSON_ARRAY || !json_iter_open(&it, list))
        return false;
    while (json_iter_next(&it, &key, &value))
        if (json_type(value) == JSON_STRING && id128_eq(claude_id(value, a), id))
            return true;
    return false;
}

/* Writes the blocks that are kept, *left of *all, and records the message of the hidden ones. */
static enum err_code filter_calls(struct hiding *h, struct slice row, struct slice message,
                                  struct buf *kept, size_t *all, size_t *left)
{
    struct json_iter it;
    struct slice key, block, hidden = { NULL, 0 };
    struct jsonout j;
    enum err_code rc = ERR_OK;

    json_get(row, "hostHiddenToolUseIds", &hidden);
    jsonout_init(&j, kept);
    jsonout_open(&j, '[');
    *all = *left = 0;
    for (bool more = claude_content(row, &it); !rc && more && json_iter_next(&it, &key, &block);) {
        struct id128 id;

        (*all)++;
        if (claude_block_id(block, "tool_use", "id", &h->log->arena, &id) &&
            list_has_id(hidden, id, &h->log->arena) && !idset_has(&h->twice, id)) {
            rc = claude_set_text(&h->hidden, id, message);
            continue;
        }
        (*left)++;
        jsonout_raw(&j, block);
    }
    jsonout_close(&j, ']');
    return rc ? rc : j.rc;
}

/* Makes the row that replaces a hidden call if the call was the whole message and its result shows that it failed. */
static enum err_code remember_alone(struct hiding *h, struct slice row, struct slice message)
{
    struct slice kept, key, first, block;
    struct json_iter it;
    struct id128 id, other;
    struct buf content = { 0 }, out = { 0 };
    struct jsonout j;

    if (count_blocks(row, &block) != 1 || !json_get(row, "hostContent", &kept) ||
        json_type(kept) != JSON_ARRAY || !json_iter_open(&it, kept) ||
        !json_iter_next(&it, &key, &first) ||
        !claude_block_id(block, "tool_use", "id", &h->log->arena, &id) ||
        !claude_block_id(first, "tool_use", "id", &h->log->arena, &other) || !id128_eq(id, other))
        return ERR_OK;
    jsonout_init(&j, &content);
    jsonout_open(&j, '[');
    jsonout_raw(&j, first);
    jsonout_close(&j, ']');
    enum err_code rc = j.rc;

    jsonout_init(&j, &out);
    write_edited_row(&j, row, message, buf_slice(&content), false);
    struct slice text = arena_copy(&h->log->arena, buf_slice(&out));

    if (!rc)
        rc = j.rc ? j.rc : text.p ? claude_set_text(&h->alone, id, text) : ERR_NOMEM;
    buf_fini(&content);
    buf_fini(&out);
    return rc;
}

/* A call that the host ran shows the message of the call during which it ran. */
static enum err_code show_host_call(struct hiding *h, const struct claude_item *item,
                                    struct slice row, struct slice message, struct err *e)
{
    struct slice block, ran_by, content, *from = NULL;
    struct id128 id = { 0, 0 };
    uint32_t number;

    if (!json_get(row, "ranByToolUseId", &ran_by) || json_type(ran_by) != JSON_STRING ||
        !json_get_true(row, "isVirtual") || count_blocks(row, &block) != 1 ||
        !claude_block_is(block, "tool_use"))
        return claude_item_list_add(&h->out, item);
    if (claude_block_id(block, "tool_use", "id", &h->log->arena, &id) &&
        idset_add(&h->ran, id, &number))
        return ERR_NOMEM;
    from = get(&h->hidden, claude_id(ran_by, &h->log->arena));
    if (!host_content(row, block, "id", &content) && !json_at(row, "message.content", &content))
        return claude_item_list_add(&h->out, item);
    return add_edited_item(h, item, row, from ? *from : message, content, false, e);
}

/* Shows a result that the host replaced for readers. *done is set if it did. */
static enum err_code show_host_result(struct hiding *h, const struct claude_item *item,
                                      struct slice row, struct slice message, bool *done,
                                      struct err *e)
{
    struct slice result, content, *alone;
    struct id128 id;

    *done = false;
    if (!claude_only_result(row, &result) ||
        !claude_block_id(result, "tool_result", "tool_use_id", &h->log->arena, &id))
        return ERR_OK;
    alone = get(&h->alone, id);
    if (alone ? !json_get_true(result, "is_error")
              : !json_get_true(row, "isVirtual") || !idset_has(&h->ran, id))
        return ERR_OK;
    if (!host_content(row, result, "tool_use_id", &content))
        return ERR_OK;
    *done = true;
    enum err_code rc = ERR_OK;

    if (alone) {
        rc = claude_item_list_add_made(&h->out, h->log, item->line, *alone, e);
        *alone = (struct slice){ NULL, 0 };
    }
    return rc ? rc : add_edited_item(h, item, row, message, content, false, e);
}

static enum err_code hide_results(struct hiding *h, const struct claude_item *item,
                                  struct slice row, struct slice message, struct err *e)
{
    struct json_iter it;
    struct slice key, block;
    size_t results = 0, hidden = 0;
    struct buf kept = { 0 };
    struct jsonout j;

    jsonout_init(&j, &kept);
    jsonout_open(&j, '[');
    for (bool more = claude_content(row, &it); more && json_iter_next(&it, &key, &block);) {
        struct id128 id;
        bool result = claude_block_is(block, "tool_result");
        bool hide = claude_block_id(block, "tool_result", "tool_use_id", &h->log->arena, &id) &&
                    get(&h->hidden, id);

        results += result;
        hidden += hide;
        if (!hide)
            jsonout_raw(&j, block);
    }
    jsonout_close(&j, ']');
    enum err_code rc = j.rc;

    /* A row whose results are all hidden is left out. */
    if (!rc && hidden == 0)
        rc = claude_item_list_add(&h->out, item);
    else if (!rc && hidden < results)
        rc = add_edited_item(h, item, row, message, buf_slice(&kept), true, e);
    buf_fini(&kept);
    return rc;
}

static enum err_code hide_item(struct hiding *h, const struct claude_item *item, struct err *e)
{
    struct slice row, message;
    bool done;
    enum err_code rc = claude_item_row(h->log, item, &row, e);

    if (rc)
        return rc;
    row = arena_copy(&h->log->arena, row); /* messages of hidden calls are shown later */
    if (!row.p)
        return ERR_NOMEM;
    if (!json_get(row, "message", &message) || json_type(message) != JSON_OBJECT)
        return claude_item_list_add(&h->out, item);
    if (claude_is_host_row(row)) {
        struct buf kept = { 0 };
        size_t all, left;
        rc = filter_calls(h, row, message, &kept, &all, &left);

        if (!rc && left < all)
            rc = remember_alone(h, row, message);
        if (!rc && left < all && left > 0)
            rc = add_edited_item(h, item, row, message, buf_slice(&kept), false, e);
        else if (!rc && left == all)
            rc = show_host_call(h, item, row, message, e);
        buf_fini(&kept);
        return rc;
    }
    if (item->kind != CLAUDE_USER)
        return claude_item_list_add(&h->out, item);
    rc = show_host_result(h, item, row, message, &done, e);
    return rc || done ? rc : hide_results(h, item, row, message, e);
}

enum err_code claude_host_hide_calls(struct claude_log *log, struct claude_item_list *list,
                                     struct err *e)
{
    struct hiding h = { .log = log };
    enum err_code rc = ERR_OK;

    if (!claude_may_have_host_rows(list))
        return ERR_OK;
    for (size_t i = 0; !rc && i < list->n; i++) {
        const struct claude_item *item = &list->item[i];
        struct json_iter it;
        struct slice row, key, block;
        struct id128 id;
        uint32_t number;

        if (item->kind != CLAUDE_ASSISTANT)
            continue;
        rc = claude_item_row(log, item, &row, e);
        for (bool more = !rc && claude_content(row, &it);
             !rc && more && json_iter_next(&it, &key, &block);)
            if (claude_block_id(block, "tool_use", "id", &log->arena, &id))
                rc = idset_add(idset_has(&h.calls, id) ? &h.twice : &h.calls, id, &number);
    }
    for (size_t i = 0; !rc && i < list->n; i++)
        rc = hide_item(&h, &list->item[i], e);
    if (!rc)
        claude_item_list_replace(list, &h.out);
    claude_item_list_fini(&h.out);
    idset_fini(&h.calls);
    idset_fini(&h.twice);
    idset_fini(&h.ran);
    idset_fini(&h.hidden.ids);
    idset_fini(&h.alone.ids);
    free(h.hidden.text);
    free(h.alone.text);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "remove what a host hid") : rc;
}
