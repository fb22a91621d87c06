#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lite/base/arena.h"
#include "store/demo/demo.h"
#include "tui/commands/command.h"

/* A demo locks its directory as long as it runs, which distinguishes a stale directory from one in
 * use. A directory younger than YOUNG_MS may be about to be locked. */
enum { OPEN_FOLDERS = 16, YOUNG_MS = 60 * 1000 };

#define NAME_FRONT "reprise-demo."

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static enum err_code remove_tree(const char *dir, struct err *e)
{
    if (nftw(dir, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) != 0)
        return err_sys(e, dir, "remove the demo");
    return ERR_OK;
}

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns true for a directory of a demo that is no longer used. */
static bool is_left_behind(int temp, const char *name, int64_t now_ms)
{
    struct stat sb;
    int fd = strncmp(name, NAME_FRONT, strlen(NAME_FRONT)) == 0 ? open_folder(temp, name) : -1;
    bool left = fd >= 0 && fstat(fd, &sb) == 0 && sb.st_uid == geteuid() &&
                now_ms - (int64_t)sb.st_mtim.tv_sec * 1000 > YOUNG_MS &&
                flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return left;
}

/* Removes the directories of demos that were killed. Failures are ignored. */
static void remove_left_behind(const char *temp_dir, int64_t now_ms)
{
    DIR *temp = opendir(temp_dir);
    struct arena a = { 0 };
    struct dirent *entry;

    while (temp && (entry = readdir(temp)))
        if (is_left_behind(dirfd(temp), entry->d_name, now_ms)) {
            const char *path = arena_format(&a, "%s/%s", temp_dir, entry->d_name);

            if (path)
                (void)remove_tree(path, NULL);
        }
    if (temp)
        closedir(temp);
    arena_fini(&a);
}

/* Runs the picker as if started in the sample project. Enter does not resume, because no agent has
 * these sessions. */
static enum err_code run_inside(struct invocation *in, const char *dir, struct err *e)
{
    struct process_env world = *in->world;
    struct invocation picker = *in;
    struct arena a = { 0 };

    /* Only the sample is read and written. The demo has its own undo records, operation log and
     * trash, so the user's own changes cannot be undone from it. */
    world.env.home = dir;
    world.env.cwd = arena_format(&a, "%s/" DEMO_PROJECT, dir);
    world.env.state_dir = arena_format(&a, "%s/state", dir);
    world.env.data_dir = arena_format(&a, "%s/data", dir);
    world.env.claude_config_dir = arena_format(&a, "%s/" DEMO_CONFIG, dir);
    world.env.claude_project_dir_name = NULL;
    world.env.environment = NULL;
    enum err_code rc = (!a.failed) ? ERR_OK : err_nomem(e);

    if (!rc) {
        picker.world = &world;
        picker.command = &commands_table[0];
        picker.demo = true;
        picker.options.stores = 0;
        picker.options.project = NULL;
        rc = picker_run(&picker, e);
        in->out = picker.out;
        in->exit_code = picker.exit_code;
    }
    arena_fini(&a);
    return rc;
}

enum err_code demo_run(struct invocation *in, struct err *e)
{
    const struct process_env *w = in->world;
    struct arena a = { 0 };
    char *dir = arena_format(&a, "%s/" NAME_FRONT "XXXXXX", w->temp_dir);
    enum err_code rc = dir ? ERR_OK : err_nomem(e);

    remove_left_behind(w->temp_dir, w->env.now_ms);
    if (!rc && !mkdtemp(dir))
        rc = err_sys(e, w->temp_dir, "build the demo");
    if (rc) {
        arena_fini(&a);
        return rc;
    }
    int lock = open_folder(AT_FDCWD, dir);

    if (lock >= 0)
        (void)flock(lock, LOCK_EX | LOCK_NB); /* cannot fail: the name is new */
    rc = demo_build(dir, w->env.now_ms, e);
    if (!rc)
        rc = run_inside(in, dir, e);
    enum err_code removed = remove_tree(dir, rc ? NULL : e);

    if (lock >= 0)
        close(lock);
    arena_fini(&a);
    return rc ? rc : removed;
}
