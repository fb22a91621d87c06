#ifndef STORE_SYSTEMS_ENTIRE_READ_CONVERSATION_H
#define STORE_SYSTEMS_ENTIRE_READ_CONVERSATION_H

#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"

/* The conversation of a session, opened: the agent's own transcript where it still lies on this machine, else the
 * newest copy that a checkpoint keeps (redacted, when it was committed).
 *
 * A transcript of Claude Code is read by the reader of that system, which wants a file: a copy out of a blob gets one
 * that has no name (memfd). Other agents' rows are shown plainly (plain_transcript.h). */
enum conversation_source { CONVERSATION_LIVE, CONVERSATION_CHECKPOINT };

struct entire_conversation {
    enum conversation_source from;
    bool claude; /* its rows are those of Claude Code */
    /* CONVERSATION_LIVE: the transcript; else the nameless file, when there is one */
    char path[4096];
    int fd; /* the nameless file, or -1 */
    /* What the checkpoint keeps; CONVERSATION_LIVE: empty until entire_conversation_bytes */
    struct buf bytes;
    bool hash_differs; /* from what the checkpoint says it is: real ones do, so it is only said */
    char checkpoint[GIT_OID_HEXSZ + 1]; /* CONVERSATION_CHECKPOINT: which */
};

/* ERR_NOT_FOUND: no transcript of it is left anywhere. */
MUST_CHECK enum err_code entire_conversation_open(const struct store *st,
                                                  const struct session_ref *ref,
                                                  struct entire_conversation *out, struct err *e);
/* As it was at one checkpoint: never the live one. */
MUST_CHECK enum err_code entire_conversation_open_at(git_repository *repo, const struct point *p,
                                                     struct entire_conversation *out,
                                                     struct err *e);
void entire_conversation_close(struct entire_conversation *t);
/* Of a sub-agent's checkpoint: the row at which it was made, its transcript's last; the id in the arena. False: it does not
 * say, or is none. */
bool entire_conversation_task_end(git_repository *repo, const struct point *p, struct arena *a,
                                  struct slice *uuid);
/* All of it in memory. */
MUST_CHECK enum err_code entire_conversation_bytes(struct entire_conversation *t, struct err *e);
/* The session as one of Claude Code's, for claude_ops: valid while the talk is open. */
struct session_ref entire_conversation_claude_ref(const struct entire_conversation *t,
                                                  const struct session_ref *ref);

/* The transcript on this machine where the agent itself would look: what the state says, else by the rules of Claude
 * Code. False: there is none to be named. It need not exist. */
bool entire_conversation_live_path(const struct entire *x, const struct catalog_session *s,
                                   struct arena *a, const char **path);
/* The same where it may be written: by the rules only, or what the state says when that is such a place itself. */
bool entire_conversation_write_path(const struct entire *x, const struct catalog_session *s,
                                    struct arena *a, const char **path);
/* <projects>/<the directory, all but letters and digits as '-'>/<id>.jsonl in the arena; NULL without memory. */
const char *entire_conversation_claude_path(const char *projects, const char *dir, struct slice id,
                                            struct arena *a);
/* Is it <projects>/<folder>/<id>.jsonl? */
bool entire_conversation_is_claude_path(struct slice path, const char *projects, struct slice id);
/* The display name of the session's agent; "" where nothing says it. */
struct slice entire_conversation_agent(const struct catalog_session *s);
/* Is it Claude Code, as far as the name of an agent tells? "" may be. */
struct view;
/* The conversation as it stands, or, where *at names a checkpoint of the session, as it was then: *at is empty afterwards,
 * or the row where a sub-agent's task ended, in the arena. */
MUST_CHECK enum err_code entire_conversation_open_source(const struct view *v,
                                                         const struct session_ref *ref,
                                                         struct slice *at, struct arena *a,
                                                         struct entire_conversation *out,
                                                         struct err *e);
/* An error that names the nameless file of a checkpoint's transcript names the session instead. Returns rc. */
enum err_code entire_conversation_error(const struct entire_conversation *t,
                                        const struct session_ref *ref, enum err_code rc,
                                        struct err *e);

/* The same, or nothing that names another: an old checkpoint calls its agent "Agent". */
bool entire_conversation_may_be_claude(struct slice agent);
bool entire_conversation_is_claude(struct slice agent);

#endif
