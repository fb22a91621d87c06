#include "store/journal/fork_stage.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/journal/change_internal.h"

/* Younger copies may be those of a fork under way. */
static const int64_t LEFT_AFTER_MS = INT64_C(24) * 3600 * 1000;

/* What cannot be removed lies in a directory of our own and does no harm. */
static void remove_copy(const char *path)
{
    if (path && copy_remove(path, NULL))
        return;
}

void fork_discard(const struct fork_result *fork)
{
    remove_copy(fork->staged);
    remove_copy(fork->staged_files);
}

/* ---- copies that a crash left ---- */

struct left {
    const char *dir;
    struct dirent **name;
    bool *spoken_for; /* by name: a change has it as the place of one of its moves */
    int n;
    int changes; /* that could be read */
};

static bool is_old(const char *dir, const char *name, int64_t now_ms)
{
    char path[PATH_MAX];
    struct stat st;

    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
           lstat(path, &st) == 0 && now_ms - (int64_t)st.st_ctim.tv_sec * 1000 > LEFT_AFTER_MS;
}

/* Is the path one of the names in the directory, or below one? */
static void speak_for(struct left *l, const char *path)
{
    size_t n = strlen(l->dir);

    if (!path || strncmp(path, l->dir, n) != 0 || path[n] != '/')
        return;
    path += n + 1;
    n = strcspn(path, "/");
    for (int i = 0; i < l->n; i++)
        if (strlen(l->name[i]->d_name) == n && memcmp(l->name[i]->d_name, path, n) == 0)
            l->spoken_for[i] = true;
}

static bool read_change(const struct change *c, bool undone, void *arg)
{
    struct left *l = arg;

    (void)undone;
    l->changes++;
    for (size_t i = 0; i < c->n; i++) {
        speak_for(l, c->step[i].path);
        speak_for(l, c->step[i].to);
    }
    return true;
}

/* Absence of evidence removes nothing: every record there is has to be readable, and to say nothing of it. */
static bool read_changes(struct change_log *log, struct left *l)
{
    struct dirent **done = NULL, **under_way = NULL;
    int n = 0, open = 0;
    bool all = !change_names(log, false, &done, &n, NULL) &&
               !change_names(log, true, &under_way, &open, NULL) &&
               !change_list(log, read_change, l, NULL) && l->changes == n && open == 0;

    change_names_free(done, n);
    change_names_free(under_way, open);
    return all;
}

static void remove_left(struct change_log *log, struct left *l, int64_t now_ms)
{
    char path[PATH_MAX];
    bool any = false;

    for (int i = 0; i < l->n; i++)
        any = any || (l->name[i]->d_name[0] != '.' && is_old(l->dir, l->name[i]->d_name, now_ms));
    l->spoken_for = calloc((size_t)l->n + 1, sizeof *l->spoken_for);
    if (!any || !l->spoken_for || !read_changes(log, l))
        return;
    for (int i = 0; i < l->n; i++) {
        const char *name = l->name[i]->d_name;

        if (!l->spoken_for[i] && name[0] != '.' && is_old(l->dir, name, now_ms) &&
            snprintf(path, sizeof path, "%s/%s", l->dir, name) < (int)sizeof path)
            remove_copy(path);
    }
}

void fork_sweep(const struct store_env *env)
{
    struct change_log *log;
    char dir[PATH_MAX];
    struct left l = { .dir = dir };

    if (env_data_path(env, "forks", dir, NULL))
        return;
    disk_new_sweep(dir);
    l.n = scandir(dir, &l.name, NULL, NULL);
    if (l.n > 2 && change_log_open(env, &log, NULL) == ERR_OK) {
        remove_left(log, &l, env->now_ms);
        change_log_close(log);
    }
    for (int i = 0; i < l.n; i++)
        free(l.name[i]);
    if (l.n >= 0)
        free(l.name);
    free(l.spoken_for);
}
