#include "lite/base/radix.h"

#include <stdbool.h>
#include <string.h>

/* Two digits at a time, from the first bit in which items differ. Items that are then still equal are few, or fit into
 * the nearest cache while they are sorted by the next two digits. */
enum { DIGIT_BITS = 9, VALUES = 1 << DIGIT_BITS, FEW = 64, KEY_BITS = 64 };

static unsigned width_of(uint64_t n)
{
    return n ? KEY_BITS - (unsigned)__builtin_clzll(n) : 0;
}

unsigned radix_value_bits(size_t n)
{
    return n > 1 ? width_of(n - 1) : 1;
}

unsigned radix_pack(uint64_t *item, const uint64_t *key, size_t n, unsigned value_bits)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (size_t i = 0; i < n; i++) {
        low = key[i] < low ? key[i] : low;
        high = key[i] > high ? key[i] : high;
    }
    unsigned width = n ? width_of(high - low) : 0, room = KEY_BITS - value_bits;
    unsigned lost = width > room ? width - room : 0;

    for (size_t i = 0; i < n; i++)
        item[i] |= (key[i] - low) >> lost << value_bits;
    return lost;
}

static unsigned radix_digit(uint64_t item, unsigned low)
{
    return item >> low & (VALUES - 1);
}

static void scatter_items(const uint64_t *from, uint64_t *to, size_t n, unsigned low,
                          uint32_t *place)
{
    uint32_t sum = 0;

    /* The count of each value becomes the position of its first item. */
    for (int v = 0; v < VALUES; v++) {
        uint32_t count = place[v];

        place[v] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[radix_digit(from[i], low)]++] = from[i];
}

/* Returns the bits that differ, or 0 if the items are already in order. Items with the same key are in order after the
 * first digits. */
static uint64_t find_differing_bits(const uint64_t *item, size_t n)
{
    uint64_t bits = 0;
    bool in_order = true;

    for (size_t i = 1; i < n; i++) {
        bits |= item[i] ^ item[0];
        in_order &= item[i - 1] <= item[i];
    }
    return in_order ? 0 : bits;
}

void radix_sort(uint64_t *item, uint64_t *spare, size_t n)
{
    if (n <= FEW) {
        /* For a few items, counting would cost more than comparing. */
        for (size_t i = 1; i < n; i++) {
            uint64_t this = item[i];
            size_t at = i;

            for (; at > 0 && item[at - 1] > this; at--)
                item[at] = item[at - 1];
            item[at] = this;
        }
        return;
    }
    unsigned width = width_of(find_differing_bits(item, n));

    if (width == 0)
        return;
    unsigned low = width > 2 * DIGIT_BITS ? width - 2 * DIGIT_BITS : 0;

    /* Sort by the two digits that begin at bit `low`. */
    uint32_t minor[VALUES] = { 0 }, major[VALUES] = { 0 };

    for (size_t i = 0; i < n; i++) {
        minor[radix_digit(item[i], low)]++;
        major[radix_digit(item[i], low + DIGIT_BITS)]++;
    }
    scatter_items(item, spare, n, low, minor);
    scatter_items(spare, item, n, low + DIGIT_BITS, major);

    for (size_t i = 0, end; low > 0 && i < n; i = end) {
        for (end = i + 1; end < n && item[end] >> low == item[i] >> low;)
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
