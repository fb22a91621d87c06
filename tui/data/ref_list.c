#include "tui/data/ref_list.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"

struct name_list *name_list_new(void)
{
    return calloc(1, sizeof(struct name_list));
}

/* Room for one more: 1, 3, 7, ... The array moves when it grows; the old one stays in the arena. */
bool name_list_add(struct name_list *list, struct slice name)
{
    if ((list->n & (list->n + 1)) == 0) {
        struct slice *more = arena_alloc(&list->arena, (list->n * 2 + 1) * sizeof *more);

        if (!more)
            return false;
        if (list->n > 0)
            memcpy(more, list->name, list->n * sizeof *more);
        list->name = more;
    }
    name = arena_copy(&list->arena, name);
    if (!name.p)
        return false;
    list->name[list->n++] = name;
    return true;
}

void name_list_fini(struct name_list *list)
{
    arena_fini(&list->arena);
    *list = (struct name_list){ 0 };
}

void name_list_free(struct name_list *list)
{
    if (!list)
        return;
    name_list_fini(list);
    free(list);
}

struct ref_list *ref_list_new(void)
{
    return calloc(1, sizeof(struct ref_list));
}

/* Both arrays have one capacity. */
bool ref_list_reserve(struct ref_list *list, size_t n)
{
    size_t refs = list->cap, entries = list->cap;

    if (!array_reserve(list->ref, refs, n) || !array_reserve(list->entry, entries, n))
        return false;
    list->cap = refs;
    return true;
}

bool ref_list_add(struct ref_list *list, const struct session_ref *ref, uint32_t entry)
{
    if (!ref_list_reserve(list, list->n + 1) ||
        !session_ref_copy(&list->arena, ref, &list->ref[list->n]))
        return false;
    list->entry[list->n++] = entry;
    return true;
}

struct ref_list *ref_list_one(const struct session_ref *ref, struct slice agent)
{
    struct ref_list *list = ref_list_new();

    if (!list)
        return NULL;
    list->agent = arena_copy(&list->arena, agent);
    if (list->agent.p && ref_list_add(list, ref, 0))
        return list;
    ref_list_free(list);
    return NULL;
}

struct ref_list *ref_list_copy(const struct ref_list *list)
{
    struct ref_list *copy = ref_list_new();

    for (size_t i = 0; copy && i < list->n; i++)
        if (!ref_list_add(copy, &list->ref[i], list->entry[i])) {
            ref_list_free(copy);
            copy = NULL;
        }
    return copy;
}

void ref_list_free(struct ref_list *list)
{
    if (!list)
        return;
    arena_fini(&list->arena);
    free(list->ref);
    free(list->entry);
    free(list);
}

struct described_list *described_list_new(size_t cap)
{
    struct described_list *list = calloc(1, sizeof *list);

    if (!list)
        return NULL;
    list->item = calloc(cap ? cap : 1, sizeof *list->item);
    list->cap = cap;
    if (list->item)
        return list;
    free(list);
    return NULL;
}

void described_list_free(struct described_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        session_row_free(list->item[i].row);
    free(list->item);
    free(list);
}
