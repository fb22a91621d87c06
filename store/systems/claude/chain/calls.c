#include "store/systems/claude/chain/conversation_path.h"

#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

struct id128 claude_side_of(struct claude_log *log, struct slice row)
{
    struct slice agent = { NULL, 0 }, side = { NULL, 0 };
    struct id128 id = { 0, 0 }, other;

    if (json_get(row, "agentId", &agent))
        id = json_type(agent) == JSON_STRING ? claude_id(agent, &log->arena) : id128_of(agent);
    /* A missing isSidechain is the same as false, but any other value that is falsy in JavaScript is not. */
    if (!log->plain && json_get(row, "isSidechain", &side) && json_type(side) != JSON_NULL &&
        json_type(side) != JSON_FALSE) {
        other = id128_of(side);
        id.hi ^= other.lo;
        id.lo ^= other.hi;
    }
    return id;
}

static enum err_code read_assistant_row(struct claude_calls *calls, struct claude_log *log,
                                        uint32_t node, struct err *e)
{
    struct slice row, id, key, block;
    struct json_iter blocks;
    enum err_code rc = claude_node_row(log, node, &row, e);

    if (rc || !json_at(row, "message.id", &id) || !claude_truthy(id) ||
        json_type(id) != JSON_STRING)
        return rc;
    if (!array_reserve(calls->assistant_row, calls->assistant_row_cap, calls->assistant_rows + 1))
        return ERR_NOMEM;
    uint32_t number = (uint32_t)calls->assistant_rows++;

    calls->assistant_row[number] = (struct claude_assistant_row){
        .message = claude_id(id, &log->arena), .side = claude_side_of(log, row), .node = node
    };
    for (bool more = claude_content(row, &blocks); more && json_iter_next(&blocks, &key, &block);) {
        struct id128 tool;

        if (!claude_block_id(block, "tool_use", "id", &log->arena, &tool))
            continue;
        if (!array_reserve(calls->call, calls->cap, calls->n + 1))
            return ERR_NOMEM;
        calls->call[calls->n++] = (struct claude_call){ tool, number };
        calls->assistant_row[number].calls = true;
    }
    return ERR_OK;
}

/* The comparison function has no access to the table, so the ids are sorted together with the numbers. */
struct keyed {
    struct id128 id;
    uint32_t place;
};

static int compare_keyed_id(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int d = claude_id_compare(x->id, y->id);

    return d ? d : (x->place > y->place) - (x->place < y->place);
}

static int by_tool(const void *a, const void *b)
{
    const struct claude_call *x = a, *y = b;
    int d = claude_id_compare(x->tool, y->tool);

    return d ? d : (x->assistant_row > y->assistant_row) - (x->assistant_row < y->assistant_row);
}

enum err_code claude_calls_read(struct claude_calls *calls, struct claude_log *log, struct err *e)
{
    enum err_code rc = ERR_OK;

    *calls = (struct claude_calls){ 0 };
    for (size_t i = 0; !rc && i < log->chain.n; i++)
        if (chain_has_row(&log->chain, (uint32_t)i) &&
            claude_line_is(claude_node_line(log, (uint32_t)i), CLAUDE_ASSISTANT))
            rc = read_assistant_row(calls, log, (uint32_t)i, e);
    if (!rc) {
        /* The rows in the order of their messages. */
        size_t n = calls->assistant_rows;
        struct keyed *k = malloc((n ? n : 1) * sizeof *k);

        calls->by_message = malloc((n ? n : 1) * sizeof *calls->by_message);
        rc = k && calls->by_message ? ERR_OK : ERR_NOMEM;
        for (size_t i = 0; !rc && i < n; i++)
            k[i] = (struct keyed){ calls->assistant_row[i].message, (uint32_t)i };
        if (!rc)
            qsort(k, n, sizeof *k, compare_keyed_id);
        for (size_t i = 0; !rc && i < n; i++)
            calls->by_message[i] = k[i].place;
        free(k);
    }
    if (!rc) {
        /* One entry for each tool id: the last row that made the call, or CHAIN_NONE if two
         * messages claim it. */
        size_t kept = 0;

        if (calls->n)
            qsort(calls->call, calls->n, sizeof *calls->call, by_tool);
        for (size_t i = 0, next; i < calls->n; i = next) {
            struct claude_call call = calls->call[i];
            struct id128 message = calls->assistant_row[call.assistant_row].message;
            bool one = true;

            for (next = i + 1; next < calls->n && id128_eq(calls->call[next].tool, call.tool);
                 next++) {
                one = one && id128_eq(calls->assistant_row[calls->call[next].assistant_row].message,
                                      message);
                call.assistant_row = calls->call[next].assistant_row;
            }
            if (!one)
                call.assistant_row = CHAIN_NONE;
            calls->call[kept++] = call;
        }
        calls->n = kept;
    }
    if (rc)
        claude_calls_fini(calls);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "sort the tool calls") : rc;
}

