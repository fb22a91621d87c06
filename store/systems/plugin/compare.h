#ifndef STORE_SYSTEMS_PLUGIN_COMPARE_H
#define STORE_SYSTEMS_PLUGIN_COMPARE_H

#include "lite/base/id.h"
#include "store/systems/plugin/plugin.h"

/* Compares the rows of two places. A store may change the order of members and the spelling of
 * numbers, so a row with a uuid is compared by the uuid, and any other row by its contents,
 * regardless of the order of members. Two rows with the same contents are different rows. */

/* Adds a row to the set. *is_new is true if the set did not contain it. */
MUST_CHECK enum err_code row_set_add(struct idset *set, struct slice row, bool *is_new);
/* A hash of a JSON value that does not depend on the order of members and the spelling of strings and numbers. */
struct id128 row_contents(struct slice value, struct arena *a);

struct row_difference {
    size_t here, there; /* rows that only one of them has */
};

struct row_difference row_set_compare(const struct idset *here, const struct idset *there);

#endif
