#include "store/systems/claude/revival.h"

#include "store/systems/claude/leaf.h"

/* Is the row in the part of the file that is not looked at any more? Then it is not missing. */
static bool passed_over(const struct claude_log *log, struct id128 id)
{
    for (size_t i = 0; i < log->chain.first_line; i++)
        if (id128_eq(claude_line(log, i)->id, id))
            return true;
    return false;
}

static bool lacks_parent(const struct claude_log *log, uint32_t node)
{
    const struct chain *c = &log->chain;
    uint32_t parent = c->node[node].parent;

    return parent != CHAIN_NONE && !chain_has_row(c, parent) &&
           !claude_line_is(claude_node_line(log, node), CLAUDE_USER) &&
           !passed_over(log, chain_id(c, parent));
}

enum err_code claude_bridge(struct claude_log *log, struct err *e)
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
        if (before != CHAIN_NONE && lacks_parent(log, node))
            chain_relink(c, node, before);
        before = node;
    }
    return ERR_OK;
}
