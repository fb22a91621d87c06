#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/systems/goat/goat.h"

static bool is_dir_below(int dirfd, const char *name)
{
    struct stat sb;

    return fstatat(dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(sb.st_mode);
}

static bool is_dir_entry(DIR *dir, const struct dirent *entry)
{
    if (entry->d_name[0] == '.')
        return false;
    return entry->d_type == DT_UNKNOWN ? is_dir_below(dirfd(dir), entry->d_name)
                                       : entry->d_type == DT_DIR;
}

/* Does a directory below hold a folder "sessions"? */
static bool has_projects(const char *path)
{
    char name[NAME_MAX + sizeof "/sessions"];
    DIR *dir = opendir(path);
    struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "%s/sessions", entry->d_name);
        found = is_dir_entry(dir, entry) && is_dir_below(dirfd(dir), name);
    }
    if (dir)
        closedir(dir);
    return found;
}

enum goat_path_kind goat_path_kind_of(const char *path)
{
    char below[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (slash && strcmp(slash, "/sessions") == 0)
        return GOAT_SESSIONS;
    if (snprintf(below, sizeof below, "%s/projects", path) < (int)sizeof below &&
        is_dir_below(AT_FDCWD, below))
        return GOAT_CONFIG;
    if (snprintf(below, sizeof below, "%s/sessions", path) < (int)sizeof below &&
        is_dir_below(AT_FDCWD, below))
        return GOAT_PROJECT;
    return has_projects(path) ? GOAT_PROJECTS : GOAT_SESSIONS;
}

static void each_project(const char *projects, goat_base_fn *fn, void *arg)
{
    char path[PATH_MAX];
    DIR *dir = opendir(projects);
    struct dirent *entry;
    bool more = true;

    while (dir && more && (entry = readdir(dir))) {
        int n = snprintf(path, sizeof path, "%s/%s/sessions", projects, entry->d_name);

        if (is_dir_entry(dir, entry) && n < (int)sizeof path && is_dir_below(AT_FDCWD, path))
            more = fn(path, slice_of(entry->d_name), arg);
    }
    if (dir)
        closedir(dir);
}

/* The name of the directory that holds a folder of sessions. */
static struct slice project_of(const char *sessions)
{
    const char *end = strrchr(sessions, '/'), *begin = end;

    if (!end || strcmp(end, "/sessions") != 0)
        return SLICE("");
    while (begin > sessions && begin[-1] != '/')
        begin--;
    return (struct slice){ begin, (size_t)(end - begin) };
}

void goat_each_base(const struct goat *g, goat_base_fn *fn, void *arg)
{
    char path[PATH_MAX];

    switch (g->place) {
    case GOAT_CONFIG:
        if (snprintf(path, sizeof path, "%s/projects", g->base.path) < (int)sizeof path)
            each_project(path, fn, arg);
        break;
    case GOAT_PROJECTS: each_project(g->base.path, fn, arg); break;
    case GOAT_PROJECT:
        if (snprintf(path, sizeof path, "%s/sessions", g->base.path) < (int)sizeof path)
            fn(path, project_of(path), arg);
        break;
    case GOAT_SESSIONS: fn(g->base.path, project_of(g->base.path), arg); break;
    }
}

static bool look_for_session(const char *sessions, struct slice folder, void *arg)
{
    bool *found = arg;
    char name[NAME_MAX + sizeof "/" GOAT_METADATA];
    DIR *dir = opendir(sessions);
    struct dirent *entry;

    (void)folder;
    while (dir && !*found && (entry = readdir(dir))) {
        snprintf(name, sizeof name, "%s/" GOAT_METADATA, entry->d_name);
        *found = is_dir_entry(dir, entry) && faccessat(dirfd(dir), name, F_OK, 0) == 0;
    }
    if (dir)
        closedir(dir);
    return !*found;
}

bool goat_has_sessions(const struct goat *g)
{
    bool found = false;

    goat_each_base(g, look_for_session, &found);
    return found;
}
