#include "store/blame/blame_commits.h"

#include <limits.h>
#include <string.h>

#include <git2.h>

#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/git/repo.h"

struct commit_walk {
    git_repository *repo;
    const char *path; /* below the work tree */
    int64_t since_ms;
    struct blame_commits *out;
};

/* Git records seconds, so a commit may seem older than an edit in the same second. */
static int64_t commit_ms(const git_commit *commit)
{
    return (int64_t)git_commit_time(commit) * 1000 + 999;
}

/* The file's blob in a commit; all zero if the commit does not have the file. */
static git_oid blob_in(const struct commit_walk *w, const git_commit *commit)
{
    git_oid id = { { 0 } };
    git_tree *tree = NULL;
    git_tree_entry *entry = NULL;

    if (!repo_tree(w->repo, git_commit_tree_id(commit), &tree, NULL) &&
        !git_tree_entry_bypath(&entry, tree, w->path))
        git_oid_cpy(&id, git_tree_entry_id(entry));
    git_tree_entry_free(entry);
    git_tree_free(tree);
    return id;
}

/* A merge that took the file from one of its parents did not change it. */
static bool changed_file(const struct commit_walk *w, const git_commit *commit)
{
    git_oid now = blob_in(w, commit);
    unsigned parents = git_commit_parentcount(commit);
    bool changed = parents > 0 || !git_oid_is_zero(&now);

    for (unsigned i = 0; i < parents && changed; i++) {
        git_commit *parent = NULL;

        if (git_commit_parent(&parent, commit, i))
            return false;
        git_oid was = blob_in(w, parent);

        changed = !git_oid_equal(&was, &now);
        git_commit_free(parent);
    }
    return changed;
}

static enum err_code add_commit(struct commit_walk *w, const git_commit *commit, struct err *e)
{
    struct blame_commits *c = w->out;
    struct blame_commit *list = arena_grow(&c->arena, c->commit, c->n, sizeof *list);
    const char *summary = git_commit_summary((git_commit *)(uintptr_t)commit);

    if (!list)
        return err_nomem(e);
    c->commit = list;
    list[c->n].time_ms = commit_ms(commit);
    list[c->n].subject = arena_copy(&c->arena, slice_of(summary ? summary : ""));
    git_oid_tostr(list[c->n].id, sizeof list[c->n].id, git_commit_id(commit));
    c->n++;
    return c->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code walk_commits(struct commit_walk *w, git_revwalk *walk, struct err *e)
{
    git_oid id;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < BLAME_COMMITS_MAX && !rc && !git_revwalk_next(&id, walk); i++) {
        git_commit *commit = NULL;

        if (git_commit_lookup(&commit, w->repo, &id))
            break;
        bool old = commit_ms(commit) < w->since_ms;

        if (!old && changed_file(w, commit))
            rc = add_commit(w, commit, e);
        git_commit_free(commit);
        if (old)
            break;
    }
    return rc;
}

/* The path below the work tree; NULL if it is not in it. */
static const char *path_below(git_repository *repo, const char *path)
{
    const char *top = git_repository_workdir(repo);
    size_t n = top ? strlen(top) : 0;

    return n && strncmp(path, top, n) == 0 ? path + n : NULL;
}

enum err_code blame_commits_read(const char *path, int64_t since_ms, struct blame_commits *out,
                                 struct err *e)
{
    struct commit_walk w = { .since_ms = since_ms, .out = out };
    char dir[PATH_MAX];
    git_revwalk *walk = NULL;
    enum err_code rc = ERR_OK;

    *out = (struct blame_commits){ .n = 0 };
    if (!path_parent(path, dir) || repo_open(dir, &w.repo, NULL))
        return ERR_OK;
    w.path = path_below(w.repo, path);
    if (w.path && !git_revwalk_new(&walk, w.repo) && !git_revwalk_push_head(walk)) {
        git_revwalk_sorting(walk, GIT_SORT_TIME);
        rc = walk_commits(&w, walk, e);
    }
    git_revwalk_free(walk);
    repo_close(w.repo);
    if (rc)
        blame_commits_fini(out);
    return rc;
}

void blame_commits_fini(struct blame_commits *c)
{
    arena_fini(&c->arena);
    *c = (struct blame_commits){ .n = 0 };
}

const struct blame_commit *blame_commits_after(const struct blame_commits *c, int64_t time_ms)
{
    const struct blame_commit *after = NULL;

    for (size_t i = 0; i < c->n && c->commit[i].time_ms >= time_ms; i++)
        after = &c->commit[i];
    return after;
}
