#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* When the agent takes a queued command in the middle of a turn, the queue writes a row that says so. It
 * names the command by a delivery id, or by the id the command had in the queue; n such rows mean the last
 * n copies. Copies under one queue id that carry different prompts are not counted at all. */

struct delivery {
    uint32_t count;      /* rows of the queue */
    struct slice prompt; /* by queue id: the attachment of the first copy */
    bool mixed;
    uint32_t *copy; /* owned; by delivery id: nodes of the copies; of the list: places */
    size_t copies, cap;
};

struct delivered {
    struct claude_log *log;
    struct idset ids;
    struct delivery *delivery; /* owned; by number of ids */
    size_t cap;
};

/* The two sorts of ids must not meet: each is kept with its sort in front. */
static struct id128 delivery_key(struct delivered *d, bool by_delivery, struct slice id)
{
    struct buf b = { 0 };
    struct id128 key = { 0, 0 };
    struct slice text;

    if (json_text(id, &d->log->arena, &text) &&
        !buf_add(&b, by_delivery ? SLICE("delivery:") : SLICE("uuid:")) && !buf_add(&b, text))
        key = id128_of(buf_slice(&b));
    buf_fini(&b);
    return key;
}

static bool string_at(struct slice object, const char *key, struct slice *value)
{
    return json_get(object, key, value) && json_type(*value) == JSON_STRING;
}

static enum err_code count_delivery(struct delivered *d, struct slice row)
{
    struct slice id;
    uint32_t at;
    bool by_delivery = string_at(row, "deliveryId", &id) && id.n > 2;

    if (!claude_row_says(row, "operation", "remove") ||
        !claude_row_says(row, "reason", "absorbed_mid_turn") ||
        (!by_delivery && !string_at(row, "commandUuid", &id)))
        return ERR_OK;
    if (idset_add(&d->ids, delivery_key(d, by_delivery, id), &at))
        return ERR_NOMEM;
    if (at >= d->cap) {
        size_t cap = d->cap ? 2 * d->cap : 32;
        struct delivery *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(d->delivery, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        memset(more + d->cap, 0, (cap - d->cap) * sizeof *more);
        d->delivery = more;
        d->cap = cap;
    }
    d->delivery[at].count++;
    return ERR_OK;
}

static enum err_code count_queue_rows(struct delivered *d, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = d->log->chain.first_line; !rc && i < d->log->file.index.n; i++) {
        const struct index_line *line = claude_line(d->log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_QUEUE) || !claude_line_has(line, MARK_REASON))
            continue;
        rc = claude_log_row(d->log, i, &row, e);
        if (!rc)
            rc = count_delivery(d, row);
    }
    return rc;
}

static enum err_code add_copy(struct delivery *y, uint32_t copy)
{
    if (y->copies == y->cap) {
        size_t cap = y->cap ? 2 * y->cap : 4;
        uint32_t *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(y->copy, cap * sizeof *more);

        if (!more)
            return ERR_NOMEM;
        y->copy = more;
        y->cap = cap;
    }
    y->copy[y->copies++] = copy;
    return ERR_OK;
}

/* The queued command that a row carries. */
static bool command_of(struct slice row, struct slice *command)
{
    if (claude_row_says(row, "type", "system"))
        return claude_row_says(row, "subtype", "voice_call_talk") &&
               json_at(row, "fold.command", command) && json_type(*command) == JSON_OBJECT;
    return claude_is_queued_command(row) && json_get(row, "attachment", command);
}

/* What the queue calls a command; NULL when no row of the queue told of it. */
static struct delivery *delivery_of(struct delivered *d, struct slice command, bool *by_delivery)
{
    struct slice id;
    uint32_t at;

    *by_delivery = string_at(command, "delivery_id", &id) && id.n > 2;
    if (!*by_delivery && (!string_at(command, "source_uuid", &id) || id.n <= 2))
        return NULL;
    at = idset_find(&d->ids, delivery_key(d, *by_delivery, id));
    return at == IDSET_NONE ? NULL : &d->delivery[at];
}

static bool next_token(struct slice *rest, struct slice *token)
{
    static const char ends[] = " \t\r\n,:[]{}\"";

    while (rest->n && strchr(" \t\r\n", *rest->p))
        *rest = (struct slice){ rest->p + 1, rest->n - 1 };
    if (rest->n == 0)
        return false;
    size_t n = 1;

    if (*rest->p == '"') {
        for (; n < rest->n && rest->p[n] != '"'; n++)
            n += rest->p[n] == '\\';
        n++;
    } else if (!strchr(ends, *rest->p)) {
        while (n < rest->n && !strchr(ends, rest->p[n]))
            n++;
    }
    if (n > rest->n)
        n = rest->n;
    *token = (struct slice){ rest->p, n };
    *rest = (struct slice){ rest->p + n, rest->n - n };
    return true;
}

