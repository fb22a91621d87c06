#ifndef STORE_SYSTEMS_ENTIRE_READ_TASKS_H
#define STORE_SYSTEMS_ENTIRE_READ_TASKS_H

#include "store/api/session.h"

/* The sub-agents of a session: those whose transcripts git keeps with the checkpoint of a task
 * (tasks/<tool use id>/agent-<id>.jsonl, docs/formats/entire.md 2.5), and those beside a transcript of Claude Code on this
 * machine. If both have one, the file on this machine is read.
 *
 * A sub-agent's ref has the session's store and an id of its own, and its folder names the transcript
 * (ENTIRE_AGENT_FOLDER, conversation.h). */

/* The session as one of Claude Code's if its transcript is on this machine; texts in the arena. */
bool entire_tasks_live_ref(const struct session_ref *ref, struct arena *a,
                           struct session_ref *live);

#endif
