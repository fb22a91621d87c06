#ifndef STORE_SYSTEMS_ENTIRE_PLANNING_H
#define STORE_SYSTEMS_ENTIRE_PLANNING_H

#include "store/rewind/rewind.h"
#include "store/systems/entire/view.h"

/* A rewind being planned: the trees it is decided by. Shared by plan.c and planning.c only. */
struct planning {
    struct view view;
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
    bool has_start;                /* there is a state that could say so */
    size_t apart, links, filtered; /* entries that were left out */
};

/* Reads the list of the session's beginning. */
MUST_CHECK enum err_code planning_start(struct planning *p, struct err *e);
bool planning_at_start(const struct planning *p, const char *path);
/* A file of a tree: its blob and mode. */
bool planning_entry(const struct planning *p, const git_oid *tree, const char *path, git_oid *blob,
                    unsigned *mode);
/* Every file of the wanted tree, as a target. */
MUST_CHECK enum err_code planning_files(struct planning *p, struct rewind_plan *plan,
                                        struct err *e);
/* What the newest tree says of the file. ERR_NOMEM. */
MUST_CHECK enum err_code planning_last(const struct planning *p, const char *path,
                                       struct rewind_target *t, struct arena *a);

#endif
