#include "store/systems/claude/revival.h"

#include <stdlib.h>

#include "store/systems/claude/leaf.h"

/* Ids of the rows in the part of the file that is not looked at: those are not missing. */
struct passed {
    struct id128 *id; /* owned; sorted */
    size_t n;
};

static int by_id(const void *a, const void *b)
{
    const struct id128 *x = a, *y = b;

    if (x->hi != y->hi)
        return x->hi < y->hi ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static enum err_code read_passed(const struct claude_log *log, struct passed *p)
{
    size_t n = log->chain.first_line;

    if (n == 0)
        return ERR_OK;
    p->id = malloc(n * sizeof *p->id);
    if (!p->id)
        return ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        p->id[i] = claude_line(log, i)->id;
    p->n = n;
    qsort(p->id, n, sizeof *p->id, by_id);
    return ERR_OK;
}

static bool is_passed(const struct passed *p, struct id128 id)
{
    return p->n && bsearch(&id, p->id, p->n, sizeof *p->id, by_id);
}

static bool lacks_parent(const struct claude_log *log, const struct passed *p, uint32_t node)
{
    const struct chain *c = &log->chain;
    uint32_t parent = c->node[node].parent;

    return parent != CHAIN_NONE && !chain_has_row(c, parent) &&
           !claude_line_is(claude_node_line(log, node), CLAUDE_USER) &&
           !is_passed(p, chain_id(c, parent));
}

static enum err_code bridge(struct claude_log *log, const struct passed *p, struct err *e)
{
    struct chain *c = &log->chain;
    uint32_t before = CHAIN_NONE;

    for (size_t i = c->first_line; i < log->file.index.n; i++) {
        const struct index_line *line = claude_line(log, i);
        uint32_t node = id128_none(line->id) ? CHAIN_NONE : chain_find(c, line->id);
        bool main;

        if (node == CHAIN_NONE || c->node[node].line != i)
            continue;
        enum err_code rc = claude_is_main(log, node, &main, e);

        if (rc)
            return rc;
        if (!main)
            continue;
        if (before != CHAIN_NONE && lacks_parent(log, p, node))
            chain_relink(c, node, before);
        before = node;
    }
    return ERR_OK;
}

enum err_code claude_bridge(struct claude_log *log, struct err *e)
{
    struct passed p = { 0 };

    if (read_passed(log, &p))
        return err_set(e, ERR_NOMEM, log->file.path, "follow the conversation");
    enum err_code rc = bridge(log, &p, e);

    free(p.id);
    return rc;
}
