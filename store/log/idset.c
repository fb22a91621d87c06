#include "store/log/idset.h"

#include <stdlib.h>
#include <string.h>

/* Ids are random or hashed, but someone may count them up: multiplying spreads both. */
static size_t slot_of(const struct idset *set, struct id128 id)
{
    uint64_t h = (id.hi ^ (id.lo * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xD6E8FEB86659FD93);

    return (size_t)(h >> 32) & (set->slots - 1);
}

/* Where the id is, or the empty slot where it belongs. */
static uint32_t *find_slot(const struct idset *set, struct id128 id)
{
    size_t i = slot_of(set, id);

    while (set->slot[i] != IDSET_NONE && !id128_eq(set->id[set->slot[i]], id))
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

static enum err_code grow_slots(struct idset *set)
{
    size_t slots = set->slots ? 2 * set->slots : 32;
    uint32_t *slot = slots > SIZE_MAX / sizeof *slot ? NULL : malloc(slots * sizeof *slot);

    if (!slot)
        return ERR_NOMEM;
    memset(slot, 0xFF, slots * sizeof *slot);
    free(set->slot);
    set->slot = slot;
    set->slots = slots;
    for (size_t i = 0; i < set->n; i++)
        *find_slot(set, set->id[i]) = (uint32_t)i;
    return ERR_OK;
}

static enum err_code grow_ids(struct idset *set)
{
    size_t cap = set->cap ? set->cap + set->cap / 2 : 16;

    if (cap >= IDSET_NONE || cap > SIZE_MAX / sizeof *set->id)
        return ERR_NOMEM;
    struct id128 *id = realloc(set->id, cap * sizeof *id);

    if (!id)
        return ERR_NOMEM;
    set->id = id;
    set->cap = cap;
    return ERR_OK;
}

uint32_t idset_find(const struct idset *set, struct id128 id)
{
    return set->slots ? *find_slot(set, id) : IDSET_NONE;
}

bool idset_has(const struct idset *set, struct id128 id)
{
    return idset_find(set, id) != IDSET_NONE;
}

enum err_code idset_add(struct idset *set, struct id128 id, uint32_t *number)
{
    uint32_t known = idset_find(set, id);

    if (known != IDSET_NONE) {
        *number = known;
        return ERR_OK;
    }
    if (set->n == set->cap && grow_ids(set))
        return ERR_NOMEM;
    if (set->n + 1 > set->slots / 2 && grow_slots(set))
        return ERR_NOMEM;
    set->id[set->n] = id;
    *number = *find_slot(set, id) = (uint32_t)set->n++;
    return ERR_OK;
}

void idset_fini(struct idset *set)
{
    free(set->id);
    free(set->slot);
    *set = (struct idset){ 0 };
}
