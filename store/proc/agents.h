#ifndef STORE_PROC_AGENTS_H
#define STORE_PROC_AGENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "lite/base/slice.h"
#include "store/proc/live.h"

/* Running agents that no registry lists: processes of this machine, known by the name of their program. An agent that
 * was asked to resume a session has its id on the command line; one that was started in a directory writes into the
 * sessions of that directory. Both are evidence and not proof, so the result can only be LIVE_UNKNOWN.
 *
 * The processes are read again when the last reading is older than a second, since deleting a thousand sessions asks
 * a thousand times. Any thread may ask. */
struct agents;

/* How an agent of a system is recognised. A name without a slash is that of the program, or of the script that an
 * interpreter runs; a name with slashes is a part of its path. */
struct agents_profile {
    const char *proc;           /* the folder with the process table; NULL: ps(1) is asked */
    const char *const *program; /* NULL-terminated */
    /* an option with which the named session is only read; NULL if the agent has no such option */
    const char *forks;
    const char *config; /* the store; agents of another store do not count. They have it ... */
    const char *config_variable; /* ... in this variable of theirs ... */
    const char *config_at_home;  /* ... or below their home directory */
};

/* Returns NULL if out of memory. The texts are borrowed; config must outlive the agents. */
struct agents *agents_new(const struct agents_profile *of);
void agents_free(struct agents *a); /* NULL is fine */

struct agents_query {
    struct slice session;
    /* mtime of its transcript: an agent that started later has not written yet */
    int64_t written_ms;
    const char *cwd;                /* the directory of the session; NULL if not known yet */
    const struct live_table *known; /* registered processes are looked up there and ignored here */
};

enum agents_evidence {
    AGENTS_NONE,      /* no agent runs */
    AGENTS_ELSEWHERE, /* one runs, and nothing shows that it has this session */
    AGENTS_MAYBE, /* cwd of the session or of the agent is not known, and would decide; or ps(1) failed */
    AGENTS_IN_CWD, /* it runs in the session's directory, and the session was written to since it started */
    AGENTS_NAMED, /* it was started with the session's id */
};

/* Returns the strongest evidence; *pid is that process. */
enum agents_evidence agents_lookup(struct agents *a, const struct agents_query *q, pid_t *pid);

#endif
