#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"

/* host-row lines are no rows of the conversation: each carries one block, a call that a host ran in the course
 * of one that it hid, or the result of such a call. They come out as rows behind the one that hid. */

/* A host-row line: one block, and the id of the call in whose course the host ran it. */
struct hosted {
    struct slice row; /* in the arena */
    struct id128 ran_by, tool;
    uint32_t next; /* of the same ran_by; CHAIN_NONE ends */
};

struct hosting {
    struct claude_log *log;
    struct claude_item_list out;
    struct idset withheld, rows;        /* calls of which nothing is shown; ids of host rows */
    struct idset callers, answered;     /* ran_by of calls; tool id of results */
    struct hosted *call, *result;       /* owned; call in the order of the file */
    uint32_t *first, *last, *result_of; /* owned; by number of callers and answered */
    size_t calls, call_cap, results, result_cap, caller_cap, answered_cap;
};

static enum err_code grow_calls(void *array, size_t *cap, size_t n, size_t size)
{
    void **p = array;

    if (n < *cap)
        return ERR_OK;
    size_t more = 2 * n + 16;
    void *grown = more > SIZE_MAX / size ? NULL : realloc(*p, more * size);

    if (!grown)
        return ERR_NOMEM;
    *p = grown;
    *cap = more;
    return ERR_OK;
}

static enum err_code add_result(struct hosting *h, const struct hosted *r)
{
    uint32_t at;

    if (idset_add(&h->answered, r->tool, &at) ||
        grow_calls(&h->result_of, &h->answered_cap, at, sizeof *h->result_of) ||
        grow_calls(&h->result, &h->result_cap, h->results, sizeof *h->result))
        return ERR_NOMEM;
    h->result_of[at] = (uint32_t)h->results;
    h->result[h->results++] = *r;
    return ERR_OK;
}

static enum err_code add_call(struct hosting *h, const struct hosted *r, struct id128 row)
{
    uint32_t at, number;
    size_t caps = h->caller_cap;
    bool known = idset_has(&h->callers, r->ran_by);

    if (idset_add(&h->rows, row, &number) || idset_add(&h->callers, r->ran_by, &at) ||
        grow_calls(&h->first, &caps, at, sizeof *h->first) ||
        grow_calls(&h->last, &h->caller_cap, at, sizeof *h->last) ||
        grow_calls(&h->call, &h->call_cap, h->calls, sizeof *h->call))
        return ERR_NOMEM;
    if (known && h->first[at] != CHAIN_NONE)
        h->call[h->last[at]].next = (uint32_t)h->calls;
    else
        h->first[at] = (uint32_t)h->calls;
    h->last[at] = (uint32_t)h->calls;
    h->call[h->calls] = *r;
    h->call[h->calls++].next = CHAIN_NONE;
    return ERR_OK;
}

static bool in_file(const struct chain *c, struct id128 id)
{
    uint32_t node = chain_find(c, id);

    return node != CHAIN_NONE && chain_has_row(c, node);
}

static enum err_code read_host_row(struct hosting *h, struct slice row)
{
    struct slice block, value;
    struct hosted r = { .ran_by = claude_id_at(row, "ranByToolUseId", &h->log->arena) };
    uint32_t number;

    if (!json_get(row, "ranByToolUseId", &value) || json_type(value) != JSON_STRING)
        return ERR_OK;
    if (json_get_true(row, "withheld"))
        return idset_add(&h->withheld, r.ran_by, &number);
    struct id128 id = claude_id_at(row, "rowUuid", &h->log->arena);

    if (id128_none(id) || in_file(&h->log->chain, id) || idset_has(&h->rows, id) ||
        !json_get(row, "block", &block))
        return ERR_OK;
    bool result = claude_block_id(block, "tool_result", "tool_use_id", &h->log->arena, &r.tool);

    if (!result && (json_type(block) != JSON_OBJECT || !claude_row_says(block, "type", "tool_use")))
        return ERR_OK;
    if (!result)
        r.tool = claude_id_at(block, "id", &h->log->arena);
    r.row = arena_copy(&h->log->arena, row);
    if (!r.row.p)
        return ERR_NOMEM;
    return result ? add_result(h, &r) : add_call(h, &r, id);
}

static void copy_row_member(struct jsonout *j, struct slice row, const char *from, const char *to)
{
    struct slice value;

    if (!json_get(row, from, &value))
        return;
    jsonout_key(j, to);
    jsonout_raw(j, value);
}

