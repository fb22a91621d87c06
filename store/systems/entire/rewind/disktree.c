#include "store/systems/entire/rewind/plan_common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 256 };

struct walk {
    const struct disktree_rules *rules; /* NULL: nothing is ignored */
    struct arena *a;
    struct disktree *out;
    struct err *e;
    char path[4096]; /* from the root, being examined */
};

bool disktree_apart(const char *path)
{
    static const char *const apart[] = { ".git", ".entire", ".claude", ".gemini" };

    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        size_t n = strlen(apart[i]);

        if (strncasecmp(path, apart[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

/* ---- what git ignores ---- */

void disktree_rules_open(git_repository *repo, struct disktree_rules *out)
{
    git_buf path = GIT_BUF_INIT;

    *out = (struct disktree_rules){ .repo = repo };
    /* Opened by its path, because the repository's own handle would ignore case if core.ignorecase is set. */
    if (git_repository_item_path(&path, repo, GIT_REPOSITORY_ITEM_INDEX) ||
        git_index_open(&out->index, path.ptr))
        out->index = NULL;
    git_buf_dispose(&path);
}

void disktree_rules_close(struct disktree_rules *r)
{
    git_index_free(r->index);
    r->index = NULL;
}

enum err_code disktree_is_ignored(const struct disktree_rules *r, const char *path, bool dir,
                                  bool *is, struct err *e)
{
    char name[PATH_MAX + 4];
    int ignored = 0;

    snprintf(name, sizeof name, "%s%s", path, dir ? "/" : "");
    /* If this cannot be determined, it is an error, because a file that is not ignored may be
     * removed. */
    if (git_ignore_path_is_ignored(&ignored, r->repo, name))
        return err_set(e, ERR_IO, path, "look through the work tree: what git ignores");
    *is = ignored && !(r->index && (dir ? git_index_find_prefix(NULL, r->index, name)
                                        : git_index_find(NULL, r->index, name)) == 0);
    return ERR_OK;
}

/* ---- the work tree ---- */

/* A directory that was deleted or that we may not read contains nothing that could be removed. */
static enum err_code unseen(const struct walk *w)
{
    return errno == ENOENT || errno == EACCES || errno == ELOOP || errno == ENOTDIR
               ? ERR_OK
               : err_sys(w->e, w->path, "look through the work tree");
}

static enum err_code add_tree_file(struct walk *w)
{
    const char **more = arena_grow(w->a, w->out->path, w->out->n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    w->out->path = more;
    more[w->out->n] = arena_format(w->a, "%s", w->path);
    return more[w->out->n++] ? ERR_OK : ERR_NOMEM;
}

static bool is_repository(int dir)
{
    struct stat st;

    return fstatat(dir, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static enum err_code walk_dir(struct walk *w, int fd, size_t n, int depth);

static enum err_code visit_entry(struct walk *w, int dir, const char *name, size_t n, int depth)
{
    size_t k = strlen(name);
    struct stat st;

    if (n + 1 + k >= sizeof w->path)
        return ERR_OK;
    memcpy(w->path + n, name, k + 1);
    if (disktree_apart(w->path))
        return ERR_OK;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return unseen(w);
    bool ignored = false, regular = S_ISREG(st.st_mode);

    if (!regular && (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX))
        return ERR_OK;
    enum err_code rc =
        w->rules ? disktree_is_ignored(w->rules, w->path, !regular, &ignored, w->e) : ERR_OK;

    if (rc || ignored || regular)
        return rc || ignored ? rc : add_tree_file(w);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return unseen(w);
    if (w->rules && is_repository(fd)) {
        close(fd);
        return ERR_OK;
    }
    w->path[n + k] = '/';
    return walk_dir(w, fd, n + k + 1, depth + 1);
}

/* Takes ownership of the descriptor. */
static enum err_code walk_dir(struct walk *w, int fd, size_t n, int depth)
{
    DIR *d = fdopendir(fd);
    const struct dirent *x;
    enum err_code rc = ERR_OK;

    if (!d) {
        close(fd);
        return ERR_NOMEM;
    }
    while (!rc && (errno = 0, x = readdir(d)))
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            rc = visit_entry(w, dirfd(d), x->d_name, n, depth);
    if (!rc && errno)
        rc = unseen(w);
    closedir(d);
    return rc;
}

static int compare_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum err_code disktree_read(const struct disktree_rules *rules, const char *root, struct arena *a,
                            struct disktree *out, struct err *e)
{
    struct walk *w = arena_zalloc(a, sizeof *w);
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *out = (struct disktree){ 0 };
    if (fd < 0)
        return err_sys(e, root, "open the work tree");
    if (!w) {
        close(fd);
        return err_nomem(e);
    }
    *w = (struct walk){ .rules = rules, .a = a, .out = out, .e = e };
    enum err_code rc = walk_dir(w, fd, 0, 0);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : rc;
    if (out->n)
        qsort(out->path, out->n, sizeof *out->path, compare_name);
    return ERR_OK;
}
