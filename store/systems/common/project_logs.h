#ifndef STORE_SYSTEMS_COMMON_PROJECT_LOGS_H
#define STORE_SYSTEMS_COMMON_PROJECT_LOGS_H

#include "store/systems/common/jsonl.h"

/* An agent that keeps its logs in one folder for each project. Its store begins with a struct jsonl_store whose folder
 * contains the projects' folders, and whose format has a struct project_logs. Different projects may have the same
 * folder name, so describe compares the directory that a session's rows record (project_logs_collides). */
struct project_logs {
    /* The folder that the agent names after a directory, in the arena; .p NULL: out of memory. */
    struct slice (*folder_of)(struct slice directory, struct arena *a);
    /* The folders with logs inside that folder, "" for the folder itself; NULL-terminated. */
    const char *const *inside;
    /* The id in the name of a log, borrowed from it. Returns false if the file is not a log. */
    bool (*name_id)(const char *name, struct slice *id);
};

/* Both work as the members of struct store_ops. A file directly in the store's folder belongs to every project. */
MUST_CHECK enum err_code project_logs_enumerate(const struct jsonl_store *s,
                                                const struct project_logs *logs,
                                                const struct scope *scope, session_ref_fn *fn,
                                                void *arg, struct err *e);
/* The first log with this id. */
MUST_CHECK enum err_code project_logs_find(const struct jsonl_store *s,
                                           const struct project_logs *logs,
                                           const struct scope *scope, struct slice id,
                                           struct arena *a, struct session_ref *ref, struct err *e);
/* The log at this path, if it is below the store's folder. */
MUST_CHECK enum err_code project_logs_at_path(const struct jsonl_store *s,
                                              const struct project_logs *logs, struct slice path,
                                              struct arena *a, struct session_ref *ref,
                                              struct err *e);
/* Returns true if the session belongs to another directory, which the scope does not include. */
bool project_logs_collides(const struct scope *scope, struct slice cwd);

#endif
