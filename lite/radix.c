#include "lite/radix.h"

#include <string.h>

/* Two digits at a time, from the first bit in which keys differ: what is still equal then is few, or small enough
 * to stay in the cache while it is sorted by the next two. */
enum { DIGIT_BITS = 9, VALUES = 1 << DIGIT_BITS, FEW = 48 };

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

static unsigned digit(uint64_t key, unsigned low)
{
    return key >> low & (VALUES - 1);
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

static void put_in_places(const struct radix_item *from, struct radix_item *to, size_t n,
                          unsigned low, uint32_t *place)
{
    to_places(place);
    for (size_t i = 0; i < n; i++)
        to[place[digit(from[i].key, low)]++] = from[i];
}

/* By the two digits that begin at bit `low`. */
static void sort_by_digits(struct radix_item *item, struct radix_item *spare, size_t n,
                           unsigned low)
{
    uint32_t minor[VALUES] = { 0 }, major[VALUES] = { 0 };

    for (size_t i = 0; i < n; i++) {
        minor[digit(item[i].key, low)]++;
        major[digit(item[i].key, low + DIGIT_BITS)]++;
    }
    put_in_places(item, spare, n, low, minor);
    put_in_places(spare, item, n, low + DIGIT_BITS, major);
}

static uint64_t differing_bits(const struct radix_item *item, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 1; i < n; i++)
        bits |= item[i].key ^ item[0].key;
    return bits;
}

void radix_sort(struct radix_item *item, struct radix_item *spare, size_t n)
{
    if (n <= FEW) {
        sort_few(item, n);
        return;
    }
    uint64_t bits = differing_bits(item, n);

    if (bits == 0)
        return;
    unsigned width = 64u - (unsigned)__builtin_clzll(bits);
    unsigned low = width > 2 * DIGIT_BITS ? width - 2 * DIGIT_BITS : 0;

    sort_by_digits(item, spare, n, low);
    for (size_t i = 0, end; low > 0 && i < n; i = end) {
        for (end = i + 1; end < n && item[end].key >> low == item[i].key >> low;)
            end++;
        if (end - i > 1)
            radix_sort(item + i, spare + i, end - i);
    }
}

uint64_t radix_text_key(struct slice text, size_t depth)
{
    unsigned char bytes[RADIX_CHUNK] = { 0 };
    uint64_t key = 0;

    if (depth < text.n)
        memcpy(bytes, text.p + depth, text.n - depth < RADIX_CHUNK ? text.n - depth : RADIX_CHUNK);
    for (size_t i = 0; i < RADIX_CHUNK; i++)
        key = key << 8 | bytes[i];
    return key;
}
