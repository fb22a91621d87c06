#include "lite/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 16 };

bool array_grow(void *items, size_t size, size_t *cap, size_t need)
{
    size_t more = *cap > SIZE_MAX / 2 ? need : *cap * 2;
    void *p;

    if (need <= *cap)
        return true;
    if (more < FIRST_CAP)
        more = FIRST_CAP;
    if (more < need)
        more = need;
    if (more > SIZE_MAX / size)
        return false;
    memcpy(&p, items, sizeof p); /* the pointer's own type is not known here */
    p = realloc(p, more * size);
    if (!p)
        return false;
    memcpy(items, &p, sizeof p);
    *cap = more;
    return true;
}

bool array_double_slots(uint32_t **slot, size_t *slots)
{
    size_t n = *slots ? 2 * *slots : 32;
    uint32_t *more = n > SIZE_MAX / sizeof *more ? NULL : malloc(n * sizeof *more);

    if (!more)
        return false;
    memset(more, 0xFF, n * sizeof *more);
    free(*slot);
    *slot = more;
    *slots = n;
    return true;
}
