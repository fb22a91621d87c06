#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/fs/path.h"
#include "store/journal/append_journal.h"
#include "store/journal/change.h"
#include "store/journal/change_internal.h"
#include "store/log/lease.h"

/* A change that a crash interrupted must be settled before the next one begins, because both may
 * concern the same files. So opening the log consists of these steps:
 *
 *   lock -> interrupted appends of hosts -> interrupted changes, newest first -> temporary files
 *
 * The record of a change that is done is never written again: the change is undone if a later one
 * names it and is not undone itself. One pass from the newest change to the oldest is enough to
 * decide this. A record that cannot be read is skipped and kept. A copy that a fork left is removed
 * only if every record could be read, no change is under way, and no record names the copy. */

enum { LOCK_WAIT_MS = 5000, LOCK_STEP_MS = 20 };

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Names of the changes, sorted by time: those under way, or those that are done. */
static enum err_code change_names(const struct change_log *log, bool intents,
                                  struct dirent ***names, int *n, struct err *e)
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

static void change_names_free(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
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

/* ---- open ---- */

static enum err_code log_new(const struct store_env *env, struct change_log **out, struct err *e)
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
    if (rc)
        free(log);
    else
        *out = log;
    return rc;
}

static enum err_code lock_and_recover(struct change_log *log, struct err *e)
{
    /* Another reprise may hold the lock for a moment. */
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

    journal_recover(&log->env);

    struct dirent **names;
    int n;

    TRY(change_names(log, true, &names, &n, e));
    enum err_code rc = ERR_OK;

    for (int i = n - 1; i >= 0 && !rc; i--)
        rc = change_recover(log, names[i]->d_name, e);
    change_names_free(names, n);

    /* Contents of a change that was never recorded, where a new file needs a name; one that stays takes only space. */
    (void)disk_new_sweep(log->dir);
    return rc;
}

static enum err_code change_log_hand_over(struct change_log *log, enum err_code rc,
                                          struct change_log **out, struct err *e)
{
    if (rc) {
        change_log_close(log);
        return err_wrap(e, rc, "open the operation log");
    }
    *out = log;
    return ERR_OK;
}

enum err_code change_log_open(const struct store_env *env, struct change_log **out, struct err *e)
{
    struct change_log *log = NULL;
    enum err_code rc = log_new(env, &log, e);

    if (!rc)
        rc = disk_own_dir(env->state_dir, log->dir, e);
    if (!rc)
        rc = lock_and_recover(log, e);
    return change_log_hand_over(log, rc, out, e);
}

enum err_code change_log_read(const struct store_env *env, struct change_log **out, struct err *e)
{
    struct change_log *log = NULL;
    struct err why = { 0 };
    enum err_code rc = log_new(env, &log, &why);

    *out = NULL;
    if (!rc && access(log->dir, F_OK) != 0 && errno == ENOENT) {
        change_log_close(log);
        return ERR_OK;
    }
    if (!rc)
        rc = lock_and_recover(log, &why);
    if (rc && log && change_waits_for_person(&why))
        rc = ERR_OK;
    if (rc && e)
        *e = why;
    return change_log_hand_over(log, rc, out, e);
}

void change_log_close(struct change_log *log)
{
    if (!log)
        return;
    log_lock_release(log->lock);
    free(log);
}

/* Walks from the newest change to the oldest. A change is undone if a later one names it and is not
 * undone itself: when an older change is reached, every change that could undo it has been seen. */
struct walk {
    struct dirent **names;
    int n, at;
    char (*undone)[40]; /* ids that were undone */
    int undone_n;
};

static enum err_code walk_open(const struct change_log *log, struct walk *w, struct err *e)
{
    *w = (struct walk){ 0 };
    TRY(change_names(log, false, &w->names, &w->n, e));
    w->at = w->n;
    w->undone = calloc((size_t)w->n + 1, sizeof *w->undone);
    if (w->undone)
        return ERR_OK;
    change_names_free(w->names, w->n);
    return err_nomem(e);
}

