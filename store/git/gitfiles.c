#include "store/git/gitfiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "lite/io/file.h"
#include "lite/io/rows.h"
#include "store/fs/path.h"
#include "store/git/libgit2.h"

/* The check goes the same way as git: from a directory upwards to a git directory, from there to
 * the common one of all work trees, and from each configuration to those that it includes.
 *
 *   dir/.git, or dir if it is bare -> git directory -> common directory
 *                                       '- HEAD, config, index, packed-refs, refs, logs
 *
 * A file that git would open and that is not checked can block the whole program, so the check has
 * to cover too much rather than too little: an include counts whatever its condition is, and a file
 * of rules is looked for in both directories that its path may be relative to. A missing file
 * passes, since opening it does no harm. Loose objects are checked elsewhere. A file that is
 * exchanged after its check is not noticed. */

enum {
    SMALL_MAX = 1 << 20, /* a ref, a configuration file */
    LIST_MAX = 1 << 30,  /* an index, packed refs */
    POINTER_MAX = PATH_MAX + 64,
    ENTRIES_MAX = 1 << 20, /* entries of one walk */
    INCLUDES_MAX = 64,
};

/* The state of one check. */
struct look {
    char path[PATH_MAX]; /* being checked; NUL-terminated */
    size_t entries, configs;
    struct err *e;
};

/* Appends a name to the first n bytes of the path; false if it does not fit. */
static bool gitfiles_put_name(struct look *l, size_t n, const char *name)
{
    int k = snprintf(l->path + n, sizeof l->path - n, "/%s", name);

    return k > 0 && (size_t)k < sizeof l->path - n;
}

/* A file that is missing or cannot be examined is left for git to report. */
static enum err_code gitfiles_check_path(const char *path, int64_t max, struct err *e)
{
    struct stat st, null;

    if (stat(path, &st) || S_ISDIR(st.st_mode) ||
        (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev))
        return ERR_OK;
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_UNSAFE, path,
                       "open the repository: a git file is a pipe or a device");
    if (st.st_size > max)
        return err_set(e, ERR_UNSUPPORTED, path,
                       "open the repository: a git file is larger than %lld bytes", (long long)max);
    return ERR_OK;
}

static enum err_code check_named_file(struct look *l, const char *dir, const char *name,
                                      int64_t max)
{
    return snprintf(l->path, sizeof l->path, "%s/%s", dir, name) < PATH_MAX
               ? gitfiles_check_path(l->path, max, l->e)
               : ERR_OK;
}

/* ---- whole directories ---- */

static enum err_code check_tree_below(struct look *l, size_t n, int64_t max);

static enum err_code walk_entry(struct look *l, size_t n, const struct dirent *x, int64_t max)
{
    struct stat st;

    if (++l->entries > ENTRIES_MAX)
        return err_set(l->e, ERR_UNSUPPORTED, l->path,
                       "open the repository: more than %d files in one directory tree",
                       ENTRIES_MAX);
    if ((x->d_type == DT_REG && max == INT64_MAX) || !gitfiles_put_name(l, n, x->d_name))
        return ERR_OK;
    if (x->d_type == DT_DIR)
        return check_tree_below(l, n + 1 + strlen(x->d_name), max);
    if (lstat(l->path, &st))
        return ERR_OK;
    if (S_ISDIR(st.st_mode))
        return check_tree_below(l, n + 1 + strlen(x->d_name), max);
    if (S_ISLNK(st.st_mode) && path_is_dir(l->path))
        return err_set(l->e, ERR_UNSAFE, l->path,
                       "open the repository: a link to a directory, which may form a loop");
    return gitfiles_check_path(l->path, max, l->e);
}

/* Checks every file below the path, which has n bytes. */
static enum err_code check_tree_below(struct look *l, size_t n, int64_t max)
{
    DIR *d = opendir(l->path);
    const struct dirent *x;
    enum err_code rc = ERR_OK;