static bool same_number(struct slice a, struct slice b)
{
    char x[64], y[64];

    if (a.n >= sizeof x || b.n >= sizeof y)
        return false;
    memcpy(x, a.p, a.n);
    memcpy(y, b.p, b.n);
    x[a.n] = y[b.n] = '\0';
    double p = strtod(x, NULL), q = strtod(y, NULL);

    return !(p < q) && !(p > q);
}

/* Do two JSON texts say the same, however they are written? Equal values in the order of their keys are
 * equal rows of tokens. */
static bool same_json(struct slice a, struct slice b, struct arena *arena)
{
    struct slice x, y, s, t;

    if (slice_eq(a, b))
        return true;
    for (;;) {
        bool more = next_token(&a, &x);

        if (more != next_token(&b, &y))
            return false;
        if (!more)
            return true;
        if (slice_eq(x, y))
            continue;
        if (json_type(x) != json_type(y))
            return false;
        if (json_type(x) == JSON_NUMBER
                ? !same_number(x, y)
                : !json_text(x, arena, &s) || !json_text(y, arena, &t) || !slice_eq(s, t))
            return false;
    }
}

static enum err_code note_copy(struct delivered *d, size_t line, struct slice row)
{
    struct slice command;
    bool by_delivery;
    struct delivery *y = command_of(row, &command) ? delivery_of(d, command, &by_delivery) : NULL;
    uint32_t node = chain_find(&d->log->chain, claude_line(d->log, line)->id);

    if (!y || node == CHAIN_NONE)
        return ERR_OK;
    if (!by_delivery) {
        if (!y->prompt.n) {
            y->prompt = arena_copy(&d->log->arena, command);
            return y->prompt.p ? ERR_OK : ERR_NOMEM;
        }
        y->mixed = y->mixed || !same_json(y->prompt, command, &d->log->arena);
        return ERR_OK;
    }
    if (d->log->chain.mark[node] & NODE_CLIMBED)
        return ERR_OK;
    d->log->chain.mark[node] |= NODE_CLIMBED; /* each id once */
    return add_copy(y, node);
}

static enum err_code note_copies(struct delivered *d, struct err *e)
{
    struct chain *c = &d->log->chain;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t) ~(NODE_CLIMBED | NODE_DELIVERED);
    for (size_t i = c->first_line; !rc && i < d->log->file.index.n; i++) {
        const struct index_line *line = claude_line(d->log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_ATTACHMENT) || id128_none(line->id))
            continue;
        rc = claude_log_row(d->log, i, &row, e);
        if (!rc)
            rc = note_copy(d, i, row);
    }
    for (size_t i = 0; i < d->ids.n; i++) {
        struct delivery *y = &d->delivery[i];
        size_t first = y->copies > y->count ? y->copies - y->count : 0;

        for (size_t k = first; k < y->copies; k++)
            c->mark[y->copy[k]] |= NODE_DELIVERED;
        y->copies = 0; /* from here on: places in the list */
    }
    return rc;
}

static enum err_code note_item(struct delivered *d, struct claude_item_list *list, size_t i,
                               struct err *e)
{
    struct claude_item *item = &list->item[i];
    struct slice row, command;
    bool by_delivery;

    if (item->kind != CLAUDE_ATTACHMENT && item->kind != CLAUDE_SYSTEM)
        return ERR_OK;
    enum err_code rc = claude_item_row(d->log, item, &row, e);

    if (rc)
        return rc;
    struct delivery *y = command_of(row, &command) ? delivery_of(d, command, &by_delivery) : NULL;

    if (!y || y->mixed)
        return ERR_OK;
    if (!by_delivery)
        return add_copy(y, (uint32_t)i);
    uint32_t node = chain_find(&d->log->chain, claude_item_id(d->log, item));

    item->flags |= node != CHAIN_NONE && d->log->chain.mark[node] & NODE_DELIVERED ? ITEM_REACHED
                                                                                   : ITEM_MISSED;
    return ERR_OK;
}

static enum err_code mark_items(struct delivered *d, struct claude_item_list *list, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < list->n; i++)
        rc = note_item(d, list, i, e);
    for (size_t i = 0; !rc && i < d->ids.n; i++) {
        const struct delivery *y = &d->delivery[i];

        for (size_t k = 0; k < y->copies; k++)
            list->item[y->copy[k]].flags |= k + y->count >= y->copies ? ITEM_REACHED : ITEM_MISSED;
    }
    return rc;
}

enum err_code claude_delivered(struct claude_log *log, struct claude_item_list *list, struct err *e)
{
    struct delivered d = { .log = log };
    enum err_code rc = count_queue_rows(&d, e);

    if (!rc && d.ids.n)
        rc = note_copies(&d, e);
    if (!rc && d.ids.n)
        rc = mark_items(&d, list, e);
    for (size_t i = 0; i < d.ids.n && i < d.cap; i++)
        free(d.delivery[i].copy);
    free(d.delivery);
    idset_fini(&d.ids);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "read the queue") : rc;
}
