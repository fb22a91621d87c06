#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/item_list.h"

/* host-row lines are not part of the conversation: each has one block, a call that a host ran
 * during one that it hid, or the result of such a call. They are inserted as rows after the row
 * that hid the call. */

/* A host-row line: one block, and the id of the call during which the host ran it. */
struct hosted {
    struct slice row; /* in the arena */
    struct id128 ran_by, tool;
    uint32_t next; /* the next call that ran under the same call; CHAIN_NONE: it is the last */
};

/* What ran during one call; indexes of calls. */
struct caller {
    uint32_t first, last;
};

struct hosting {
    struct claude_log *log;
    struct claude_item_list out;
    struct idset withheld, rows;    /* calls of which nothing is shown; ids of host rows */
    struct idset callers, answered; /* ran_by of calls; tool ids of results */
    struct hosted *call, *result;   /* owned; call in the order of the file */
    struct caller *caller;          /* owned; by number of callers */
    uint32_t *result_of;            /* owned; by number of answered */
    size_t calls, call_cap, results, result_cap, caller_cap, answered_cap;
};

static enum err_code claude_host_rows_add_call(struct hosting *h, const struct hosted *r,
                                               struct id128 row)
{
    uint32_t at, number;
    bool known = idset_has(&h->callers, r->ran_by);

    if (idset_add(&h->rows, row, &number) || idset_add(&h->callers, r->ran_by, &at) ||
        !array_reserve(h->caller, h->caller_cap, at + 1) ||
        !array_reserve(h->call, h->call_cap, h->calls + 1))
        return ERR_NOMEM;
    if (known && h->caller[at].first != CHAIN_NONE)
        h->call[h->caller[at].last].next = (uint32_t)h->calls;
    else
        h->caller[at].first = (uint32_t)h->calls;
    h->caller[at].last = (uint32_t)h->calls;
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
    uint32_t number, at;

    if (!json_get(row, "ranByToolUseId", &value) || json_type(value) != JSON_STRING)
        return ERR_OK;
    if (json_get_true(row, "withheld"))
        return idset_add(&h->withheld, r.ran_by, &number);
    struct id128 id = claude_id_at(row, "rowUuid", &h->log->arena);

    /* A row that the file also has as a message, or that came before, is not inserted. */
    if (id128_none(id) || in_file(&h->log->chain, id) || idset_has(&h->rows, id) ||
        !json_get(row, "block", &block))
        return ERR_OK;
    bool result = claude_block_id(block, "tool_result", "tool_use_id", &h->log->arena, &r.tool);

    if (!result && !claude_block_is(block, "tool_use"))
        return ERR_OK;
    if (!result)
        r.tool = claude_id_at(block, "id", &h->log->arena);
    r.row = arena_copy(&h->log->arena, row);
    if (!r.row.p)
        return ERR_NOMEM;
    if (!result)
        return claude_host_rows_add_call(h, &r, id);

    /* A later result of the same call replaces an earlier one. */
    if (idset_add(&h->answered, r.tool, &at) ||
        !array_reserve(h->result_of, h->answered_cap, at + 1) ||
        !array_reserve(h->result, h->result_cap, h->results + 1))
        return ERR_NOMEM;
    h->result_of[at] = (uint32_t)h->results;
    h->result[h->results++] = r;
    return ERR_OK;
}

