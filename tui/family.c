#include "tui/family.h"

#include <stdlib.h>

/* What a file says of its parent may be wrong in every way, circles included: whatever is followed, each session is
 * placed once. */
enum { ANCESTORS_MAX = 1000, DEPTH_MAX = 250 };

struct kin {
    uint32_t parent, child, next; /* child: the first; ENTRY_NONE: none */
    uint8_t depth;
    bool placed;
};

static bool reserve(struct family *f, size_t n)
{
    if (n > f->cap) {
        struct kin *kin = reallocarray(f->kin, n + n / 2, sizeof *kin);

        if (!kin)
            return false;
        f->kin = kin;
        f->cap = n + n / 2;
    }
    f->n = n;
    for (size_t i = 0; i < n; i++)
        f->kin[i] = (struct kin){ .parent = ENTRY_NONE, .child = ENTRY_NONE, .next = ENTRY_NONE };
    return true;
}

static uint32_t parent_of(const struct roster *r, uint32_t entry)
{
    const struct session_row *row = r->entry[entry].row;

    return row && row->parent_id.n > 0 ? roster_by_id(r, row->parent_id) : ENTRY_NONE;
}

/* Children stand among each other as they did in the list. */
static void join(struct family *f, const struct roster *r, const uint32_t *entry, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        uint32_t e = entry[i], parent = parent_of(r, e);

        if (parent == ENTRY_NONE || parent == e)
            continue;
        f->kin[e].parent = parent;
        f->kin[e].next = f->kin[parent].child;
        f->kin[parent].child = e;
    }
}

static uint32_t first_of_family(const struct family *f, uint32_t e)
{
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        uint32_t parent = f->kin[e].parent;

        if (parent == ENTRY_NONE || f->kin[parent].placed)
            return e;
        e = parent;
    }
    return e;
}

static uint32_t unplaced(const struct family *f, uint32_t e)
{
    while (e != ENTRY_NONE && f->kin[e].placed)
        e = f->kin[e].next;
    return e;
}

/* The one that comes after `e` and all below it; ENTRY_NONE: that was the whole family. */
static uint32_t after(const struct family *f, uint32_t e, uint32_t root)
{
    while (e != root) {
        uint32_t next = unplaced(f, f->kin[e].next);

        if (next != ENTRY_NONE)
            return next;
        e = f->kin[e].parent;
    }
    return ENTRY_NONE;
}

/* Writes a family down; answers how many there were. */
static size_t place(struct family *f, uint32_t root, uint32_t *out)
{
    size_t n = 0;

    for (uint32_t e = root; e != ENTRY_NONE;) {
        struct kin *k = &f->kin[e];
        unsigned above = e == root ? 0 : f->kin[k->parent].depth + 1u;

        k->placed = true;
        k->depth = (uint8_t)(above < DEPTH_MAX ? above : DEPTH_MAX);
        out[n++] = e;
        uint32_t child = unplaced(f, k->child);

        e = child != ENTRY_NONE ? child : after(f, e, root);
    }
    return n;
}

bool family_arrange(struct family *f, const struct roster *r, uint32_t *entry, size_t n)
{
    uint32_t *out = calloc(n + 1, sizeof *out);
    size_t placed = 0;

    if (!out || !reserve(f, r->n)) {
        free(out);
        return false;
    }
    join(f, r, entry, n);
    for (size_t i = 0; i < n; i++)
        if (!f->kin[entry[i]].placed)
            placed += place(f, first_of_family(f, entry[i]), out + placed);
    for (size_t i = 0; i < placed && i < n; i++)
        entry[i] = out[i];
    free(out);
    return true;
}

unsigned family_depth(const struct family *f, uint32_t entry)
{
    return entry < f->n ? f->kin[entry].depth : 0;
}

void family_fini(struct family *f)
{
    free(f->kin);
    *f = (struct family){ 0 };
}
