#ifndef TUI_DATA_ORDER_H
#define TUI_DATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/radix.h"
#include "tui/config/settings.h"
#include "tui/data/session_table.h"
#include "tui/filter/filter.h"

/* The listed sessions in the order of the list, before any filter. Made anew each time: sorting by digits takes
 * a few milliseconds for 100,000, so that nothing needs to be kept in order while sessions come and change. */
struct order {
    uint32_t *entry; /* owned */
    size_t n;
    int64_t bytes;          /* of all of them: added up where they lie side by side */
    uint64_t *item, *spare; /* owned: room to sort in */
    size_t cap;
};

/* Puts the listed entries of the session table in order. Equal ones stand newest first, then by id. titles: the
 * folded titles by which SORT_TITLE compares. False without memory (the order is then as before). */
bool order_make(struct order *o, const struct session_table *r, const struct filter *titles,
                enum sort_kind sort);
void order_fini(struct order *o);

const char *order_sort_name(enum sort_kind sort);

#endif