    while (!rc && d && (x = readdir(d))) {
        if (strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
            rc = walk_entry(l, n, x, max);
        if (!rc)
            l->path[n] = '\0';
    }
    if (d)
        closedir(d);
    return rc;
}

static enum err_code walk_name(struct look *l, const char *dir, const char *name, int64_t max)
{
    int n = snprintf(l->path, sizeof l->path, "%s/%s", dir, name);

    return n > 0 && n < PATH_MAX ? check_tree_below(l, (size_t)n, max) : ERR_OK;
}

enum err_code gitfiles_check_objects(const char *objects, struct err *e)
{
    struct look l = { .e = e };

    TRY(walk_name(&l, objects, "info", INT64_MAX));
    return walk_name(&l, objects, "pack", INT64_MAX);
}

/* ---- configuration ---- */

static const char *skip_line(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));

    return nl ? nl + 1 : end;
}

/* Returns the place after the ] of a section header; a subsection is in quotes. */
static const char *skip_header(const char *p, const char *end)
{
    bool quoted = false;

    for (; p < end && *p != '\n' && (quoted || *p != ']'); p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            quoted = !quoted;
    }
    return p < end ? p + 1 : end;
}

/* Reads a value as git does, without quotes and escapes, and cuts it to the length of a path. */
static const char *gitfiles_read_value(const char *p, const char *end, char out[PATH_MAX])
{
    bool quoted = false;
    size_t n = 0;

    for (; p < end && *p != '\n' && (quoted || (*p != '#' && *p != ';')); p++) {
        bool escape = *p == '\\' && p + 1 < end;

        p += escape;
        if (!escape && *p == '"')
            quoted = !quoted;
        else if (n == 0 && !quoted && (*p == ' ' || *p == '\t'))
            continue; /* leading blanks, also of a continuation line */
        else if (!(escape && *p == '\n') && n < PATH_MAX - 1)
            out[n++] = *p;
    }
    while (n && (unsigned char)out[n - 1] <= ' ')
        n--;
    out[n] = '\0';
    return skip_line(p, end);
}

static bool gitfiles_is_key(struct slice key, const char *name)
{
    return key.n == strlen(name) && strncasecmp(key.p, name, key.n) == 0;
}

static enum err_code check_config(struct look *l, const char *path);

/* The home directory in which libgit2 looks for the user's configuration first. */
static bool find_home(char out[PATH_MAX])
{
    git_buf dirs = GIT_BUF_INIT;
    int n = -1;

    if (!gitlib_ready(NULL) &&
        git_libgit2_opts(GIT_OPT_GET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, &dirs) == 0)
        n = snprintf(out, PATH_MAX, "%.*s", (int)strcspn(dirs.ptr, ":"), dirs.ptr);
    git_buf_dispose(&dirs);
    return n > 0 && n < PATH_MAX;
}

/* The path that a value names: relative to the configuration file, or to the home directory. */
static bool gitfiles_resolve(const char *config, const char *value, char out[PATH_MAX])
{
    const char *slash = strrchr(config, '/');
    char home[PATH_MAX];

    if (value[0] == '~' && value[1] == '/')
        return find_home(home) && snprintf(out, PATH_MAX, "%s%s", home, value + 1) < PATH_MAX;
    int n = value[0] == '/' ? snprintf(out, PATH_MAX, "%s", value)
                            : snprintf(out, PATH_MAX, "%.*s/%s", slash ? (int)(slash - config) : 0,
                                       config, value);

    return value[0] && value[0] != '~' && n > 0 && n < PATH_MAX;
}

static enum err_code check_value(struct look *l, const char *config, struct slice key,
                                 bool including, const char *value)
{
    char path[PATH_MAX];
    bool included = including && gitfiles_is_key(key, "path");

    if ((!included && !gitfiles_is_key(key, "excludesfile") &&
         !gitfiles_is_key(key, "attributesfile")) ||
        !gitfiles_resolve(config, value, path))
        return ERR_OK;
    if (included)
        return check_config(l, path);
    /* libgit2 resolves it against our working directory. */
    TRY(gitfiles_check_path(value, SMALL_MAX, l->e));
    return gitfiles_check_path(path, SMALL_MAX, l->e);
}

