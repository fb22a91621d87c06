#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/systems/claude/chain/conversation_path.h"
#include "store/systems/claude/chain/row_facts.h"

/* Rows of one API message share message.id, and a tool result follows the row that made its call. If calls ran in
 * parallel the conversation forks there, and the path from the leaf upwards passes one row of the message and one
 * result. The rows that it missed are inserted after the last row of that message on the path: first the rows of the
 * message, then the results, each by time (claude.md 3.4). */

/* A user row with tool results that is not on the path. */
struct answer {
    uint32_t node;
    uint32_t seen;      /* from + 1 of the group in which it was collected last */
    size_t tool, tools; /* its ids: index into parallel.tool, and how many */
};

/* An answer below a row to which it belongs: its parent, the row it names, or the row that made a call. */
struct link {
    uint32_t node, answer;
    size_t order;
};

struct addition {
    size_t behind; /* index into the path */
    size_t order;
    uint32_t node;
};

struct parallel {
    struct claude_log *log;
    struct claude_calls calls;
    struct answer *answer;
    struct link *link;
    struct addition *addition;
    struct id128 *tool;
    size_t answers, links, additions, tools;
    size_t answer_cap, link_cap, addition_cap, tool_cap;
    struct idset answered; /* tool ids that a row on the path answers */
    bool answered_known;
};

static bool is_on_path(const struct parallel *p, uint32_t node)
{
    return p->log->chain.mark[node] & NODE_LISTED;
}

/* Most sessions have no relevant row beside the path, so no row on the path has to be read. */
static enum err_code anything_missed(struct claude_log *log, bool *missed, struct err *e)
{
    const struct chain *c = &log->chain;
    struct slice row;

    *missed = false;
    for (uint32_t i = 0; i < c->n && !*missed; i++) {
        if (!chain_has_row(c, i) || c->mark[i] & NODE_LISTED)
            continue;
        const struct index_line *line = claude_node_line(log, i);

        if (!claude_line_is(line, CLAUDE_ASSISTANT) &&
            !(claude_line_is(line, CLAUDE_USER) && claude_has_parent(log, i)))
            continue;
        TRY(claude_node_row(log, i, &row, e));
        *missed = claude_line_is(line, CLAUDE_USER) ? claude_has_tool_result(row)
                                                    : json_at(row, "message.id", &row);
    }
    return ERR_OK;
}

static enum err_code add_link(struct parallel *p, uint32_t node, uint32_t answer)
{
    if (!array_reserve(p->link, p->link_cap, p->links + 1))
        return ERR_NOMEM;
    p->link[p->links] = (struct link){ node, answer, p->links };
    p->links++;
    return ERR_OK;
}

static enum err_code read_tools(struct parallel *p, struct slice row, struct answer *a)
{
    struct json_iter blocks;
    struct slice key, block;

    a->tool = p->tools;
    for (bool more = claude_content(row, &blocks); more && json_iter_next(&blocks, &key, &block);) {
        struct id128 id;

        if (!claude_block_id(block, "tool_result", "tool_use_id", &p->log->arena, &id))
            continue;
        if (!array_reserve(p->tool, p->tool_cap, p->tools + 1))
            return ERR_NOMEM;
        p->tool[p->tools++] = id;
    }
    a->tools = p->tools - a->tool;
    return ERR_OK;
}

static enum err_code claude_read_answer(struct parallel *p, uint32_t node, struct slice row)
{
    struct id128 side = claude_side_of(p->log, row);
    struct answer a = { .node = node };
    uint32_t parent = p->log->chain.node[node].parent, place = (uint32_t)p->answers;

    if (!array_reserve(p->answer, p->answer_cap, p->answers + 1) || read_tools(p, row, &a))
        return ERR_NOMEM;
    p->answer[p->answers++] = a;
    if (parent != CHAIN_NONE && add_link(p, parent, place))
        return ERR_NOMEM;
    /* The row that the answer itself names as the one that made its call. */
    struct id128 id = { 0, 0 };

