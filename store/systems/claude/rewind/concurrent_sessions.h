#ifndef STORE_SYSTEMS_CLAUDE_REWIND_CONCURRENT_SESSIONS_H
#define STORE_SYSTEMS_CLAUDE_REWIND_CONCURRENT_SESSIONS_H

#include "store/api/store.h"

/* Other sessions of the same project that changed files of a plan after its point: each such target learns of the newest
 * (rewind_target.other). Only sessions whose file is younger than the point are looked at, and of those only the
 * file-history rows; a session that cannot be read changed nothing that we know of. */
MUST_CHECK enum err_code claude_concurrent_sessions(const struct store *st,
                                                    const struct session_ref *ref,
                                                    struct rewind_plan *plan, struct err *e);

#endif