static enum err_code check_values(struct look *l, const char *config, struct slice text)
{
    const struct slice rest = rows_skip_mark(text); /* as libgit2 does */
    const char *p = rest.p, *end = rest.p + rest.n;
    char value[PATH_MAX];
    bool including = false;
    enum err_code rc = ERR_OK;

    while (!rc && p < end) {
        const char *from = p;

        if ((unsigned char)*p <= ' ') {
            p++;
        } else if (*p == '#' || *p == ';') {
            p = skip_line(p, end);
        } else if (*p == '[') {
            /* The section may be "includeIf": its condition is ignored, and the file is checked in any case. */
            including = end - p > 8 && strncasecmp(p + 1, "include", 7) == 0;
            p = skip_header(p, end);
        } else {
            while (p < end && *p != '=' && *p != '\n' && (unsigned char)*p > ' ')
                p++;
            struct slice key = { from, (size_t)(p - from) };

            while (p < end && (*p == ' ' || *p == '\t'))
                p++;
            if (p < end && *p == '=') {
                p = gitfiles_read_value(p + 1, end, value);
                rc = check_value(l, config, key, including, value);
            } else {
                p = skip_line(p, end);
            }
        }
    }
    return rc;
}

static enum err_code check_config(struct look *l, const char *path)
{
    struct buf text = { 0 };
    enum err_code rc = gitfiles_check_path(path, SMALL_MAX, l->e);

    if (rc)
        return rc;
    if (++l->configs > INCLUDES_MAX)
        return err_set(l->e, ERR_UNSAFE, path,
                       "open the repository: its configuration includes more than %d files",
                       INCLUDES_MAX);
    if (file_read_all(AT_FDCWD, path, FILE_FOLLOW, SMALL_MAX, &text, NULL) == ERR_OK)
        rc = check_values(l, path, buf_slice(&text));
    buf_fini(&text);
    return rc;
}

/* ---- git directories ---- */

enum err_code gitfiles_follow(const char *dir, const char *name, const char *word,
                              char out[PATH_MAX])
{
    char path[PATH_MAX];
    struct buf bytes = { 0 };
    enum err_code rc = ERR_FORMAT;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) < PATH_MAX)
        rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, POINTER_MAX, &bytes, NULL);
    while (bytes.n && (unsigned char)bytes.p[bytes.n - 1] <= ' ')
        bytes.n--;
    if (!rc && (bytes.n <= strlen(word) || !slice_starts(buf_slice(&bytes), word)))
        rc = ERR_FORMAT;
    if (!rc) {
        struct slice to = { bytes.p + strlen(word), bytes.n - strlen(word) };
        int n = to.p[0] == '/' ? snprintf(out, PATH_MAX, "%.*s", SLICE_ARG(to))
                               : snprintf(out, PATH_MAX, "%s/%.*s", dir, SLICE_ARG(to));

        rc = n > 0 && n < PATH_MAX ? ERR_OK : ERR_FORMAT;
    }
    buf_fini(&bytes);
    return rc;
}

static enum err_code check_git_dir(struct look *l, const char *git, bool refs)
{
    static const char *const small[] = { "HEAD",        "commondir",    "gitdir",
                                         "shallow",     "info/exclude", "info/attributes",
                                         "info/grafts", "ORIG_HEAD" };
    static const char *const configs[] = { "config", "config.worktree" };
    char path[PATH_MAX];
    enum err_code rc = ERR_OK;

