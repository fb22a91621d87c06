#ifndef STORE_SYSTEMS_GOOSE_GOOSE_H
#define STORE_SYSTEMS_GOOSE_GOOSE_H

#include "store/systems/common/sqlite/sqlite_store.h"

/* Sessions of Goose (docs/formats/goose.md), all in one database: <data>/sessions/sessions.db, where <data> is
 * $GOOSE_PATH_ROOT/data, $XDG_DATA_HOME/goose or ~/.local/share/goose. Goose keeps no copies of files. */
extern const struct store_ops goose_ops;

/* ---- list.c ---- */

sqlite_gather_fn goose_gather;
store_describe_fn goose_describe;

/* ---- show.c: a row is {"id": ..., "role": ..., "content": <messages.content_json>} ---- */

store_load_fn goose_load;
store_tail_fn goose_tail;
store_blocks_fn goose_blocks;
store_messages_fn goose_messages;
store_describe_subagents_fn goose_describe_subagents;
/* The prompt in the content of a user's message, in the arena or borrowed; may be empty. */
struct slice goose_prompt(struct slice content, struct arena *a);

#endif
