#ifndef TUI_FAMILY_H
#define TUI_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/roster.h"

/* Sessions as the tree that forking made of them: each stands below the one it was forked from, and a family where its
 * first member stood. Made anew each time the list is sorted. */
struct family {
    struct kin *kin; /* owned; by entry */
    size_t n, cap;
};

/* Rearranges entries that are in order. False without memory: they are as they were. */
bool family_arrange(struct family *f, const struct roster *r, uint32_t *entry, size_t n);
/* How many forks it is away from the first of its family; 0 for what was never arranged. */
unsigned family_depth(const struct family *f, uint32_t entry);
void family_fini(struct family *f);

#endif
