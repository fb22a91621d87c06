#ifndef STORE_SYSTEMS_ENTIRE_WRITE_AGENT_TRANSCRIPTS_H
#define STORE_SYSTEMS_ENTIRE_WRITE_AGENT_TRANSCRIPTS_H

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "store/api/env.h"

/* Where agents other than Claude Code look for the transcript of a session (formats/other-agents.md; Gemini as Entire
 * resolves it). The place follows from this machine and from the session's id, which is a plain file name. */
struct agent_session {
    struct slice agent; /* display name: "Gemini CLI" */
    struct slice id;
    struct slice transcript;
    const char *root; /* the work tree */
};

/* path: the file, that of the session where there is one already; folder: what has to be there, but for the last directory of
 * the path. In the arena. ERR_UNSUPPORTED: it is not known of this agent. ERR_NOT_FOUND: there is no home. */
MUST_CHECK enum err_code agent_transcript_path(const struct store_env *env,
                                               const struct agent_session *s, struct arena *a,
                                               const char **path, const char **folder,
                                               struct err *e);

#endif
