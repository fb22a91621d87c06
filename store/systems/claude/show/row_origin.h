#ifndef STORE_SYSTEMS_CLAUDE_SHOW_ROW_ORIGIN_H
#define STORE_SYSTEMS_CLAUDE_SHOW_ROW_ORIGIN_H

#include <stdbool.h>

#include "lite/json/jsonout.h"

/* Where a row came from. Of a task's notification only some members are told (and `run` where the origin has
 * no usable runId itself; empty: none), of all others everything. Writes "origin": ... into an open object. */
void claude_origin_write(struct jsonout *j, struct slice origin, struct slice run);
/* A run id that may be told: 1 to 128 of letters, digits and _.:- */
bool claude_run_id(struct slice value);

#endif
