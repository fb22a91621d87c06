#ifndef STORE_SYSTEMS_PI_PI_H
#define STORE_SYSTEMS_PI_PI_H

#include "lite/json/json.h"
#include "store/api/store.h"
#include "store/systems/common/jsonl.h"

/* The sessions of pi (docs/formats/pi.md): its path is ~/.pi/agent/sessions, with <project>/<time>_<id>.jsonl, or a
 * directory of such files for all projects. A log is a header and a tree of entries; the conversation is the path from
 * its last entry to the root. The store is a struct jsonl_store whose folder is its path. */

extern const struct index_keys pi_keys;
extern const struct jsonl_format pi_format;
extern const struct project_logs pi_logs;
extern const struct store_ops pi_ops;
extern const struct agent_hooks pi_hooks; /* hooks.c */
extern const struct compose_ops pi_compose;

/* jsonl_format.usual; NULL: not known, or out of memory. */
char *pi_usual_path(const struct store_env *env);
/* The id in "<time>_<id>.jsonl". Returns false for any other name. */
bool pi_name_id(const char *name, struct slice *id);

store_usage_fn pi_usage;
store_checkpoints_fn pi_checkpoints; /* patches.c */
store_plan_fn pi_plan;
store_resume_at_fn pi_resume_at;
store_fork_fn pi_fork;

#endif
