#ifndef STORE_SYSTEMS_GROK_GROK_H
#define STORE_SYSTEMS_GROK_GROK_H

#include "store/systems/common/session_dirs.h"

/* The sessions of Grok Build (docs/formats/grok.md): its path is $GROK_HOME or ~/.grok, with
 *
 *   sessions/<directory, percent-encoded>/<id>/updates.jsonl         the log: what clients were told, piece by piece
 *   sessions/<directory, percent-encoded>/<id>/summary.json          title, directory, times, what kind of session it is
 *   sessions/<directory, percent-encoded>/<id>/rewind_points.jsonl   the files before and after each prompt
 *   sessions/<directory, percent-encoded>/<id>/subagents/<id>/       a sub-agent, whose session is beside the others
 *
 * A directory with a long name has a folder <slug>-<hash> with the name in a file .cwd. Only read. The store is a struct
 * jsonl_store. */
extern const struct store_ops grok_ops;
extern const struct jsonl_format grok_format;
extern const struct session_dirs grok_dirs;

/* The directory that a folder of sessions is named after, in the arena; empty if unknown. */
struct slice grok_directory(const struct jsonl_store *s, const char *folder, struct arena *a);

/* ---- log.c: the log as messages ---- */

/* The meaning of a line of the log. */
enum grok_kind {
    GROK_OTHER,
    GROK_PROMPT,  /* a piece of it */
    GROK_ANSWER,  /* likewise */
    GROK_THOUGHT, /* likewise */
    GROK_CALL,
    GROK_RESULT, /* the call has ended */
    GROK_COMPACTION,
    GROK_REWIND, /* prompts from `index` on are dropped */
};

struct grok_line {
    enum grok_kind kind;
    struct slice update;  /* raw JSON */
    struct slice content; /* raw JSON; may be empty */
    int64_t index;        /* the index of the prompt; -1: not recorded */
    int64_t time_ms;
};

/* Parses a line. Returns false if it is not a line of Grok. */
bool grok_line_read(struct slice line, struct grok_line *out);
/* The text of a piece, in the arena or borrowed. */
struct slice grok_text(struct slice content, struct arena *a);

/* Makes one row of each message of the present conversation:
 *
 *     {"id": "prompt-<n>" | "line-<n>", "kind": "user" | "agent" | "thought" | "call" | "result" | "note" | "seam",
 *      "time": ..., "text": ..., "update": <of a call or result>}
 *
 * The prompts are numbered as in rewind_points.jsonl. With `all`, messages that a rewind dropped
 * are included; their prompts have the id "undone-<n>". */
MUST_CHECK enum err_code grok_compose(const char *path, bool all, struct buf *rows, struct err *e);

/* ---- show.c ---- */

store_load_fn grok_load;
store_tail_fn grok_tail;
store_blocks_fn grok_blocks;
/* Returns true if the session belongs to a sub-agent, according to its summary.json. */
bool grok_is_subagent(const struct session_ref *ref);

/* ---- edits.c ---- */

store_edits_fn grok_edits;
store_usage_fn grok_usage;

/* ---- points.c ---- */

store_checkpoints_fn grok_checkpoints;
store_plan_fn grok_plan;

/* ---- grok.c ---- */

store_subagents_fn grok_subagents;
store_subagent_fn grok_subagent;

#endif
