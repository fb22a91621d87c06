#include "lite/needle.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 4, NOWHERE = 255 };

static size_t hash(const char *p)
{
    uint32_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return (bytes * UINT32_C(2654435761)) >> 20;
}

static uint64_t front_of(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

void needle_set_init(struct needle_set *set, const struct slice needles[], size_t n)
{
    assert(n >= 1 && n <= NEEDLE_MAX);
    set->n = n;
    set->shortest = NOWHERE;
    for (size_t i = 0; i < n; i++) {
        assert(needles[i].n >= NEEDLE_SHORTEST);
        set->needle[i] = needles[i];
        set->front[i] = front_of(needles[i].p);
        if (needles[i].n < set->shortest)
            set->shortest = needles[i].n;
    }
    memset(set->place, NOWHERE, sizeof set->place);
    for (size_t i = 0; i < n; i++) {
        for (size_t at = 0; at + BLOCK <= set->shortest; at++) {
            uint8_t *place = &set->place[hash(needles[i].p + at)];

            if (at < *place)
                *place = (uint8_t)at;
        }
    }
}

static bool begins_here(const struct needle_set *set, struct slice rest, size_t *which)
{
    uint64_t front = front_of(rest.p);

    for (size_t i = 0; i < set->n; i++) {
        if (front == set->front[i] && set->needle[i].n <= rest.n &&
            memcmp(rest.p, set->needle[i].p, set->needle[i].n) == 0) {
            *which = i;
            return true;
        }
    }
    return false;
}

bool needle_last(const struct needle_set *set, struct slice text, size_t *at, size_t *which)
{
    size_t stride = set->shortest - BLOCK + 1;
    ptrdiff_t p = (ptrdiff_t)text.n - (ptrdiff_t)set->shortest;

    if (p > (ptrdiff_t)*at - 1)
        p = (ptrdiff_t)*at - 1;
    while (p >= 0) {
        uint8_t place = set->place[hash(text.p + p)];

        if (place == NOWHERE) {
            p -= (ptrdiff_t)stride;
        } else if (place > 0) {
            p -= place;
        } else if (begins_here(set, (struct slice){ text.p + p, text.n - (size_t)p }, which)) {
            *at = (size_t)p;
            return true;
        } else {
            p--;
        }
    }
    return false;
}
