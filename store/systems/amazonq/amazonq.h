#ifndef STORE_SYSTEMS_AMAZONQ_AMAZONQ_H
#define STORE_SYSTEMS_AMAZONQ_AMAZONQ_H

#include "store/systems/common/sqlite/sqlite_store.h"

/* The conversations of the Amazon Q CLI and of its successor, the Kiro CLI before version 2 and with --classic
 * (docs/formats/kiro.md). Each is one JSON text in a database:
 *
 *     <data>/amazon-q/data.sqlite3     table `conversations`: one for each directory
 *     <data>/kiro-cli/data.sqlite3     table `conversations_v2`
 *
 * <data> is $XDG_DATA_HOME or ~/.local/share. Only read. */
extern const struct store_ops amazonq_ops, kiro_classic_ops;

/* A row of a conversation is {"id": ..., "role": ..., "entry": <half of an entry of the history>}. */
store_blocks_fn amazonq_blocks;
/* The prompt in the content of a user's half of an entry, in the arena or borrowed; may be empty. */
struct slice amazonq_prompt(struct slice user, struct arena *a);
/* The halves of an entry; false: it is damaged. */
bool amazonq_entry(struct slice entry, struct slice *user, struct slice *assistant);
/* The members `message`, `sessions` and `listed` of the formats of both. */
enum err_code amazonq_message(const struct sqlite_row *row, struct sqlite_conversation *c);
sqlite_query_fn amazonq_sessions, amazonq_classic_sessions;
bool amazonq_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                    const struct scope *scope, struct arena *a, struct sqlite_listed *out);

/* The table of each, with the same columns. */
#define AMAZONQ_TABLE                                                                              \
    "(SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.conversation_id') END AS "    \
    "id, "                                                                                         \
    "key, value, NULL AS created_at, NULL AS updated_at FROM conversations) c"
#define AMAZONQ_CLASSIC_TABLE                                                                      \
    "(SELECT conversation_id AS id, key, value, created_at, updated_at FROM conversations_v2) c"

#endif
