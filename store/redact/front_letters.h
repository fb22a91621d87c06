#ifndef STORE_REDACT_FRONT_LETTERS_H
#define STORE_REDACT_FRONT_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The second and the third letters of the names in a table, as bits, by their first one. Every word of a text is looked up,
 * and most are ruled out without a search. A test prints what they must be. */
struct front_letters {
    uint64_t second, third;
};

static inline uint64_t front_bit(char c)
{
    return UINT64_C(1) << (c & 63);
}

/* Returns false if no name begins with these three bytes. */
static inline bool front_may_be(const struct front_letters of[128], const char *p)
{
    const unsigned char first = (unsigned char)p[0];

    return first < 128 && of[first].second & front_bit(p[1]) && of[first].third & front_bit(p[2]);
}

/* Compares the first two bytes of a name with those of a text, in the order of the tables. */
static inline int compare_front(const char *name, const char *p)
{
    return name[0] != p[0] ? (unsigned char)name[0] - (unsigned char)p[0]
                           : (unsigned char)name[1] - (unsigned char)p[1];
}

/* The first row of a sorted table whose name begins with two letters. Names are the first members of rows. */
size_t first_with_front(const void *table, size_t size, size_t n, const char *two);

#endif
