#include "store/systems/claude/show/item_list.h"

#include <stdlib.h>

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* A prompt typed while the agent was at work may be the last thing in a session: it then hangs behind the
 * leaf, perhaps below notes, and is no part of the way up from it. What is looked at is every row that is
 * no message, copies of the same id one by one, under the parent it was written with and under the one
 * that a compaction gave it (claude.md 3.7). */

struct hanging {
    uint32_t line;
    uint32_t next; /* in the list of the same parent; CHAIN_NONE ends */
};

struct trailing {
    struct claude_log *log;
    struct claude_item_list *list;
    uint32_t *first; /* by node: what hangs there, in file order */
    struct hanging *hanging;
    size_t n, cap;
    uint32_t *todo; /* lines still to be visited, the next one last */
    size_t todos, todo_cap;
};

static uint32_t node_of(const struct claude_log *log, size_t line)
{
    struct id128 id = claude_line(log, line)->id;

    return id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
}

static uint32_t written_parent(const struct claude_log *log, size_t line)
{
    struct id128 id = claude_line(log, line)->parent;

    return id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
}

/* A row of the conversation, of whatever copy, that is no message. */
static bool is_trailing_note(const struct claude_log *log, size_t line)
{
    const struct index_line *l = claude_line(log, line);

    return claude_line_is(l, CLAUDE_SYSTEM) || claude_line_is(l, CLAUDE_ATTACHMENT) ||
           claude_line_is(l, CLAUDE_PROGRESS);
}

static enum err_code grow_todo(void **array, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return ERR_OK;
    size_t more = *cap ? 2 * *cap : 64;
    void *p = more > SIZE_MAX / size ? NULL : realloc(*array, more * size);

    if (!p)
        return ERR_NOMEM;
    *array = p;
    *cap = more;
    return ERR_OK;
}

static enum err_code hang(struct trailing *t, uint32_t line, uint32_t parent)
{
    if (parent == CHAIN_NONE)
        return ERR_OK;
    if (grow_todo((void **)&t->hanging, &t->cap, t->n, sizeof *t->hanging))
        return ERR_NOMEM;
    t->hanging[t->n] = (struct hanging){ line, t->first[parent] };
    t->first[parent] = (uint32_t)t->n++;
    return ERR_OK;
}

/* From the end, so that each list comes out in file order. */
static enum err_code hang_notes(struct trailing *t)
{
    const struct chain *c = &t->log->chain;

    for (size_t i = t->log->file.index.n; i-- > c->first_line;) {
        uint32_t node = is_trailing_note(t->log, i) ? node_of(t->log, i) : CHAIN_NONE;

        if (node == CHAIN_NONE)
            continue;
        uint32_t written = written_parent(t->log, i), linked = c->node[node].parent;

        if (hang(t, (uint32_t)i, written) || (linked != written && hang(t, (uint32_t)i, linked)))
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* Marks what lies between a message that is not shown and the conversation that is: commands there belong
 * to the branch. */
static void mark_branches(struct claude_log *log)
{
    struct chain *c = &log->chain;

    for (size_t i = c->first_line; i < log->file.index.n; i++) {
        const struct index_line *l = claude_line(log, i);
        uint32_t at = claude_line_is_message(l) ? node_of(log, i) : CHAIN_NONE;

        if (at == CHAIN_NONE || l->marks & (MARK_SIDECHAIN | MARK_TEAM) ||
            c->mark[at] & NODE_LISTED)
            continue;
        for (at = written_parent(log, i); at != CHAIN_NONE && chain_has_row(c, at) &&
                                          !(c->mark[at] & (NODE_LISTED | NODE_BRANCH));
             at = written_parent(log, c->node[at].line))
            c->mark[at] |= NODE_BRANCH;
    }
}

static enum err_code push_line(struct trailing *t, uint32_t line)
{
    if (grow_todo((void **)&t->todo, &t->todo_cap, t->todos, sizeof *t->todo))
        return ERR_NOMEM;
    t->todo[t->todos++] = line;
    return ERR_OK;
}

struct timed {
    struct slice when;
    uint32_t line;
    size_t order;
};

static int compare_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    size_t n = x->when.n < y->when.n ? x->when.n : y->when.n;
    int d = n ? memcmp(x->when.p, y->when.p, n) : 0;

    if (d == 0 && x->when.n != y->when.n)
        d = x->when.n < y->when.n ? -1 : 1;
    return d ? d : (x->order > y->order) - (x->order < y->order);
}

static enum err_code read_time(struct claude_log *log, uint32_t line, struct slice *when,
                               struct err *e)
{
    struct slice row, text;
    enum err_code rc = claude_log_row(log, line, &row, e);

    *when = (struct slice){ "", 0 };
    if (!rc && json_get_text(row, "timestamp", &log->arena, &text))
        *when = arena_copy(&log->arena, text);
    return rc ? rc : when->p ? ERR_OK : ERR_NOMEM;
}

/* Puts the rows that hang on a node on the stack, the earliest on top. */
static enum err_code push_hanging(struct trailing *t, uint32_t node, struct err *e)
{
    size_t n = 0, i = 0;
    enum err_code rc = ERR_OK;

    for (uint32_t h = t->first[node]; h != CHAIN_NONE; h = t->hanging[h].next)
        n++;
    struct timed *row = calloc(n ? n : 1, sizeof *row);

    if (!row)
        return ERR_NOMEM;
    for (uint32_t h = t->first[node]; !rc && h != CHAIN_NONE; h = t->hanging[h].next, i++) {
        row[i] = (struct timed){ .line = t->hanging[h].line, .order = i };
        if (n > 1)
            rc = read_time(t->log, row[i].line, &row[i].when, e);
    }
    if (!rc && n > 1)
        qsort(row, n, sizeof *row, compare_time);
    for (i = n; !rc && i-- > 0;) {
        uint32_t child = node_of(t->log, row[i].line);

        if (!(t->log->chain.mark[child] & (NODE_LISTED | NODE_TRAILING)))
            rc = push_line(t, row[i].line);
    }
    free(row);
    return rc;
}

static enum err_code visit_line(struct trailing *t, uint32_t line, struct err *e)
{
    uint32_t node = node_of(t->log, line);
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
    return rc ? rc : push_hanging(t, node, e);
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

enum err_code claude_trailing(struct claude_log *log, uint32_t leaf, struct claude_item_list *list,
                              struct err *e)
{
    struct trailing t = { .log = log, .list = list };
    enum err_code rc = ERR_NOMEM;

    if (!anything_hangs(log, leaf))
        return ERR_OK;
    t.first = malloc(log->chain.n * sizeof *t.first);
    if (!t.first)
        goto done;
    memset(t.first, 0xFF, log->chain.n * sizeof *t.first);
    mark_branches(log);
    rc = hang_notes(&t);
    if (!rc)
        rc = push_hanging(&t, leaf, e);
    while (!rc && t.todos)
        rc = visit_line(&t, t.todo[--t.todos], e);
done:
    free(t.first);
    free(t.hanging);
    free(t.todo);
    return rc == ERR_NOMEM ? err_set(e, rc, log->file.path, "look behind the conversation") : rc;
}
