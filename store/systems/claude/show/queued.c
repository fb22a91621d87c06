#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/decimal.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/item_list.h"

/* A prompt that was typed while the agent was working is kept as an attachment. If it reached the agent, it is returned
 * as the user row that it would have been. A prompt that was forwarded from another agent is left out. */
static bool forwarded(struct slice attachment)
{
    struct slice intent, lineage;

    return json_get(attachment, "forwardedIntent", &intent) && json_type(intent) == JSON_OBJECT &&
           json_get(intent, "lineage", &lineage) && json_type(lineage) == JSON_STRING &&
           lineage.n > 2;
}

/* The origin, if it is an object with a kind. */
static struct slice claude_origin_of(struct slice attachment)
{
    struct slice origin, kind;

    if (json_get(attachment, "origin", &origin) && json_type(origin) == JSON_OBJECT &&
        json_get(origin, "kind", &kind) && json_type(kind) == JSON_STRING)
        return origin;
    return (struct slice){ NULL, 0 };
}

static void write_prompt_row(struct jsonout *j, struct slice row, struct slice attachment,
                             struct slice uuid, struct slice prompt)
{
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("user"));
    claude_write_value(j, "uuid", uuid);
    claude_copy_member(j, row, "parentUuid", "parentUuid");
    claude_copy_member(j, row, "sessionId", "sessionId");
    claude_copy_member(j, row, "timestamp", "timestamp");
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", SLICE("user"));
    claude_write_value(j, "content", prompt);
    jsonout_close(j, '}');
    jsonout_bool_member(j, "isMeta", claude_key_truthy(attachment, "isMeta"));

    struct slice origin = claude_origin_of(attachment), run;

    if (!origin.n && claude_value_is(attachment, "commandMode", "task-notification"))
        origin = SLICE("{\"kind\":\"task-notification\"}");
    if (!json_get(attachment, "runId", &run) || !claude_run_id(run))
        run = (struct slice){ NULL, 0 };
    if (origin.n)
        claude_origin_write(j, origin, run);

    jsonout_bool_member(j, "isQueuedCommand", true);
    claude_copy_member(j, row, "isSidechain", "isSidechain");
    claude_copy_member(j, row, "teamName", "teamName");
    jsonout_close(j, '}');
}

enum err_code claude_queued_row(struct claude_log *log, const struct claude_item *item, bool agent,
                                struct idset *ids, struct buf *out, bool *plain, struct err *e)
{
    struct slice row, attachment, prompt, uuid;
    struct jsonout j;
    enum err_code rc = claude_item_row(log, item, &row, e);

    *plain = true;
    if (rc || !json_get(row, "attachment", &attachment) ||
        !claude_value_is(attachment, "type", "queued_command"))
        return rc;
    if (!agent && claude_key_truthy(attachment, "isMeta") &&
        !claude_origin_is_shown(claude_origin_of(attachment)))
        return ERR_OK;
    if (!json_get(attachment, "prompt", &prompt) ||
        (json_type(prompt) != JSON_STRING && json_type(prompt) != JSON_ARRAY) ||
        forwarded(attachment))
        return ERR_OK;

    /* The id of the returned row: that of the queue, unless another row has it. */
    struct slice source;
    uint32_t number;

    *plain = !json_get(row, "uuid", &uuid);
    struct id128 own = claude_id(uuid, &log->arena), id = own;

    if (json_get(attachment, "source_uuid", &source) && json_type(source) == JSON_STRING &&
        source.n > 2) {
        id = claude_id(source, &log->arena);
        *plain = *plain || (!id128_eq(id, own) && idset_has(ids, id));
        uuid = source;
    }
    rc = *plain ? ERR_OK : idset_add(ids, id, &number);

    if (!rc && !*plain) {
        out->n = 0;
        jsonout_init(&j, out);
        write_prompt_row(&j, row, attachment, uuid, prompt);
        rc = j.rc;
    }
    return rc ? err_set(e, rc, log->file.path, "read a queued command") : ERR_OK;
}

/* ---- which of them reached the agent ---- */

/* When the agent takes a queued command in the middle of a turn, a row of the queue records it. It names the command
 * by a delivery id, or by the command's id in the queue; n such rows mean the last n copies. Copies under one queue
 * id that have different prompts are not counted at all. */

struct delivery {
    uint32_t count;      /* rows of the queue */
    struct slice prompt; /* by queue id: the attachment of the first copy */
    bool mixed;
    uint32_t *copy; /* owned; by delivery id: nodes of the copies; later: indexes of items */
    size_t copies, cap;
};

