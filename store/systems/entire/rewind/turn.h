#ifndef STORE_SYSTEMS_ENTIRE_REWIND_TURN_H
#define STORE_SYSTEMS_ENTIRE_REWIND_TURN_H

#include "store/systems/entire/read/links.h"
#include "store/systems/entire/read/view.h"

/* What happened between a point and the one before: of a shadow commit, against the commit before it on the branch, be that
 * of another session (what that one changed is in both); of a committed checkpoint, what the commit did that carries it. */
struct turn_diff {
    git_oid before, after;
    bool has_before; /* else there was nothing: the carrying commit is a first one */
    bool too_large;  /* why it could not be opened: more differs than is read (repo_tree_fits) */
    git_diff *diff;
};

/* link: the commit that carries a committed point; NULL where none does. False: it cannot be told, or read. */
bool turn_diff_open(const struct view *v, const struct point *p, const struct link *link,
                    struct turn_diff *out);
void turn_diff_close(struct turn_diff *t); /* a zeroed one is fine */
/* Is this a file of the user's, not of Entire's own? */
bool turn_is_work(const git_diff_delta *delta);

#endif
