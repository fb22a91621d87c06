#include "store/log/chain.h"

#include <stdlib.h>

#include "lite/base/array.h"

uint32_t chain_find(const struct chain *c, struct id128 id)
{
    return idset_find(&c->ids, id);
}

enum err_code chain_add_id(struct chain *c, struct id128 id, uint32_t *node)
{
    static const struct chain_node nothing = { CHAIN_NONE, CHAIN_NONE, CHAIN_NONE,
                                               CHAIN_NONE, CHAIN_NONE, CHAIN_NONE };

    if (!array_reserve(c->node, c->cap, c->n + 1) || !array_reserve(c->mark, c->mark_cap, c->n + 1))
        return ERR_NOMEM;
    if (idset_add(&c->ids, id, node))
        return ERR_NOMEM;
    if (*node == c->n) {
        c->node[c->n] = nothing;
        c->mark[c->n++] = 0;
    }
    return ERR_OK;
}

struct id128 chain_id(const struct chain *c, uint32_t node)
{
    return c->ids.id[node];
}

bool chain_has_row(const struct chain *c, uint32_t node)
{
    return c->node[node].line != CHAIN_NONE;
}

uint32_t chain_parent(const struct chain *c, uint32_t node)
{
    uint32_t parent = c->node[node].parent;

    return parent != CHAIN_NONE && chain_has_row(c, parent) ? parent : CHAIN_NONE;
}

static void unlink_node(struct chain *c, uint32_t node)
{
    struct chain_node *n = &c->node[node];

    if (n->parent == CHAIN_NONE)
        return;
    if (n->prev == CHAIN_NONE)
        c->node[n->parent].child = n->next;
    else
        c->node[n->prev].next = n->next;
    if (n->next != CHAIN_NONE)
        c->node[n->next].prev = n->prev;
    n->parent = n->next = n->prev = CHAIN_NONE;
}

void chain_relink(struct chain *c, uint32_t node, uint32_t parent)
{
    struct chain_node *n = &c->node[node];

    unlink_node(c, node);
    if (parent == CHAIN_NONE)
        return;
    n->parent = parent;
    n->next = c->node[parent].child;
    if (n->next != CHAIN_NONE)
        c->node[n->next].prev = node;
    c->node[parent].child = node;
}

static enum err_code chain_add_rows(struct chain *c, uint64_t kinds)
{
    const struct index *ix = c->index;

    for (size_t i = c->first_line; i < ix->n; i++) {
        const struct index_line *l = &ix->line[i];
        uint32_t node;

        if (l->state != LINE_OK || l->kind > 63 || !(kinds >> l->kind & 1) || id128_none(l->id))
            continue;
        if (chain_add_id(c, l->id, &node))
            return ERR_NOMEM;
        if (chain_has_row(c, node))
            c->again++;
        else
            c->node[node].first = (uint32_t)i;
        c->node[node].line = (uint32_t)i;
    }
    return ERR_OK;
}

static enum err_code link_rows(struct chain *c)
{
    size_t rows = c->n; /* naming a parent adds nodes after these */

    for (size_t i = 0; i < rows; i++) {
        struct id128 id = c->index->line[c->node[i].line].parent;
        uint32_t parent;

        if (id128_none(id))
            continue;
        if (chain_add_id(c, id, &parent))
            return ERR_NOMEM;
        chain_relink(c, (uint32_t)i, parent);
    }
    return ERR_OK;
}

enum err_code chain_build(struct chain *c, const struct index *ix, size_t first_line,
                          uint64_t kinds, struct err *e)
{
    *c = (struct chain){ .index = ix, .first_line = first_line };
    if (ix->n >= CHAIN_NONE)
        return err_nomem(e);
    if (chain_add_rows(c, kinds) || link_rows(c)) {
        chain_fini(c);
        return err_nomem(e);
    }
    return ERR_OK;
}

void chain_fini(struct chain *c)
{
    free(c->node);
    free(c->mark);
    idset_fini(&c->ids);
    *c = (struct chain){ 0 };
}

enum err_code chain_walk(struct chain *c, uint32_t leaf, uint8_t mark, uint32_t **path, size_t *n,
                         struct err *e)
{
    size_t count = 0;

    for (uint32_t at = leaf; at != CHAIN_NONE && !(c->mark[at] & mark); at = chain_parent(c, at)) {
        c->mark[at] |= mark;
        count++;
    }
    uint32_t *nodes = malloc((count ? count : 1) * sizeof *nodes);

    if (!nodes)
        return err_nomem(e);
    uint32_t at = leaf;

    for (size_t i = count; i-- > 0; at = chain_parent(c, at))
        nodes[i] = at;
    *path = nodes;
    *n = count;
    return ERR_OK;
}
