#ifndef STORE_SYSTEMS_VIBE_VIBE_H
#define STORE_SYSTEMS_VIBE_VIBE_H

#include "store/systems/common/session_dirs.h"

/* The sessions of Mistral Vibe (docs/formats/vibe.md): its path is $VIBE_HOME or ~/.vibe, with
 *
 *   logs/session/<prefix>_<day>_<time>_<id8>/messages.jsonl   the log: one message per line, without times
 *   logs/session/<prefix>_<day>_<time>_<id8>/meta.json        id, title, directory, times, sums of tokens
 *   logs/session/<prefix>_<day>_<time>_<id8>/agents/          sub-agents, each as such a directory
 *
 * A session is identified by the 8 digits in the name of its directory, as in Vibe itself. Only
 * read. The store is a struct jsonl_store. */
extern const struct store_ops vibe_ops;
extern const struct jsonl_format vibe_format;
extern const struct session_dirs vibe_dirs;

store_blocks_fn vibe_blocks;
store_edits_fn vibe_edits;

#endif
