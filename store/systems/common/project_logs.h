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
    /* Optional. The id in the name of a log, borrowed from it. Returns false if the file is not a log. NULL: logs are
     * named <id>.jsonl. */
    bool (*name_id)(const char *name, struct slice *id);
};

/* A file directly in the store's folder belongs to every project. */
store_enumerate_fn project_logs_enumerate;
/* The first log with this id. */
store_find_fn project_logs_find;
/* The log at this path, if it is below the store's folder. */
store_at_path_fn project_logs_at_path;
/* Returns true if the session belongs to another directory, which the scope does not include. */
bool project_logs_collides(const struct scope *scope, struct slice cwd);

#endif
