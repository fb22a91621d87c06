#include "store/systems/claude/check/check.h"

/* Who follows whom, and where that leads nowhere. */

enum { ON_PATH = 1, SEEN = 2 }; /* marks of nodes */

static enum err_code check_parent(struct check *k, uint32_t node, struct err *e)
{
    const struct chain *c = &k->log.chain;
    uint32_t parent = c->node[node].parent;

    if (parent != CHAIN_NONE ? chain_has_row(c, parent) : !claude_follows(&k->log, node))
        return ERR_OK;
    return check_report(k, FINDING_DANGLING_PARENT, c->node[node].line,
                        parent == CHAIN_NONE ? "its parentUuid is no id"
                                             : "the row it follows is not in the file",
                        e);
}

/* Each circle is told once, at its first line. */
static enum err_code report_cycle(struct check *k, uint32_t start, struct err *e)
{
    const struct chain *c = &k->log.chain;
    size_t rows = 0, first = SIZE_MAX;
    uint32_t at = start;

    do {
        if (c->node[at].line < first)
            first = c->node[at].line;
        rows++;
        at = chain_parent(c, at);
    } while (at != start);
    return check_report(
        k, FINDING_CYCLE, first,
        rows == 1 ? "the row follows itself"
                  : arena_format(&k->arena, "%zu rows follow each other in a circle", rows),
        e);
}

/* Up from a node until the root or ground that was covered before. Meeting the way itself is a circle. */
static enum err_code check_ancestors(struct check *k, uint32_t leaf, struct err *e)
{
    struct chain *c = &k->log.chain;
    enum err_code rc = ERR_OK;
    uint32_t at = leaf;

    for (; at != CHAIN_NONE && !c->mark[at]; at = chain_parent(c, at))
        c->mark[at] = ON_PATH;
    if (at != CHAIN_NONE && c->mark[at] == ON_PATH)
        rc = report_cycle(k, at, e);
    for (at = leaf; at != CHAIN_NONE && c->mark[at] == ON_PATH; at = chain_parent(c, at))
        c->mark[at] = SEEN;
    return rc;
}

static enum err_code check_duplicates(struct check *k, struct err *e)
{
    const struct chain *c = &k->log.chain;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < k->log.file.index.n && c->again && !rc; i++) {
        const struct index_line *line = claude_line(&k->log, i);
        uint32_t node =
            line->state == LINE_OK && (CLAUDE_MAIN_KINDS >> line->kind & 1) && !id128_none(line->id)
                ? chain_find(c, line->id)
                : CHAIN_NONE;

        if (node != CHAIN_NONE && chain_has_row(c, node) && c->node[node].first != i)
            rc = check_report(k, FINDING_DUPLICATE_ID, i,
                              arena_format(&k->arena, "line %lu has the same uuid",
                                           (unsigned long)c->node[node].first + 1),
                              e);
    }
    return rc;
}

enum err_code check_chain(struct check *k, struct err *e)
{
    const struct chain *c = &k->log.chain;
    enum err_code rc = ERR_OK;

    for (uint32_t node = 0; node < c->n && !rc; node++)
        if (chain_has_row(c, node))
            rc = check_parent(k, node, e);
    for (uint32_t node = 0; node < c->n && !rc; node++)
        if (chain_has_row(c, node))
            rc = check_ancestors(k, node, e);
    return rc ? rc : check_duplicates(k, e);
}
