#ifndef STORE_SYSTEMS_ENTIRE_READ_CONVERSATION_H
#define STORE_SYSTEMS_ENTIRE_READ_CONVERSATION_H

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "lite/json/json.h"
#include "store/api/transcript.h"
#include "store/fs/disk.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"

struct view;

/* The open conversation of a session: the agent's own transcript if it is on this machine,
 * otherwise the newest copy in a checkpoint (redacted if it was committed). Transcripts of Claude
 * Code are read by that system, which needs a file, so a copy from a blob is written to an unnamed
 * file (memfd). Rows of other agents are shown in a simple form (plain_transcript.c). */
enum conversation_source { CONVERSATION_LIVE, CONVERSATION_CHECKPOINT };

struct entire_conversation {
    enum conversation_source from;
    bool claude;     /* its rows are those of Claude Code */
    char path[4096]; /* the live transcript, or the unnamed file; "" if there is neither */
    struct fs_memory_file file; /* the unnamed file */
    /* The transcript. A live one is empty until entire_conversation_bytes is called. */
    struct buf bytes;
    /* The transcript does not match the hash in its checkpoint. This happens, and is only reported. */
    bool hash_differs;
    char checkpoint[GIT_OID_HEXSZ + 1]; /* CONVERSATION_CHECKPOINT: the checkpoint's id */
};

/* The prefix of a sub-agent's folder, which names its transcript. The 40 digits of the blob follow,
 * or nothing if the transcript is the file at its path. */
#define ENTIRE_AGENT_FOLDER "agent:"
/* Opens the transcript of a sub-agent by its ref. */
MUST_CHECK enum err_code entire_conversation_open_agent(const struct session_ref *ref,
                                                        struct entire_conversation *out,
                                                        struct err *e);
/* Opens the conversation of the session, or of the sub-agent whose ref this is. ERR_NOT_FOUND: no
 * transcript is left. */
MUST_CHECK enum err_code entire_conversation_open(const struct store *st,
                                                  const struct session_ref *ref,
                                                  struct entire_conversation *out, struct err *e);
/* Opens the conversation as it was at one checkpoint. */
MUST_CHECK enum err_code entire_conversation_open_at(git_repository *repo, const struct point *p,
                                                     struct entire_conversation *out,
                                                     struct err *e);
/* Opens the present conversation or, if *at names a checkpoint of the session, the one of that
 * checkpoint. Then *at is set to the row at which a sub-agent's task ended (in the arena), or
 * becomes empty. */
MUST_CHECK enum err_code entire_conversation_open_source(const struct view *v,
                                                         const struct session_ref *ref,
                                                         struct slice *at, struct arena *a,
                                                         struct entire_conversation *out,
                                                         struct err *e);
void entire_conversation_close(struct entire_conversation *t);
/* A variable that is closed at the end of its scope: AUTO_CONVERSATION c = ENTIRE_CONVERSATION_NONE; */
#define AUTO_CONVERSATION CLEANUP(entire_conversation_close) struct entire_conversation
#define ENTIRE_CONVERSATION_NONE ((struct entire_conversation){ .file.fd = -1 })

/* Loads all of it into memory. */
MUST_CHECK enum err_code entire_conversation_bytes(struct entire_conversation *t, struct err *e);
/* The session as one of Claude Code's, for claude_ops; valid while the conversation is open. */
struct session_ref entire_conversation_claude_ref(const struct entire_conversation *t,
                                                  const struct session_ref *ref);
/* Replaces the path of the unnamed file in an error by the path of the session. Returns rc. */
enum err_code entire_conversation_error(const struct entire_conversation *t,
                                        const struct session_ref *ref, enum err_code rc,
                                        struct err *e);
/* Finds the row at which the checkpoint of a sub-agent was made, the last one of its transcript; the id is in the
 * arena. Returns false for other checkpoints, or if the row is not recorded. */
bool entire_conversation_task_end(git_repository *repo, const struct point *p, struct arena *a,
                                  struct slice *uuid);

/* ---- the transcript on this machine ---- */

/* The path at which the agent itself looks for the transcript: the one in the state, or else by the
 * rules of Claude Code. Returns false if it cannot be determined. The file need not exist. */
bool entire_conversation_live_path(const struct entire *x, const struct catalog_session *s,
                                   struct arena *a, const char **path);
/* The path to which the transcript may be written: by the rules, or the one in the state if it
 * follows the rules. */
bool entire_conversation_write_path(const struct entire *x, const struct catalog_session *s,
                                    struct arena *a, const char **path);
/* <projects>/<the directory, with '-' for everything except letters and digits>/<id>.jsonl, in the
 * arena; NULL if out of memory. */
const char *entire_conversation_claude_path(const char *projects, const char *dir, struct slice id,
                                            struct arena *a);
/* Returns true if the path is <projects>/<folder>/<id>.jsonl. */
bool entire_conversation_is_claude_path(struct slice path, const char *projects, struct slice id);

/* The display name of the session's agent; "" if unknown. */
struct slice entire_conversation_agent(const struct catalog_session *s);
/* Returns true for the names of Claude Code, for "", and for "Agent", as old checkpoints call every agent. */
bool entire_conversation_may_be_claude(struct slice agent);

/* ---- sub-agents (tasks.c) ---- */

/* The sub-agents of a session: those whose transcripts git keeps with the checkpoint of a task
 * (tasks/<tool use id>/agent-<id>.jsonl, docs/formats/entire.md 2.5), and those beside a transcript of Claude Code on this
 * machine. If both have one, the file on this machine is read.
 *
 * A sub-agent's ref has the session's store and the sub-agent's id, and its folder names the
 * transcript (ENTIRE_AGENT_FOLDER). */

/* The session as one of Claude Code's if its transcript is on this machine; texts in the arena. */
bool entire_tasks_live_ref(const struct session_ref *ref, struct arena *a,
                           struct session_ref *live);

/* Transcripts of agents other than Claude Code, in a simple form: one row for each JSON line, or
 * for each message of a single document (Gemini). The speaker and the text are looked up where
 * agents usually put them; an unknown row is shown verbatim. */

/* An iterator over the rows of a transcript. */
struct plain_rows {
    bool document;             /* one JSON document, not one row in each line */
    struct slice rest;         /* if not: the lines to come */
    struct json_iter elements; /* if so: the messages to come */
};
void plain_rows_open(struct plain_rows *r, struct slice bytes);
/* The next row, skipping blank lines; broken: it is not JSON. */
bool plain_rows_next(struct plain_rows *r, struct slice *row, bool *broken);

enum message_kind plain_kind(struct slice row);
int64_t plain_time(struct slice row); /* TIME_NONE if missing */
/* The row's own id; empty if it has none. */
struct slice plain_id(struct slice row, struct arena *a);
/* The JSON value that contains the text; empty if it has no text. */
struct slice plain_content(struct slice row);
/* All text of the row, in the arena. Returns false if it has none, or if out of memory. */
bool plain_text(struct slice row, struct arena *a, struct slice *out);
MUST_CHECK enum err_code plain_blocks(struct slice row, struct block_list *out, struct err *e);

#endif
