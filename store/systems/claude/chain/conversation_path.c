#include "store/systems/claude/chain/conversation_path.h"

#include <stdlib.h>
#include <string.h>

#include "store/systems/claude/chain/leaf.h"
#include "store/systems/claude/show/item_list.h"

static enum err_code add_node(struct claude_conversation_path *l, uint32_t node, struct err *e)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap + l->cap / 2 : 256;
        uint32_t *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(l->path, cap * sizeof *more);

        if (!more)
            return err_nomem(e);
        l->path = more;
        l->cap = cap;
    }
    l->path[l->n++] = node;
    l->log.chain.mark[node] |= NODE_LISTED;
    return ERR_OK;
}

/* The nearest message above this line that is not on the way yet. */
static uint32_t before_in_file(const struct claude_log *log, uint32_t node)
{
    const struct chain *c = &log->chain;

    for (size_t i = c->node[node].line; i-- > 0;) {
        const struct index_line *line = claude_line(log, i);
        uint32_t at = claude_line_is_message(line) &&
                              !(line->marks & (MARK_SIDECHAIN | MARK_TEAM)) && !id128_none(line->id)
                          ? chain_find(c, line->id)
                          : CHAIN_NONE;

        if (at != CHAIN_NONE && c->node[at].line == i && !(c->mark[at] & NODE_LISTED))
            return at;
    }
    return CHAIN_NONE;
}

/* Where the way goes on above a node. A parent that is not there and a circle are left as the client leaves them. Where
 * the client would begin anew, and above a boundary whose past is not named, the row before in the file follows: a person
 * wants to read it. In a tail it may lie outside. */
static enum err_code step_up(struct claude_conversation_path *l, uint32_t *node, struct err *e)
{
    struct chain *c = &l->log.chain;
    uint32_t at = *node;
    bool root = !claude_follows(&l->log, at);
    enum err_code rc = claude_logical_parent(&l->log, at, node, e);

    if (rc || (*node != CHAIN_NONE && !(c->mark[*node] & NODE_LISTED)))
        return rc;
    bool seam = root && claude_line_is(claude_node_line(&l->log, at), CLAUDE_SYSTEM) &&
                (claude_node_line(&l->log, at)->marks & (MARK_COMPACT | MARK_LOGICAL));

    *node = CHAIN_NONE;
    if (l->partial || (root && !seam))
        return ERR_OK;
    if (!root) {
        l->gap[at] = 1;
        if (claude_gaps_find(&l->gaps, &l->log, at, node))
            return err_nomem(e);
    }
    if (*node == CHAIN_NONE)
        *node = before_in_file(&l->log, at);
    return ERR_OK;
}

static void turn_round(uint32_t *node, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = node[i];

        node[i] = node[n - 1 - i];
        node[n - 1 - i] = t;
    }
}

static enum err_code climb_from_leaf(struct claude_conversation_path *l, uint32_t leaf,
                                     struct err *e)
{
    enum err_code rc = ERR_OK;

    for (uint32_t at = leaf; !rc && at != CHAIN_NONE;) {
        rc = add_node(l, at, e);
        if (!rc)
            rc = step_up(l, &at, e);
    }
    turn_round(l->path, l->n);
    return rc;
}

static enum err_code find_path_leaf(struct claude_conversation_path *w, struct err *e)
{
    enum err_code rc = claude_resume_leaf(&w->log, &w->leaf, &w->cleared, e);

    /* A person wants to read what is there, also when a resume would begin anew. */
    if (!rc && w->leaf == CHAIN_NONE)
        rc = claude_message_leaf(&w->log, &w->leaf, e);
    return rc;
}

enum err_code claude_conversation_path_open(struct claude_conversation_path *way, const char *path,
                                            const struct claude_log_want *want, struct err *e)
{
    struct claude_conversation_path w = { .leaf = CHAIN_NONE };
    enum err_code rc = claude_log_open(&w.log, path, want, e);

    if (rc)
        return rc;
    const struct index *ix = &w.log.file.index;

    w.partial = want->tail && (ix->n ? ix->line[0].offset > 0 : w.log.file.file.id.size > 0);
    w.gap = calloc(w.log.chain.n + 1, 1);
    rc = w.gap ? find_path_leaf(&w, e) : err_nomem(e);
    if (rc)
        claude_conversation_path_close(&w);
    else
        *way = w;
    return rc;
}

void claude_conversation_path_close(struct claude_conversation_path *way)
{
    claude_log_close(&way->log);
    free(way->path);
    free(way->gap);
}

enum err_code claude_conversation_path_go_to(struct claude_conversation_path *way, uint32_t leaf,
                                             struct err *e)
{
    for (size_t i = 0; i < way->log.chain.n; i++)
        way->log.chain.mark[i] &= (uint8_t)~NODE_LISTED;
    way->n = 0;
    enum err_code rc = climb_from_leaf(way, leaf, e);

    claude_gaps_fini(&way->gaps);
    way->gaps = (struct claude_gaps){ 0 };
    return rc || leaf == CHAIN_NONE ? rc : claude_parallel(&way->log, &way->path, &way->n, e);
}

bool claude_conversation_path_lacks(const struct claude_conversation_path *way, uint32_t node)
{
    const struct chain *c = &way->log.chain;

    if (!chain_has_row(c, node) || c->mark[node] & NODE_LISTED)
        return false;
    const struct index_line *line = claude_node_line(&way->log, node);

    return claude_line_is_message(line) && !(line->marks & (MARK_SIDECHAIN | MARK_TEAM));
}
