#include "store/redact/clean_texts.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_LEAST = 128, SLOTS_FIRST = 1024, SLOTS_MOST = 1 << 22 };

bool clean_texts_id(struct clean_texts *set, struct slice text, struct text_id *id)
{
    uint8_t sum[DIGEST_MOST];

    if (text.n < TEXT_LEAST)
        return false;
    digest_begin(&set->digest, DIGEST_SHA256);
    digest_add(&set->digest, text);
    if (!digest_end(&set->digest, sum))
        return false;
    memcpy(id, sum, sizeof *id);
    return id->half[0] != 0;
}

static struct text_id *slot_for(const struct clean_texts *set, struct text_id id)
{
    size_t i = id.half[0] & (set->slots - 1);

    while (set->slot[i].half[0] && memcmp(&set->slot[i], &id, sizeof id) != 0)
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

bool clean_texts_have(const struct clean_texts *set, struct text_id id)
{
    return set->slots && slot_for(set, id)->half[0];
}

static bool grow(struct clean_texts *set)
{
    const struct clean_texts old = *set;
    const size_t slots = old.slots ? old.slots * 2 : SLOTS_FIRST;
    struct text_id *slot = slots > SLOTS_MOST ? NULL : calloc(slots, sizeof *slot);

    if (!slot)
        return false;
    set->slot = slot;
    set->slots = slots;
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].half[0])
            *slot_for(set, old.slot[i]) = old.slot[i];
    free(old.slot);
    return true;
}

void clean_texts_add(struct clean_texts *set, struct text_id id)
{
    if (set->n >= set->slots / 2 && !grow(set))
        return;
    struct text_id *slot = slot_for(set, id);

    set->n += !slot->half[0];
    *slot = id;
}

void clean_texts_fini(struct clean_texts *set)
{
    digest_fini(&set->digest);
    free(set->slot);
    *set = (struct clean_texts){ .n = 0 };
}
