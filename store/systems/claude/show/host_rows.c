#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* A host program may run tools in the agent's name. Its calls and their results lie beside the way up from
 * the leaf, as rows marked `isVirtual` or, in newer files, as host-row lines (host_lines.c); both come in
 * behind the row that they belong to. */

bool claude_host_marked(const struct claude_item *item)
{
    return item->kind == CLAUDE_ASSISTANT && item->marks & (MARK_HIDES | MARK_RAN_BY);
}

bool claude_host_took_part(const struct claude_item_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (claude_host_marked(&list->item[i]))
            return true;
    return false;
}

bool claude_is_host_row(struct slice row)
{
    struct slice value;

    return claude_row_says(row, "type", "assistant") &&
           ((json_get(row, "hostHiddenToolUseIds", &value) && json_type(value) == JSON_ARRAY) ||
            (json_get(row, "ranByToolUseId", &value) && json_type(value) == JSON_STRING));
}

/* Which line, not of the conversation, follows which id: the last one that names it as its parent. */
struct host_insertion {
    struct claude_log *log;
    struct claude_item_list *list; /* as it was */
    struct claude_item_list out;
    struct idset taken;   /* ids of the rows that are in */
    struct idset parents; /* of the rows that were in from the beginning */
    struct idset followed;
    uint32_t *follower; /* owned; line by number of followed */
    size_t cap;
};

static enum err_code note_follower(struct host_insertion *b, uint32_t line)
{
    const struct index_line *l = claude_line(b->log, line);
    uint32_t at;

    if (id128_none(l->parent) || id128_none(l->id) || idset_has(&b->taken, l->id))
        return ERR_OK;
    if (idset_add(&b->followed, l->parent, &at))
        return ERR_NOMEM;
    if (at >= b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 64;
        uint32_t *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(b->follower, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        b->follower = more;
        b->cap = cap;
    }
    b->follower[at] = line;
    return ERR_OK;
}

/* The line behind an id, or CHAIN_NONE. */
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

        if (l->state == LINE_OK && !id128_none(l->id) && chain_find(c, l->id) != CHAIN_NONE &&
            l->kind >= CLAUDE_USER && l->kind <= CLAUDE_PROGRESS && note_follower(b, (uint32_t)i))
            return ERR_NOMEM;
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
    enum err_code rc = claude_log_row(b->log, line, &row, e);

    if (rc)
        return rc;
    look->host = claude_is_host_row(row);
    look->virtual = json_get_true(row, "isVirtual");
    return ERR_OK;
}

static enum err_code mark_taken(struct host_insertion *b, uint32_t line)
{
    uint32_t number;

    return idset_add(&b->taken, claude_line(b->log, line)->id, &number);
}

/* The virtual rows that follow `line`, past attachments; *before says whether the row before is a host's. */
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
        if (!claude_host_marked(&list->item[i]))
            continue;
        rc = claude_item_row(log, &list->item[i], &row, e);
        host = !rc && claude_is_host_row(row);
    }
    if (rc || !host)
        return rc;
    rc = find_host_rows(&b);
    for (size_t i = 0; !rc && i < list->n; i++)
        rc = insert_host_rows(&b, &list->item[i], e);
    if (!rc) {
        claude_item_list_fini(list);
        *list = b.out;
        b.out = (struct claude_item_list){ 0 };
    }
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

    if (!rc)
        rc = claude_host_lines(log, list, e);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "put in what a host ran") : rc;
}
