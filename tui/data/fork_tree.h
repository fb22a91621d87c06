#ifndef TUI_DATA_FORK_TREE_H
#define TUI_DATA_FORK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/data/session_table.h"

/* Sessions as the tree that forking made of them: each stands below the one it was forked from, and a family where its
 * first member stood. Made anew each time the list is sorted. */
struct fork_tree {
    struct fork_node *node; /* owned; by entry */
    size_t n, cap;
};

/* Rearranges entries that are in order. False without memory: they are as they were. */
bool fork_tree_arrange(struct fork_tree *f, const struct session_table *r, uint32_t *entry,
                       size_t n);
/* How many forks it is away from the first of its family; 0 for what was never arranged. */
unsigned fork_tree_depth(const struct fork_tree *f, uint32_t entry);
void fork_tree_fini(struct fork_tree *f);

#endif
