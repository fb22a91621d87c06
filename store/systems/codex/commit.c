#include <string.h>

#include "store/git/repo.h"
#include "store/systems/codex/changes.h"

void codex_commit_open(const struct codex_changes *c, struct codex_commit *out)
{
    git_commit *commit = NULL;
    git_oid id;

    *out = (struct codex_commit){ .tree = NULL };
    if (!c->cwd || c->commit.n != GIT_OID_HEXSZ ||
        git_oid_fromstrn(&id, c->commit.p, c->commit.n) || repo_open(c->cwd, &out->repo, NULL))
        return;
    if (git_commit_lookup(&commit, out->repo, &id) ||
        repo_tree(out->repo, git_commit_tree_id(commit), &out->tree, NULL))
        codex_commit_close(out);
    git_commit_free(commit);
}

void codex_commit_close(struct codex_commit *c)
{
    git_tree_free(c->tree);
    repo_close(c->repo);
    *c = (struct codex_commit){ .tree = NULL };
}

unsigned codex_commit_mode(const struct codex_commit *c, const char *path)
{
    const char *top = c->tree ? git_repository_workdir(c->repo) : NULL;
    size_t n = top ? strlen(top) : 0;
    git_tree_entry *entry = NULL;

    if (!n || strncmp(path, top, n) != 0 || git_tree_entry_bypath(&entry, c->tree, path + n))
        return 0;
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(entry);

    git_tree_entry_free(entry);
    return mode;
}
