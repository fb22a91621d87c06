#ifndef STORE_SYSTEMS_ENTIRE_READ_SHADOW_H
#define STORE_SYSTEMS_ENTIRE_READ_SHADOW_H

#include "store/systems/entire/read/point.h"

/* Shadow branches (entire.md 2.4, 2.5): temporary checkpoints, one branch for a commit and a work tree, shared by all
 * sessions there. */

enum {
    SHADOW_COMMITS_MAX = 20000,
    SHADOW_ALL_MAX = 200000
}; /* of one branch, of all: more are not looked at */

/* A branch whose name has the shape. */
struct shadow {
    struct slice branch; /* without refs/heads/ */
    git_oid tip;
    bool doubtful; /* no trailer of Entire's at the tip, no suffix: perhaps a person's branch */
    bool cut;      /* not all of its commits were read: whose they are, nobody knows */
};

struct shadow_list {
    struct shadow *shadow; /* in the arena */
    size_t n;
};

/* All of them with their commits as points, newest first. A branch that cannot be read is a problem. */
MUST_CHECK enum err_code shadow_read(git_repository *repo, struct arena *a,
                                     struct shadow_list *list, struct point_list *points,
                                     struct problem_list *problems, struct err *e);

#endif