struct delivered {
    struct claude_log *log;
    struct idset ids;
    struct delivery *delivery; /* owned; by number of ids */
    size_t cap;
};

/* The prefix keeps the two kinds of ids apart. */
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

    if (!claude_value_is(row, "operation", "remove") ||
        !claude_value_is(row, "reason", "absorbed_mid_turn") ||
        (!by_delivery && !string_at(row, "commandUuid", &id)))
        return ERR_OK;
    if (idset_add(&d->ids, delivery_key(d, by_delivery, id), &at))
        return ERR_NOMEM;
    size_t cap = d->cap;

    if (!array_reserve(d->delivery, d->cap, at + 1))
        return ERR_NOMEM;
    memset(d->delivery + cap, 0, (d->cap - cap) * sizeof *d->delivery);
    d->delivery[at].count++;
    return ERR_OK;
}

static enum err_code claude_queued_add_copy(struct delivery *y, uint32_t copy)
{
    if (!array_reserve(y->copy, y->cap, y->copies + 1))
        return ERR_NOMEM;
    y->copy[y->copies++] = copy;
    return ERR_OK;
}

/* The queued command that a row contains. */
static bool claude_command_of(struct slice row, struct slice *command)
{
    if (claude_value_is(row, "type", "system"))
        return claude_value_is(row, "subtype", "voice_call_talk") &&
               json_at(row, "fold.command", command) && json_type(*command) == JSON_OBJECT;
    return claude_is_queued_command(row) && json_get(row, "attachment", command);
}

/* The delivery of a command; NULL if no row of the queue mentions it. */
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

static bool claude_next_token(struct slice *rest, struct slice *token)
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
    double p = decimal_read(x, NULL), q = decimal_read(y, NULL);

    return !(p < q) && !(p > q);
}

/* Returns true if two JSON texts have the same value, however they are written: equal values with their keys in the
 * same order are equal sequences of tokens. */
static bool same_json(struct slice a, struct slice b, struct arena *arena)
{
    struct slice x, y, s, t;

    if (slice_eq(a, b))
        return true;
    for (;;) {
        bool more = claude_next_token(&a, &x);

        if (more != claude_next_token(&b, &y))
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
    struct delivery *y =
        claude_command_of(row, &command) ? delivery_of(d, command, &by_delivery) : NULL;
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
    return claude_queued_add_copy(y, node);
}

static enum err_code note_item(struct delivered *d, struct claude_item_list *list, size_t i,
                               struct err *e)
{
    struct claude_item *item = &list->item[i];
    struct slice row, command;
    bool by_delivery;

    if (item->kind != CLAUDE_ATTACHMENT && item->kind != CLAUDE_SYSTEM)
        return ERR_OK;
    TRY(claude_item_row(d->log, item, &row, e));

    struct delivery *y =
        claude_command_of(row, &command) ? delivery_of(d, command, &by_delivery) : NULL;

    if (!y || y->mixed)
        return ERR_OK;
    if (!by_delivery)
        return claude_queued_add_copy(y, (uint32_t)i);
    uint32_t node = chain_find(&d->log->chain, claude_item_id(d->log, item));

    item->flags |= node != CHAIN_NONE && d->log->chain.mark[node] & NODE_DELIVERED ? ITEM_REACHED
                                                                                   : ITEM_MISSED;
    return ERR_OK;
}

enum err_code claude_mark_delivered(struct claude_log *log, struct claude_item_list *list,
                                    struct err *e)
{
    struct delivered d = { .log = log };

    enum err_code rc = ERR_OK;

    for (size_t i = d.log->chain.first_line; !rc && i < d.log->file.index.n; i++) {
        const struct index_line *line = claude_line(d.log, i);
        struct slice row;

        if (!claude_line_is(line, CLAUDE_QUEUE) || !claude_line_has(line, MARK_REASON))
            continue;
        rc = claude_log_row(d.log, i, &row, e);
        if (!rc)
            rc = count_delivery(&d, row);
    }

    /* The copies in the file come first, because they mark the nodes that note_item() asks for. */
    if (!rc && d.ids.n) {
        struct chain *c = &d.log->chain;
        for (size_t i = 0; i < c->n; i++)
            c->mark[i] &= (uint8_t) ~(NODE_CLIMBED | NODE_DELIVERED);
        for (size_t i = c->first_line; !rc && i < d.log->file.index.n; i++) {
            const struct index_line *line = claude_line(d.log, i);
            struct slice row;

            if (!claude_line_is(line, CLAUDE_ATTACHMENT) || id128_none(line->id))
                continue;
            rc = claude_log_row(d.log, i, &row, e);
            if (!rc)
                rc = note_copy(&d, i, row);
        }
        for (size_t i = 0; i < d.ids.n; i++) {
            struct delivery *y = &d.delivery[i];
            size_t first = y->copies > y->count ? y->copies - y->count : 0;

            for (size_t k = first; k < y->copies; k++)
                c->mark[y->copy[k]] |= NODE_DELIVERED;
            y->copies = 0; /* from here on: indexes of items */
        }
    }
    if (!rc && d.ids.n) {
        for (size_t i = 0; !rc && i < list->n; i++)
            rc = note_item(&d, list, i, e);
        for (size_t i = 0; !rc && i < d.ids.n; i++) {
            const struct delivery *y = &d.delivery[i];

            /* As many copies were delivered as there were deliveries, and those are the last ones. */
            for (size_t k = 0; k < y->copies; k++)
                list->item[y->copy[k]].flags |=
                    k + y->count >= y->copies ? ITEM_REACHED : ITEM_MISSED;
        }
    }
    for (size_t i = 0; i < d.ids.n && i < d.cap; i++)
        free(d.delivery[i].copy);
    free(d.delivery);
    idset_fini(&d.ids);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "read the queue") : rc;
}

