#include "tui/order.h"

#include <stdlib.h>
#include <string.h>

struct order_key {
    int64_t first;      /* larger stands first */
    int64_t time;       /* then newer */
    struct slice title; /* before both, where titles are sorted */
    struct slice id;
    uint32_t entry;
};

static int compare_bytes(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c != 0)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

static int by_key(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;

    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->title.p && y->title.p) {
        int c = compare_bytes(x->title, y->title);

        if (c != 0)
            return c;
    }
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return -compare_bytes(x->id, y->id);
}

static struct order_key key_of(const struct entry *e, uint32_t i, const struct filter *titles,
                               enum sort_kind sort)
{
    struct order_key key = { .time = entry_time(e), .id = e->ref.id, .entry = i };
    const struct doc *doc = i < titles->slots ? titles->slot[i].doc : NULL;

    switch (sort) {
    case SORT_RECENT:
    case SORT_COUNT: key.first = key.time; break;
    case SORT_CREATED: key.first = e->row ? e->row->created_ms : TIME_NONE; break;
    case SORT_SIZE: key.first = e->ref.file.size; break;
    case SORT_TITLE:
        key.first = doc != NULL; /* those without a title yet stand last */
        if (doc) {
            struct hay title = doc_hay(doc, DOC_TITLE);

            key.title = (struct slice){ title.text, title.n };
        }
        break;
    }
    return key;
}

static bool order_reserve(struct order *o, size_t n)
{
    if (n <= o->cap)
        return true;
    size_t cap = n + n / 2;
    struct order_key *key = reallocarray(o->key, cap, sizeof *key);

    if (key)
        o->key = key;
    uint32_t *entry = reallocarray(o->entry, cap, sizeof *entry);

    if (entry)
        o->entry = entry;
    if (!key || !entry)
        return false;
    o->cap = cap;
    return true;
}

bool order_make(struct order *o, const struct roster *r, const struct filter *titles,
                enum sort_kind sort)
{
    size_t n = 0;

    if (!order_reserve(o, r->n))
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        if (roster_listed(r, i))
            o->key[n++] = key_of(&r->entry[i], i, titles, sort);
    if (n > 1)
        qsort(o->key, n, sizeof *o->key, by_key);
    for (size_t i = 0; i < n; i++)
        o->entry[i] = o->key[i].entry;
    o->n = n;
    return true;
}

void order_fini(struct order *o)
{
    free(o->entry);
    free(o->key);
    *o = (struct order){ 0 };
}

const char *sort_name(enum sort_kind sort)
{
    static const char *const names[] = {
        [SORT_RECENT] = "recent",
        [SORT_CREATED] = "created",
        [SORT_SIZE] = "size",
        [SORT_TITLE] = "title",
    };
    return names[sort];
}
