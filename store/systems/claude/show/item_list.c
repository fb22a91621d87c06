#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

enum err_code claude_item_list_add(struct claude_item_list *list, const struct claude_item *item)
{
    if (!array_reserve(list->item, list->cap, list->n + 1))
        return ERR_NOMEM;
    list->item[list->n++] = *item;
    return ERR_OK;
}

enum err_code claude_item_list_add_line(struct claude_item_list *list, const struct claude_log *log,
                                        uint32_t line, unsigned flags)
{
    const struct index_line *l = claude_line(log, line);

    return claude_item_list_add(
        list, &(struct claude_item){
                  .line = line, .marks = l->marks, .kind = l->kind, .flags = (uint8_t)flags });
}

enum err_code claude_item_list_add_made(struct claude_item_list *list, struct claude_log *log,
                                        uint32_t line, struct slice row, struct err *e)
{
    struct index one = { 0 };
    struct claude_item item = { .made = arena_copy(&log->arena, row), .line = line };
    enum err_code rc = index_bytes(&one, row, 0, &claude_index_keys, 0, e);

    if (!rc && (!item.made.p || one.n != 1))
        rc = err_nomem(e);
    if (!rc) {
        item.marks = one.line[0].marks;
        item.kind = one.line[0].kind;
        rc = claude_item_list_add(list, &item);
    }
    index_fini(&one);
    return rc;
}

struct id128 claude_item_id(struct claude_log *log, const struct claude_item *item)
{
    if (item->made.n)
        return claude_id_at(item->made, "uuid", &log->arena);
    return claude_line(log, item->line)->id;
}

void claude_item_list_replace(struct claude_item_list *list, struct claude_item_list *by)
{
    claude_item_list_fini(list);
    *list = *by;
    *by = (struct claude_item_list){ 0 };
}

void claude_item_list_fini(struct claude_item_list *list)
{
    free(list->item);
    *list = (struct claude_item_list){ 0 };
}

enum err_code claude_item_row(struct claude_log *log, const struct claude_item *item,
                              struct slice *row, struct err *e)
{
    if (item->made.n == 0)
        return claude_log_row(log, item->line, row, e);
    *row = item->made;
    return ERR_OK;
}

static uint8_t list_kind(void *rows, size_t i)
{
    const struct claude_list_rows *r = rows;

    return r->list->item[i].kind;
}

static enum err_code list_read(void *rows, size_t i, struct slice *row, struct err *e)
{
    const struct claude_list_rows *r = rows;

    if (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed))
        return err_set(e, ERR_CANCELLED, r->log->file.path, "read the conversation");
    return claude_item_row(r->log, &r->list->item[i], row, e);
}

struct claude_rows claude_list_rows(struct claude_list_rows *rows)
{
    return (struct claude_rows){
        .kind = list_kind, .read = list_read, .arg = rows, .n = rows->list->n
    };
}

/* Chooses the rows of a conversation that are returned, and their form. The rows are examined in
 * order and only as far as needed; for most of them the marks of the index are enough. */
struct choosing {
    struct claude_log *log;
    struct claude_item_list *list;
    const struct claude_item_filter *how;
    struct idset ids; /* the ids of all rows in the list; filled once a queued command needs them */
    struct buf made;

    /* Local commands: how many items were examined, and what may follow them. */
    size_t examined;
    bool record_next, output_next;

    /* Replies: `reply` is the same for every row of [from, to). */
    size_t from, to;
    bool reply;
};

/* The rows of a command that the client ran itself: a caveat, then one row with its name, then its output, until the
 * agent answers or another prompt follows. */
static enum err_code examine_command(struct choosing *c, struct claude_item *item, struct err *e)
{
    struct slice row;

    if (item->kind == CLAUDE_ASSISTANT)
        c->record_next = c->output_next = false;
    bool meta = item->marks & MARK_META;

    if (item->kind != CLAUDE_USER || (!meta && !c->record_next && !c->output_next))
        return ERR_OK;
    TRY(claude_item_row(c->log, item, &row, e));

    enum claude_local part = claude_local_part(row, &c->log->arena);

    if (meta) {
        c->record_next = c->record_next || part == LOCAL_CAVEAT;
        return ERR_OK;
    }
    bool belongs =
        (part == LOCAL_RECORD && c->record_next) || (part == LOCAL_OUTPUT && c->output_next);

    c->output_next = belongs;
    c->record_next = false;
    if (belongs)
        item->flags |= ITEM_COMPLETED;
    return ERR_OK;
}

/* Determines for the first n items whether they belong to a local command. */
static enum err_code examine_until(struct choosing *c, size_t n, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (; !rc && c->examined < n; c->examined++)
        rc = examine_command(c, &c->list->item[c->examined], e);
    return rc;
}

static bool has_parent(const struct claude_log *log, const struct claude_item *item)
{
    if (item->made.n)
        return item->marks & MARK_PARENT;
    uint32_t node = claude_line_node(log, item->line);

    return node != CHAIN_NONE && log->chain.node[node].line == item->line
               ? claude_has_parent(log, node)
               : item->marks & MARK_PARENT;
}

enum next { NEXT_UNKNOWN, NEXT_REPLY, NEXT_PROMPT };

/* Sets *next to the meaning of a row for a command that was queued before it. */
static enum err_code next_of(struct choosing *c, size_t i, enum next *next, struct err *e)
{
    struct claude_item *item = &c->list->item[i];
    struct slice row;

