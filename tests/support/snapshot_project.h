#ifndef TESTS_SUPPORT_SNAPSHOT_PROJECT_H
#define TESTS_SUPPORT_SNAPSHOT_PROJECT_H

#include "store/snapshots/snapshot.h"
#include "tests/support/folder.h"

/* A project of which a test takes snapshots. Every call fails the test (cmocka) if it cannot do its work. */
struct project {
    struct folder f;
    char root[4096], state[4096], home[4096];
    struct store_env env;
};

/* A project with a few files, of which git ignores some, and no repository. */
void project_begin(struct project *p);
/* Runs a command in the project; returns the first line that it prints. */
const char *project_run(const struct project *p, const char *command, char out[256]);
enum err_code project_take(struct project *p, enum snapshot_kind kind);
/* The newest line of the log, which the caller releases. */
struct snapshot project_newest(struct project *p, struct snapshot_log *log);
/* What git reads from the snapshots: $T is the newest tree, $N the notes. */
const char *project_ask(struct project *p, const char *command, char out[256]);
/* The newest tree has to be the one that git would write for these files. */
void project_is_tree_of_git(struct project *p);
/* The number of packs. */
size_t project_packs(struct project *p);
/* The only store of snapshots; the caller releases the list. */
struct snapshot_project project_only(struct project *p, struct snapshot_projects *all);

#endif
