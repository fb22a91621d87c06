#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/goat/goat.h"

/* Directories that hold a session under a name that cannot be an id: no list shows them, so somebody has to say it. */

struct naming {
    finding_fn *fn;
    void *arg;
    struct arena arena;
    struct err *e;
    enum err_code rc;
};

static bool holds_session(int dirfd, const char *name)
{
    char path[NAME_MAX + 32];
    struct stat sb;

    snprintf(path, sizeof path, "%s/" GOAT_METADATA, name);
    return fstatat(dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(sb.st_mode) &&
           fstatat(dirfd, path, &sb, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool check_base(const char *sessions, struct slice folder, void *arg)
{
    struct naming *k = arg;
    DIR *dir = opendir(sessions);
    struct dirent *entry;

    (void)folder;
    while (dir && !k->rc && (entry = readdir(dir))) {
        struct slice name = slice_of(entry->d_name);
        struct finding f = { .kind = FINDING_UNREADABLE,
                             .why = "its name cannot be a session's id" };

        if (strcmp(name.p, ".") == 0 || strcmp(name.p, "..") == 0 || goat_is_id(name) ||
            goat_is_memory(name) || !holds_session(dirfd(dir), name.p))
            continue;
        arena_reset(&k->arena);
        f.path = arena_format(&k->arena, "%s/%s", sessions, name.p);
        k->rc = f.path ? k->fn(&f, k->arg, k->e) : err_nomem(k->e);
    }
    if (dir)
        closedir(dir);
    return !k->rc;
}

enum err_code goat_check_store(const struct store *st, const struct scope *scope, finding_fn *fn,
                               void *arg, struct err *e)
{
    struct naming k = { .fn = fn, .arg = arg, .e = e };

    (void)scope;
    goat_each_base(goat_of(st), check_base, &k);
    arena_fini(&k.arena);
    return k.rc;
}