void claude_calls_fini(struct claude_calls *calls)
{
    free(calls->assistant_row);
    free(calls->by_message);
    free(calls->call);
    *calls = (struct claude_calls){ 0 };
}

static int compare_row_node(const void *node, const void *row)
{
    const uint32_t *x = node;
    const struct claude_assistant_row *y = row;

    return (*x > y->node) - (*x < y->node);
}

const struct claude_assistant_row *claude_assistant_row_of(const struct claude_calls *calls,
                                                           uint32_t node)
{
    return calls->assistant_rows ? bsearch(&node, calls->assistant_row, calls->assistant_rows,
                                           sizeof *calls->assistant_row, compare_row_node)
                                 : NULL;
}

static int compare_call_tool(const void *tool, const void *call)
{
    return claude_id_compare(*(const struct id128 *)tool, ((const struct claude_call *)call)->tool);
}

const struct claude_assistant_row *claude_call_owner(const struct claude_calls *calls,
                                                     struct id128 tool)
{
    const struct claude_call *call =
        calls->n ? bsearch(&tool, calls->call, calls->n, sizeof *call, compare_call_tool) : NULL;

    return call && call->assistant_row != CHAIN_NONE ? &calls->assistant_row[call->assistant_row]
                                                     : NULL;
}

void claude_message_rows(const struct claude_calls *calls, struct id128 message, size_t *from,
                         size_t *to)
{
    size_t lo = 0, hi = calls->assistant_rows;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (claude_id_compare(calls->assistant_row[calls->by_message[mid]].message, message) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *from = lo;
    while (lo < calls->assistant_rows &&
           id128_eq(calls->assistant_row[calls->by_message[lo]].message, message))
        lo++;
    *to = lo;
}

enum err_code claude_follows_response(struct claude_log *log, uint32_t node, uint32_t named,
                                      bool *is, struct err *e)
{
    const struct claude_assistant_row *call;
    struct claude_calls calls;
    struct json_iter blocks;
    struct slice row, key, block;
    struct id128 response = { 0, 0 }, tool;

    *is = false;
    if (!claude_line_is_message(claude_node_line(log, named)))
        return ERR_OK;
    TRY(claude_calls_read(&calls, log, e));
    enum err_code rc = claude_node_row(log, named, &row, e);

    call = claude_assistant_row_of(&calls, named);

    /* The named row is a call itself, or contains the result of one. */
    for (bool more = !rc && !call && claude_content(row, &blocks);
         more && !call && json_iter_next(&blocks, &key, &block);) {
        if (!claude_block_id(block, "tool_result", "tool_use_id", &log->arena, &tool))
            continue;
        call = claude_call_owner(&calls, tool);
        if (!call && chain_parent(&log->chain, named) != CHAIN_NONE)
            call = claude_assistant_row_of(&calls, chain_parent(&log->chain, named));
    }
    if (call && call->calls)
        response = call->message;

    /* The marks end the climb even if the links of a damaged file form a circle. */
    while (!rc && !id128_none(response) && !*is && node != CHAIN_NONE &&
           !(log->chain.mark[node] & NODE_CLIMBED)) {
        log->chain.mark[node] |= NODE_CLIMBED;
        call = claude_assistant_row_of(&calls, node);
        *is = call && call->calls && id128_eq(call->message, response);
        node = chain_parent(&log->chain, node);
    }
    for (size_t i = 0; i < log->chain.n; i++)
        log->chain.mark[i] &= (uint8_t)~NODE_CLIMBED;
    claude_calls_fini(&calls);
    return rc;
}
