#ifndef STORE_PROC_LIVE_H
#define STORE_PROC_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/api/session.h"

struct store_env;

/* ---- the registry of running agents (live_registry.c) ---- */

/* Which sessions running agents have open. Each interactive Claude Code keeps <config>/sessions/<pid>.json while it
 * runs and removes it when it ends. After a kill the file stays, and its pid may later belong to another process, so an
 * entry counts only if the start time of the process matches. A pid has no meaning on another machine or in another
 * container, which pidDomain shows ("linux:<machine id>:pid:[<namespace>]"). The result is then unknown, and writers
 * treat that as running. */
struct live_entry {
    struct slice session_id;
    struct live live;
    struct slice system; /* published by a host; otherwise empty */
    /* published by a host or by Claude Code, if it runs; otherwise unknown and empty */
    enum session_state state;
    struct slice waits_for; /* with SESSION_REQUIRES_ACTION, for a person */
    struct slice metadata;  /* external metadata of a host: a JSON object; may be empty */
    bool has_since;
    int64_t since_ms;
    unsigned flags; /* SESSION_SHELL, SESSION_BACKGROUND */
};

struct live_table {
    struct arena arena;
    struct live_entry *entry; /* owned */
    size_t n, cap;
    bool unreadable; /* the registry exists and cannot be read: every result is LIVE_UNKNOWN */
};

/* Reads the registry of a configuration directory once; *out need not be initialised. A missing registry is an empty
 * table. Files that are not entries (other names, not JSON, larger than LIVE_ENTRY_MAX) are ignored. */
MUST_CHECK enum err_code live_read(const char *config, struct live_table *out, struct err *e);
/* Returns the most active of several entries for one session. */
struct live live_of(const struct live_table *table, struct slice session_id);
void live_fini(struct live_table *table);

/* ---- sessions of hosts ---- */

/* The state of a session that a host runs is in a file of the same form, <state>/hosts/<pid>-<uuid>.json, with the
 * additional members bootId, system, state and metadata (store/host/host_state.h). A process that only writes to a session
 * publishes no state. */
#define LIVE_HOSTS_DIR "hosts"
enum { LIVE_ENTRY_MAX = 256 * 1024 }; /* bytes; larger files are not entries, as for Claude Code */

/* Reads these files. The table is empty if the environment has no state directory. */
MUST_CHECK enum err_code live_read_hosts(const struct store_env *env, struct live_table *out,
                                         struct err *e);
/* Returns the entry of a host that has the session open, or may have it open; NULL if there is no entry. Entries of the
 * process `except` are ignored (0: all entries count). It is valid until live_fini(). */
const struct live_entry *live_find_host(const struct live_table *table,
                                        const struct session_ref *ref, pid_t except);
/* Returns the process that has announced that it writes to a session of a system ("claude"); 0: no other process. */
pid_t live_host_pid(const struct store_env *env, const char *system, const char *session);
/* Completes a described row with what its host publishes. Returns false if out of memory. */
bool live_show_host(const struct live_table *table, struct session_row *row);
/* Writes the members pid, procStart and pidDomain of this process. */
void live_write_process(struct jsonout *j);
/* Removes the files of processes that have ended. */
void live_sweep_hosts(const char *dir);

/* The registry for many callers. A look-up reads it again only if the last reading is older than a second, so that a
 * list of ten thousand rows reads it once and a list that stays open is kept up to date. Any thread may call it. */
struct live_cache;

struct live_cache *live_cache_new(const char *config); /* NULL if out of memory */
void live_cache_free(struct live_cache *w);            /* NULL is fine */
/* Returns LIVE_UNKNOWN if out of memory. */
struct live live_cache_lookup(struct live_cache *w, struct slice session_id);
/* Reads the registry again, whatever its age, and delivers its entries until the function returns false. The function
 * must not call the cache. */
void live_cache_each(struct live_cache *w, bool (*fn)(const struct live_entry *entry, void *arg),
                     void *arg);
/* Completes a described row with what its running agent publishes. Returns false if out of memory. */
bool live_cache_show(struct live_cache *w, struct session_row *row);

/* ---- the check before a change (live.c) ---- */

/* Determines for each of n sessions whether a program is writing to it. Consecutive sessions of one
 * store are checked together if the store can do that (live_many of store_ops).
 *
 * A program that reopens a session's files for each row is in no registry and keeps nothing open: only changes of the
 * files reveal it. So the quiet sessions that were written to in the last ten seconds, or since the command began, are
 * watched for 300 ms, all together. One that changes becomes LIVE_UNKNOWN.
 *
 * A program that reads a session has it open for a moment, and looks like an agent meanwhile. So an open file
 * is checked again for up to 300 ms before the session becomes LIVE_RUNNING. */
MUST_CHECK enum err_code live_check(const struct session_ref *const ref[], size_t n,
                                    struct live out[], struct err *e);

/* ---- processes (agents.c) ---- */

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