/* ---- after the leaf ---- */

/* A prompt that was typed while the agent was working may be the last row of a session: it then
 * follows the leaf, perhaps below notes, and is not on the path from the leaf upwards. Every row
 * that is not a message is examined, copies of the same id one by one, under its original parent
 * and under the parent assigned by a compaction (claude.md 3.7). */

struct note {
    uint32_t line;
    uint32_t next; /* in the list of the same parent; CHAIN_NONE ends */
};

struct trailing {
    struct claude_log *log;
    struct claude_item_list *list;
    uint32_t *first; /* by node: the notes that follow it, in file order */
    struct note *note;
    size_t n, cap;
    uint32_t *todo; /* lines still to be visited, the next one last */
    size_t todos, todo_cap;
};

static uint32_t written_parent(const struct claude_log *log, size_t line)
{
    struct id128 id = claude_line(log, line)->parent;

    return id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
}

/* Returns true for a row of the conversation, in any copy, that is not a message. */
static bool is_trailing_note(const struct claude_log *log, size_t line)
{
    const struct index_line *l = claude_line(log, line);

    return claude_line_is(l, CLAUDE_SYSTEM) || claude_line_is(l, CLAUDE_ATTACHMENT) ||
           claude_line_is(l, CLAUDE_PROGRESS);
}

static enum err_code hang(struct trailing *t, uint32_t line, uint32_t parent)
{
    if (parent == CHAIN_NONE)
        return ERR_OK;
    if (!array_reserve(t->note, t->cap, t->n + 1))
        return ERR_NOMEM;
    t->note[t->n] = (struct note){ line, t->first[parent] };
    t->first[parent] = (uint32_t)t->n++;
    return ERR_OK;
}

/* Backwards, so that each list is in file order. */
static enum err_code link_notes(struct trailing *t)
{
    const struct chain *c = &t->log->chain;

    for (size_t i = t->log->file.index.n; i-- > c->first_line;) {
        uint32_t node = is_trailing_note(t->log, i) ? claude_line_node(t->log, i) : CHAIN_NONE;

        if (node == CHAIN_NONE)
            continue;
        uint32_t written = written_parent(t->log, i), linked = c->node[node].parent;

        if (hang(t, (uint32_t)i, written) || (linked != written && hang(t, (uint32_t)i, linked)))
            return ERR_NOMEM;
    }
    return ERR_OK;
}

struct timed {
    struct slice when;
    uint32_t line;
    size_t order;
};

static int claude_queued_compare_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    size_t n = x->when.n < y->when.n ? x->when.n : y->when.n;
    int d = n ? memcmp(x->when.p, y->when.p, n) : 0;

    if (d == 0 && x->when.n != y->when.n)
        d = x->when.n < y->when.n ? -1 : 1;
    return d ? d : (x->order > y->order) - (x->order < y->order);
}

static enum err_code claude_read_time(struct claude_log *log, uint32_t line, struct slice *when,
                                      struct err *e)
{
    struct slice row, text;
    enum err_code rc = claude_log_row(log, line, &row, e);

