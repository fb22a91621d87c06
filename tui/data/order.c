#include "tui/data/session_table.h"

#include <stdlib.h>

#include "lite/base/array.h"

/* The parent named by a file may be wrong in any way, and parents may form cycles; even so, each
 * session is placed exactly once. */
enum { ANCESTORS_MAX = 1000, DEPTH_MAX = 250 };

struct fork_node {
    uint32_t parent, child, next; /* child: the first; ENTRY_NONE: none */
    uint8_t depth;
    bool placed;
};

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

/* The entry after `e` and everything below it; ENTRY_NONE at the end of the tree. */
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

/* Writes the entries of a tree. Returns their number. */
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

bool order_forks_arrange(struct fork_tree *f, const struct session_table *r, uint32_t *entry,
                         size_t n)
{
    uint32_t *out = calloc(n + 1, sizeof *out);
    size_t placed = 0;

    if (!out || !array_reserve(f->node, f->cap, r->n)) {
        free(out);
        return false;
    }
    f->n = r->n;
    for (size_t i = 0; i < f->n; i++)
        f->node[i] =
            (struct fork_node){ .parent = ENTRY_NONE, .child = ENTRY_NONE, .next = ENTRY_NONE };

    /* Children keep the order that they had in the list. */
    for (size_t i = n; i-- > 0;) {
        uint32_t e = entry[i], parent = ENTRY_NONE;
        const struct session_row *row = r->entry[e].row;

        if (row && row->parent_id.n > 0)
            parent = session_table_by_id(r, row->parent_id);
        if (parent == ENTRY_NONE || parent == e)
            continue;
        f->node[e].parent = parent;
        f->node[e].next = f->node[parent].child;
        f->node[parent].child = e;
    }
    for (size_t i = 0; i < n; i++)
        if (!f->node[entry[i]].placed)
            placed += write_fork_tree(f, root_of_tree(f, entry[i]), out + placed);
    for (size_t i = 0; i < placed && i < n; i++)
        entry[i] = out[i];
    free(out);
    return true;
}

unsigned order_forks_depth(const struct fork_tree *f, uint32_t entry)
{
    return entry < f->n ? f->node[entry].depth : 0;
}

void order_forks_fini(struct fork_tree *f)
{
    free(f->node);
    *f = (struct fork_tree){ 0 };
}

/* Entries are sorted by the chosen key, then by time, then by id in the direction of their system. Each of these is a
 * number, or a series of numbers that are compared level by level; the next level is computed only for entries that are
 * equal so far. */

enum {
    TEXT_MAX = FUZZY_HAYSTACK_MAX, /* titles are folded up to here; enough of an id, too */
    AHEAD = 32, /* entries are scattered over the memory: prefetched before they are needed */
    FEW = 12,
};

/* BY_TIES: whether the system lists sessions of the same time by their ids upwards or downwards. */
enum aspect { BY_CREATED, BY_SIZE, BY_TITLE, BY_TIME, BY_TIES, BY_ID_DOWN, BY_ID_UP, BY_NOTHING };

enum { TIES_DOWN = 1, TIES_UP };

/* Titles are compared by their keys first, then by their bytes; ids by their bytes alone. */
struct criterion {
    enum aspect aspect;
    unsigned level;
};

struct sorting {
    const struct session_table *sessions;
    const struct filter *titles;
    uint64_t *item, *spare;
    size_t n;
    unsigned value_bits;
};

static uint32_t entry_at(const struct sorting *s, size_t i)
{
    return (uint32_t)(s->item[i] & (((uint64_t)1 << s->value_bits) - 1));
}

/* A number that sorts in reverse: the largest or newest first. */
static uint64_t largest_first(int64_t n)
{
    return ~((uint64_t)n ^ (uint64_t)1 << 63);
}

/* The number of bytes known to be equal at a level that has no keys. */
static size_t order_depth_of(struct criterion by)
{
    return by.aspect == BY_TITLE ? TITLE_SAME + (size_t)(by.level - TITLE_KEYS) * RADIX_CHUNK
                                 : (size_t)by.level * RADIX_CHUNK;
}