static void walk_close(struct walk *w)
{
    change_names_free(w->names, w->n);
    free(w->undone);
}

/* NULL at the end. The caller frees the change. */
static struct change *walk_next(struct change_log *log, struct walk *w, bool *undone)
{
    char dir[PATH_MAX];
    struct change *c;

    while (w->at > 0) {
        const char *name = w->names[--w->at]->d_name;

        if ((size_t)snprintf(dir, sizeof dir, "%s/%s", log->dir, name) >= sizeof dir ||
            strlen(name) >= sizeof c->id)
            continue;
        enum err_code rc = change_record_read(dir, &c, NULL);

        if (rc) { /* a record of another user is not one of ours */
            if (rc != ERR_UNSAFE && strcmp(name, log->unread) > 0)
                snprintf(log->unread, sizeof log->unread, "%s", name);
            continue;
        }
        memcpy(c->id, name, strlen(name) + 1);
        *undone = false;
        for (int i = 0; i < w->undone_n && !*undone; i++)
            *undone = strcmp(w->undone[i], c->id) == 0;
        if (!*undone && c->undoes && strlen(c->undoes) < sizeof *w->undone)
            memcpy(w->undone[w->undone_n++], c->undoes, strlen(c->undoes) + 1);
        return c;
    }
    return NULL;
}

const char *change_log_unread(const struct change_log *log)
{
    return log ? log->unread : "";
}

enum err_code change_list(struct change_log *log, change_fn *fn, void *arg, struct err *e)
{
    struct walk w;
    struct change *c;
    bool undone, more = true;

    if (!log)
        return ERR_OK;
    TRY(walk_open(log, &w, e));
    while (more && (c = walk_next(log, &w, &undone))) {
        more = fn(c, undone, arg);
        change_free(c);
    }
    walk_close(&w);
    return ERR_OK;
}

enum err_code change_read(struct change_log *log, const char *id, struct change **out,
                          struct err *e)
{
    char dir[PATH_MAX];

    if ((size_t)snprintf(dir, sizeof dir, "%s/%s", log->dir, id) >= sizeof dir ||
        strlen(id) >= sizeof(*out)->id || strchr(id, '/'))
        return err_set(e, ERR_NOT_FOUND, id, "no change with this id");
    TRY(change_record_read(dir, out, e));
    memcpy((*out)->id, id, strlen(id) + 1);
    return ERR_OK;
}

static enum err_code change_log_find_change(struct change_log *log, const char *id,
                                            struct change **out, struct err *e)
{
    struct walk w;
    struct change *c;
    bool undone;
    enum err_code rc = walk_open(log, &w, e);

    if (rc)
        return rc;
    *out = NULL;

    /* Without an id, the newest change that is neither undone nor an undo itself is wanted. */
    while (!*out && (c = walk_next(log, &w, &undone))) {
        bool wanted = id ? strcmp(c->id, id) == 0 : !undone && strcmp(c->kind, "undo") != 0;

        if (wanted && undone)
            rc = err_set(e, ERR_STALE, id, "undo: it was undone already");
        if (wanted)
            *out = c;
        else
            change_free(c);
    }
    walk_close(&w);
    if (!*out)
        return err_set(e, ERR_NOT_FOUND, id,
                       id ? "no change with this id" : "nothing left to undo");
    if (rc) {
        change_free(*out);
        *out = NULL;
    }
    return rc;
}

bool change_is_agents(const struct change *c)
{
    return c->command && (c->n == 0 || strcmp(c->kind, "undo") == 0);
}

enum err_code change_check_is_ours(const struct change *c, struct err *e)
{
    return change_is_agents(c)
               ? err_set(e, ERR_UNSUPPORTED, c->id,
                         "undo: only the session's agent can do that (%s)", c->command)
               : ERR_OK;
}

enum err_code change_undo(struct change_log *log, const char *id, struct change **out,
                          struct err *e)
{
    struct change *c;

