#ifndef STORE_SYSTEMS_ENTIRE_REWIND_PLAN_COMMON_H
#define STORE_SYSTEMS_ENTIRE_REWIND_PLAN_COMMON_H

#include <stdbool.h>

#include "lite/base/arena.h"
#include "lite/base/err.h"
#include "store/git/libgit2.h"
#include "store/git/tree_ignore.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/entire.h"

/* ---- the work tree (disktree.c) ---- */

/* The files that git ignores in a work tree: those that match a rule and are not in the index. A
 * file added by force is tracked like any other. Names are case-sensitive, whatever the value of
 * core.ignorecase. */
struct disktree_rules {
    git_repository *repo; /* borrowed */
    git_index *index;     /* NULL: it could not be read, and nothing counts as tracked */
};

void disktree_rules_open(git_repository *repo, struct disktree_rules *out);
void disktree_rules_close(struct disktree_rules *r);
/* path: of a file or directory, relative to the root. A directory is ignored if nothing below it is
 * tracked. libgit2 treats rules that it cannot read as no rules; therefore code that removes files
 * that are not ignored must check twice, with another repository handle. */
MUST_CHECK enum err_code disktree_is_ignored(const struct disktree_rules *r, const char *path,
                                             bool dir, bool *is, struct err *e);

/* The regular files of a work tree, by their paths from its root. Links are not followed, and .git, .entire, .claude
 * and .gemini are left out. */
struct disktree {
    const char **path; /* in the arena, sorted */
    size_t n;
};

/* If rules is NULL, files that git ignores and nested repositories are included. */
MUST_CHECK enum err_code disktree_read(const struct disktree_rules *rules, const char *root,
                                       struct arena *a, struct disktree *out, struct err *e);

/* Returns true if the path (relative to the root) is in one of the folders that a rewind does not
 * touch. */
bool disktree_apart(const char *path);

/* ---- plans (plan_common.c) ---- */

/* The parts that all plans of a rewind have in common. Used only by plan.c. */
struct planning {
    struct view view;
    struct disktree_rules rules;
    struct tree_ignore ignores; /* what git ignored when the wanted tree was made */
    const struct point *point;
    bool entire_rule; /* Entire's own rule decides which files are removed */
    git_oid wanted;   /* the tree that the work tree is to become */
    git_oid head;     /* the tree of HEAD */
    git_oid last;     /* the newest tree of the work tree that the sessions recorded */
    bool has_head, has_last;
    /* sorted: the files that existed when the session began (all of them, despite the name of the key
     * untracked_files_at_start) */
    struct slice *start;
    size_t starts;
    bool has_start;                         /* a state exists that would contain them */
    size_t apart, links, filtered, ignored; /* entries that were left out */
};

/* Opens the view, finds the point, and calls make to fill in the plan. */
typedef enum err_code planning_fn(struct planning *p, struct rewind_plan *plan, struct err *e);
MUST_CHECK enum err_code planning_run(const struct store *st, const struct session_ref *ref,
                                      struct slice point, bool entire_rule, planning_fn *make,
                                      struct rewind_plan *out, struct err *e);

/* Fills in the session, the point, the time and the root. Before the first file of the rewind is
 * written, the plan makes a commit of the present work tree under refs/reprise/before/, from which
 * git can restore everything even if our own undo record is lost. No branch is moved, and the index
 * is not touched. */
MUST_CHECK enum err_code planning_describe(struct planning *p, struct rewind_plan *plan,
                                           struct err *e);
/* Adds notes about the plan for the user. */
MUST_CHECK enum err_code planning_notes(const struct planning *p, struct rewind_plan *plan,
                                        struct err *e);
/* For each target that another session changed after the point, sets rewind_target.other to that
 * session. */
MUST_CHECK enum err_code planning_mark_concurrent(const struct planning *p,
                                                  struct rewind_plan *plan, struct err *e);

/* Reads the list of the files that existed when the session began. */
MUST_CHECK enum err_code planning_start(struct planning *p, struct err *e);
bool planning_at_start(const struct planning *p, const char *path);

/* Adds every file of the wanted tree as a target. */
MUST_CHECK enum err_code planning_files(struct planning *p, struct rewind_plan *plan,
                                        struct err *e);
/* Adds one file as a target: with the bytes of a blob, or to be removed. */
MUST_CHECK enum err_code planning_file(struct planning *p, const char *path, const git_oid *blob,
                                       unsigned mode, struct rewind_plan *plan, struct err *e);
MUST_CHECK enum err_code planning_removal(struct planning *p, const char *path,
                                          struct rewind_plan *plan, struct err *e);

#endif
