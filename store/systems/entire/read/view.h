#ifndef STORE_SYSTEMS_ENTIRE_READ_VIEW_H
#define STORE_SYSTEMS_ENTIRE_READ_VIEW_H

#include "store/systems/entire/entire.h"

/* A session with the work tree of its checkpoints and the repository opened there, for listing
 * checkpoints and planning a rewind. Nothing here writes. */
struct view {
    const struct entire *store;
    struct catalog *catalog; /* held until view_close */
    const struct catalog_session *session;
    git_repository *repo;
    const char *root; /* the work tree; NULL: bare, or it is gone */
    struct arena arena;
};

MUST_CHECK enum err_code view_open(const struct store *st, const struct session_ref *ref,
                                   struct view *out, struct err *e);
void view_close(struct view *v);
/* The directory in which the session worked, if that is an existing work tree of this repository; otherwise the one
 * that was opened, or NULL. */
const char *view_root(const struct entire *x, const struct catalog_session *s);
/* Returns true if the .git of the work tree leads to this repository. */
bool view_root_is_own(const struct view *v);

/* The session's point with this id, or the only one whose id begins with it. ERR_NOT_FOUND: no such
 * point. ERR_USAGE: several. */
MUST_CHECK enum err_code view_point(const struct view *v, struct slice id, const struct point **out,
                                    struct err *e);

/* ---- the shadow branch ---- */

/* Returns true if the session works on the shadow branch, or has commits on it. */
bool view_owns_shadow(const struct view *v, const struct shadow *shadow);
/* Returns true if the branch on which the session works exists but is not in the catalog because it
 * could not be read. The session must have a state. */
bool view_shadow_is_unread(const struct view *v);

/* ---- trees ---- */

/* The tree of a commit, of HEAD, and of the tip of a branch (without refs/heads/). */
bool view_commit_tree(const struct view *v, const git_oid *commit, git_oid *tree);
bool view_head_tree(const struct view *v, git_oid *tree);
bool view_branch_tree(const struct view *v, const char *branch, git_oid *tree);
/* The blob and the mode of a file in a tree. */
bool view_tree_entry(const struct view *v, const git_oid *tree, const char *path, git_oid *blob,
                     unsigned *mode);

/* The difference between a point and the one before it. A shadow commit is compared with the
 * previous commit on the branch, even one of another session; the first one is compared with the
 * commit that it was made on. For a committed checkpoint, the difference is the change of the
 * commit that names it. */
struct view_turn {
    git_oid before, after;
    bool has_before; /* false: the commit has no parent */
    bool too_large;  /* why opening failed: the trees differ too much (repo_tree_fits) */
    git_diff *diff;
};

/* link: the commit that names a committed point, or NULL. Returns false if the difference is unknown or unreadable. */
bool view_turn_open(const struct view *v, const struct point *p, const struct link *link,
                    struct view_turn *out);
void view_turn_close(struct view_turn *t); /* a zeroed one is fine */
/* Returns true if this is a file of the user, not one of Entire's own. */
bool view_is_work(const git_diff_delta *delta);

#endif
