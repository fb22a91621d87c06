#include "store/systems/opencode/opencode.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"
#include "store/git/repo.h"

enum { ALTERNATES_MAX = 64 << 10 };

static bool opencode_has(const char *dir, const char *name)
{
    char path[PATH_MAX];

    return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
           access(path, F_OK) == 0;
}

static bool is_of_root(git_repository *repo, const char *root)
{
    const char *dir = git_repository_workdir(repo);
    size_t n = strlen(root);

    return dir && strncmp(dir, root, n) == 0 && strspn(dir + n, "/") == strlen(dir + n);
}

/* Opens one repository; the work tree's own comes first. A repository that cannot be opened is left
 * out. The work tree determines which files git converts. */
static enum err_code opencode_open_one(struct opencode_trees *t, const char *dir, const char *root)
{
    git_repository *repo = NULL;

    if (t->n == OPENCODE_REPOSITORIES_MAX || !opencode_has(dir, "HEAD") ||
        !opencode_has(dir, "objects"))
        return ERR_OK;
    enum err_code rc = repo_open(dir, &repo, NULL);

    /* OpenCode borrows the objects that the project's own repository has. */
    const char *path = arena_format(t->arena, "%s/objects/info/alternates", dir);
    struct buf list = { 0 };
    struct slice rest, line;
    bool torn, lost = false;

    if (path && !file_read_all(AT_FDCWD, path, FILE_FOLLOW, ALTERNATES_MAX, &list, NULL))
        for (rest = buf_slice(&list); slice_line(&rest, &line, &torn);) {
            const char *objects = line.n && line.p[0] == '/' ? arena_copy(t->arena, line).p : NULL;

            lost |= objects && access(objects, F_OK) != 0;
        }
    buf_fini(&list);

    t->lost |= lost;

    t->shut |= rc != ERR_OK;
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_OK;
    bool own = is_of_root(repo, root);

    /* libgit2 1.5 leaks memory if the work tree is this one already */
    if (!own && git_repository_set_workdir(repo, root, 0)) {
        repo_close(repo);
        return ERR_OK;
    }
    struct opencode_repository last = { repo, arena_format(t->arena, "%s/objects", dir) };

    t->in[t->n++] = last;
    if (own) {
        t->in[t->n - 1] = t->in[0];
        t->in[0] = last;
    }
    return last.objects ? ERR_OK : ERR_NOMEM;
}

enum err_code opencode_trees_open(const struct store *st, const struct opencode_steps *s,
                                  struct arena *a, struct opencode_trees *out, struct err *e)
{
    const struct dirent *entry;
    const char *dir = NULL;
    DIR *d;

    *out = (struct opencode_trees){ .arena = a };
    if (!s->root.n || !sqlite_store_is_id(s->project))
        return ERR_OK;
    dir = arena_format(a, "%s/snapshot/%.*s", st->path, SLICE_ARG(s->project));
    if (!dir)
        return err_nomem(e);
    enum err_code rc = opencode_open_one(out, dir, s->root.p); /* as old versions had it */

    d = opendir(dir);
    while (d && !rc && (entry = readdir(d))) {
        const char *path = arena_format(a, "%s/%s", dir, entry->d_name);

        if (entry->d_name[0] != '.')
            rc = path ? opencode_open_one(out, path, s->root.p) : ERR_NOMEM;
    }
    if (d)
        closedir(d);
    if (rc)
        opencode_trees_close(out);
    return rc ? err_nomem(e) : ERR_OK;
}

void opencode_trees_close(struct opencode_trees *t)
{
    for (size_t i = 0; i < t->n; i++)
        repo_close(t->in[i].repo);
    t->n = 0;
}

static bool has_tree(git_repository *repo, const git_oid *id)
{
    git_tree *tree = NULL;
    bool found = repo_tree(repo, id, &tree, NULL) == ERR_OK;

    git_tree_free(tree);
    return found;
}

static bool opencode_read_id(struct slice hex, git_oid *out)
{
    return hex.n == GIT_OID_HEXSZ && !gitlib_ready(NULL) &&
           git_oid_fromstrn(out, hex.p, hex.n) == 0;
}

size_t opencode_trees_find(const struct opencode_trees *t, struct slice hex, git_oid *out)
{
    size_t i = opencode_read_id(hex, out) ? 0 : t->n;

    while (i < t->n && !has_tree(t->in[i].repo, out))
        i++;
    return i;
}

size_t opencode_trees_find_both(const struct opencode_trees *t, const struct opencode_step *step,
                                git_oid *before, git_oid *after)
{
    size_t i =
        opencode_read_id(step->before, before) && opencode_read_id(step->after, after) ? 0 : t->n;

    while (i < t->n && !(has_tree(t->in[i].repo, before) && has_tree(t->in[i].repo, after)))
        i++;
    return i;
}

bool opencode_trees_entry(git_repository *repo, const git_oid *tree, const char *path,
                          struct opencode_entry *out)
{
    git_tree *t = NULL;
    git_tree_entry *x = NULL;

    *out = (struct opencode_entry){ .exists = false };
    if (repo_tree(repo, tree, &t, NULL))
        return false;
    int answer = git_tree_entry_bypath(&x, t, path);

    if (!answer) {
        unsigned kind = (unsigned)git_tree_entry_filemode_raw(x) & 0170000;

        out->exists = true;
        out->plain = git_tree_entry_type(x) == GIT_OBJECT_BLOB && kind == 0100000;
        out->blob = *git_tree_entry_id(x);
        out->mode = (unsigned)git_tree_entry_filemode_raw(x);
    }
    git_tree_entry_free(x);
    git_tree_free(t);
    return !answer || answer == GIT_ENOTFOUND;
}
