#include "store/journal/change_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/fs/disk.h"
#include "store/journal/append_journal.h"

enum { LOCK_WAIT_MS = 5000, LOCK_STEP_MS = 20 };

static enum err_code acquire_change_lock(struct change_log *log, struct err *e)
{
    char path[PATH_MAX];
    struct timespec nap = { .tv_nsec = LOCK_STEP_MS * 1000000L };

    snprintf(path, sizeof path, "%s/lock", log->dir);
    log->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log->lock < 0)
        return err_sys(e, path, "open the lock");
    for (int waited = 0; flock(log->lock, LOCK_EX | LOCK_NB); waited += LOCK_STEP_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_sys(e, path, "lock");
        if (waited >= LOCK_WAIT_MS)
            return err_set(e, ERR_LOCKED, path, "another reprise is changing sessions right now");
        nanosleep(&nap, NULL);
    }
    return ERR_OK;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    return n > m && strcmp(name + n - m, suffix) == 0;
}

enum err_code change_names(const struct change_log *log, bool intents, struct dirent ***names,
                           int *n, struct err *e)
{
    struct dirent **all;
    int found = scandir(log->dir, &all, NULL, alphasort), kept = 0;

    if (found < 0)
        return err_sys(e, log->dir, "read directory");
    for (int i = 0; i < found; i++) {
        const char *name = all[i]->d_name;
        bool ours =
            name[0] >= '0' && name[0] <= '9' && has_suffix(name, CHANGE_INTENT_SUFFIX) == intents;

        if (ours)
            all[kept++] = all[i];
        else
            free(all[i]);
    }
    *names = all;
    *n = kept;
    return ERR_OK;
}

static bool is_locked(const struct change_log *log)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/lock", log->dir);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return false;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;

    close(fd);
    return locked;
}

size_t change_count_interrupted(const struct store_env *env)
{
    struct change_log log = { .lock = -1 };
    struct dirent **names;
    char dir[PATH_MAX];
    int n;

    if (env_state_path(env, "changes", dir, NULL) ||
        (size_t)snprintf(log.dir, sizeof log.dir, "%s", dir) >= sizeof log.dir || is_locked(&log) ||
        change_names(&log, true, &names, &n, NULL))
        return 0;
    change_names_free(names, n);
    return (size_t)n;
}

void change_names_free(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static enum err_code recover_all(struct change_log *log, struct err *e)
{
    struct dirent **names;
    int n;
    enum err_code rc = change_names(log, true, &names, &n, e);

    if (rc)
        return rc;
    for (int i = n - 1; i >= 0 && !rc; i--)
        rc = change_recover(log, names[i]->d_name, e);
    change_names_free(names, n);
    return rc;
}

/* ---- open ---- */

enum err_code change_log_open(const struct store_env *env, struct change_log **out, struct err *e)
{
    struct change_log *log = calloc(1, sizeof *log);
    char dir[PATH_MAX];

    if (!log)
        return err_nomem(e);
    log->lock = -1;
    log->env = *env;
    enum err_code rc = env_state_path(env, "changes", dir, e);

    if (!rc && (size_t)snprintf(log->dir, sizeof log->dir, "%s", dir) >= sizeof log->dir)
        rc = err_set(e, ERR_UNSAFE, dir, "the state directory's name is too long");
    if (!rc)
        rc = disk_own_dir(env->state_dir, log->dir, e);
    if (!rc)
        rc = acquire_change_lock(log, e);
    if (!rc)
        journal_recover(env);
    if (!rc)
        rc = recover_all(log, e);
    if (rc) {
        change_log_close(log);
        return err_wrap(e, rc, "open the operation log");
    }
    *out = log;
    return ERR_OK;
}

void change_log_close(struct change_log *log)
{
    if (!log)
        return;
    if (log->lock >= 0)
        close(log->lock);
    free(log);
}
