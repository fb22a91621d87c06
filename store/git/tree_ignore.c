#include "store/git/tree_ignore.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/time.h"
#include "lite/io/file.h"
#include "store/git/repo.h"

/* libgit2 can only ask the .gitignore files of a work tree as it is now, so the rules are matched here. Doubts are
 * decided for "ignored", because callers delete files that were not. */

enum { LIST_MAX = 4 << 20, WALKS_MAX = 4096 };

/* ---- one rule ---- */

/* Matches a class, which begins after its bracket; *pattern is moved behind it. A class that is named or not closed
 * matches whatever follows. */
static bool class_matches(struct slice *pattern, unsigned char c)
{
    const char *p = pattern->p, *end = p + pattern->n;
    struct slice anything = SLICE("*");
    bool negated = p < end && (*p == '!' || *p == '^'), found = false;

    p += negated;

    /* A closing bracket that comes first is a member of the class. */
    for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
        unsigned char low, high;

        if (*p == '[' && p + 1 < end && p[1] == ':') {
            *pattern = anything;
            return true;
        }
        if (*p == '\\' && p + 1 < end)
            p++;
        low = high = (unsigned char)*p;
        if (p + 2 < end && p[1] == '-' && p[2] != ']') {
            high = (unsigned char)p[2];
            p += 2;
        }
        found |= c >= low && c <= high;
    }
    if (p == end) {
        *pattern = anything;
        return true;
    }
    *pattern = (struct slice){ p + 1, (size_t)(end - p - 1) };
    return found != negated;
}

/* Matches one part of a path. After a mismatch, the last star takes one more byte. */
static bool name_matches(struct slice pattern, struct slice name)
{
    struct slice after_star = { NULL, 0 }, taken = { NULL, 0 };

    for (;;) {
        struct slice rest = { pattern.p + 1, pattern.n ? pattern.n - 1 : 0 };
        bool fits = false;

        /* A star matches nothing at first. Its place is remembered, so that it can match more after a mismatch. */
        if (pattern.n && pattern.p[0] == '*') {
            after_star = pattern = rest;
            taken = name;
            continue;
        }
        if (!pattern.n && !name.n)
            return true;
        if (pattern.n && name.n) {
            char c = pattern.p[0];

            if (c == '[') {
                fits = class_matches(&rest, (unsigned char)name.p[0]);
            } else {
                if (c == '\\' && rest.n) {
                    c = rest.p[0];
                    rest = (struct slice){ rest.p + 1, rest.n - 1 };
                    fits = c == name.p[0];
                } else {
                    fits = c == '?' || c == name.p[0];
                }
            }
        }
        if (fits) {
            pattern = rest;
            name = (struct slice){ name.p + 1, name.n - 1 };
        } else if (after_star.p && taken.n) {
            taken = (struct slice){ taken.p + 1, taken.n - 1 };
            pattern = after_star;
            name = taken;
        } else {
            return false;
        }
    }
}

/* Cuts the first part of a path off. */
static struct slice cut_part(struct slice *path)
{
    const char *slash = memchr(path->p, '/', path->n);
    struct slice part = { path->p, slash ? (size_t)(slash - path->p) : path->n };
    size_t used = part.n + (slash != NULL);

    *path = (struct slice){ path->p + used, path->n - used };
    return part;
}

/* Matches a pattern with slashes; "**" stands for any number of directories. *left bounds the work that a hostile
 * pattern can ask for. */
static bool parts_match(struct slice pattern, struct slice path, int *left)
{
    while (pattern.n && path.n) {
        struct slice part = cut_part(&pattern);

        if ((*left)-- <= 0)
            return true;
        if (slice_eq(part, SLICE("**"))) {
            if (!pattern.n)
                return true;
            for (; path.n; cut_part(&path))
                if (parts_match(pattern, path, left))
                    return true;
            return false;
        }
        if (!name_matches(part, cut_part(&path)))
            return false;
    }
    return !pattern.n && !path.n;
}

static bool rule_matches(struct slice rule, struct slice path, bool is_dir)
{
    int left = WALKS_MAX;

    if (rule.n && rule.p[rule.n - 1] == '/') {
        if (!is_dir)
            return false;
        rule.n--;
    }
    if (!rule.n)
        return false;
    if (memchr(rule.p, '/', rule.n)) {
        if (rule.p[0] == '/')
            rule = (struct slice){ rule.p + 1, rule.n - 1 };
        return parts_match(rule, path, &left);
    }
    const char *slash = memrchr(path.p, '/', path.n);
    size_t above = slash ? (size_t)(slash + 1 - path.p) : 0;

    return name_matches(rule, (struct slice){ path.p + above, path.n - above });
}

int tree_ignore_match(struct slice rules, struct slice path, bool is_dir)
{
    static const char mark[] = "\xef\xbb\xbf";
    struct slice line;
    bool torn;
    int result = 0;

    if (slice_starts(rules, mark))
        rules = (struct slice){ rules.p + 3, rules.n - 3 };
    while (slice_line(&rules, &line, &torn)) {
        bool includes = line.n && line.p[0] == '!';

        if (!line.n || line.p[0] == '#')
            continue;
        if (includes)
            line = (struct slice){ line.p + 1, line.n - 1 };
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        while (line.n && line.p[line.n - 1] == ' ' && !(line.n > 1 && line.p[line.n - 2] == '\\'))
            line.n--;
        if (rule_matches(line, path, is_dir))
            result = includes ? -1 : 1;
    }
    return result;
}