    if (!p->log->plain)
        id = claude_id_at(row, "sourceToolAssistantUUID", &p->log->arena);
    uint32_t source = id128_none(id) ? CHAIN_NONE : chain_find(&p->log->chain, id);
    const struct claude_assistant_row *s = source == CHAIN_NONE || source == parent
                                               ? NULL
                                               : claude_assistant_row_of(&p->calls, source);

    if (s && id128_eq(s->side, side) && add_link(p, s->node, place))
        return ERR_NOMEM;
    for (size_t i = 0; i < a.tools; i++) {
        s = claude_call_owner(&p->calls, p->tool[a.tool + i]);
        if (s && id128_eq(s->side, side) && add_link(p, s->node, place))
            return ERR_NOMEM;
    }
    return ERR_OK;
}

static int by_node(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static enum err_code remember_tools(const struct parallel *p, struct idset *set, size_t tool,
                                    size_t n)
{
    uint32_t number;

    for (size_t i = 0; i < n; i++)
        if (idset_add(set, p->tool[tool + i], &number))
            return ERR_NOMEM;
    return ERR_OK;
}

/* The rows of one message that the path missed, and the answers to it. */
struct group {
    struct id128 message;
    size_t from, to;      /* in calls.by_message */
    uint32_t *row;        /* owned: missed rows of the message, then accepted answers */
    size_t rows, answers; /* how many of each */
    uint32_t *stray; /* owned: answers whose parent is elsewhere, as indexes of parallel.answer */
    size_t strays;
    size_t row_cap, stray_cap;
    struct idset taken; /* the tool ids that they answer */
};

static enum err_code add_group_row(struct group *g, uint32_t node)
{
    if (!array_reserve(g->row, g->row_cap, g->rows + g->answers + 1))
        return ERR_NOMEM;
    g->row[g->rows + g->answers] = node;
    return ERR_OK;
}

static enum err_code claude_add_answer(struct parallel *p, struct group *g, const struct answer *a)
{
    if (add_group_row(g, a->node) || remember_tools(p, &g->taken, a->tool, a->tools))
        return ERR_NOMEM;
    g->answers++;
    return ERR_OK;
}

/* Collects the answers below one row of the message, each of them once for the message. */
static enum err_code collect_answers(struct parallel *p, struct group *g, uint32_t node)
{
    size_t lo = 0, hi = p->links;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (p->link[mid].node < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < p->links && p->link[lo].node == node; lo++) {
        struct answer *a = &p->answer[p->link[lo].answer];

        /* The mark of a message is g->from + 1, because 0 is that of a new answer. */
        if (is_on_path(p, a->node) || a->seen == g->from + 1)
            continue;
        a->seen = (uint32_t)g->from + 1;
        uint32_t parent = p->log->chain.node[a->node].parent;
        const struct claude_assistant_row *s =
            parent == CHAIN_NONE ? NULL : claude_assistant_row_of(&p->calls, parent);

        if (s && id128_eq(s->message, g->message)) {
            if (claude_add_answer(p, g, a))
                return ERR_NOMEM;
            continue;
        }
        if (!array_reserve(g->stray, g->stray_cap, g->strays + 1))
            return ERR_NOMEM;
        g->stray[g->strays++] = p->link[lo].answer;
    }
    return ERR_OK;
}

static int claude_by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool answers_new_call(const struct parallel *p, const struct group *g,
                             const struct answer *a)
{
    for (size_t i = 0; i < a->tools; i++) {
        struct id128 tool = p->tool[a->tool + i];
        const struct claude_assistant_row *s = claude_call_owner(&p->calls, tool);

        if (s && id128_eq(s->message, g->message) && !idset_has(&g->taken, tool) &&
            !idset_has(&p->answered, tool))
            return true;
    }
    return false;
}

struct timed {
    struct slice when;
    uint32_t node;
    size_t order;
};

static int claude_compare_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    int d = claude_collate(x->when, y->when);

    return d ? d : (x->order > y->order) - (x->order < y->order);
}

