#ifndef STORE_SYSTEMS_CLAUDE_LIST_DESCRIBE_H
#define STORE_SYSTEMS_CLAUDE_LIST_DESCRIBE_H

#include "lite/scan/field.h"

/* What describe looks for in the windows, prepared once for each store
 * (describe_tables_init). */
struct describe_tables {
    struct field_set tail, head, summary;
};

#endif