    TRY(change_log_find_change(log, id, &c, e));
    enum err_code rc = change_check_is_ours(c, e);

    if (!rc) {
        const char *kind = strcmp(c->kind, "undo") == 0 ? "redo" : "undo";
        struct change *back = change_inverse(c, kind);

        if (back)
            back->undoes = arena_copy(&back->arena, slice_of(c->id)).p;
        rc = back && back->undoes ? change_run(log, back, e) : err_nomem(e);

        if (rc || !out)
            change_free(back);
        else
            *out = back;
    }
    change_free(c);
    return rc;
}

bool change_is_stale(const struct change *c)
{
    bool stale = false;

    for (size_t i = 0; i < c->n && !stale; i++) {
        stale = step_is_stale(&c->step[i]);

        /* A step that finds what an earlier one has changed is not stale. */
        for (size_t k = 0; k < i && stale; k++) {
            const struct step *s = &c->step[k];

            stale = !path_under(slice_of(c->step[i].path),
                                slice_of(s->kind == STEP_MOVE ? s->to : s->path));
        }
    }
    return stale;
}

bool change_undo_is_stale(const struct change *c)
{
    struct change *back = change_inverse(c, "undo");
    bool stale = back && change_is_stale(back);

    change_free(back);
    return stale;
}

static bool newest_is_undo(const struct change *c, bool undone, void *arg)
{
    char *id = arg;

    (void)undone;
    if (strcmp(c->kind, "undo") == 0)
        memcpy(id, c->id, sizeof c->id);
    return false;
}

enum err_code change_redo(struct change_log *log, struct change **out, struct err *e)
{
    char id[40] = "";

    TRY(change_list(log, newest_is_undo, id, e));
    return id[0] ? change_undo(log, id, out, e)
                 : err_set(e, ERR_NOT_FOUND, NULL, "nothing to redo");
}

/* Younger copies may belong to a fork that is being made. */
static const int64_t LEFT_AFTER_MS = INT64_C(24) * 3600 * 1000;

/* A copy that cannot be removed is in a directory of our own, where it does no harm. */
static void remove_copy(const char *path)
{
    if (path && copy_remove(path, NULL))
        return;
}

void change_discard_fork(const struct fork_result *fork)
{
    remove_copy(fork->staged);
    remove_copy(fork->staged_files);
}

/* ---- copies that a crash left ---- */

struct left {
    const char *dir;
    struct dirent **name;
    bool *named; /* by name: a step of a change names it */
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

/* If the path is one of the names in the directory, or below one, marks that name. */
static void mark_named(struct left *l, const char *path)
{
    size_t n = strlen(l->dir);

    if (!path || strncmp(path, l->dir, n) != 0 || path[n] != '/')
        return;
    path += n + 1;
    n = strcspn(path, "/");
    for (int i = 0; i < l->n; i++)
        if (strlen(l->name[i]->d_name) == n && memcmp(l->name[i]->d_name, path, n) == 0)
            l->named[i] = true;
}

static bool read_change(const struct change *c, bool undone, void *arg)
{
    struct left *l = arg;

    (void)undone;
    l->changes++;
    for (size_t i = 0; i < c->n; i++) {
        mark_named(l, c->step[i].path);
        mark_named(l, c->step[i].to);
    }
    return true;
}

/* A copy is removed only if every record could be read, no change is under way, and no record names
 * the copy. */
static bool change_log_read_changes(struct change_log *log, struct left *l)
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
    l->named = calloc((size_t)l->n + 1, sizeof *l->named);
    if (!any || !l->named || !change_log_read_changes(log, l))
        return;
    for (int i = 0; i < l->n; i++) {
        const char *name = l->name[i]->d_name;

        if (!l->named[i] && name[0] != '.' && is_old(l->dir, name, now_ms) &&
            snprintf(path, sizeof path, "%s/%s", l->dir, name) < (int)sizeof path)
            remove_copy(path);
    }
}

void change_sweep_forks(const struct store_env *env)
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
    free(l.named);
}
