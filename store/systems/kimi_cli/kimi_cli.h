#ifndef STORE_SYSTEMS_KIMI_CLI_KIMI_CLI_H
#define STORE_SYSTEMS_KIMI_CLI_KIMI_CLI_H

#include "store/systems/common/session_dirs.h"

/* The sessions of the Kimi CLI, the predecessor of Kimi Code (docs/formats/kimi.md): its path is $KIMI_SHARE_DIR or
 * ~/.kimi, with
 *
 *   sessions/<MD5 of the directory>/<id>/context.jsonl    the log: one message per line, without times and ids
 *   sessions/<MD5 of the directory>/<id>/state.json       title, archived
 *   sessions/<MD5 of the directory>/<id>/subagents/       each as such a directory
 *   kimi.json                                             the directories
 *
 * Only read. The store is a struct jsonl_store. */
extern const struct store_ops kimi_cli_ops;
extern const struct jsonl_format kimi_cli_format;
extern const struct session_dirs kimi_cli_dirs;

/* The directory of a session, from the scope or kimi.json, in the arena; empty: not known. */
struct slice kimi_cli_directory(const struct session_ref *ref, const struct scope *scope,
                                struct arena *a);
store_blocks_fn kimi_cli_blocks;

#endif
