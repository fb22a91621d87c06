#ifndef STORE_SYSTEMS_CLINE_CLINE_H
#define STORE_SYSTEMS_CLINE_CLINE_H

#include "store/systems/common/document.h"
#include "store/systems/common/session_dirs.h"

/* The sessions of the Cline CLI (docs/formats/cline.md): its path is $CLINE_DATA_DIR, $CLINE_DIR/data or ~/.cline/data, or that of the
 * sessions alone, $CLINE_SESSION_DATA_DIR, with
 *
 *   sessions/<id>/<id>.json                 the session: directory, title, times, checkpoints
 *   sessions/<id>/<id>.messages.json        the whole conversation as one document, which is written anew each time
 *   sessions/<id>/<agent>.messages.json     those of its sub-agents
 *
 * Only read. The store is a struct jsonl_store. */
extern const struct store_ops cline_ops;
extern const struct index_keys cline_keys;

/* ---- chat.c: the messages of a document ---- */

/* The document about a session, or an empty one. ERR_NOMEM. */
MUST_CHECK enum err_code cline_session_read(const struct session_ref *ref, struct buf *out);
/* Reads at most `most` bytes from the beginning of a document and as many from its end. A prompt
 * whose answer was interrupted is not in the document; the prompt in the session's document is used
 * instead. */
MUST_CHECK enum err_code cline_chat_read(const struct session_ref *ref, size_t most,
                                         struct document_rows *out, struct err *e);

/* The text that a person wrote, without Cline's additions for the model; empty if the message is
 * not a person's. In the arena or borrowed. */
struct slice cline_prompt(struct slice message, struct arena *a);
/* The same for a text. */
struct slice cline_typed(struct slice text, struct arena *a);
/* Returns true if the message contains the result of a tool. */
bool cline_is_result(struct slice message);
bool cline_role_is(struct slice message, const char *role);
/* The time of a message; TIME_NONE: not recorded. */
int64_t cline_time(struct slice message);

/* ---- cline.c, show.c: members ---- */

store_describe_fn cline_describe;
store_load_fn cline_load;
store_tail_fn cline_tail;
store_blocks_fn cline_blocks;
store_usage_fn cline_usage;
store_subagents_fn cline_subagents;
store_subagent_fn cline_subagent;
store_describe_subagents_fn cline_describe_subagents;

/* ---- points.c: members ---- */

store_edits_fn cline_edits;
store_checkpoints_fn cline_checkpoints;
store_plan_fn cline_plan;

#endif