    for (size_t i = 0; !rc && i < sizeof small / sizeof *small; i++)
        rc = check_named_file(l, git, small[i], SMALL_MAX);
    for (size_t i = 0; !rc && i < 2; i++)
        if (snprintf(path, sizeof path, "%s/%s", git, configs[i]) < PATH_MAX)
            rc = check_config(l, path);
    if (!rc)
        rc = check_named_file(l, git, "index", LIST_MAX);
    if (!rc)
        rc = check_named_file(l, git, "packed-refs", LIST_MAX);
    if (!rc)
        rc = walk_name(l, git, "worktrees", LIST_MAX);
    if (!rc && refs)
        rc = walk_name(l, git, "refs", SMALL_MAX);
    return rc || !refs ? rc : walk_name(l, git, "logs", INT64_MAX);
}

static enum err_code check_whole(struct look *l, const char *git, bool refs)
{
    char common[PATH_MAX];

    TRY(check_git_dir(l, git, refs));
    if (gitfiles_follow(git, "commondir", "", common) == ERR_OK)
        TRY(check_git_dir(l, common, refs));
    return ERR_OK;
}

static bool name_exists(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    return snprintf(path, sizeof path, "%s/%s", dir, name) < PATH_MAX && lstat(path, &st) == 0;
}

enum err_code gitfiles_check(const char *dir, bool refs, struct err *e)
{
    struct look l = { .e = e };
    AUTO_ARENA a = { 0 };
    char *above;
    bool found = false;
    enum err_code rc = ERR_OK;

    if (strlen(dir) >= PATH_MAX)
        return ERR_OK;
    NEED(above = arena_format(&a, "%s", dir));
    for (;;) {
        /* *found: git searches no further. */
        char git[PATH_MAX];
        struct stat st;

        rc = ERR_OK;
        if (snprintf(git, sizeof git, "%s/.git", above) < PATH_MAX && stat(git, &st) == 0) {
            found = S_ISREG(st.st_mode) || name_exists(git, "HEAD");
            rc = gitfiles_check_path(git, POINTER_MAX, l.e);
            if (!rc &&
                (S_ISDIR(st.st_mode) || gitfiles_follow(above, ".git", "gitdir: ", git) == ERR_OK))
                rc = check_whole(&l, git, refs);
        }
        if (!rc && name_exists(above, "HEAD") && name_exists(above, "objects")) {
            found = true;
            rc = check_whole(&l, above, refs);
        }

        char *slash = strrchr(above, '/');

        if (rc || found || !slash)
            return rc;
        *slash = '\0';
    }
}

/* ---- the work tree ---- */

bool gitfiles_is_tree(const char *root, const char *git)
{
    char path[PATH_MAX], to[PATH_MAX];
    struct stat there, here;

    if (snprintf(path, sizeof path, "%s/.git", root) >= PATH_MAX || stat(git, &there) ||
        stat(path, &here))
        return false;
    if (!S_ISDIR(here.st_mode) &&
        (gitfiles_follow(root, ".git", "gitdir: ", to) || stat(to, &here)))
        return false;
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static bool is_of_git(const char *name)
{
    return strcmp(name, ".gitignore") == 0 || strcmp(name, ".gitattributes") == 0;
}

static enum err_code check_tree(struct look *l, size_t n)
{
    DIR *d = opendir(l->path);
    const struct dirent *x;
    enum err_code rc = ERR_OK;

    while (!rc && d && (x = readdir(d))) {
        bool dir = x->d_type == DT_DIR;

        if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0 ||
            strcmp(x->d_name, ".git") == 0 || !gitfiles_put_name(l, n, x->d_name))
            continue;
        if (x->d_type == DT_UNKNOWN)
            dir = path_is_real_dir(l->path);
        if (dir)
            rc = check_tree(l, n + 1 + strlen(x->d_name));
        else if (is_of_git(x->d_name))
            rc = gitfiles_check_path(l->path, SMALL_MAX, l->e);
    }
    if (d)
        closedir(d);
    if (!rc)
        l->path[n] = '\0';
    return rc;
}

enum err_code gitfiles_check_tree(const char *root, struct err *e)
{
    struct look l = { .e = e };
    int n = snprintf(l.path, sizeof l.path, "%s", root);

    return n > 0 && n < PATH_MAX ? check_tree(&l, (size_t)n) : ERR_OK;
}
