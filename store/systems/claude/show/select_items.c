#include "store/systems/claude/show/item_list.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/restore.h"

/* Which rows of a conversation come out, and as what. The rows are looked at in order and only as far as
 * somebody wants them; of most rows the marks of the index say enough. */
struct choosing {
    struct claude_log *log;
    struct claude_item_list *list;
    const struct claude_item_filter *how;
    struct idset ids; /* of all rows in the list, once a queued command asks */
    struct buf made;

    /* Local commands: how far the list was looked at, and what may follow there. */
    size_t looked;
    bool record_next, output_next;

    /* Replies: behind every row of [from, to) the same comes next. */
    size_t from, to;
    bool reply;
};

/* The rows of a command that the client ran by itself: behind a caveat comes one row with its name, then
 * its output, until somebody else speaks. */
static enum err_code look_at_command(struct choosing *c, struct claude_item *item, struct err *e)
{
    struct slice row;

    if (item->kind == CLAUDE_ASSISTANT)
        c->record_next = c->output_next = false;
    bool meta = item->marks & MARK_META;

    if (item->kind != CLAUDE_USER || (!meta && !c->record_next && !c->output_next))
        return ERR_OK;
    enum err_code rc = claude_item_row(c->log, item, &row, e);

    if (rc)
        return rc;
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

/* Knows of the first n items whether they belong to a local command. */
static enum err_code look_until(struct choosing *c, size_t n, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (; !rc && c->looked < n; c->looked++)
        rc = look_at_command(c, &c->list->item[c->looked], e);
    return rc;
}

static bool has_parent(const struct claude_log *log, const struct claude_item *item)
{
    if (item->made.n)
        return item->marks & MARK_PARENT;
    struct id128 id = claude_line(log, item->line)->id;
    uint32_t node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);

    return node != CHAIN_NONE && log->chain.node[node].line == item->line
               ? claude_follows(log, node)
               : item->marks & MARK_PARENT;
}

enum next { NEXT_UNKNOWN, NEXT_REPLY, NEXT_PROMPT };

/* What a row means for a command that was queued before it. */
static enum err_code next_of(struct choosing *c, size_t i, enum next *next, struct err *e)
{
    struct claude_item *item = &c->list->item[i];
    struct slice row;

    *next = item->kind == CLAUDE_ASSISTANT ? NEXT_REPLY : NEXT_UNKNOWN;
    if (item->kind != CLAUDE_USER)
        return ERR_OK;
    enum err_code rc = look_until(c, i + 1, e);

    if (!rc)
        rc = claude_item_row(c->log, item, &row, e);
    if (rc)
        return rc;
    if ((has_parent(c->log, item) && claude_has_tool_result(row)) ||
        claude_is_interrupt_note(row, &c->log->arena))
        *next = NEXT_REPLY;
    else if (!(item->marks & (MARK_META | MARK_SUMMARY)) && !(item->flags & ITEM_COMPLETED))
        *next = NEXT_PROMPT;
    return ERR_OK;
}

/* Does the agent answer behind item i, before the next prompt? */
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

static enum err_code collect_ids(struct choosing *c)
{
    uint32_t number;

    if (c->ids.n)
        return ERR_OK;
    for (size_t i = 0; i < c->list->n; i++)
        if (idset_add(&c->ids, claude_item_id(c->log, &c->list->item[i]), &number))
            return ERR_NOMEM;
    return ERR_OK;
}

/* To the SDK no sub-agent's row and no team member's is one of the conversation; a resume that bridges a gap loads it. */
static bool is_own(const struct choosing *c, const struct claude_item *item)
{
    return c->how->leaving || !(item->marks & (MARK_SIDECHAIN | MARK_TEAM));
}

/* Lets a queued command come out as its prompt, if it reached the agent. */
static enum err_code choose_attachment(struct choosing *c, size_t i, struct claude_item_list *out,
                                       struct err *e)
{
    const struct claude_item *item = &c->list->item[i];
    bool reached = item->flags & (ITEM_TRAILING | ITEM_REACHED), plain;
    struct slice row;
    enum err_code rc = claude_item_row(c->log, item, &row, e);

    if (rc || item->flags & ITEM_MISSED || !claude_is_queued_command(row))
        return rc;
    if (!reached) {
        rc = reply_follows(c, i, e);
        reached = c->reply;
    }
    if (rc || !reached)
        return rc;
    if (collect_ids(c))
        return err_nomem(e);
    rc = claude_queued_row(c->log, item, c->how->agent, &c->ids, &c->made, &plain, e);
    if (rc || plain)
        return rc;
    rc = claude_item_list_add_made(out, c->log, item->line, buf_slice(&c->made), e);
    if (rc)
        return rc;
    if (!c->how->agent && !is_own(c, &out->item[out->n - 1]))
        out->n--;
    return ERR_OK;
}

/* An assistant row that only closes a turn of which nobody is to hear. */
static bool says_nothing(struct slice row)
{
    struct json_iter blocks;
    struct slice key, first, second, text;

    return json_get_true(row, "closesQuietTurn") && claude_content(row, &blocks) &&
           json_iter_next(&blocks, &key, &first) && !json_iter_next(&blocks, &key, &second) &&
           json_type(first) == JSON_OBJECT && claude_row_says(first, "type", "text") &&
           json_get(first, "text", &text) &&
           (json_string_is(text, "") || json_string_is(text, "No response requested."));
}

static enum err_code comes_out(struct choosing *c, const struct claude_item *item, bool *is,
                               struct err *e)
{
    bool quiet = item->kind == CLAUDE_ASSISTANT && item->marks & MARK_QUIET;
    struct slice row, origin;

    *is = item->kind == CLAUDE_USER || item->kind == CLAUDE_ASSISTANT ||
          (item->kind == CLAUDE_SYSTEM && c->how->system_messages);
    if (!*is || c->how->agent)
        return ERR_OK;
    *is = is_own(c, item);
    if (!*is || (!quiet && !(item->marks & MARK_META)))
        return ERR_OK;
    enum err_code rc = claude_item_row(c->log, item, &row, e);

    if (rc)
        return rc;
    if (quiet && says_nothing(row))
        *is = false;
    if (item->marks & MARK_META &&
        !(json_get(row, "origin", &origin) && claude_origin_speaks(origin)))
        *is = false;
    return ERR_OK;
}

static enum err_code select_item(struct choosing *c, size_t i, struct claude_item_list *out,
                                 struct err *e)
{
    enum err_code rc = look_until(c, i + 1, e);
    struct claude_item *item = &c->list->item[i];
    bool is;

    if (rc)
        return rc;
    if (item->kind == CLAUDE_ATTACHMENT)
        return choose_attachment(c, i, out, e);
    rc = comes_out(c, item, &is, e);
    if (!rc && is && c->how->leaving) {
        enum claude_hidden_row left_out;

        rc = claude_leaving_row(c->how->leaving, i, &left_out, e);
        is = left_out == ROW_LOADED;
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
