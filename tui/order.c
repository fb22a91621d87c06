#include "tui/order.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by what is asked for; those that are equal in it by time; those equal in that by id. */

enum {
    TEXT_MAX = HAY_MAX, /* titles are folded up to here; of an id nobody needs more */
    AHEAD = 32,         /* texts lie all over the memory: called for before they are needed */
};

struct sorting {
    const struct roster *roster;
    const struct filter *titles;
    struct radix_item *item, *spare;
    size_t n;
    bool by_id; /* texts are ids, last first; else titles, first first */
};

static uint64_t title_key(const struct filter *titles, uint32_t entry)
{
    return entry < titles->slots ? titles->front[0][entry] : TITLE_NONE;
}

/* NULL: the texts themselves have to be looked at. */
static const uint64_t *front_of(const struct sorting *s, size_t depth)
{
    return s->by_id || depth >= (size_t)TITLE_KEYS * RADIX_CHUNK
               ? NULL
               : s->titles->front[depth / RADIX_CHUNK];
}

static void fetch_text(const struct sorting *s, const uint64_t *front, uint32_t entry)
{
    enum { LINE = 64 };
    const char *at;

    if (front) {
        __builtin_prefetch(&front[entry]);
        return;
    }
    if (s->by_id)
        at = s->roster->entry[entry].ref.id.p;
    else
        at = (const char *)s->titles->slot[entry].doc;
    __builtin_prefetch(at);
    if (!s->by_id) /* the texts stand behind the sets */
        __builtin_prefetch(at + LINE);
}

/* What an entry's text goes on with behind `depth` bytes. Only entries with a title are sorted by it. */
static uint64_t key_of_text(const struct sorting *s, size_t depth, uint32_t entry)
{
    if (s->by_id)
        return radix_text_key(s->roster->entry[entry].ref.id, depth);
    struct hay title = doc_hay(s->titles->slot[entry].doc, DOC_TITLE);

    return radix_text_key((struct slice){ title.text, title.n }, depth);
}

static void sort_by_time(const struct sorting *s, size_t from, size_t n);
static void sort_on_by_text(const struct sorting *s, size_t from, size_t n, size_t depth);

/* Sorts items from .. from + n - 1, whose texts are equal up to `depth`, by the rest of them. */
static void sort_by_text(const struct sorting *s, size_t from, size_t n, size_t depth)
{
    struct radix_item *item = s->item + from;
    const uint64_t flip = s->by_id ? UINT64_MAX : 0, *front = front_of(s, depth);

    for (size_t i = 0; i < n; i++) {
        if (from + i + AHEAD <
            s->n) /* beyond these: what follows them is sorted in the same way next */
            fetch_text(s, front, item[i + AHEAD].value);
        item[i].key = (front ? front[item[i].value] : key_of_text(s, depth, item[i].value)) ^ flip;
    }
    radix_sort(item, s->spare + from, n);
    sort_on_by_text(s, from, n, depth);
}

/* The same, of items that are sorted by the first RADIX_CHUNK bytes of that rest. */
static void sort_on_by_text(const struct sorting *s, size_t from, size_t n, size_t depth)
{
    const struct radix_item *item = s->item + from;
    const uint64_t flip = s->by_id ? UINT64_MAX : 0;

    for (size_t i = 0, end; i < n; i = end) {
        bool goes_on = ((item[i].key ^ flip) & 0xff) != 0 && depth + RADIX_CHUNK < TEXT_MAX;

        for (end = i + 1; end < n && item[end].key == item[i].key;)
            end++;
        if (end - i > 1 && goes_on)
            sort_by_text(s, from + i, end - i, depth + RADIX_CHUNK);
        else if (end - i > 1 && !s->by_id)
            sort_by_time(s, from + i, end - i);
    }
}

/* A number that sorts the other way round: the largest, the newest first. */
static uint64_t largest_first(int64_t n)
{
    return ~((uint64_t)n ^ (uint64_t)1 << 63);
}

/* Sorts items by the keys they have; those that are equal by what comes after that. */
static void sort_by_key(const struct sorting *s, size_t from, size_t n, bool times)
{
    if (n == 0)
        return; /* an empty list has no arrays to point into */
    struct radix_item *item = s->item + from;
    struct sorting ids = *s;

    ids.by_id = true;
    radix_sort(item, s->spare + from, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && item[end].key == item[i].key;)
            end++;
        if (end - i > 1 && times)
            sort_by_text(&ids, from + i, end - i, 0);
        else if (end - i > 1)
            sort_by_time(s, from + i, end - i);
    }
}

static void sort_by_time(const struct sorting *s, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        s->item[i].key = largest_first(s->roster->standing[s->item[i].value].time_ms);
    sort_by_key(s, from, n, true);
}

/* Those without a title yet stand last. */
static void sort_by_title(const struct sorting *s, size_t n)
{
    size_t titled = n;

    if (n == 0)
        return; /* an empty list has no arrays to point into */
    radix_sort(s->item, s->spare, n);
    while (titled > 0 && s->item[titled - 1].key == TITLE_NONE)
        titled--;
    sort_on_by_text(s, 0, titled, 0);
    sort_by_time(s, titled, n - titled);
}

/* What is sorted by first. */
static uint64_t first_key(const struct roster *r, uint32_t entry, const struct filter *titles,
                          enum sort_kind sort)
{
    const struct standing *at = &r->standing[entry];

    switch (sort) {
    case SORT_CREATED: return largest_first(at->created_ms);
    case SORT_SIZE: return largest_first(at->bytes);
    case SORT_TITLE: return title_key(titles, entry);
    default: return largest_first(at->time_ms);
    }
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
    int64_t bytes = 0;

    if (!order_reserve(o, r->n))
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->standing[i].listed)
            continue;
        o->item[n++] = (struct radix_item){ .key = first_key(r, i, titles, sort), .value = i };
        bytes += r->standing[i].bytes;
    }
    const struct sorting s = {
        .roster = r, .titles = titles, .item = o->item, .spare = o->spare, .n = n
    };

    if (sort == SORT_TITLE)
        sort_by_title(&s, n);
    else
        sort_by_key(&s, 0, n, sort == SORT_RECENT);
    for (size_t i = 0; i < n; i++)
        o->entry[i] = o->item[i].value;
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
