#ifndef STORE_SYSTEMS_OPENCODE_TREES_H
#define STORE_SYSTEMS_OPENCODE_TREES_H

#include <git2.h>

#include "store/systems/opencode/opencode.h"

/* The repositories with the snapshots of a project. Each work tree of the project has a separate
 * one, and a tree is looked up in all of them, because an object has the same id in each. Old trees
 * disappear, because OpenCode prunes them after seven days. */
enum { OPENCODE_REPOSITORIES_MAX = 16 };

struct opencode_repository {
    git_repository *repo;
    const char *objects; /* in the arena */
};

struct opencode_trees {
    struct opencode_repository in[OPENCODE_REPOSITORIES_MAX];
    size_t n;
    bool shut;           /* one of them could not be opened */
    struct arena *arena; /* borrowed */
};

/* Opens those that can be opened, if any. */
MUST_CHECK enum err_code opencode_trees_open(const struct store *st, const struct opencode_steps *s,
                                             struct arena *a, struct opencode_trees *out,
                                             struct err *e);
void opencode_trees_close(struct opencode_trees *t);
/* The index of the repository with this tree (40 hex digits); n if no repository has it. */
size_t opencode_trees_find(const struct opencode_trees *t, struct slice hex, git_oid *out);

/* The same for both trees of a step. */
size_t opencode_trees_find_both(const struct opencode_trees *t, const struct opencode_step *step,
                                git_oid *before, git_oid *after);

/* A file in a tree. */
struct opencode_entry {
    bool exists;
    bool plain; /* a regular file, not a link or a submodule */
    git_oid blob;
    unsigned mode;
};

/* Returns false if the tree cannot be read. */
bool opencode_trees_entry(git_repository *repo, const git_oid *tree, const char *path,
                          struct opencode_entry *out);

#endif
