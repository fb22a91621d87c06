#include "lite/base/id.h"

#include <stddef.h>
#include <stdlib.h>

#include "lite/base/array.h"
#include "lite/base/digest.h"

enum { UUID_LENGTH = 36, SHORT_MAX = 15 };

/* Mixed into short texts: no UUID in use begins with it, and the first byte, which is combined with
 * the length, never becomes 0. */
static const struct id128 short_texts = { 0xd53e91c7a86b204fu, 0x7be02d94c1583af6u };

/* 1 + the value of a lower-case hex digit; 0 for anything else. It is a table because the digits of an id are random,
 * so half of the branches on them would be mispredicted. */
static const uint8_t digit[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Shifts n hex digits into *value. Returns false if one is not a hex digit. */
static bool parse_hex(const char *p, size_t n, uint64_t *value)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned d = digit[(unsigned char)p[i]];

        wrong |= d - 1;
        *value = *value << 4 | ((d - 1) & 15);
    }
    return wrong < 16;
}

bool id128_uuid(const char *p, struct id128 *id)
{
    struct id128 v = { 0, 0 };

    if (p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-')
        return false;
    if (!parse_hex(p, 8, &v.hi) || !parse_hex(p + 9, 4, &v.hi) || !parse_hex(p + 14, 4, &v.hi) ||
        !parse_hex(p + 19, 4, &v.lo) || !parse_hex(p + 24, 12, &v.lo) || id128_none(v))
        return false;
    *id = v;
    return true;
}

static struct id128 id_hash_text(struct slice text)
{
    uint8_t sum[SHA256_BYTES];
    struct id128 id = { 0, 0 };

    /* If it fails, all ids of the file look absent, never equal. */
    if (!digest_of(DIGEST_SHA256, text, sum))
        return id;
    for (int i = 0; i < 8; i++) {
        id.hi = id.hi << 8 | sum[i];
        id.lo = id.lo << 8 | sum[8 + i];
    }
    return id;
}

/* The bytes and the length identify the text completely, so nothing is hashed. */
static struct id128 short_text(struct slice text)
{
    struct id128 id = { text.n << 56, 0 };

    for (size_t i = 0; i < text.n; i++) {
        uint64_t byte = (unsigned char)text.p[i];

        if (i < 7)
            id.hi |= byte << (48 - 8 * i);
        else
            id.lo |= byte << (56 - 8 * (i - 7));
    }
    return (struct id128){ id.hi ^ short_texts.hi, id.lo ^ short_texts.lo };
}

struct id128 id128_of(struct slice text)
{
    struct id128 id;

    if (text.n <= SHORT_MAX)
        return short_text(text);
    if (text.n == UUID_LENGTH && id128_uuid(text.p, &id))
        return id;
    return id_hash_text(text);
}

bool id128_none(struct id128 id)
{
    return !(id.hi | id.lo);
}

bool id128_eq(struct id128 a, struct id128 b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

/* The slot of the id, or the empty slot where it belongs. */
static uint32_t *id_find_slot(const struct idset *set, struct id128 id)
{
    /* Ids are random or hashed, but a program may also use a counter; multiplying spreads both. */
    uint64_t h = (id.hi ^ (id.lo * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xD6E8FEB86659FD93);
    size_t i = (size_t)(h >> 32) & (set->slots - 1);

    while (set->slot[i] != IDSET_NONE && !id128_eq(set->id[set->slot[i]], id))
        i = (i + 1) & (set->slots - 1);
    return &set->slot[i];
}

static bool id_double_slots(struct idset *set)
{
    if (!array_double_slots(&set->slot, &set->slots))
        return false;
    for (size_t i = 0; i < set->n; i++)
        *id_find_slot(set, set->id[i]) = (uint32_t)i;
    return true;
}

uint32_t idset_find(const struct idset *set, struct id128 id)
{
    return set->slots ? *id_find_slot(set, id) : IDSET_NONE;
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
    if (set->n + 1 >= IDSET_NONE || !array_reserve(set->id, set->cap, set->n + 1) ||
        (set->n + 1 > set->slots / 2 && !id_double_slots(set)))
        return ERR_NOMEM;
    set->id[set->n] = id;
    *number = *id_find_slot(set, id) = (uint32_t)set->n++;
    return ERR_OK;
}

void idset_fini(struct idset *set)
{
    free(set->id);
    free(set->slot);
    *set = (struct idset){ 0 };
}
