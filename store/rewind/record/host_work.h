#ifndef STORE_REWIND_RECORD_HOST_WORK_H
#define STORE_REWIND_RECORD_HOST_WORK_H

#include "store/api/store.h"
#include "store/rewind/plan/rewind.h"

/* The state in which a host left files at the end of a turn. Agents' own formats have no place for it: their snapshots
 * are of the state before a change, and from plain messages it does not follow what the change was. So it is our own
 * record, one log for each session, <state>/host-work/<SHA-256 of "system:session">.jsonl, of lines {"path", "sha256"}:
 * the newest line of a path counts, and an empty sha256 means that there was no file. A file that is still in this state
 * is the session's work, and a rewind restores it like one that the agent's own rows explain. */

#define HOST_WORK_DIR "host-work"

/* Records the present state of files. Several hosts may do so at once; a short lock on <state>/host-work/.lock keeps their
 * lines (ERR_LOCKED after 5 s). ERR_UNSAFE: a path is not absolute, or does not lead to a regular file; nothing is then
 * recorded. */
MUST_CHECK enum err_code host_work_record(const struct session_ref *ref, const char *const *file,
                                          size_t n, struct err *e);
/* Sets work_sha256 of the plan's targets. */
MUST_CHECK enum err_code host_work_add(const struct store_env *env, struct rewind_plan *plan,
                                       struct err *e);

#endif
