#include "store/git/repo.h"
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

#include "lite/base/cleanup.h"

/* A file that this walk does not list is never removed by a rewind. So whatever is unclear is left out: links, nested
 * repositories, directories that cannot be read, names that are too long, what git ignores; only the question of what
 * git ignores must have an answer. Directories are opened from their parents and never by path, so a link that takes
 * the place of one during the walk leads nowhere. */

enum { DEPTH_MAX = 256 };

struct walk {
    const struct disktree_rules *rules; /* NULL: nothing is ignored */
    struct arena *a;
    struct disktree *out;
    struct err *e;
    char path[4096]; /* the entry that is being examined, relative to the root */
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
    CLEANUP(git_buf_dispose_at) git_buf path = GIT_BUF_INIT;

    *out = (struct disktree_rules){ .repo = repo };
    /* Opened by its path, because the repository's own handle would ignore case if core.ignorecase is set. */
    if (git_repository_item_path(&path, repo, GIT_REPOSITORY_ITEM_INDEX) ||
        git_index_open(&out->index, path.ptr))
        out->index = NULL;
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

static enum err_code walk_dir(struct walk *w, int fd, size_t n, int depth);

/* Examines an entry of the directory `dir`, whose path has n bytes in w->path, and what is below it. */
static enum err_code visit_entry(struct walk *w, int dir, const char *name, size_t n, int depth)
{
    size_t k = strlen(name);
    struct stat st;
    bool ignored = false;

    if (n + 1 + k >= sizeof w->path)
        return ERR_OK;
    memcpy(w->path + n, name, k + 1);
    if (disktree_apart(w->path))
        return ERR_OK;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return unseen(w);
    if (!S_ISREG(st.st_mode) && (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX))
        return ERR_OK;
    if (w->rules)
        TRY(disktree_is_ignored(w->rules, w->path, !S_ISREG(st.st_mode), &ignored, w->e));
    if (ignored)
        return ERR_OK;

    if (S_ISREG(st.st_mode)) {
        const char **more = arena_grow(w->a, w->out->path, w->out->n, sizeof *more);

        if (!more)
            return ERR_NOMEM;
        w->out->path = more;
        more[w->out->n] = arena_format(w->a, "%s", w->path);
        return more[w->out->n++] ? ERR_OK : ERR_NOMEM;
    }

    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return unseen(w);
    if (w->rules && fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        close(fd); /* a nested repository */
        return ERR_OK;
    }
    w->path[n + k] = '/';
    return walk_dir(w, fd, n + k + 1, depth + 1);
}

/* Takes ownership of the descriptor. */
static enum err_code walk_dir(struct walk *w, int fd, size_t n, int depth)
{
    AUTO_DIR *d = fdopendir(fd);
    const struct dirent *x;

    if (!d) {
        close(fd);
        return ERR_NOMEM;
    }
    while ((errno = 0, x = readdir(d)))
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            TRY(visit_entry(w, dirfd(d), x->d_name, n, depth));
    return errno ? unseen(w) : ERR_OK;
}

static int entire_compare_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum err_code disktree_read(const struct disktree_rules *rules, const char *root, struct arena *a,
                            struct disktree *out, struct err *e)
{
    struct walk *w = arena_zalloc(a, sizeof *w);
    int fd;

    *out = (struct disktree){ 0 };
    NEED(w);
    *w = (struct walk){ .rules = rules, .a = a, .out = out, .e = e };
    fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, root, "open the work tree");
    enum err_code rc = walk_dir(w, fd, 0, 0);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : rc;
    if (out->n)
        qsort(out->path, out->n, sizeof *out->path, entire_compare_name);
    return ERR_OK;
}
