#ifndef STORE_SYSTEMS_PLUGIN_COMPARE_H
#define STORE_SYSTEMS_PLUGIN_COMPARE_H

#include "lite/base/id.h"
#include "store/systems/plugin/plugin.h"

/* Whether two places have the same rows. A store may change the order of members and the spelling of numbers, so rows are
 * compared by what they are: a row with a uuid by that, and any other by its contents, for which the order of members
 * does not matter. The second row with the same contents is another row than the first. */

/* Adds a row to the set. *is_new: it was not in it. */
MUST_CHECK enum err_code row_set_add(struct idset *set, struct slice row, bool *is_new);
/* A hash of a JSON value that does not depend on the order of members and the spelling of strings and numbers. */
struct id128 row_contents(struct slice value, struct arena *a);

struct row_difference {
    size_t here, there; /* rows that only one of them has */
};

struct row_difference row_set_compare(const struct idset *here, const struct idset *there);

#endif