/* The row that a host-row line stands for, in the session of the row it comes behind. */
static enum err_code add_made(struct hosting *h, const struct hosted *r, const char *role,
                              uint32_t line, struct slice session, struct err *e)
{
    struct buf out = { 0 };
    struct slice name = slice_of(role), time;
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_key(&j, "type");
    jsonout_text(&j, name);
    copy_row_member(&j, r->row, "rowUuid", "uuid");
    if (session.n) {
        jsonout_key(&j, "sessionId");
        jsonout_raw(&j, session);
    }
    if (json_get(r->row, "timestamp", &time) && json_type(time) == JSON_STRING)
        copy_row_member(&j, r->row, "timestamp", "timestamp");
    jsonout_key(&j, "isVirtual");
    jsonout_bool(&j, true);
    copy_row_member(&j, r->row, "ranByToolUseId", "ranByToolUseId");
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_key(&j, "role");
    jsonout_text(&j, name);
    jsonout_key(&j, "content");
    jsonout_open(&j, '[');
    struct slice block;

    if (json_get(r->row, "block", &block))
        jsonout_raw(&j, block);
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    enum err_code rc =
        j.rc ? j.rc : claude_item_list_add_made(&h->out, h->log, line, buf_slice(&out), e);

    buf_fini(&out);
    return rc;
}

/* What the host ran in the course of one hidden call; each call is told of once. */
static enum err_code add_hosted(struct hosting *h, struct id128 id, uint32_t line,
                                struct slice session, struct err *e)
{
    uint32_t caller = idset_find(&h->callers, id);
    enum err_code rc = ERR_OK;

    if (caller == IDSET_NONE)
        return ERR_OK;
    uint32_t at = idset_has(&h->withheld, id) ? CHAIN_NONE : h->first[caller];

    h->first[caller] = CHAIN_NONE;
    for (; !rc && at != CHAIN_NONE; at = h->call[at].next) {
        uint32_t answer =
            id128_none(h->call[at].tool) ? IDSET_NONE : idset_find(&h->answered, h->call[at].tool);

        rc = add_made(h, &h->call[at], "assistant", line, session, e);
        if (!rc && answer != IDSET_NONE)
            rc = add_made(h, &h->result[h->result_of[answer]], "user", line, session, e);
    }
    return rc;
}

static enum err_code add_item(struct hosting *h, const struct claude_item *item, struct err *e)
{
    struct slice row, hidden, key, value, session = { NULL, 0 };
    struct json_iter ids;
    enum err_code rc = claude_item_list_add(&h->out, item);

    if (rc || !(item->marks & MARK_HIDES))
        return rc;
    rc = claude_item_row(h->log, item, &row, e);
    if (rc || json_get_true(row, "isVirtual") || !json_get(row, "hostHiddenToolUseIds", &hidden) ||
        json_type(hidden) != JSON_ARRAY)
        return rc;
    row = arena_copy(&h->log->arena, row); /* outlives what is added meanwhile */
    if (!row.p || !json_get(row, "hostHiddenToolUseIds", &hidden) || !json_iter_open(&ids, hidden))
        return ERR_NOMEM;
    json_get(row, "sessionId", &session);
    while (!rc && json_iter_next(&ids, &key, &value))
        if (json_type(value) == JSON_STRING)
            rc = add_hosted(h, claude_id(value, &h->log->arena), item->line, session, e);
    return rc;
}

enum err_code claude_host_lines(struct claude_log *log, struct claude_item_list *list,
                                struct err *e)
{
    struct hosting h = { .log = log };
    enum err_code rc = ERR_OK;
    struct slice row;

    for (size_t i = log->chain.first_line; !rc && i < log->file.index.n; i++) {
        if (!claude_line_is(claude_line(log, i), CLAUDE_HOST_ROW))
            continue;
        rc = claude_log_row(log, i, &row, e);
        if (!rc)
            rc = read_host_row(&h, row);
    }
    for (size_t i = 0; !rc && h.calls && i < list->n; i++)
        rc = add_item(&h, &list->item[i], e);
    if (!rc && h.calls) {
        claude_item_list_fini(list);
        *list = h.out;
        h.out = (struct claude_item_list){ 0 };
    }
    claude_item_list_fini(&h.out);
    idset_fini(&h.withheld);
    idset_fini(&h.rows);
    idset_fini(&h.callers);
    idset_fini(&h.answered);
    free(h.call);
    free(h.result);
    free(h.first);
    free(h.last);
    free(h.result_of);
    return rc;
}
