#include "store/systems/entire/read/detect.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"

enum { PACKED_MAX = 256 << 20, POINTER_MAX = PATH_MAX + 64 };

/* False when it does not fit. */
static bool join_dir_entry(char out[PATH_MAX], struct slice dir, struct slice name)
{
    int n = name.n && name.p[0] == '/'
                ? snprintf(out, PATH_MAX, "%.*s", SLICE_ARG(name))
                : snprintf(out, PATH_MAX, "%.*s/%.*s", SLICE_ARG(dir), SLICE_ARG(name));

    return n > 0 && n < PATH_MAX;
}

static bool dir_has_entry(struct slice dir, const char *name)
{
    char path[PATH_MAX];

    return !join_dir_entry(path, dir, slice_of(name)) || access(path, F_OK) == 0;
}

/* Entire's, in the list of packed refs; what cannot be read may hold anything. */
static bool packed_has(struct slice git)
{
    struct buf packed = { 0 };
    char path[PATH_MAX];

    if (!join_dir_entry(path, git, SLICE("packed-refs")))
        return true;
    enum err_code rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, PACKED_MAX, &packed, NULL);
    bool found = (rc && rc != ERR_NOT_FOUND) ||
                 slice_has(buf_slice(&packed), " refs/heads/entire/") ||
                 slice_has(buf_slice(&packed), " refs/entire/") ||
                 slice_has(buf_slice(&packed), " refs/remotes/origin/entire/");

    buf_fini(&packed);
    return found;
}

/* In one git directory. Refs in tables are nothing that a look at names could tell. */
static bool git_has(struct slice git)
{
    static const char *const names[] = { "entire-sessions/.", "refs/heads/entire/.",
                                         "refs/entire/.", "refs/remotes/origin/entire/.",
                                         "reftable/." };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dir_has_entry(git, names[i]))
            return true;
    return packed_has(git);
}

/* The path that a small file of git's holds, behind a word; relative to `dir`. ERR_NOT_FOUND: there is no such file. */
static enum err_code follow(struct slice dir, const char *name, struct slice word,
                            char out[PATH_MAX])
{
    struct buf bytes = { 0 };
    char path[PATH_MAX];
    enum err_code rc = ERR_FORMAT;

    if (join_dir_entry(path, dir, slice_of(name)))
        rc = file_read_all(AT_FDCWD, path, FILE_FOLLOW, POINTER_MAX, &bytes, NULL);
    if (!rc) {
        struct slice text = buf_slice(&bytes);

        while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
            text.n--;
        bool told = text.n > word.n && (!word.n || slice_starts(text, word.p));

        text = told ? (struct slice){ text.p + word.n, text.n - word.n } : text;
        rc = told && join_dir_entry(out, dir, text) ? ERR_OK : ERR_FORMAT;
    }
    buf_fini(&bytes);
    return rc;
}

/* In a git directory, and in the one that it shares refs with: that of a linked work tree has none of its own. */
static bool git_or_common_has(struct slice git)
{
    char common[PATH_MAX];
    enum err_code rc = follow(git, "commondir", SLICE(""), common);

    if (git_has(git))
        return true;
    return rc != ERR_NOT_FOUND && (rc || git_has(slice_of(common)));
}

/* Where a repository may be: in .git, where a file .git says, or in the directory itself. */
static bool dir_has(struct slice dir)
{
    char git[PATH_MAX];

    if (dir_has_entry(dir, "HEAD") && dir_has_entry(dir, "objects") && git_or_common_has(dir))
        return true;
    if (!dir_has_entry(dir, ".git"))
        return false;
    if (!join_dir_entry(git, dir, SLICE(".git")))
        return true;
    if (!dir_has_entry(dir, ".git/.") && follow(dir, ".git", SLICE("gitdir: "), git) != ERR_OK)
        return true;
    return git_or_common_has(slice_of(git));
}

bool detect_above(const char *dir)
{
    for (size_t n = strlen(dir);; n--) {
        if ((n == 0 || dir[n] == '/' || dir[n] == '\0') && dir_has((struct slice){ dir, n }))
            return true;
        if (n == 0)
            return false;
    }
}
