#include "lite/base/textset.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_of(struct slice text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/* Where the text is, or the empty slot where it belongs. */
static uint32_t *find_slot(const struct textset *set, struct slice text)
{
    size_t i = hash_of(text) & (set->slots - 1);

    while (set->slot[i] != TEXTSET_NONE && !slice_eq(set->text[set->slot[i]], text))
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

/* Half of the slots stay empty. */
static enum err_code grow_textset(struct textset *set)
{
    size_t cap = set->cap ? 2 * set->cap : 16, slots = 2 * cap;

    if (cap >= TEXTSET_NONE / 2 || cap > SIZE_MAX / sizeof *set->text)
        return ERR_NOMEM;
    struct slice *text = realloc(set->text, cap * sizeof *text);

    if (!text)
        return ERR_NOMEM;
    set->text = text;
    uint32_t *slot = malloc(slots * sizeof *slot);

    if (!slot)
        return ERR_NOMEM;
    memset(slot, 0xFF, slots * sizeof *slot);
    free(set->slot);
    set->slot = slot;
    set->slots = slots;
    set->cap = cap;
    for (size_t i = 0; i < set->n; i++)
        *find_slot(set, set->text[i]) = (uint32_t)i;
    return ERR_OK;
}

enum err_code textset_add(struct textset *set, struct slice text, uint32_t *number)
{
    if (set->n == set->cap && grow_textset(set))
        return ERR_NOMEM;
    uint32_t *slot = find_slot(set, text);

    if (*slot == TEXTSET_NONE) {
        *slot = (uint32_t)set->n;
        set->text[set->n++] = text;
    }
    *number = *slot;
    return ERR_OK;
}

uint32_t textset_find(const struct textset *set, struct slice text)
{
    return set->slots ? *find_slot(set, text) : TEXTSET_NONE;
}

void textset_fini(struct textset *set)
{
    free(set->text);
    free(set->slot);
    *set = (struct textset){ 0 };
}
