#ifndef STORE_SYSTEMS_KIRO_KIRO_H
#define STORE_SYSTEMS_KIRO_KIRO_H

#include "store/systems/common/session_dirs.h"

/* The sessions of the Kiro CLI (docs/formats/kiro.md): its path is $KIRO_HOME or ~/.kiro, with
 *
 *   sessions/cli/<uuid>.jsonl                          the log of a session; <uuid>.json is about it (engine v2)
 *   sessions/<workspace>/sess_<uuid>/messages.jsonl    the same of engine v3 and of Kiro's IDE; session.json is about it
 *
 * Only read. The store is a struct jsonl_store. */
extern const struct store_ops kiro_ops;
extern const struct jsonl_format kiro_format;
extern const struct session_dirs kiro_dirs;

/* The beginning of the document about a session; empty if it cannot be read. The only error is
 * ERR_NOMEM. */
MUST_CHECK enum err_code kiro_read_document(const struct session_ref *ref, struct buf *out);

store_blocks_fn kiro_blocks;

#endif
