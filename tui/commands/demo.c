#include <dirent.h>
#include <errno.h>
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

/* A demo holds a lock on its directory as long as it runs, so that one which was killed can be told from one that
 * is running, whoever runs it. A directory that is younger may be about to be locked. */
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

/* Ours, and nobody runs in it any more. */
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

/* What demos that were killed could not remove. That it cannot be removed either is nobody's trouble now. */
static void remove_left_behind(const char *temp_dir, int64_t now_ms)
{
    DIR *temp = opendir(temp_dir);
    struct dirent *entry;

    while (temp && (entry = readdir(temp))) {
        struct buf path = { 0 };

        if (is_left_behind(dirfd(temp), entry->d_name, now_ms) &&
            buf_addf(&path, "%s/%s", temp_dir, entry->d_name) == ERR_OK && buf_cstr(&path))
            (void)remove_tree(path.p, NULL);
        buf_fini(&path);
    }
    if (temp)
        closedir(temp);
}

/* Only the sample is read and written: undo records, the operation log and the trash are the demo's own and go with it,
 * and what the person has done elsewhere is not there to be undone. */
static bool enter_sample(struct process_env *w, const char *dir, struct arena *a)
{
    w->env.home = dir;
    w->env.cwd = arena_format(a, "%s/" DEMO_PROJECT, dir);
    w->env.state_dir = arena_format(a, "%s/state", dir);
    w->env.data_dir = arena_format(a, "%s/data", dir);
    w->env.claude_config_dir = arena_format(a, "%s/" DEMO_CONFIG, dir);
    w->env.claude_project_dir_name = NULL;
    return !a->failed;
}

/* The picker as if it had been started in the sample project. Enter stays: no agent knows these sessions, and
 * their directories go with the demo. */
static enum err_code run_inside(struct invocation *in, const char *dir, struct err *e)
{
    struct process_env world = *in->world;
    struct invocation picker = *in;
    struct arena a = { 0 };
    enum err_code rc = enter_sample(&world, dir, &a) ? ERR_OK : err_nomem(e);

    if (rc == ERR_OK) {
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
    struct buf dir = { 0 };
    enum err_code rc = buf_addf(&dir, "%s/" NAME_FRONT "XXXXXX", w->temp_dir);

    remove_left_behind(w->temp_dir, w->env.now_ms);
    if (rc || !buf_cstr(&dir))
        rc = err_nomem(e);
    else if (!mkdtemp(dir.p))
        rc = err_sys(e, w->temp_dir, "build the demo");
    if (rc) {
        buf_fini(&dir);
        return rc;
    }
    int lock = open_folder(AT_FDCWD, dir.p);

    if (lock >= 0)
        (void)flock(lock, LOCK_EX | LOCK_NB); /* nobody else knows the name yet */
    rc = demo_build(dir.p, w->env.now_ms, e);
    if (rc == ERR_OK)
        rc = run_inside(in, dir.p, e);
    enum err_code removed = remove_tree(dir.p, rc ? NULL : e);

    if (lock >= 0)
        close(lock);
    buf_fini(&dir);
    return rc ? rc : removed;
}
