#include "tui/data/fork_tree.h"

#include <stdlib.h>

/* What a file says of its parent may be wrong in every way, circles included: whatever is followed, each session is
 * placed once. */
enum { ANCESTORS_MAX = 1000, DEPTH_MAX = 250 };

struct fork_node {
    uint32_t parent, child, next; /* child: the first; ENTRY_NONE: none */
    uint8_t depth;
    bool placed;
};

static bool reserve(struct fork_tree *f, size_t n)
{
    if (n > f->cap) {
        struct fork_node *kin = reallocarray(f->node, n + n / 2, sizeof *kin);

        if (!kin)
            return false;
        f->node = kin;
        f->cap = n + n / 2;
    }
    f->n = n;
    for (size_t i = 0; i < n; i++)
        f->node[i] =
            (struct fork_node){ .parent = ENTRY_NONE, .child = ENTRY_NONE, .next = ENTRY_NONE };
    return true;
}

static uint32_t find_parent(const struct session_table *r, uint32_t entry)
{
    const struct session_row *row = r->entry[entry].row;

    return row && row->parent_id.n > 0 ? session_table_by_id(r, row->parent_id) : ENTRY_NONE;
}

/* Children stand among each other as they did in the list. */
static void link_children(struct fork_tree *f, const struct session_table *r, const uint32_t *entry,
                          size_t n)
{
    for (size_t i = n; i-- > 0;) {
        uint32_t e = entry[i], parent = find_parent(r, e);

        if (parent == ENTRY_NONE || parent == e)
            continue;
        f->node[e].parent = parent;
        f->node[e].next = f->node[parent].child;
        f->node[parent].child = e;
    }
}

static uint32_t root_of_tree(const struct fork_tree *f, uint32_t e)
{
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        uint32_t parent = f->node[e].parent;

        if (parent == ENTRY_NONE || f->node[parent].placed)
            return e;
        e = parent;
    }
    return e;
}

static uint32_t unplaced(const struct fork_tree *f, uint32_t e)
{
    while (e != ENTRY_NONE && f->node[e].placed)
        e = f->node[e].next;
    return e;
}

/* The one that comes after `e` and all below it; ENTRY_NONE: that was the whole family. */
static uint32_t next_in_tree(const struct fork_tree *f, uint32_t e, uint32_t root)
{
    while (e != root) {
        uint32_t next = unplaced(f, f->node[e].next);

        if (next != ENTRY_NONE)
            return next;
        e = f->node[e].parent;
    }
    return ENTRY_NONE;
}

/* Writes a family down; answers how many there were. */
static size_t write_fork_tree(struct fork_tree *f, uint32_t root, uint32_t *out)
{
    size_t n = 0;

    for (uint32_t e = root; e != ENTRY_NONE;) {
        struct fork_node *k = &f->node[e];
        unsigned above = e == root ? 0 : f->node[k->parent].depth + 1u;

        k->placed = true;
        k->depth = (uint8_t)(above < DEPTH_MAX ? above : DEPTH_MAX);
        out[n++] = e;
        uint32_t child = unplaced(f, k->child);

        e = child != ENTRY_NONE ? child : next_in_tree(f, e, root);
    }
    return n;
}

bool fork_tree_arrange(struct fork_tree *f, const struct session_table *r, uint32_t *entry,
                       size_t n)
{
    uint32_t *out = calloc(n + 1, sizeof *out);
    size_t placed = 0;

    if (!out || !reserve(f, r->n)) {
        free(out);
        return false;
    }
    link_children(f, r, entry, n);
    for (size_t i = 0; i < n; i++)
        if (!f->node[entry[i]].placed)
            placed += write_fork_tree(f, root_of_tree(f, entry[i]), out + placed);
    for (size_t i = 0; i < placed && i < n; i++)
        entry[i] = out[i];
    free(out);
    return true;
}

unsigned fork_tree_depth(const struct fork_tree *f, uint32_t entry)
{
    return entry < f->n ? f->node[entry].depth : 0;
}

void fork_tree_fini(struct fork_tree *f)
{
    free(f->node);
    *f = (struct fork_tree){ 0 };
}
