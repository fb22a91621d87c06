#include "tui/order.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by what is asked for; those that are equal in it by time; those equal in that by id. */

enum {
    CHUNK = sizeof(uint64_t), /* bytes of a text that are compared at once */
    TEXT_MAX = HAY_MAX,       /* titles are folded up to here; of an id nobody needs more */
    AHEAD = 12,               /* texts lie all over the memory: called for before they are needed */
};

struct sorting {
    const struct roster *roster;
    const struct filter *titles;
    struct radix_item *item, *spare;
    bool by_id; /* texts are ids, last first; else titles, first first */
};

static const struct doc *doc_of(const struct filter *titles, uint32_t entry)
{
    return entry < titles->slots ? titles->slot[entry].doc : NULL;
}

static struct slice text_of(const struct sorting *s, uint32_t entry)
{
    const struct doc *doc;

    if (s->by_id)
        return s->roster->entry[entry].ref.id;
    doc = doc_of(s->titles, entry);
    if (!doc)
        return (struct slice){ 0 };
    struct hay title = doc_hay(doc, DOC_TITLE);

    return (struct slice){ title.text, title.n };
}

static void fetch_text(const struct sorting *s, uint32_t entry)
{
    enum { LINE = 64 };
    const char *at = NULL;

    if (s->by_id)
        at = s->roster->entry[entry].ref.id.p;
    else if (entry < s->titles->slots)
        at = (const char *)s->titles->slot[entry].doc;
    if (!at)
        return;
    __builtin_prefetch(at);
    if (!s->by_id) /* the texts stand behind the sets */
        __builtin_prefetch(at + LINE);
}

/* Some bytes as a number that sorts as they do; a text that has ended goes on with zeros. */
static uint64_t chunk_of(struct slice text, size_t depth)
{
    unsigned char bytes[CHUNK] = { 0 };
    uint64_t key = 0;

    if (depth < text.n)
        memcpy(bytes, text.p + depth, text.n - depth < CHUNK ? text.n - depth : CHUNK);
    for (size_t i = 0; i < CHUNK; i++)
        key = key << 8 | bytes[i];
    return key;
}

static void sort_by_time(const struct sorting *s, size_t from, size_t n);

/* Sorts items from .. from + n - 1, whose texts are equal up to `depth`, by the rest of them. */
static void sort_by_text(const struct sorting *s, size_t from, size_t n, size_t depth)
{
    struct radix_item *item = s->item + from;
    const uint64_t flip = s->by_id ? UINT64_MAX : 0;

    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            fetch_text(s, item[i + AHEAD].value);
        item[i].key = chunk_of(text_of(s, item[i].value), depth) ^ flip;
    }
    radix_sort(item, s->spare + from, n);
    for (size_t i = 0, end; i < n; i = end) {
        bool goes_on = ((item[i].key ^ flip) & 0xff) != 0 && depth + CHUNK < TEXT_MAX;

        for (end = i + 1; end < n && item[end].key == item[i].key;)
            end++;
        if (end - i > 1 && goes_on)
            sort_by_text(s, from + i, end - i, depth + CHUNK);
        else if (end - i > 1 && !s->by_id)
            sort_by_time(s, from + i, end - i);
    }
}

/* A number that sorts the other way round: the largest, the newest first. */
static uint64_t largest_first(int64_t n)
{
    return ~((uint64_t)n ^ (uint64_t)1 << 63);
}

static void sort_by_time(const struct sorting *s, size_t from, size_t n)
{
    if (n == 0)
        return; /* an empty list has no arrays to point into */
    struct radix_item *item = s->item + from;
    struct sorting ids = *s;

    ids.by_id = true;
    for (size_t i = 0; i < n; i++)
        item[i].key = largest_first(entry_time(&s->roster->entry[item[i].value]));
    radix_sort(item, s->spare + from, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && item[end].key == item[i].key;)
            end++;
        if (end - i > 1)
            sort_by_text(&ids, from + i, end - i, 0);
    }
}

static void sort_by_number(const struct sorting *s, size_t n, enum sort_kind sort)
{
    struct radix_item *item = s->item;

    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &s->roster->entry[item[i].value];

        item[i].key = largest_first(sort == SORT_CREATED ? e->created_ms : e->ref.file.size);
    }
    radix_sort(item, s->spare, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && item[end].key == item[i].key;)
            end++;
        if (end - i > 1)
            sort_by_time(s, i, end - i);
    }
}

/* Those without a title yet stand last. */
static void sort_by_title(const struct sorting *s, size_t n)
{
    size_t titled = 0;

    for (size_t i = 0; i < n; i++) {
        s->item[i].key = doc_of(s->titles, s->item[i].value) == NULL;
        titled += s->item[i].key == 0;
    }
    radix_sort(s->item, s->spare, n);
    sort_by_text(s, 0, titled, 0);
    sort_by_time(s, titled, n - titled);
}

static bool order_reserve(struct order *o, size_t n)
{
    if (n <= o->cap)
        return true;
    size_t cap = n + n / 2;
    struct radix_item *item = reallocarray(o->item, cap, sizeof *item);

    if (item)
        o->item = item;
    struct radix_item *spare = reallocarray(o->spare, cap, sizeof *spare);

    if (spare)
        o->spare = spare;
    uint32_t *entry = reallocarray(o->entry, cap, sizeof *entry);

    if (entry)
        o->entry = entry;
    if (!item || !spare || !entry)
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
            o->item[n++].value = i;
    const struct sorting s = { .roster = r, .titles = titles, .item = o->item, .spare = o->spare };

    switch (sort) {
    case SORT_CREATED:
    case SORT_SIZE: sort_by_number(&s, n, sort); break;
    case SORT_TITLE: sort_by_title(&s, n); break;
    default: sort_by_time(&s, 0, n); break;
    }
    for (size_t i = 0; i < n; i++)
        o->entry[i] = o->item[i].value;
    o->n = n;
    return true;
}

void order_fini(struct order *o)
{
    free(o->entry);
    free(o->item);
    free(o->spare);
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
