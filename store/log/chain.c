#include "store/log/chain.h"

#include <stdlib.h>
#include <string.h>

/* Ids are random or hashed, but someone may count them up: a multiplication spreads both. */
static size_t slot_of(const struct chain *c, struct id128 id)
{
    uint64_t h = (id.hi ^ (id.lo * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xD6E8FEB86659FD93);

    return (size_t)(h >> 32) & (c->slots - 1);
}

/* Where the id is, or the empty slot where it belongs. */
static uint32_t *seek(const struct chain *c, struct id128 id)
{
    size_t i = slot_of(c, id);

    while (c->slot[i] != CHAIN_NONE && !id128_eq(c->node[c->slot[i]].id, id))
        i = (i + 1) & (c->slots - 1);
    return &c->slot[i];
}

static enum err_code grow_slots(struct chain *c)
{
    size_t slots = c->slots ? 2 * c->slots : 64;
    uint32_t *slot = slots > SIZE_MAX / sizeof *slot ? NULL : malloc(slots * sizeof *slot);

    if (!slot)
        return ERR_NOMEM;
    memset(slot, 0xFF, slots * sizeof *slot);
    free(c->slot);
    c->slot = slot;
    c->slots = slots;
    for (size_t i = 0; i < c->n; i++)
        *seek(c, c->node[i].id) = (uint32_t)i;
    return ERR_OK;
}

static enum err_code grow_nodes(struct chain *c)
{
    size_t cap = c->cap ? c->cap + c->cap / 2 : 64;

    if (cap >= CHAIN_NONE || cap > SIZE_MAX / sizeof *c->node)
        return ERR_NOMEM;
    struct chain_node *node = realloc(c->node, cap * sizeof *node);

    if (!node)
        return ERR_NOMEM;
    c->node = node;
    uint8_t *mark = realloc(c->mark, cap);

    if (!mark)
        return ERR_NOMEM;
    c->mark = mark;
    c->cap = cap;
    return ERR_OK;
}

uint32_t chain_find(const struct chain *c, struct id128 id)
{
    return c->slots ? *seek(c, id) : CHAIN_NONE;
}

enum err_code chain_name(struct chain *c, struct id128 id, uint32_t *node)
{
    uint32_t known = chain_find(c, id);

    if (known != CHAIN_NONE) {
        *node = known;
        return ERR_OK;
    }
    if (c->n == c->cap && grow_nodes(c))
        return ERR_NOMEM;
    if (c->n + 1 > c->slots / 2 && grow_slots(c))
        return ERR_NOMEM;
    *node = *seek(c, id) = (uint32_t)c->n;
    c->node[c->n] = (struct chain_node){ id,         CHAIN_NONE, CHAIN_NONE, CHAIN_NONE,
                                         CHAIN_NONE, CHAIN_NONE, CHAIN_NONE };
    c->mark[c->n++] = 0;
    return ERR_OK;
}

bool chain_has_row(const struct chain *c, uint32_t node)
{
    return c->node[node].line != CHAIN_NONE;
}

uint32_t chain_up(const struct chain *c, uint32_t node)
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

static enum err_code add_rows(struct chain *c, uint64_t kinds)
{
    const struct index *ix = c->index;

    for (size_t i = c->first_line; i < ix->n; i++) {
        const struct index_line *l = &ix->line[i];
        uint32_t node;

        if (l->state != LINE_OK || l->kind > 63 || !(kinds >> l->kind & 1) || id128_none(l->id))
            continue;
        if (chain_name(c, l->id, &node))
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
    size_t rows = c->n; /* naming a parent adds nodes behind these */

    for (size_t i = 0; i < rows; i++) {
        struct id128 id = c->index->line[c->node[i].line].parent;
        uint32_t parent;

        if (id128_none(id))
            continue;
        if (chain_name(c, id, &parent))
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
        return err_set(e, ERR_NOMEM, "", "follow the conversation: too many lines");
    if (add_rows(c, kinds) || link_rows(c)) {
        chain_fini(c);
        return err_set(e, ERR_NOMEM, "", "follow the conversation");
    }
    return ERR_OK;
}

void chain_fini(struct chain *c)
{
    free(c->node);
    free(c->mark);
    free(c->slot);
    *c = (struct chain){ 0 };
}

enum err_code chain_walk(struct chain *c, uint32_t leaf, uint8_t mark, uint32_t **path, size_t *n,
                         struct err *e)
{
    size_t count = 0;

    for (uint32_t at = leaf; at != CHAIN_NONE && !(c->mark[at] & mark); at = chain_up(c, at)) {
        c->mark[at] |= mark;
        count++;
    }
    uint32_t *nodes = malloc((count ? count : 1) * sizeof *nodes);

    if (!nodes)
        return err_set(e, ERR_NOMEM, "", "follow the conversation");
    uint32_t at = leaf;

    for (size_t i = count; i-- > 0; at = chain_up(c, at))
        nodes[i] = at;
    *path = nodes;
    *n = count;
    return ERR_OK;
}