/* ---- the lists ---- */

static bool add_list(struct tree_ignore *r, const char *path)
{
    struct buf text = { 0 };
    struct stat sb;
    bool ok = true;

    if (path && stat(path, &sb) == 0 && S_ISREG(sb.st_mode) &&
        !file_read_all(AT_FDCWD, path, FILE_FOLLOW, LIST_MAX, &text, NULL)) {
        int64_t ms = time_ms_of(sb.st_mtim);

        ok = arena_add_copy(&r->arena, &r->list, &r->lists, buf_slice(&text));
        r->changed_ms = ms > r->changed_ms ? ms : r->changed_ms;
    }
    buf_fini(&text);
    return ok && !r->arena.failed;
}

/* core.excludesFile, or where git looks for it if it is not configured. */
static const char *find_excludes_file(git_repository *repo, struct arena *a)
{
    git_config *config = NULL;
    git_buf path = GIT_BUF_INIT;
    const char *found = NULL;

    if (gitlib_ready(NULL))
        return NULL;
    if (repo && git_repository_config_snapshot(&config, repo) == 0 &&
        git_config_get_path(&path, config, "core.excludesfile") == 0)
        found = arena_copy_text(a, path.ptr);
    git_buf_dispose(&path);
    git_config_free(config);
    if (!found && git_libgit2_opts(GIT_OPT_GET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, &path) == 0 &&
        path.ptr && path.ptr[0] == '/')
        found = arena_format(a, "%.*s/ignore", (int)strcspn(path.ptr, ":"), path.ptr);
    git_buf_dispose(&path);
    return found;
}

enum err_code tree_ignore_open(const char *root, git_repository *extra, struct tree_ignore *out,
                               struct err *e)
{
    struct tree_ignore r = { .changed_ms = INT64_MIN };
    git_repository *repo = NULL;
    bool ok = true;

    if (repo_open(root, &repo, NULL))
        repo = NULL;
    r.root = arena_copy_text(&r.arena, root);
    ok = add_list(&r, find_excludes_file(repo ? repo : extra, &r.arena));
    if (repo && ok)
        ok =
            add_list(&r, arena_format(&r.arena, "%s/info/exclude", git_repository_commondir(repo)));
    if (extra && ok) {
        /* The agent writes this list at every snapshot, so its time shows nothing. */
        int64_t changed_ms = r.changed_ms;

        ok = add_list(&r, arena_format(&r.arena, "%s/info/exclude", git_repository_path(extra)));
        r.changed_ms = changed_ms;
    }
    repo_close(repo);
    if (!ok) {
        tree_ignore_fini(&r);
        return err_nomem(e);
    }
    *out = r;
    return ERR_OK;
}

void tree_ignore_fini(struct tree_ignore *r)
{
    arena_fini(&r->arena);
    *r = (struct tree_ignore){ .changed_ms = INT64_MIN };
}

/* ---- a tree ---- */

/* What the .gitignore file of one directory says about a path; its directory is the first n bytes of the path. Returns
 * false if the file cannot be read. */
static bool ask_file(const struct tree_ignore *r, git_repository *repo, const git_tree *tree,
                     struct slice path, size_t n, bool is_dir, int *result)
{
    struct arena a = { 0 };
    struct buf rules = { 0 };
    const char *name = arena_format(&a, "%.*s.gitignore", (int)n, path.p);
    enum err_code rc = name ? repo_blob_at(repo, tree, name, LIST_MAX, &rules, NULL) : ERR_NOMEM;

    if (rc == ERR_NOT_FOUND && (name = arena_format(&a, "%s/%s", r->root, name)))
        rc = file_read_all(AT_FDCWD, name, 0, LIST_MAX, &rules, NULL);
    if (rc == ERR_UNSAFE) /* git reads no .gitignore that is a link */
        rc = ERR_NOT_FOUND;
    *result =
        rc ? 0
           : tree_ignore_match(buf_slice(&rules), (struct slice){ path.p + n, path.n - n }, is_dir);
    buf_fini(&rules);
    arena_fini(&a);
    return rc == ERR_OK || rc == ERR_NOT_FOUND;
}

/* The nearest list that has a rule for the path decides. */
static bool is_ignored(const struct tree_ignore *r, git_repository *repo, const git_tree *tree,
                       struct slice path, bool is_dir)
{
    int result = 0;

    for (size_t n = path.n; n > 0 && !result; n--)
        if (path.p[n - 1] == '/' && !ask_file(r, repo, tree, path, n, is_dir, &result))
            return true;
    if (!result && !ask_file(r, repo, tree, path, 0, is_dir, &result))
        return true;
    for (size_t i = r->lists; i > 0 && !result; i--)
        result = tree_ignore_match(r->list[i - 1], path, is_dir);
    return result > 0;
}

bool tree_ignore_has(const struct tree_ignore *r, git_repository *repo, const git_oid *id,
                     const char *path)
{
    git_tree *tree = NULL;
    size_t length = strlen(path);
    bool ignored = repo_tree(repo, id, &tree, NULL) != ERR_OK;

    /* what is below an ignored directory cannot be included again */
    for (size_t n = 1; n <= length && !ignored; n++)
        if (n == length || path[n] == '/')
            ignored = is_ignored(r, repo, tree, (struct slice){ path, n }, n < length);
    git_tree_free(tree);
    return ignored;
}
