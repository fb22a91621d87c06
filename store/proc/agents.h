#ifndef STORE_PROC_AGENTS_H
#define STORE_PROC_AGENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "lite/base/slice.h"
#include "store/proc/live.h"

/* Agents that run and say so nowhere: processes of this machine, known by the name of their program. An agent that is
 * asked to resume a session has its id on the command line; one that was started in a directory writes into the
 * sessions of that directory. Both are signs and no proof, so what follows from them is LIVE_UNKNOWN.
 *
 * What is known of the processes is read again when it is older than a second: a thousand sessions that are deleted at
 * once ask a thousand times. Any thread may ask. */
struct agents;

/* What an agent of a system looks like. A name without a slash is the program's own, or that of the script which an
 * interpreter runs; one with slashes is a part of its path. */
struct agents_profile {
    const char *proc;           /* the process table: "/proc" */
    const char *const *program; /* NULL-terminated */
    /* an option with which the named session is only read; NULL: there is none */
    const char *forks;
    const char *config;          /* the store: agents of another one do not count ... */
    const char *config_variable; /* ... which they have in this variable of theirs ... */
    const char *config_at_home;  /* ... or below their home directory */
};

/* NULL without memory. The texts are borrowed; config has to live as long as the agents. */
struct agents *agents_new(const struct agents_profile *of);
void agents_free(struct agents *a); /* NULL is fine */

struct agents_query {
    struct slice session;
    int64_t written_ms; /* mtime of its transcript: an agent that began later wrote nothing yet */
    const char *cwd;    /* the directory of the session; NULL: not known yet */
    const struct live_table *known; /* what signed in is looked up there, and passed over here */
};

enum agents_evidence {
    AGENTS_NONE,      /* no agent runs */
    AGENTS_ELSEWHERE, /* one does, and nothing says that it has this session */
    AGENTS_MAYBE,     /* cwd is not known, and would tell */
    AGENTS_IN_CWD, /* it runs in the session's directory, and the session was written to since it began */
    AGENTS_NAMED, /* it was started with the session's id */
};

/* The strongest sign; *pid is that process. */
enum agents_evidence agents_lookup(struct agents *a, const struct agents_query *q, pid_t *pid);

#endif