/* Adds the row for a host-row line, in the session of the row after which it is inserted. */
static enum err_code add_made(struct hosting *h, const struct hosted *r, const char *role,
                              uint32_t line, struct slice session, struct err *e)
{
    struct buf out = { 0 };
    struct slice name = slice_of(role), time;
    struct jsonout j;

    jsonout_init(&j, &out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", name);
    claude_copy_member(&j, r->row, "rowUuid", "uuid");
    claude_write_value(&j, "sessionId", session);
    if (json_get(r->row, "timestamp", &time) && json_type(time) == JSON_STRING)
        claude_write_value(&j, "timestamp", time);
    jsonout_bool_member(&j, "isVirtual", true);
    claude_copy_member(&j, r->row, "ranByToolUseId", "ranByToolUseId");
    jsonout_key(&j, "message");
    jsonout_open(&j, '{');
    jsonout_member(&j, "role", name);
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

/* Adds what the host ran during one hidden call; each call is added once. */
static enum err_code add_hosted(struct hosting *h, struct id128 id, uint32_t line,
                                struct slice session, struct err *e)
{
    uint32_t caller = idset_find(&h->callers, id);
    enum err_code rc = ERR_OK;

    if (caller == IDSET_NONE)
        return ERR_OK;
    uint32_t at = idset_has(&h->withheld, id) ? CHAIN_NONE : h->caller[caller].first;

    h->caller[caller].first = CHAIN_NONE;
    for (; !rc && at != CHAIN_NONE; at = h->call[at].next) {
        uint32_t answer =
            id128_none(h->call[at].tool) ? IDSET_NONE : idset_find(&h->answered, h->call[at].tool);

        rc = add_made(h, &h->call[at], "assistant", line, session, e);
        if (!rc && answer != IDSET_NONE)
            rc = add_made(h, &h->result[h->result_of[answer]], "user", line, session, e);
    }
    return rc;
}

static enum err_code claude_add_item(struct hosting *h, const struct claude_item *item,
                                     struct err *e)
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
    row = arena_copy(&h->log->arena, row); /* must outlive rows that are read meanwhile */
    if (!row.p || !json_get(row, "hostHiddenToolUseIds", &hidden) || !json_iter_open(&ids, hidden))
        return ERR_NOMEM;
    json_get(row, "sessionId", &session);
    while (!rc && json_iter_next(&ids, &key, &value))
        if (json_type(value) == JSON_STRING)
            rc = add_hosted(h, claude_id(value, &h->log->arena), item->line, session, e);
    return rc;
}

/* A host program may run tools in the agent's name. Its calls and their results are beside the path
 * from the leaf upwards, as rows marked `isVirtual` or, in newer files, as host-row lines (above);
 * both are inserted after the row to which they belong. */

static bool claude_is_marked(const struct claude_item *item)
{
    return item->kind == CLAUDE_ASSISTANT && item->marks & (MARK_HIDES | MARK_RAN_BY);
}

bool claude_may_have_host_rows(const struct claude_item_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (claude_is_marked(&list->item[i]))
            return true;
    return false;
}

bool claude_is_host_row(struct slice row)
{
    struct slice value;

    return claude_value_is(row, "type", "assistant") &&
           ((json_get(row, "hostHiddenToolUseIds", &value) && json_type(value) == JSON_ARRAY) ||
            (json_get(row, "ranByToolUseId", &value) && json_type(value) == JSON_STRING));
}

/* For each id, the line off the path that follows it: the last one that names it as its parent. */
struct host_insertion {
    struct claude_log *log;
    struct claude_item_list *list; /* the original list */
    struct claude_item_list out;
    struct idset taken;   /* ids of the rows that are in the new list */
    struct idset parents; /* parents of the rows of the original list */
    struct idset followed;
    uint32_t *follower; /* owned; line by number of followed */
    size_t cap;
};

/* The line that follows an id, or CHAIN_NONE. */
static uint32_t follower_of(const struct host_insertion *b, struct id128 id)
{
    uint32_t at = idset_find(&b->followed, id);

    return at == IDSET_NONE ? CHAIN_NONE : b->follower[at];
}

static enum err_code find_host_rows(struct host_insertion *b)
{
    const struct chain *c = &b->log->chain;
    uint32_t number;

    for (size_t i = 0; i < b->list->n; i++) {
        const struct index_line *l = claude_line(b->log, b->list->item[i].line);
        uint32_t node = chain_find(c, l->id), up = c->node[node].parent;

        if (idset_add(&b->taken, l->id, &number) ||
            (up != CHAIN_NONE && idset_add(&b->parents, chain_id(c, up), &number)))
            return ERR_NOMEM;
    }
    for (size_t i = c->first_line; i < b->log->file.index.n; i++) {
        const struct index_line *l = claude_line(b->log, i);

        if (l->state != LINE_OK || id128_none(l->id) || chain_find(c, l->id) == CHAIN_NONE ||
            l->kind < CLAUDE_USER || l->kind > CLAUDE_PROGRESS || id128_none(l->parent) ||
            idset_has(&b->taken, l->id))
            continue;
        if (idset_add(&b->followed, l->parent, &number) ||
            !array_reserve(b->follower, b->cap, number + 1))
            return ERR_NOMEM;
        b->follower[number] = (uint32_t)i;
    }
    return ERR_OK;
}

struct look {
    bool host, virtual;
};

static enum err_code inspect_line(struct host_insertion *b, uint32_t line, struct look *look,
                                  struct err *e)
{
    struct slice row;

    TRY(claude_log_row(b->log, line, &row, e));
    look->host = claude_is_host_row(row);
    look->virtual = json_get_true(row, "isVirtual");
    return ERR_OK;
}

static enum err_code mark_taken(struct host_insertion *b, uint32_t line)
{
    uint32_t number;

    return idset_add(&b->taken, claude_line(b->log, line)->id, &number);
}

/* Adds the virtual rows that follow `line`, skipping attachments; before: the previous row is a
 * host's. */
static enum err_code add_followers(struct host_insertion *b, uint32_t line, bool before,
                                   struct err *e)
{
    enum err_code rc = ERR_OK;

    while (!rc && line != CHAIN_NONE && !idset_has(&b->taken, claude_line(b->log, line)->id)) {
        const struct index_line *l = claude_line(b->log, line);
        struct look look;

        rc = mark_taken(b, line);
        if (!rc)
            rc = inspect_line(b, line, &look, e);
        if (rc)
            break;
        if (look.virtual && (look.host || (claude_line_is(l, CLAUDE_USER) && before))) {
            rc = claude_item_list_add_line(&b->out, b->log, line, 0);
            before = look.host;
        } else if (!claude_line_is(l, CLAUDE_ATTACHMENT)) {
            break;
        }
        line = follower_of(b, l->id);
    }
    return rc;
}

static enum err_code insert_host_rows(struct host_insertion *b, const struct claude_item *item,
                                      struct err *e)
{
    const struct index_line *l = claude_line(b->log, item->line);
    uint32_t next = follower_of(b, l->id);
    struct look look;
    enum err_code rc = claude_item_list_add(&b->out, item);

    if (!rc)
        rc = inspect_line(b, item->line, &look, e);
    if (rc || look.virtual || next == CHAIN_NONE)
        return rc;
    if (look.host && claude_line_is(claude_line(b->log, next), CLAUDE_USER)) {
        rc = mark_taken(b, next);
        next = follower_of(b, claude_line(b->log, next)->id);
    } else if (claude_line_is(claude_line(b->log, next), CLAUDE_ATTACHMENT) &&
               (item->kind != CLAUDE_USER || idset_has(&b->parents, l->id))) {
        return ERR_OK;
    }
    return rc ? rc : add_followers(b, next, look.host, e);
}

static enum err_code insert_virtual(struct claude_log *log, struct claude_item_list *list,
                                    struct err *e)
{
    struct host_insertion b = { .log = log, .list = list };
    struct slice row;
    bool host = false;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && !host && i < list->n; i++) {
        if (!claude_is_marked(&list->item[i]))
            continue;
        rc = claude_item_row(log, &list->item[i], &row, e);
        host = !rc && claude_is_host_row(row);
    }
    if (rc || !host)
        return rc;

    /* Few sessions have such rows, so all lines are looked at only now. */
    rc = find_host_rows(&b);
    for (size_t i = 0; !rc && i < list->n; i++)
        rc = insert_host_rows(&b, &list->item[i], e);
    if (!rc)
        claude_item_list_replace(list, &b.out);
    claude_item_list_fini(&b.out);
    idset_fini(&b.taken);
    idset_fini(&b.parents);
    idset_fini(&b.followed);
    free(b.follower);
    return rc;
}

enum err_code claude_host_insert(struct claude_log *log, struct claude_item_list *list,
                                 struct err *e)
{
    enum err_code rc = insert_virtual(log, list, e);

    if (!rc) {
        struct hosting h = { .log = log };
        struct slice row;

        for (size_t i = log->chain.first_line; !rc && i < log->file.index.n; i++) {
            if (!claude_line_is(claude_line(log, i), CLAUDE_HOST_ROW))
                continue;
            rc = claude_log_row(log, i, &row, e);
            if (!rc)
                rc = read_host_row(&h, row);
        }
        for (size_t i = 0; !rc && h.calls && i < list->n; i++)
            rc = claude_add_item(&h, &list->item[i], e);
        if (!rc && h.calls)
            claude_item_list_replace(list, &h.out);
        claude_item_list_fini(&h.out);
        idset_fini(&h.withheld);
        idset_fini(&h.rows);
        idset_fini(&h.callers);
        idset_fini(&h.answered);
        free(h.call);
        free(h.result);
        free(h.caller);
        free(h.result_of);
    }
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "insert what a host ran") : rc;
}
