#ifndef TUI_DATA_ORDER_H
#define TUI_DATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/radix.h"
#include "tui/config/config.h"
#include "tui/data/session_table.h"
#include "tui/filter/filter.h"

/* Sessions as trees of forks: each session is below the one it was forked from, and the position of
 * a tree is that of its root in the list. Rebuilt each time the list is sorted. */
struct fork_tree {
    struct fork_node *node; /* owned; by entry */
    size_t n, cap;
};

/* Rearranges sorted entries into trees. Returns false if out of memory; the entries are then
 * unchanged. */
bool order_forks_arrange(struct fork_tree *f, const struct session_table *r, uint32_t *entry,
                         size_t n);
/* The number of forks between the entry and its root; 0 for an entry that was never arranged. */
unsigned order_forks_depth(const struct fork_tree *f, uint32_t entry);
void order_forks_fini(struct fork_tree *f);

/* The listed sessions in the order of the list, before any filter. It is rebuilt each time: a radix
 * sort of 100,000 sessions takes a few milliseconds, so no order has to be maintained while
 * sessions appear and change. */
struct order {
    uint32_t *entry; /* owned */
    size_t n;
    int64_t bytes;          /* of all of them, summed while they are read in order */
    uint64_t *item, *spare; /* owned: work space for sorting */
    size_t cap;
};

/* Sorts the listed entries of the session table. Equal entries are newest first, then by id.
 * titles: the folded titles that SORT_TITLE compares. Returns false if out of memory; the order is
 * then unchanged. */
bool order_make(struct order *o, const struct session_table *r, const struct filter *titles,
                enum sort_kind sort);
void order_fini(struct order *o);

const char *order_sort_name(enum sort_kind sort);

#endif