static enum err_code sort_by_time(struct parallel *p, uint32_t *node, size_t n, struct err *e)
{
    struct timed *t = n > 1 ? calloc(n, sizeof *t) : NULL;
    enum err_code rc = n > 1 && !t ? ERR_NOMEM : ERR_OK;

    for (size_t i = 0; !rc && t && i < n; i++) {
        struct slice row, text = { "", 0 };

        rc = claude_node_row(p->log, node[i], &row, e);
        if (!rc && json_get_text(row, "timestamp", &p->log->arena, &text))
            text = arena_copy(&p->log->arena, text);
        t[i] = (struct timed){ text, node[i], i };
        if (!rc && !text.p)
            rc = ERR_NOMEM;
    }
    if (!rc && t) {
        qsort(t, n, sizeof *t, claude_compare_time);
        for (size_t i = 0; i < n; i++)
            node[i] = t[i].node;
    }
    free(t);
    return rc;
}

static enum err_code fill_group(struct parallel *p, struct group *g, const uint32_t *path, size_t n,
                                struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = g->from; !rc && i < g->to; i++) {
        uint32_t node = p->calls.assistant_row[p->calls.by_message[i]].node;

        if (is_on_path(p, node))
            continue;
        rc = add_group_row(g, node);
        g->rows += !rc;
    }
    for (size_t i = g->from; !rc && i < g->to; i++)
        rc = collect_answers(p, g, p->calls.assistant_row[p->calls.by_message[i]].node);
    if (!rc && g->strays && !p->answered_known) {
        /* Collects the tool ids that rows on the path answer. */
        for (size_t i = 0; !rc && i < n; i++) {
            struct slice row;
            struct answer a;

            rc = claude_node_row(p->log, path[i], &row, e);
            if (!rc)
                rc = read_tools(p, row, &a);
            if (!rc)
                rc = remember_tools(p, &p->answered, a.tool, a.tools);
        }
        p->answered_known = true;
    }
    /* An answer whose parent is elsewhere counts only if no other row has answered. They are considered
     * in the order in which their ids appear in the file. */
    if (!rc && g->strays)
        qsort(g->stray, g->strays, sizeof *g->stray, claude_by_number);
    for (size_t i = 0; !rc && i < g->strays; i++) {
        const struct answer *a = &p->answer[g->stray[i]];

        if (answers_new_call(p, g, a))
            rc = claude_add_answer(p, g, a);
    }
    if (!rc)
        rc = sort_by_time(p, g->row, g->rows, e);
    if (!rc && g->answers)
        rc = sort_by_time(p, g->row + g->rows, g->answers, e);
    return rc;
}

static enum err_code add_group(struct parallel *p, const struct group *g, size_t behind)
{
    for (size_t i = 0; i < g->rows + g->answers; i++) {
        if (!array_reserve(p->addition, p->addition_cap, p->additions + 1))
            return ERR_NOMEM;
        p->addition[p->additions] = (struct addition){ behind, p->additions, g->row[i] };
        p->additions++;
        p->log->chain.mark[g->row[i]] |= NODE_LISTED;
    }
    return ERR_OK;
}

/* last[m] is the last index into the path of the message that begins at index m of by_message. */
static enum err_code add_missed(struct parallel *p, const uint32_t *path, size_t n, struct err *e)
{
    size_t assistant_rows = p->calls.assistant_rows;
    uint32_t *last = malloc((assistant_rows ? assistant_rows : 1) * sizeof *last);
    enum err_code rc = last ? ERR_OK : ERR_NOMEM;
    struct group g;

