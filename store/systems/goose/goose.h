#ifndef STORE_SYSTEMS_GOOSE_GOOSE_H
#define STORE_SYSTEMS_GOOSE_GOOSE_H

#include "store/systems/common/sqlite/sqlite_store.h"

/* Sessions of Goose (docs/formats/goose.md), all in one database: <data>/sessions/sessions.db, where <data> is
 * $GOOSE_PATH_ROOT/data, $XDG_DATA_HOME/goose or ~/.local/share/goose. Old versions kept them in files in the same folder,
 * which are read if there is no database. Goose keeps no copies of files. */
extern const struct store_ops goose_ops;
#define GOOSE_SUFFIX ".jsonl"

/* A row of a conversation is {"id": ..., "role": ..., "content": <messages.content_json>}. */
extern const struct sqlite_format goose_format; /* show.c */
store_blocks_fn goose_blocks;
sqlite_query_fn goose_sessions; /* goose.c */
bool goose_listed(const struct sqlite_row *row, const struct sqlite_place *place,
                  const struct scope *scope, struct arena *a, struct sqlite_listed *out);
/* files.c: sessions of old versions */
extern const char goose_tables[];
sqlite_fill_fn goose_fill;
/* The prompt in the content of a user's message, in the arena or borrowed; may be empty. */
struct slice goose_prompt(struct slice content, struct arena *a);

#endif