    *next = item->kind == CLAUDE_ASSISTANT ? NEXT_REPLY : NEXT_UNKNOWN;
    if (item->kind != CLAUDE_USER)
        return ERR_OK;
    TRY(examine_until(c, i + 1, e));
    TRY(claude_item_row(c->log, item, &row, e));
    if ((has_parent(c->log, item) && claude_has_tool_result(row)) ||
        claude_is_interrupt_note(row, &c->log->arena))
        *next = NEXT_REPLY;
    else if (!(item->marks & (MARK_META | MARK_SUMMARY)) && !(item->flags & ITEM_COMPLETED))
        *next = NEXT_PROMPT;
    return ERR_OK;
}

/* Determines whether the agent answers after item i, before the next prompt. */
static enum err_code reply_follows(struct choosing *c, size_t i, struct err *e)
{
    enum next next = NEXT_UNKNOWN;
    enum err_code rc = ERR_OK;

    if (i >= c->from && i < c->to)
        return ERR_OK;
    c->from = i;
    for (c->to = i + 1; !rc && c->to < c->list->n; c->to++) {
        rc = next_of(c, c->to, &next, e);
        if (next != NEXT_UNKNOWN)
            break;
    }
    c->reply = next == NEXT_REPLY;
    return rc;
}

/* For the SDK, rows of sub-agents and team members are not part of the conversation; a resume that bridges a gap
 * loads them. */
static bool claude_item_list_is_own(const struct choosing *c, const struct claude_item *item)
{
    return c->how->hidden || !(item->marks & (MARK_SIDECHAIN | MARK_TEAM));
}

/* Returns a queued command as its prompt, if it reached the agent. */
static enum err_code choose_attachment(struct choosing *c, size_t i, struct claude_item_list *out,
                                       struct err *e)
{
    const struct claude_item *item = &c->list->item[i];
    bool reached = item->flags & (ITEM_TRAILING | ITEM_REACHED), plain;
    struct slice row;
    enum err_code rc = claude_item_row(c->log, item, &row, e);

    if (rc || item->flags & ITEM_MISSED || !claude_is_queued_command(row))
        return rc;

    /* Without a record of the delivery, only a reply that follows proves that the command reached the agent. */
    if (!reached) {
        rc = reply_follows(c, i, e);
        reached = c->reply;
    }
    if (rc || !reached)
        return rc;
    uint32_t number;

    if (!c->ids.n)
        for (size_t k = 0; k < c->list->n; k++)
            NEED(!idset_add(&c->ids, claude_item_id(c->log, &c->list->item[k]), &number));
    TRY(claude_queued_row(c->log, item, c->how->agent, &c->ids, &c->made, &plain, e));
    if (plain)
        return ERR_OK;
    TRY(claude_item_list_add_made(out, c->log, item->line, buf_slice(&c->made), e));
    if (!c->how->agent && !claude_item_list_is_own(c, &out->item[out->n - 1]))
        out->n--;
    return ERR_OK;
}

/* Returns true for an assistant row that only closes a turn that is not shown. */
static bool claude_is_silent(struct slice row)
{
    struct json_iter blocks;
    struct slice key, first, second, text;

    return json_get_true(row, "closesQuietTurn") && claude_content(row, &blocks) &&
           json_iter_next(&blocks, &key, &first) && !json_iter_next(&blocks, &key, &second) &&
           claude_block_is(first, "text") && json_get(first, "text", &text) &&
           (json_string_is(text, "") || json_string_is(text, "No response requested."));
}

static enum err_code is_returned(struct choosing *c, const struct claude_item *item, bool *is,
                                 struct err *e)
{
    bool quiet = item->kind == CLAUDE_ASSISTANT && item->marks & MARK_QUIET;
    struct slice row, origin;

    *is = item->kind == CLAUDE_USER || item->kind == CLAUDE_ASSISTANT ||
          (item->kind == CLAUDE_SYSTEM && c->how->system_messages);
    if (!*is || c->how->agent)
        return ERR_OK;
    *is = claude_item_list_is_own(c, item);
    if (!*is || (!quiet && !(item->marks & MARK_META)))
        return ERR_OK;
    TRY(claude_item_row(c->log, item, &row, e));
    if (quiet && claude_is_silent(row))
        *is = false;
    if (item->marks & MARK_META &&
        !(json_get(row, "origin", &origin) && claude_origin_is_shown(origin)))
        *is = false;
    return ERR_OK;
}

static enum err_code select_item(struct choosing *c, size_t i, struct claude_item_list *out,
                                 struct err *e)
{
    enum err_code rc = examine_until(c, i + 1, e);
    struct claude_item *item = &c->list->item[i];
    bool is;

    if (rc)
        return rc;
    if (item->kind == CLAUDE_ATTACHMENT)
        return choose_attachment(c, i, out, e);
    rc = is_returned(c, item, &is, e);
    if (!rc && is && c->how->hidden) {
        enum claude_hidden_row left_out;

        rc = claude_hidden_rows_check(c->how->hidden, i, &left_out, e);
        is = left_out == ROW_LOADED;
        if (!rc && left_out == ROW_LOADED_IN_PART) {
            TRY(claude_hidden_rows_part(c->how->hidden, &c->made, e));
            return claude_item_list_add_made(out, c->log, item->line, buf_slice(&c->made), e);
        }
    }
    if (!rc && is && claude_item_list_add(out, item))
        rc = err_nomem(e);
    return rc;
}

enum err_code claude_select_items(struct claude_log *log, struct claude_item_list *list,
                                  const struct claude_item_filter *how,
                                  struct claude_item_list *out, struct err *e)
{
    struct choosing c = { .log = log, .list = list, .how = how };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < list->n && out->n < how->most; i++)
        rc = select_item(&c, i, out, e);
    idset_fini(&c.ids);
    buf_fini(&c.made);
    return rc;
}
