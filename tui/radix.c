#include "tui/radix.h"

#include <string.h>

enum { DIGITS = 8, VALUES = 256, FEW = 48 };

/* For a few, counting would cost more than comparing. */
static void sort_few(struct radix_item *item, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct radix_item this = item[i];
        size_t at = i;

        for (; at > 0 && item[at - 1].key > this.key; at--)
            item[at] = item[at - 1];
        item[at] = this;
    }
}

static unsigned digit(uint64_t key, unsigned which)
{
    return key >> 8 * which & (VALUES - 1);
}

/* From how many there are of each value to where the first of them goes. */
static void to_places(uint32_t *count)
{
    uint32_t sum = 0;

    for (int v = 0; v < VALUES; v++) {
        uint32_t n = count[v];

        count[v] = sum;
        sum += n;
    }
}

void radix_sort(struct radix_item *item, struct radix_item *spare, size_t n)
{
    uint32_t count[DIGITS][VALUES] = { { 0 } };
    struct radix_item *from = item, *to = spare;

    if (n <= FEW) {
        sort_few(item, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            count[d][digit(item[i].key, d)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        if (count[d][digit(from[0].key, d)] == n) /* all have the same digit here */
            continue;
        to_places(count[d]);
        for (size_t i = 0; i < n; i++)
            to[count[d][digit(from[i].key, d)]++] = from[i];
        struct radix_item *done = to;

        to = from;
        from = done;
    }
    if (from != item)
        memcpy(item, from, n * sizeof *item);
}
