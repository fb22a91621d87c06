#include <string.h>

#include "store/git/repo.h"
#include "store/systems/codex/changes.h"

void codex_commit_open(const struct codex_changes *c, struct codex_commit *out)
{
    git_commit *commit = NULL;
    git_oid id;

    *out = (struct codex_commit){ .tree = NULL };
    if (!c->cwd || c->commit.n != GIT_OID_HEXSZ || repo_open(c->cwd, &out->repo, NULL))
        return;
    if (git_oid_fromstrn(&id, c->commit.p, c->commit.n) ||
        git_commit_lookup(&commit, out->repo, &id) ||
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

/* Its name in the repository; NULL: it is not in the work tree. */
static const char *name_of(const struct codex_commit *c, const char *path)
{
    const char *top = c->tree ? git_repository_workdir(c->repo) : NULL;
    size_t n = top ? strlen(top) : 0;

    return n && strncmp(path, top, n) == 0 ? path + n : NULL;
}

enum err_code codex_commit_text(const struct codex_commit *c, const char *path, size_t max,
                                struct buf *out)
{
    const char *name = name_of(c, path);

    if (!name)
        return ERR_NOT_FOUND;
    return repo_converts(c->repo, name, path)
               ? ERR_UNSUPPORTED
               : repo_blob_at(c->repo, c->tree, name, max, out, NULL);
}

unsigned codex_commit_mode(const struct codex_commit *c, const char *path)
{
    const char *name = name_of(c, path);
    git_tree_entry *entry = NULL;

    if (!name || git_tree_entry_bypath(&entry, c->tree, name))
        return 0;
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(entry);

    git_tree_entry_free(entry);
    return mode;
}
