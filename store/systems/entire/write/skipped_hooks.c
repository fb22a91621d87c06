#include "store/systems/entire/write/skipped_hooks.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lite/io/file.h"

enum { HOOK_MAX = 1 << 20 };

static bool wants_signature(git_config *config)
{
    int yes = 0;

    return git_config_get_bool(&yes, config, "commit.gpgsign") == 0 && yes;
}

/* Entire's own say so (entire.md 2.9). What they would add, the commit has. */
static bool is_entires(const char *path)
{
    struct buf text = { 0 };
    bool yes = file_read_all(AT_FDCWD, path, FILE_FOLLOW, HOOK_MAX, &text, NULL) == ERR_OK &&
               slice_has(buf_slice(&text), "Entire CLI hooks");

    buf_fini(&text);
    return yes;
}

/* core.hooksPath is seen from the work tree. */
static const char *hooks_dir(git_repository *repo, git_config *config, struct arena *a)
{
    const char *set = NULL, *root = git_repository_workdir(repo);

    if (git_config_get_string(&set, config, "core.hooksPath") || !*set)
        return arena_format(a, "%shooks", git_repository_commondir(repo));
    return set[0] == '/' ? arena_format(a, "%s", set)
                         : arena_format(a, "%s%s", root ? root : "", set);
}

static const char *a_hook(git_repository *repo, git_config *config, struct arena *a)
{
    static const char *const names[] = { "pre-commit", "prepare-commit-msg", "commit-msg",
                                         "post-commit" };
    const char *dir = hooks_dir(repo, config, a);

    for (size_t i = 0; dir && i < sizeof names / sizeof *names; i++) {
        const char *path = arena_format(a, "%s/%s", dir, names[i]);

        if (path && access(path, X_OK) == 0 && !is_entires(path))
            return names[i];
    }
    return NULL;
}

const char *skipped_hooks_note(git_repository *repo, struct arena *a)
{
    git_config *config = NULL;

    if (git_repository_config_snapshot(&config, repo))
        return NULL;
    const char *hook = a_hook(repo, config, a);
    bool sign = wants_signature(config);

    git_config_free(config);
    if (hook)
        return arena_format(a, "the hooks of git were not run (%s)%s", hook,
                            sign ? ", and the commit is not signed" : "");
    return sign ? "the commit is not signed" : NULL;
}
