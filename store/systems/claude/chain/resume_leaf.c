#include "store/systems/claude/chain/leaf.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"

/* The client writes down where a conversation stands in last-prompt rows: `leafUuid` is the row it ends
 * with, null (with `explicit`) that it begins anew. Only the last such row counts. */
struct checkpoint {
    size_t line;   /* of the last-prompt row */
    uint32_t node; /* CHAIN_NONE: cleared */
    bool found;
    bool explicit; /* rows that were there before it do not count */
};

enum err_code claude_logical_parent(struct claude_log *log, uint32_t node, uint32_t *before,
                                    struct err *e)
{
    const struct index_line *line = claude_node_line(log, node);
    struct slice row;

    *before = chain_parent(&log->chain, node);
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

/* False: the row says nothing, and the one before counts. */
static bool read_checkpoint(struct claude_log *log, struct slice row, struct checkpoint *p)
{
    struct slice leaf;

    p->explicit = json_get_true(row, "explicit");
    if (!json_get(row, "leafUuid", &leaf))
        return false;
    if (json_type(leaf) == JSON_NULL) {
        p->found = p->explicit;
        return p->explicit;
    }
    if (json_type(leaf) != JSON_STRING)
        return false;
    struct id128 id = claude_id(leaf, &log->arena);

    p->node = id128_none(id) ? CHAIN_NONE : chain_find(&log->chain, id);
    p->found = p->node != CHAIN_NONE && chain_has_row(&log->chain, p->node);
    return true;
}

bool claude_leads_to_message(const struct claude_log *log, uint32_t node)
{
    for (size_t i = 0; i < log->chain.n && node != CHAIN_NONE; i++) {
        if (claude_line_is_message(claude_node_line(log, node)))
            return true;
        node = chain_parent(&log->chain, node);
    }
    return false;
}

/* Above some size the client does not read what lies before the last boundary that kept nothing. */
static enum err_code is_read(struct claude_log *log, uint32_t node, bool *is, struct err *e)
{
    const struct index *ix = &log->file.index;
    size_t line = log->chain.node[node].line, from = 0;
    bool compacted = false;

    for (size_t i = line + 1; i < ix->n && !compacted; i++)
        compacted = claude_line_is(&ix->line[i], CLAUDE_SYSTEM) &&
                    claude_line_has(&ix->line[i], MARK_COMPACT);
    enum err_code rc = compacted ? claude_seen_from(log, &from, e) : ERR_OK;

    *is = line >= from && claude_is_loaded(log, node) && claude_leads_to_message(log, node);
    return rc;
}

static enum err_code find_checkpoint(struct claude_log *log, struct checkpoint *p, struct err *e)
{
    bool told = false;
    enum err_code rc = ERR_OK;

    *p = (struct checkpoint){ .node = CHAIN_NONE };
    for (size_t i = log->file.index.n; i-- > log->chain.first_line && !rc;) {
        struct checkpoint q = { .line = i, .node = CHAIN_NONE };
        struct slice row;

        if (!claude_line_is(claude_line(log, i), CLAUDE_LAST_PROMPT))
            continue;
        rc = claude_log_row(log, i, &row, e);
        if (rc || !read_checkpoint(log, row, &q))
            continue;
        /* One that only repeats what was said explicitly changes nothing. */
        if (told && (q.node != p->node || !q.found))
            break;
        *p = q;
        told = true;
        if (q.explicit || !q.found)
            break;
    }
    if (!rc && p->found && p->node != CHAIN_NONE)
        rc = is_read(log, p->node, &p->found, e);
    return rc;
}

/* Is `node` this row, or does it follow it? Across a gap it does not. */
static bool follows(struct claude_log *log, uint32_t node, uint32_t from)
{
    struct chain *c = &log->chain;

    while (node != CHAIN_NONE && node != from && !(c->mark[node] & NODE_CLIMBED)) {
        c->mark[node] |= NODE_CLIMBED;
        node = chain_parent(c, node);
    }
    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_CLIMBED;
    return node == from;
}

/* The last row of the main conversation from `line` on. */
static enum err_code newest_row(struct claude_log *log, size_t line, uint32_t *newest,
                                struct err *e)
{
    const struct chain *c = &log->chain;

    *newest = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > line;) {
        const struct index_line *l = claude_line(log, i);
        uint32_t node = id128_none(l->id) ? CHAIN_NONE : chain_find(c, l->id);
        bool main;

        if (node == CHAIN_NONE || c->node[node].line != i)
            continue;
        enum err_code rc = claude_is_main(log, node, &main, e);

        if (rc)
            return rc;
        if (main) {
            *newest = node;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static enum err_code find_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                      struct err *e)
{
    struct checkpoint p;
    enum err_code rc = find_checkpoint(log, &p, e);
    bool since = p.found && p.explicit;

    *cleared = false;
    if (!rc)
        rc = newest_row(log, since ? p.line + 1 : log->chain.first_line, leaf, e);
    if (rc || !p.found)
        return rc;
    if (p.node != CHAIN_NONE && (*leaf == CHAIN_NONE || !follows(log, *leaf, p.node)))
        *leaf = p.node;
    *cleared = *leaf == CHAIN_NONE;
    return ERR_OK;
}

enum err_code claude_newest_leaf(struct claude_log *log, uint32_t *leaf, struct err *e)
{
    return newest_row(log, log->chain.first_line, leaf, e);
}

enum err_code claude_resume_leaf(struct claude_log *log, uint32_t *leaf, bool *cleared,
                                 struct err *e)
{
    bool relinked = log->relinked;
    enum err_code rc = relinked ? ERR_OK : claude_relink(log, e);

    if (!rc)
        rc = find_resume_leaf(log, leaf, cleared, e);
    if (!relinked)
        claude_unlink(log);
    return rc;
}
