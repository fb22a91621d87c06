#ifndef STORE_QUERY_SESSION_JSON_H
#define STORE_QUERY_SESSION_JSON_H

#include "lite/json/jsonout.h"
#include "store/api/session.h"

/* A session row as the object that CLI.md `list` fixes; absent keys are left out. The caller asks j->rc
 * once, at the end. */
void session_json(struct jsonout *j, const struct session_row *row);
/* Its members alone, for an object that goes on (`info`). */
void session_json_members(struct jsonout *j, const struct session_row *row);

#endif