    /* The first pass finds where each message ends on the path, the second adds its missing rows there, once. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; !rc && i < n; i++) {
            const struct claude_assistant_row *s = claude_assistant_row_of(&p->calls, path[i]);

            if (!s)
                continue;
            g = (struct group){ .message = s->message };
            claude_message_rows(&p->calls, s->message, &g.from, &g.to);
            if (pass == 0) {
                last[g.from] = (uint32_t)i;
                continue;
            }
            if (last[g.from] == CHAIN_NONE)
                continue;
            rc = fill_group(p, &g, path, n, e);
            if (!rc)
                rc = add_group(p, &g, last[g.from]);
            last[g.from] = CHAIN_NONE;
            free(g.row);
            free(g.stray);
            idset_fini(&g.taken);
        }
    free(last);
    return rc;
}

static int compare_insertion(const void *a, const void *b)
{
    const struct addition *x = a, *y = b;

    if (x->behind != y->behind)
        return x->behind < y->behind ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static enum err_code claude_merge(struct parallel *p, uint32_t **path, size_t *n)
{
    uint32_t *all = malloc((*n + p->additions) * sizeof *all);
    size_t at = 0, next = 0;

    if (!all)
        return ERR_NOMEM;
    qsort(p->addition, p->additions, sizeof *p->addition, compare_insertion);
    for (size_t i = 0; i < *n; i++) {
        all[at++] = (*path)[i];
        while (next < p->additions && p->addition[next].behind == i)
            all[at++] = p->addition[next++].node;
    }
    free(*path);
    *path = all;
    *n = at;
    return ERR_OK;
}

enum err_code claude_parallel(struct claude_log *log, uint32_t **path, size_t *n, struct err *e)
{
    struct parallel p = { .log = log };
    bool missed;
    enum err_code rc = anything_missed(log, &missed, e);

    if (rc || !missed)
        return rc;
    rc = claude_calls_read(&p.calls, log, e);
    if (!rc) {
        const struct chain *c = &p.log->chain;
        struct slice row;

        for (uint32_t i = 0; !rc && i < c->n; i++) {
            if (!chain_has_row(c, i) || is_on_path(&p, i) || !claude_has_parent(p.log, i) ||
                !claude_line_is(claude_node_line(p.log, i), CLAUDE_USER))
                continue;
            rc = claude_node_row(p.log, i, &row, e);
            if (!rc && claude_has_tool_result(row))
                rc = claude_read_answer(&p, i, row);
        }
        if (p.links)
            qsort(p.link, p.links, sizeof *p.link, by_node);
    }
    if (!rc)
        rc = add_missed(&p, *path, *n, e);
    if (!rc && p.additions)
        rc = claude_merge(&p, path, n);
    claude_calls_fini(&p.calls);
    idset_fini(&p.answered);
    free(p.answer);
    free(p.link);
    free(p.addition);
    free(p.tool);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "join parallel tool results") : rc;
}

static int compare_place_in_file(const void *a, const void *b)
{
    const struct addition *x = a, *y = b;

    return (x->order > y->order) - (x->order < y->order);
}

enum err_code claude_order_last_results(struct claude_log *log, uint32_t *path, size_t n,
                                        struct err *e)
{
    size_t from = n;
    struct slice row;

    for (; from > 0 && claude_line_is(claude_node_line(log, path[from - 1]), CLAUDE_USER); from--) {
        TRY(claude_node_row(log, path[from - 1], &row, e));
        if (!claude_has_tool_result(row))
            break;
    }
    if (n - from < 2)
        return ERR_OK;
    struct addition *last = malloc((n - from) * sizeof *last);

    if (!last)
        return err_nomem(e);
    for (size_t i = from; i < n; i++)
        last[i - from] = (struct addition){ 0, log->chain.node[path[i]].line, path[i] };
    qsort(last, n - from, sizeof *last, compare_place_in_file);
    for (size_t i = from; i < n; i++)
        path[i] = last[i - from].node;
    free(last);
    return ERR_OK;
}
