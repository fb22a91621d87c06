#include "store/systems/entire/write/names_list.h"

#include <string.h>

#include "lite/json/json.h"

static int compare_names(struct slice a, struct slice b)
{
    int d = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return d ? d : (a.n > b.n) - (a.n < b.n);
}

/* Where the name is, or belongs. */
static size_t lower_bound(const struct names_list *l, struct slice name)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (compare_names(l->name[at], name) < 0)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

bool names_add(struct names_list *l, struct slice name)
{
    size_t at = lower_bound(l, name);
    struct slice *more, copy;

    if (at < l->n && slice_eq(l->name[at], name))
        return true;
    more = arena_grow(l->a, l->name, l->n, sizeof *more);
    copy = arena_copy(l->a, name);
    if (!more || !copy.p)
        return false;
    l->name = more;
    memmove(more + at + 1, more + at, (l->n++ - at) * sizeof *more);
    more[at] = copy;
    return true;
}

bool names_add_json(struct names_list *l, struct slice array)
{
    struct json_iter it;
    struct slice key, value, text;
    bool ok = true;

    if (json_type(array) != JSON_ARRAY || !json_iter_open(&it, array))
        return true;
    while (ok && json_iter_next(&it, &key, &value))
        if (json_type(value) == JSON_STRING)
            ok = json_text(value, l->a, &text) && names_add(l, text);
    return ok;
}

void names_remove(struct names_list *l, struct slice name)
{
    size_t at = lower_bound(l, name);

    if (at == l->n || !slice_eq(l->name[at], name))
        return;
    memmove(l->name + at, l->name + at + 1, (--l->n - at) * sizeof *l->name);
}
