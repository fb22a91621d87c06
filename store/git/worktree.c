#include "store/git/repo.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/buf.h"
#include "lite/io/file.h"
#include "store/fs/path.h"
#include "store/git/gitfiles.h"
#include "store/proc/process.h"

enum {
    GIT_TIMEOUT_MS = 5000, /* the same as in Claude Code */
    GIT_ANSWER_MAX = 4 << 20,
    NEIGHBOURS_MAX = 2000, /* directories examined next to a lost work tree */
    RECORD_MAX = PATH_MAX + 16,
};

/* Cuts `word` and a blank off the front of a line. */
static bool worktree_cut_word(struct slice *line, struct slice word)
{
    if (line->n <= word.n || memcmp(line->p, word.p, word.n) != 0 || line->p[word.n] != ' ')
        return false;
    line->p += word.n + 1;
    line->n -= word.n + 1;
    return true;
}

static size_t count_worktrees(struct slice answer)
{
    struct slice line;
    size_t n = 0;
    bool torn;

    while (slice_line(&answer, &line, &torn))
        n += worktree_cut_word(&line, SLICE("worktree"));
    return n;
}

static enum err_code parse(struct slice answer, struct arena *a, struct worktree **out, size_t *n,
                           struct err *e)
{
    size_t room = count_worktrees(answer), trees = 0;
    struct worktree *tree = arena_zalloc(a, (room ? room : 1) * sizeof *tree);
    struct slice line;
    bool torn;

    if (!tree)
        return err_nomem(e);
    while (slice_line(&answer, &line, &torn)) {
        if (worktree_cut_word(&line, SLICE("worktree"))) {
            tree[trees].path = arena_copy(a, line);
            if (!tree[trees++].path.p)
                return err_nomem(e);
        } else if (trees && slice_eq(line, SLICE("bare"))) {
            tree[trees - 1].bare = true;
        }
    }
    *out = tree;
    *n = trees;
    return ERR_OK;
}

enum err_code worktree_list(const char *dir, struct arena *a, struct worktree **out, size_t *n,
                            struct err *e)
{
    /* No program that the repository configures may run: neither hooks nor a file-system monitor. */
    static const char *const argv[] = { "git",
                                        "-c",
                                        "core.hooksPath=/dev/null",
                                        "-c",
                                        "core.fsmonitor=",
                                        "worktree",
                                        "list",
                                        "--porcelain",
                                        NULL };
    struct spawn git = {
        .argv = argv, .dir = dir, .timeout_ms = GIT_TIMEOUT_MS, .max = GIT_ANSWER_MAX
    };
    struct buf answer = { 0 };

    *out = NULL;
    *n = 0;
    if (!repo_may_be_found(dir))
        return ERR_OK;
    /* A pipe would block git until it is killed. */
    enum err_code rc = gitfiles_check(dir, false, NULL);

    if (!rc)
        rc = spawn_read(&git, &answer, e);

    if (rc && rc != ERR_NOMEM)
        answer.n = 0; /* whatever the reason, git reports no work trees */
    if (rc != ERR_NOMEM)
        rc = parse(buf_slice(&answer), a, out, n, e);
    buf_fini(&answer);
    return rc;
}

/* Cuts off the last part of the path; false at the root. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !slash[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* The first work tree, if it has files and is not dir itself. */
static enum err_code main_of(const char *repository, const char *dir, struct arena *a,
                             const char **out, struct err *e)
{
    struct worktree *tree;
    size_t n;
    enum err_code rc = worktree_list(repository, a, &tree, &n, e);

    if (rc || n == 0 || tree[0].bare || !path_is_dir(tree[0].path.p) ||
        strcmp(tree[0].path.p, dir) == 0)
        return rc;
    *out = tree[0].path.p;
    return ERR_OK;
}

/* Returns true if a record of a repository ("…/.git/worktrees/NAME/gitdir", which contains the path of the work
 * tree's .git) names dir or a directory above it. */
static bool record_names(int worktrees, const char *name, const char *dir, struct buf *record)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/gitdir", name);
    struct slice line;
    bool torn;

    record->n = 0;
    if (n < 0 || (size_t)n >= sizeof path ||
        file_read_all(worktrees, path, 0, RECORD_MAX, record, NULL))
        return false;
    struct slice rest = buf_slice(record), suffix = SLICE("/.git");

    if (!slice_line(&rest, &line, &torn) || line.n <= suffix.n)
        return false;
    size_t tree = line.n - suffix.n;

    return memcmp(line.p + tree, suffix.p, suffix.n) == 0 && strlen(dir) >= tree &&
           memcmp(dir, line.p, tree) == 0 && (dir[tree] == '/' || !dir[tree]);
}

/* Returns true if the repository in `name` has a record of dir. */
static bool repository_records(int parent, const char *name, const char *dir, struct buf *record)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/.git/worktrees", name), fd;
    bool found = false;
    struct dirent *d;
    DIR *records;

    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    records = fd >= 0 ? fdopendir(fd) : NULL;
    if (!records) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (!found && (d = readdir(records)))
        found = d->d_name[0] != '.' && record_names(dirfd(records), d->d_name, dir, record);
    closedir(records);
    return found;
}

enum err_code worktree_main(const char *dir, struct arena *a, const char **out, struct err *e)
{
    struct slice copy = arena_copy(a, slice_of(dir));
    char *above = (char *)copy.p; /* the copy is ours */

    if (!above)
        return err_nomem(e);
    *out = NULL;
    while (!path_is_dir(above))
        if (!to_parent(above))
            return ERR_OK;
    TRY(main_of(above, dir, a, out, e));
    if (!*out && strcmp(above, dir) != 0) {
        /* Work trees are usually next to their repository, so the neighbouring directories are
         * searched. */
        DIR *neighbours = opendir(above);
        enum err_code rc = ERR_OK;
        struct buf record = { 0 };
        struct dirent *d;
        int left = NEIGHBOURS_MAX;

        while (neighbours && left-- > 0 && (d = readdir(neighbours))) {
            if (d->d_name[0] == '.' ||
                !repository_records(dirfd(neighbours), d->d_name, dir, &record))
                continue;

            char repository[PATH_MAX];
            int n = snprintf(repository, sizeof repository, "%s/%s", above, d->d_name);

            if (n > 0 && (size_t)n < sizeof repository)
                rc = main_of(repository, dir, a, out, e);
            break;
        }
        if (neighbours)
            closedir(neighbours);
        buf_fini(&record);
        TRY(rc);
    }
    return ERR_OK;
}
