#ifndef STORE_SYSTEMS_ENTIRE_REWIND_PLANNING_H
#define STORE_SYSTEMS_ENTIRE_REWIND_PLANNING_H

#include "store/rewind/plan/rewind.h"
#include "store/systems/entire/read/view.h"
#include "store/systems/entire/rewind/disktree.h"

/* A rewind being planned: the trees it is decided by. Private to
 * plan.c, planning.c, planning_run.c and plan_turn.c. */
struct planning {
    struct view view;
    struct disktree_rules rules;
    const struct point *point;
    bool entire_rule; /* as the seed-time program does it */
    git_oid wanted;   /* tree that the work tree shall have */
    git_oid head;     /* of HEAD */
    git_oid last;     /* the newest that the sessions know of the work tree */
    bool has_head, has_last;
    struct slice *
        start; /* sorted: files that were there when the session began (all of them, in spite of their key's
                            name; entire.md 2.2) */
    size_t starts;
    bool has_start;                         /* there is a state that could say so */
    size_t apart, links, filtered, ignored; /* entries that were left out */
};

/* Reads the list of the session's beginning. */
MUST_CHECK enum err_code planning_start(struct planning *p, struct err *e);
bool planning_at_start(const struct planning *p, const char *path);
/* A file of a tree: its blob and mode. */
bool planning_entry(const struct planning *p, const git_oid *tree, const char *path, git_oid *blob,
                    unsigned *mode);
/* One file of a tree, as a target; one that is to go. */
MUST_CHECK enum err_code planning_file(struct planning *p, const char *path, const git_oid *blob,
                                       unsigned mode, struct rewind_plan *plan, struct err *e);
MUST_CHECK enum err_code planning_removal(struct planning *p, const char *path,
                                          struct rewind_plan *plan, struct err *e);
/* Is it a file, no link and no submodule? */
bool planning_is_plain(const git_diff_file *file);
/* Every file of the wanted tree, as a target. */
MUST_CHECK enum err_code planning_files(struct planning *p, struct rewind_plan *plan,
                                        struct err *e);
/* What the newest tree says of the file. ERR_NOMEM. */
MUST_CHECK enum err_code planning_last(const struct planning *p, const char *path,
                                       struct rewind_target *t, struct arena *a);

/* Opens the view, finds the point, and has a plan made of them. */
typedef enum err_code planning_fn(struct planning *p, struct rewind_plan *plan, struct err *e);
MUST_CHECK enum err_code planning_run(const struct store *st, const struct session_ref *ref,
                                      struct slice point, struct planning *p, planning_fn *make,
                                      struct rewind_plan *out, struct err *e);
/* Whose plan it is, and from when; and what a person should know of it. */
MUST_CHECK enum err_code planning_describe(struct planning *p, struct rewind_plan *plan,
                                           struct err *e);
MUST_CHECK enum err_code planning_notes(const struct planning *p, struct rewind_plan *plan,
                                        struct err *e);

#endif