    *when = (struct slice){ "", 0 };
    if (!rc && json_get_text(row, "timestamp", &log->arena, &text))
        *when = arena_copy(&log->arena, text);
    return rc ? rc : when->p ? ERR_OK : ERR_NOMEM;
}

/* Pushes the rows that follow a node onto the stack, the earliest on top. */
static enum err_code push_notes(struct trailing *t, uint32_t node, struct err *e)
{
    size_t n = 0, i = 0;
    enum err_code rc = ERR_OK;

    for (uint32_t h = t->first[node]; h != CHAIN_NONE; h = t->note[h].next)
        n++;
    struct timed *row = calloc(n ? n : 1, sizeof *row);

    if (!row)
        return ERR_NOMEM;
    for (uint32_t h = t->first[node]; !rc && h != CHAIN_NONE; h = t->note[h].next, i++) {
        row[i] = (struct timed){ .line = t->note[h].line, .order = i };
        if (n > 1)
            rc = claude_read_time(t->log, row[i].line, &row[i].when, e);
    }
    if (!rc && n > 1)
        qsort(row, n, sizeof *row, claude_queued_compare_time);

    /* The stack returns the last row first. */
    for (i = n; !rc && i-- > 0;) {
        uint32_t child = claude_line_node(t->log, row[i].line);

        if (t->log->chain.mark[child] & (NODE_LISTED | NODE_TRAILING))
            continue;
        if (!array_reserve(t->todo, t->todo_cap, t->todos + 1))
            rc = ERR_NOMEM;
        else
            t->todo[t->todos++] = row[i].line;
    }
    free(row);
    return rc;
}

static enum err_code visit_line(struct trailing *t, uint32_t line, struct err *e)
{
    uint32_t node = claude_line_node(t->log, line);
    uint8_t *mark = &t->log->chain.mark[node];
    struct slice row;
    enum err_code rc = ERR_OK;

    if (*mark & (NODE_LISTED | NODE_TRAILING))
        return ERR_OK;
    *mark |= NODE_TRAILING;
    if (claude_line_is(claude_line(t->log, line), CLAUDE_ATTACHMENT) && !(*mark & NODE_BRANCH)) {
        rc = claude_log_row(t->log, line, &row, e);
        if (!rc && claude_is_queued_command(row))
            rc = claude_item_list_add_line(t->list, t->log, line, ITEM_TRAILING);
    }
    return rc ? rc : push_notes(t, node, e);
}

static bool anything_hangs(const struct claude_log *log, uint32_t leaf)
{
    for (size_t i = log->chain.first_line; i < log->file.index.n; i++)
        if (is_trailing_note(log, i) && written_parent(log, i) == leaf)
            return true;
    for (uint32_t at = log->chain.node[leaf].child; at != CHAIN_NONE; at = log->chain.node[at].next)
        if (is_trailing_note(log, log->chain.node[at].line))
            return true;
    return false;
}

enum err_code claude_add_trailing(struct claude_log *log, uint32_t leaf,
                                  struct claude_item_list *list, struct err *e)
{
    struct trailing t = { .log = log, .list = list };
    enum err_code rc = ERR_NOMEM;

    if (!anything_hangs(log, leaf))
        return ERR_OK;
    t.first = malloc(log->chain.n * sizeof *t.first);
    if (!t.first)
        goto done;
    memset(t.first, 0xFF, log->chain.n * sizeof *t.first);

    /* Marks the nodes between messages that are not shown and the shown conversation, because
     * commands there belong to the branch. */
    struct chain *c = &log->chain;

    for (size_t i = c->first_line; i < log->file.index.n; i++) {
        const struct index_line *l = claude_line(log, i);
        uint32_t at = claude_line_is_message(l) ? claude_line_node(log, i) : CHAIN_NONE;

        if (at == CHAIN_NONE || l->marks & (MARK_SIDECHAIN | MARK_TEAM) ||
            c->mark[at] & NODE_LISTED)
            continue;
        for (at = written_parent(log, i); at != CHAIN_NONE && chain_has_row(c, at) &&
                                          !(c->mark[at] & (NODE_LISTED | NODE_BRANCH));
             at = written_parent(log, c->node[at].line))
            c->mark[at] |= NODE_BRANCH;
    }

    rc = link_notes(&t);
    if (!rc)
        rc = push_notes(&t, leaf, e);
    while (!rc && t.todos)
        rc = visit_line(&t, t.todo[--t.todos], e);
done:
    free(t.first);
    free(t.note);
    free(t.todo);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "read the rows after the conversation")
                           : rc;
}
