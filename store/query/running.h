#ifndef STORE_QUERY_RUNNING_H
#define STORE_QUERY_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lite/base/err.h"
#include "store/api/session.h"
#include "store/api/store.h"

/* The sessions that run now, in all stores.
 *
 * What is known differs by agent. Claude Code and hosts publish what each of their sessions does: it waits for a person,
 * runs, or is idle. Codex, Copilot, ExAthena, Qwen, Entire and the Go sessions show only that a program has the session
 * open (store_live_fn); the state of such a session stays unknown. Any other session is here
 * if it was written to less than RUNNING_RECENT_MS ago, and its newest message was then at most RUNNING_BEHIND_MS old; its
 * row then has no SESSION_LIVE. */
enum {
    RUNNING_RECENT_MS = 60 * 1000,
    RUNNING_BEHIND_MS = 10 * 60 * 1000,
    /* Whether a program has a session open is looked up only for those that were written to since then, because every
     * look-up costs a system call. */
    RUNNING_LOOKED_UP_MS = 24 * 60 * 60 * 1000,
};

struct running {
    struct session_row **row; /* owned; those that wait for a person first, then the newest first */
    size_t n, cap;
};

/* Reads the local stores; those without the operation to enumerate, and stores on servers, have no rows here. */
MUST_CHECK enum err_code running_read(struct store *const stores[], size_t n,
                                      const struct scope *scope, struct running *out,
                                      struct err *e);
void running_fini(struct running *r);
/* Returns true if the process of one of them has ended, which changes no file. */
bool running_ended(const struct running *r);
/* "waiting", "busy", "shell", "idle"; "open" if only that is known, "wrote" if not even that. A literal. */
const char *running_state(const struct session_row *row);
/* Since when it is in that state, or when it wrote last. */
int64_t running_since_ms(const struct session_row *row);

/* How many sessions are in each published state. This opens no session and lists no folder. */
struct running_counts {
    size_t waiting, busy, idle;
};

MUST_CHECK enum err_code running_count(struct store *const stores[], size_t n,
                                       struct running_counts *out, struct err *e);

#endif
