#include "store/systems/claude/leaf.h"

#include "lite/json.h"
#include "store/systems/claude/facts.h"

/* The client writes down where a conversation stands in last-prompt rows: `leafUuid` is the row it ends
 * with, null (with `explicit`) that it begins anew. The last such row counts, unless it names a row that
 * the file does not have; then the one before. */
struct checkpoint {
    size_t line;   /* of the last-prompt row */
    uint32_t node; /* CHAIN_NONE: cleared */
    bool found;
};

enum err_code claude_before(struct claude_log *log, uint32_t node, uint32_t *before, struct err *e)
{
    const struct index_line *line = claude_node_line(log, node);
    struct slice row;

    *before = chain_up(&log->chain, node);
    if (log->chain.node[node].parent != CHAIN_NONE || !claude_line_is(line, CLAUDE_SYSTEM) ||
        !claude_line_has(line, MARK_LOGICAL))
        return ERR_OK;
    enum err_code rc = claude_log_row(log, log->chain.node[node].line, &row, e);

    if (rc)
        return rc;
    struct id128 id = claude_id_at(row, "logicalParentUuid", &log->arena);
    uint32_t logical = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);

    if (logical != CHAIN_NONE && chain_has_row(&log->chain, logical))
        *before = logical;
    return ERR_OK;
}

static void read_checkpoint(struct claude_log *log, struct slice row, struct checkpoint *p)
{
    struct slice leaf;

    if (!json_get(row, "leafUuid", &leaf))
        return;
    if (json_type(leaf) == JSON_NULL) {
        p->found = json_get_true(row, "explicit");
        p->node = CHAIN_NONE;
        return;
    }
    struct id128 id = claude_id(leaf, &log->arena);

    p->node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
    p->found = p->node != CHAIN_NONE && chain_has_row(&log->chain, p->node);
}

static enum err_code find_checkpoint(struct claude_log *log, struct checkpoint *p, struct err *e)
{
    *p = (struct checkpoint){ .node = CHAIN_NONE };
    for (size_t i = log->file.index.n; i-- > log->chain.first_line && !p->found;) {
        struct slice row;

        if (!claude_line_is(claude_line(log, i), CLAUDE_LAST_PROMPT))
            continue;
        enum err_code rc = claude_log_row(log, i, &row, e);

        if (rc)
            return rc;
        p->line = i;
        read_checkpoint(log, row, p);
    }
    return ERR_OK;
}

/* Is `node` what the checkpoint names, or did it come to follow it? A way that was gone in vain before is
 * not gone again. */
static enum err_code follows(struct claude_log *log, uint32_t node, uint32_t from, bool *is,
                             struct err *e)
{
    enum err_code rc = ERR_OK;

    while (!rc && node != CHAIN_NONE && node != from && !(log->chain.mark[node] & NODE_CLIMBED)) {
        log->chain.mark[node] |= NODE_CLIMBED;
        rc = claude_before(log, node, &node, e);
    }
    *is = node != CHAIN_NONE && node == from;
    return rc;
}

/* The last row of the main conversation behind `line`; with a row `from`, the last that follows it. */
static enum err_code last_row(struct claude_log *log, size_t line, uint32_t from, uint32_t *leaf,
                              struct err *e)
{
    const struct chain *c = &log->chain;

    *leaf = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > line;) {
        const struct index_line *l = claude_line(log, i);
        uint32_t node = id128_none(l->id) ? CHAIN_NONE : chain_find(c, l->id);
        bool fits;

        if (node == CHAIN_NONE || c->node[node].line != i)
            continue;
        enum err_code rc = claude_is_main(log, node, &fits, e);

        if (!rc && fits && from != CHAIN_NONE)
            rc = follows(log, node, from, &fits, e);
        if (rc)
            return rc;
        if (fits) {
            *leaf = node;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                 struct err *e)
{
    struct checkpoint p;
    enum err_code rc = find_checkpoint(log, &p, e);
    size_t from = p.found ? p.line + 1 : log->chain.first_line;

    *cleared = false;
    if (!rc)
        rc = last_row(log, from, p.node, leaf, e);
    for (size_t i = 0; i < log->chain.n; i++)
        log->chain.mark[i] &= (uint8_t)~NODE_CLIMBED;
    if (rc)
        return rc;
    if (p.found && *leaf == CHAIN_NONE)
        *leaf = p.node;
    *cleared = p.found && *leaf == CHAIN_NONE;
    return ERR_OK;
}
