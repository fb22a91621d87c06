#ifndef STORE_SYSTEMS_DROID_DROID_H
#define STORE_SYSTEMS_DROID_DROID_H

#include "store/systems/common/jsonl.h"

/* The sessions of Factory's Droid (docs/formats/droid.md): its path is ~/.factory, with
 *
 *   sessions/<directory, flattened>/<id>.jsonl           the log: a first line about the session, then messages
 *   sessions/<directory, flattened>/<id>.settings.json   model and sums of tokens
 *
 * Only read. The store is a struct jsonl_store. */
extern const struct store_ops droid_ops;
extern const struct jsonl_format droid_format;
extern const struct project_logs droid_logs;

char *droid_usual_path(const struct store_env *env);

/* The content of a session's <id>.settings.json; empty if it cannot be read. The only error is
 * ERR_NOMEM. */
MUST_CHECK enum err_code droid_settings(const struct session_ref *ref, struct buf *out);

store_blocks_fn droid_blocks;

#endif
