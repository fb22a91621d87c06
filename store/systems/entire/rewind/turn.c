#include "store/systems/entire/rewind/turn.h"

#include <string.h>

#include "store/git/repo.h"

bool turn_is_work(const git_diff_delta *delta)
{
    return strncmp(delta->new_file.path, ".entire/", 8) != 0;
}

static bool trees_of_commit(const struct view *v, const git_oid *commit, struct turn_diff *t)
{
    git_commit *c = NULL;
    git_oid up;

    if (git_commit_lookup(&c, v->repo, commit))
        return false;
    t->after = *git_commit_tree_id(c);
    t->has_before = git_commit_parentcount(c) > 0;
    if (t->has_before)
        up = *git_commit_parent_id(c, 0);
    git_commit_free(c);
    return !t->has_before || view_commit_tree(v, &up, &t->before);
}

static bool find_turn_trees(const struct view *v, const struct point *p, const struct link *link,
                            struct turn_diff *t)
{
    if (p->source != POINT_SHADOW)
        return link && trees_of_commit(v, &link->commit, t);
    t->after = p->tree;
    t->has_before = view_before(v, p, &t->before);
    return t->has_before;
}

bool turn_diff_open(const struct view *v, const struct point *p, const struct link *link,
                    struct turn_diff *out)
{
    struct turn_diff t = { .diff = NULL };
    git_tree *before = NULL, *after = NULL;
    bool ok = find_turn_trees(v, p, link, &t);

    t.too_large = ok && repo_tree_fits(v->repo, &t.after, t.has_before ? &t.before : NULL, NULL) ==
                            ERR_UNSUPPORTED;
    ok = ok && !t.too_large && git_tree_lookup(&after, v->repo, &t.after) == 0 &&
         (!t.has_before || git_tree_lookup(&before, v->repo, &t.before) == 0) &&
         git_diff_tree_to_tree(&t.diff, v->repo, before, after, NULL) == 0;

    git_tree_free(before);
    git_tree_free(after);
    *out = t;
    return ok;
}

void turn_diff_close(struct turn_diff *t)
{
    git_diff_free(t->diff);
    t->diff = NULL;
}
