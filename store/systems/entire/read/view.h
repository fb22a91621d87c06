#ifndef STORE_SYSTEMS_ENTIRE_READ_VIEW_H
#define STORE_SYSTEMS_ENTIRE_READ_VIEW_H

#include "store/systems/entire/entire.h"

/* A session together with the work tree that its checkpoints are of, and the repository opened there: what listing
 * points and planning a rewind need. Reads only. */
struct view {
    const struct entire *store;
    struct catalog *catalog; /* held */
    const struct catalog_session *session;
    git_repository *repo;
    const char *root; /* the work tree; NULL: there is none here (bare, or it is gone) */
    struct arena arena;
};

MUST_CHECK enum err_code view_open(const struct store *st, const struct session_ref *ref,
                                   struct view *out, struct err *e);
void view_close(struct view *v);
/* Where the session worked, if that is a work tree of this repository and still there; else the one that was opened;
 * NULL: there is none. */
const char *view_root(const struct entire *x, const struct catalog_session *s);

/* Does the work tree hold the .git that leads to this repository? */
bool view_root_is_own(const struct view *v);

/* The tree before a shadow point: that of the commit before it, else of the commit it was made on. */
bool view_before(const struct view *v, const struct point *p, git_oid *tree);
/* The tree of a commit, of HEAD, of the tip of a branch (without refs/heads/). */
bool view_commit_tree(const struct view *v, const git_oid *commit, git_oid *tree);
bool view_head_tree(const struct view *v, git_oid *tree);
bool view_branch_tree(const struct view *v, const char *branch, git_oid *tree);
/* A file of a tree: its blob and mode. */
bool view_tree_entry(const struct view *v, const git_oid *tree, const char *path, git_oid *blob,
                     unsigned *mode);
/* The session's point with this id, or the only one that begins with it. ERR_NOT_FOUND, ERR_USAGE. */
MUST_CHECK enum err_code view_point(const struct view *v, struct slice id, const struct point **out,
                                    struct err *e);

#endif