/* Entries without a title yet are last. */
static uint64_t title_key(const struct filter *titles, unsigned level, uint32_t entry)
{
    if (level < TITLE_KEYS)
        return entry < titles->slots ? titles->front[level][entry] : TITLE_NONE;
    struct fuzzy_haystack title = doc_haystack(titles->slot[entry].doc, DOC_TITLE);

    return radix_text_key((struct slice){ title.text, title.n },
                          order_depth_of((struct criterion){ BY_TITLE, level }));
}

static uint64_t criterion_key(const struct sorting *s, struct criterion by, uint32_t entry)
{
    const struct session_sort_key *at = &s->sessions->sort_key[entry];

    switch (by.aspect) {
    case BY_CREATED: return largest_first(at->created_ms);
    case BY_SIZE: return largest_first(at->bytes);
    case BY_TIME: return largest_first(at->time_ms);
    case BY_TITLE: return title_key(s->titles, by.level, entry);
    case BY_TIES: {
        const struct store *st = s->sessions->entry[entry].ref.store;

        return st && st->ops->ties_ascending ? TIES_UP : TIES_DOWN;
    }
    case BY_ID_DOWN: return ~radix_text_key(s->sessions->entry[entry].ref.id, order_depth_of(by));
    case BY_ID_UP: return radix_text_key(s->sessions->entry[entry].ref.id, order_depth_of(by));
    case BY_NOTHING: break;
    }
    return 0;
}

static void fetch_key(const struct sorting *s, struct criterion by, uint32_t entry)
{
    enum { LINE = 64 };
    const char *at;

    if (by.aspect == BY_ID_DOWN || by.aspect == BY_ID_UP) {
        at = s->sessions->entry[entry].ref.id.p;
    } else if (by.aspect != BY_TITLE) {
        at = (const char *)&s->sessions->sort_key[entry];
    } else if (entry >= s->titles->slots) {
        return;
    } else if (by.level < TITLE_KEYS) {
        at = (const char *)&s->titles->front[by.level][entry];
    } else {
        at = (const char *)s->titles->slot[entry].doc;
        prefetch(at + LINE); /* the texts are after the sets */
    }
    prefetch(at);
}

static bool text_goes_on(struct criterion by, uint64_t key)
{
    return (key & 0xff) != 0 && order_depth_of(by) + RADIX_CHUNK < TEXT_MAX;
}

/* The criterion for entries that are equal so far. */
#define CONTINUES 1 /* a key that does not end a text; TIES_DOWN */
static struct criterion criterion_after(struct criterion by, uint64_t key)
{
    const struct criterion next = { by.aspect, by.level + 1 };

    switch (by.aspect) {
    case BY_TITLE:
        if (by.level < TITLE_KEYS ? fold_title_is_cut(key) : text_goes_on(by, key))
            return next;
        return (struct criterion){ BY_TIME, 0 };
    case BY_TIME: return (struct criterion){ BY_TIES, 0 };
    case BY_TIES: return (struct criterion){ key == TIES_UP ? BY_ID_UP : BY_ID_DOWN, 0 };
    case BY_ID_DOWN:
    case BY_ID_UP:
        if (text_goes_on(by, by.aspect == BY_ID_UP ? key : ~key))
            return next;
        return (struct criterion){ BY_NOTHING, 0 };
    default: return (struct criterion){ BY_TIME, 0 };
    }
}

static bool sorts_before(const struct sorting *s, struct criterion by, uint32_t a, uint32_t b)
{
    while (by.aspect != BY_NOTHING) {
        uint64_t x = criterion_key(s, by, a), y = criterion_key(s, by, b);

        if (x != y)
            return x < y;
        by = criterion_after(by, x);
    }
    return a < b;
}

static bool order_same_key(const struct sorting *s, size_t i, size_t j)
{
    return s->item[i] >> s->value_bits == s->item[j] >> s->value_bits;
}

