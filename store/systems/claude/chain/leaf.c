#include "store/systems/claude/chain/leaf.h"

#include "store/systems/claude/chain/row_facts.h"

enum err_code claude_is_main(struct claude_log *log, uint32_t node, bool *is, struct err *e)
{
    const struct index_line *line = claude_node_line(log, node);
    uint8_t *mark = &log->chain.mark[node];
    struct slice row;

    if (!(*mark & (NODE_MAIN | NODE_NOT_MAIN))) {
        bool main = !claude_line_has(line, MARK_SIDECHAIN) && !claude_line_has(line, MARK_TEAM) &&
                    !claude_line_is(line, CLAUDE_PROGRESS);

        if (main && claude_line_is(line, CLAUDE_ATTACHMENT)) {
            enum err_code rc = claude_log_row(log, log->chain.node[node].line, &row, e);

            if (rc)
                return rc;
            main = !claude_row_says(row, "attachment.type", "fork_briefing");
        }
        *mark |= main ? NODE_MAIN : NODE_NOT_MAIN;
    }
    *is = *mark & NODE_MAIN;
    return ERR_OK;
}

/* A row of the main conversation that no other such row follows. */
static enum err_code is_end(struct claude_log *log, uint32_t node, bool *end, struct err *e)
{
    enum err_code rc = claude_is_main(log, node, end, e);
    uint32_t child = log->chain.node[node].child;

    for (; !rc && *end && child != CHAIN_NONE; child = log->chain.node[child].next) {
        bool main;

        rc = claude_is_main(log, child, &main, e);
        *end = !main;
    }
    return rc;
}

/* The nearest message from here upwards. A way that was gone before leads to nothing new. */
static uint32_t climb_to_message(struct claude_log *log, uint32_t node)
{
    struct chain *c = &log->chain;

    while (node != CHAIN_NONE && !(c->mark[node] & NODE_CLIMBED)) {
        if (claude_line_is_message(claude_node_line(log, node)))
            return node;
        c->mark[node] |= NODE_CLIMBED;
        node = chain_parent(c, node);
    }
    return CHAIN_NONE;
}

/* A session that is nothing but a sidechain: any row without followers will do, better one of a
 * person's conversation. */
static uint32_t last_resort(struct claude_log *log)
{
    struct chain *c = &log->chain;
    uint32_t any = CHAIN_NONE, better = CHAIN_NONE;

    for (size_t i = 0; i < c->n; i++)
        c->mark[i] &= (uint8_t)~NODE_CLIMBED;
    for (size_t i = 0; i < c->n; i++) {
        if (!chain_has_row(c, (uint32_t)i) || c->node[i].child != CHAIN_NONE)
            continue;
        uint32_t at = climb_to_message(log, (uint32_t)i);

        if (at == CHAIN_NONE)
            continue;
        const struct index_line *line = claude_node_line(log, at);
        bool plain = !(line->marks & (MARK_SIDECHAIN | MARK_TEAM | MARK_META));

        if (any == CHAIN_NONE || c->node[at].line > c->node[any].line)
            any = at;
        if (plain && (better == CHAIN_NONE || c->node[at].line > c->node[better].line))
            better = at;
    }
    return better != CHAIN_NONE ? better : any;
}

enum err_code claude_message_end(struct claude_log *log, uint32_t *leaf, uint32_t *terminal,
                                 struct err *e)
{
    const struct chain *c = &log->chain;

    *terminal = CHAIN_NONE;
    for (size_t i = log->file.index.n; i-- > c->first_line;) {
        const struct index_line *line = claude_line(log, i);
        uint32_t node = id128_none(line->id) ? CHAIN_NONE : chain_find(c, line->id);
        bool end;

        if (node == CHAIN_NONE || c->node[node].line != i)
            continue;
        enum err_code rc = is_end(log, node, &end, e);

        if (rc)
            return rc;
        *leaf = end ? climb_to_message(log, node) : CHAIN_NONE;
        if (*leaf != CHAIN_NONE) {
            *terminal = node;
            return ERR_OK;
        }
    }
    *leaf = last_resort(log);
    return ERR_OK;
}

enum err_code claude_message_leaf(struct claude_log *log, uint32_t *leaf, struct err *e)
{
    uint32_t terminal;

    return claude_message_end(log, leaf, &terminal, e);
}
