#ifndef STORE_SYSTEMS_CURSOR_CURSOR_H
#define STORE_SYSTEMS_CURSOR_CURSOR_H

#include "store/sqlite/sqlite_db.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of the Cursor CLI (docs/formats/cursor.md): its path is $CURSOR_CONFIG_DIR, $XDG_CONFIG_HOME/cursor,
 * ~/.config/cursor or ~/.cursor, with
 *
 *   chats/<MD5 of the directory>/<id>/store.db     a database for each session
 *   chats/<MD5 of the directory>/<id>/meta.json    title, times, directory; old versions did not write it
 *
 * A database contains blobs, named by the SHA-256 of their bytes: messages as JSON, and states as
 * protobuf. The row "0" of its table `meta` names the newest state, whose field 1 lists the
 * messages. The store is read-only and is a struct jsonl_store. */
extern const struct store_ops cursor_ops;

/* The directory of the scope that a folder is named after; empty if unknown. */
struct slice cursor_directory(const struct scope *scope, const char *folder);

/* ---- chat.c ---- */

/* The newest state. Texts are in the arena. */
struct cursor_state {
    struct arena arena;
    struct slice meta;      /* JSON; may be empty */
    struct slice workspace; /* a path; may be empty */
    struct slice *message;  /* names of blobs, oldest first */
    size_t n;
};

MUST_CHECK enum err_code cursor_state_read(struct sqlite_db *db, struct cursor_state *out,
                                           struct err *e);
void cursor_state_fini(struct cursor_state *s);
/* The bytes of a blob; empty if it does not exist. */
MUST_CHECK enum err_code cursor_blob_read(struct sqlite_db *db, struct slice name, struct buf *out,
                                          struct err *e);

bool cursor_role_is(struct slice message, const char *role);
/* The text that a person wrote, without Cursor's additions for the model, in the arena or borrowed;
 * may be empty. */
struct slice cursor_typed(struct slice text, struct arena *a);
struct slice cursor_prompt(struct slice message, struct arena *a);

/* ---- cursor.c, show.c: members ---- */

store_describe_fn cursor_describe;
store_load_fn cursor_load;
store_tail_fn cursor_tail;
store_blocks_fn cursor_blocks;
store_messages_fn cursor_messages;

#endif