/* Prefetches the next key of those items before `end` that share their key with others; *called is
 * the end of the items that were handled. */
static void fetch_ties(const struct sorting *s, struct criterion next, size_t *called, size_t end)
{
    for (size_t i = *called; i + 1 < end; i++)
        if (order_same_key(s, i, i + 1) || (i > *called && order_same_key(s, i - 1, i)))
            fetch_key(s, next, entry_at(s, i));
    *called = end;
}

/* Sorts items from .. end - 1 by this criterion and all later ones. */
static void order_sort_by(const struct sorting *s, struct criterion by, size_t from, size_t end)
{
    if (end - from <= FEW || by.aspect == BY_NOTHING) {
        /* For a few entries, comparing is cheaper than sorting by keys. */
        for (size_t i = from; i < end; i++) {
            uint32_t this = entry_at(s, i);
            size_t at = i;

            for (; at > from && sorts_before(s, by, this, entry_at(s, at - 1)); at--)
                s->item[at] = s->item[at - 1];
            s->item[at] = this;
        }
        return;
    }
    /* The keys of these items. */
    for (size_t i = from; i < end; i++) {
        s->item[i] = entry_at(s, i);
        s->spare[i] = criterion_key(s, by, (uint32_t)s->item[i]);
    }
    unsigned lost = radix_pack(s->item + from, s->spare + from, end - from, s->value_bits);
    struct criterion likely = criterion_after(by, CONTINUES);
    size_t called = from;

    radix_sort(s->item + from, s->spare + from, end - from);
    for (size_t i = from, next; i < end; i = next) {
        for (next = i + 1; next < end && order_same_key(s, i, next);)
            next++;
        fetch_ties(s, likely, &called, next + AHEAD < end ? next + AHEAD : end);
        if (next - i == 1)
            continue;
        uint64_t key = criterion_key(s, by, entry_at(s, i));

        order_sort_by(s, lost ? by : criterion_after(by, key), i, next);
    }
}

bool order_make(struct order *o, const struct session_table *r, const struct filter *titles,
                enum sort_kind sort)
{
    size_t n = 0, pinned = 0;
    int64_t bytes = 0;

    /* The arrays have one capacity. */
    size_t items = o->cap, spares = o->cap, entries = o->cap;

    if (!array_reserve(o->item, items, r->n) || !array_reserve(o->spare, spares, r->n) ||
        !array_reserve(o->entry, entries, r->n))
        return false;
    o->cap = items;

    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->sort_key[i].listed)
            continue;
        o->item[n++] = i;
        bytes += r->sort_key[i].bytes;
        pinned += r->sort_key[i].pinned;
    }

    const struct sorting s = { .sessions = r,
                               .titles = titles,
                               .item = o->item,
                               .spare = o->spare,
                               .n = n,
                               .value_bits = radix_value_bits(r->n) };

    static const enum aspect first[] = { [SORT_RECENT] = BY_TIME,
                                         [SORT_CREATED] = BY_CREATED,
                                         [SORT_SIZE] = BY_SIZE,
                                         [SORT_TITLE] = BY_TITLE };

    order_sort_by(&s, (struct criterion){ first[sort], 0 }, 0, n);

    /* The pinned sessions come first, in the same order among themselves. */
    size_t top = 0, rest = pinned;

    for (size_t i = 0; i < n; i++) {
        uint32_t entry = entry_at(&s, i);

        o->entry[pinned > 0 && r->sort_key[entry].pinned ? top++ : rest++] = entry;
    }
    o->n = n;
    o->bytes = bytes;
    return true;
}

void order_fini(struct order *o)
{
    free(o->entry);
    free(o->item);
    free(o->spare);
    *o = (struct order){ 0 };
}

const char *order_sort_name(enum sort_kind sort)
{
    static const char *const names[] = {
        [SORT_RECENT] = "recent",
        [SORT_CREATED] = "created",
        [SORT_SIZE] = "size",
        [SORT_TITLE] = "title",
    };
    return names[sort];
}
