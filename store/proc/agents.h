#ifndef STORE_PROC_AGENTS_H
#define STORE_PROC_AGENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "lite/base/slice.h"
#include "store/proc/live.h"

/* Running agents that no registry lists: processes on this machine, recognised by the name of their program. An agent
 * that was asked to resume a session has its id on the command line; one that was started in a directory writes to the
 * sessions of that directory. Neither is proof, so the result can only be LIVE_UNKNOWN.
 *
 * The process table is read again only if the last reading is older than a second, because deleting a thousand sessions
 * makes a thousand look-ups. Any thread may call this. */
struct agents;

/* How an agent of a system is recognised. A name without a slash is that of the program, or of the script that an
 * interpreter runs; a name with slashes is a part of its path. */
struct agents_profile {
    const char *proc;           /* the folder with the process table; NULL: ps(1) is used */
    const char *const *program; /* NULL-terminated */
    /* an option with which the agent only reads the named session; NULL if it has no such option */
    const char *forks;
    /* the store; agents of another store are ignored */
    const char *config;
    /* the variable that names an agent's store, and where the store is below the home directory without the variable */
    const char *config_variable, *config_at_home;
};

/* Returns NULL if out of memory. The texts are borrowed; config must outlive the agents. */
struct agents *agents_new(const struct agents_profile *of);
void agents_free(struct agents *a); /* NULL is fine */

struct agents_query {
    struct slice session;
    /* mtime of its transcript: an agent that started later has not written to it yet */
    int64_t written_ms;
    const char *cwd;                /* the directory of the session; NULL if not known yet */
    const struct live_table *known; /* registered processes are looked up there and ignored here */
};

enum agents_evidence {
    AGENTS_NONE,      /* no agent runs */
    AGENTS_ELSEWHERE, /* one runs, but nothing shows that it has this session */
    /* the directory of the session or the agent is needed but not known; or ps(1) failed */
    AGENTS_MAYBE,
    AGENTS_IN_CWD, /* it runs in the session's directory, and the session was written to since it started */
    AGENTS_NAMED, /* it was started with the session's id */
};

/* Returns the strongest evidence; *pid is the process. */
enum agents_evidence agents_lookup(struct agents *a, const struct agents_query *q, pid_t *pid);

#endif
