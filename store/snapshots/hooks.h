#ifndef STORE_SNAPSHOTS_HOOKS_H
#define STORE_SNAPSHOTS_HOOKS_H

#include "lite/base/arena.h"
#include "store/api/store.h"
#include "store/snapshots/hook_edit.h"
#include "store/snapshots/snapshot.h"

/* Turns snapshots on and off in the configurations of agents, and reads what their hooks are told. */

/* ---- on and off ---- */

struct hook_plan {
    const struct store_ops *ops;
    const char *path;               /* the path of the configuration; NULL: not known */
    struct hook_text before, after; /* equal: nothing would change */
    bool new_dir;                   /* its directory is made and removed with it */
    bool has;                       /* our hooks are in it now */
    bool untrusted;       /* they are, but the agent does not run them yet (agent_hooks.trust) */
    const char *refused;  /* why it cannot be changed; NULL: it can */
    const char *disabled; /* the setting by which the agent runs no hooks; NULL: none */
    bool used;            /* the agent has a directory of its own */
    bool server;          /* it is about our server (hook_plan_server), not about hooks */
    bool skill;           /* about our skill (hook_plan_skill) */
};

/* Reads one agent's configuration and makes the text with our hooks (`on`) or without them. Everything is in the arena.
 * A fault of the file becomes `refused`. ERR_NOMEM. */
MUST_CHECK enum err_code hook_plan_make(const struct store_env *env, const struct store_ops *ops,
                                        const struct hook_program *program, bool on,
                                        struct arena *a, struct hook_plan *out, struct err *e);
/* The same for the list of servers that the agent starts, which ops->mcp describes. */
MUST_CHECK enum err_code hook_plan_server(const struct store_env *env, const struct store_ops *ops,
                                          const struct hook_program *program, bool on,
                                          struct arena *a, struct hook_plan *out, struct err *e);
/* The same for a skill, a file of its own with this text, beside the list of servers. Another text of it is replaced. */
MUST_CHECK enum err_code hook_plan_skill(const struct store_env *env, const struct store_ops *ops,
                                         const char *name, struct slice text, bool on,
                                         struct arena *a, struct hook_plan *out, struct err *e);
bool hook_plan_changes(const struct hook_plan *p);
/* Makes all of these changes as one change of the operation log, whose id is written to `id`. ERR_STALE: a file is not
 * what was read. */
MUST_CHECK enum err_code hook_plans_apply(const struct store_env *env,
                                          const struct hook_plan *const plans[], size_t n, bool on,
                                          char id[64], struct err *e);

/* ---- what a hook is told ---- */

enum { HOOK_INPUT_MAX = 4 * 1024 * 1024 };

/* Fills in a request from the JSON of an agent's hook, which may be torn or no JSON at all; texts are in the arena. Returns
 * false if no snapshot is to be taken: the event is that of a sub-agent or no prompt, or the project or the session is
 * not told. The reason is in *why. */
bool hook_request_read(const struct store_ops *ops, enum hook_event event, struct slice input,
                       struct arena *a, struct snapshot_request *out, const char **why);
/* Adds one line to <state>/snapshots.log, of which the last 32 to 64 KB are kept. Failures are ignored. */
void hook_log_add(const struct store_env *env, struct slice line);

#endif
