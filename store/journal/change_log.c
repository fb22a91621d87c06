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

#include "lite/base/cleanup.h"
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

struct change_names {
    struct dirent **name;
    int n;
};

static void change_names_fini(struct change_names *names)
{
    for (int i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
}

/* The names of the changes that are under way, or of those that are done, sorted by time. */
static enum err_code change_names_read(const struct change_log *log, bool under_way,
                                       struct change_names *out, struct err *e)
{
    struct dirent **all;
    const int found = scandir(log->dir, &all, NULL, alphasort);
    int kept = 0;

    if (found < 0)
        return err_sys(e, log->dir, "read directory");
    for (int i = 0; i < found; i++) {
        const char *name = all[i]->d_name;
        const size_t n = strlen(name), m = sizeof CHANGE_INTENT_SUFFIX - 1;
        const bool intent = n > m && strcmp(name + n - m, CHANGE_INTENT_SUFFIX) == 0;

        if (name[0] >= '0' && name[0] <= '9' && intent == under_way)
            all[kept++] = all[i];
        else
            free(all[i]);
    }
    *out = (struct change_names){ all, kept };
    return ERR_OK;
}

static bool is_locked(const struct change_log *log)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/lock", log->dir);
    AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
}

size_t change_count_interrupted(const struct store_env *env)
{
    struct change_log log = { .lock = -1 };
    CLEANUP(change_names_fini) struct change_names names = { 0 };
    char dir[PATH_MAX];

    if (env_state_path(env, "changes", dir, NULL) ||
        (size_t)snprintf(log.dir, sizeof log.dir, "%s", dir) >= sizeof log.dir || is_locked(&log) ||
        change_names_read(&log, true, &names, NULL))
        return 0;
    return (size_t)names.n;
}

/* ---- open ---- */

static enum err_code log_new(const struct store_env *env, struct change_log **out, struct err *e)
{
    AUTO_FREE struct change_log *log = calloc(1, sizeof *log);
    char dir[PATH_MAX];

    NEED(log);
    log->lock = -1;
    log->env = *env;
    TRY(env_state_path(env, "changes", dir, e));
    if ((size_t)snprintf(log->dir, sizeof log->dir, "%s", dir) >= sizeof log->dir)
        return err_set(e, ERR_UNSAFE, dir, "the state directory's name is too long");
    *out = log;
    log = NULL;
    return ERR_OK;
}

static enum err_code lock_and_recover(struct change_log *log, struct err *e)
{
    /* Another reprise may hold the lock for a moment. */
    char path[PATH_MAX];
    struct timespec nap = { .tv_nsec = LOCK_STEP_MS * 1000000L };
    CLEANUP(change_names_fini) struct change_names names = { 0 };
    enum err_code rc = ERR_OK;

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
    TRY(change_names_read(log, true, &names, e));
    for (int i = names.n - 1; i >= 0 && !rc; i--)
        rc = change_recover(log, names.name[i]->d_name, e);

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
    struct change_names names;
    int at;
    char (*undone)[40]; /* ids that were undone */
    int undone_n;
};

static void walk_close(struct walk *w)
{
    change_names_fini(&w->names);
    free(w->undone);
}

static enum err_code walk_open(const struct change_log *log, struct walk *w, struct err *e)
{
    TRY(change_names_read(log, false, &w->names, e));
    w->at = w->names.n;
    NEED(w->undone = calloc((size_t)w->names.n + 1, sizeof *w->undone));
    return ERR_OK;
}

/* NULL at the end. The caller frees the change. */
static struct change *walk_next(struct change_log *log, struct walk *w, bool *undone)
{
    char dir[PATH_MAX];
    struct change *c;

    while (w->at > 0) {
        const char *name = w->names.name[--w->at]->d_name;

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
    CLEANUP(walk_close) struct walk w = { .at = 0 };
    struct change *c;
    bool undone, more = true;

    if (!log)
        return ERR_OK;
    TRY(walk_open(log, &w, e));
    while (more && (c = walk_next(log, &w, &undone))) {
        more = fn(c, undone, arg);
        change_free(c);
    }
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
    CLEANUP(walk_close) struct walk w = { .at = 0 };
    struct change *c;
    bool undone;

    /* Without an id, the newest change that is neither undone nor an undo itself is wanted. */
    TRY(walk_open(log, &w, e));
    while ((c = walk_next(log, &w, &undone))) {
        const bool wanted = id ? strcmp(c->id, id) == 0 : !undone && strcmp(c->kind, "undo") != 0;

        if (wanted && !undone) {
            *out = c;
            return ERR_OK;
        }
        change_free(c);
        if (wanted)
            return err_set(e, ERR_STALE, id, "undo: it was undone already");
    }
    return err_set(e, ERR_NOT_FOUND, id, id ? "no change with this id" : "nothing left to undo");
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
    CLEANUP(change_free_at) struct change *c = NULL;
    CLEANUP(change_free_at) struct change *back = NULL;

    TRY(change_log_find_change(log, id, &c, e));
    TRY(change_check_is_ours(c, e));
    NEED(back = change_inverse(c, strcmp(c->kind, "undo") == 0 ? "redo" : "undo"));
    NEED(back->undoes = arena_copy(&back->arena, slice_of(c->id)).p);
    TRY(change_run(log, back, e));
    if (out)
        HAND_OVER(out, back);
    return ERR_OK;
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
    if (path)
        (void)!copy_remove(path, NULL);
}

void change_discard_fork(const struct fork_result *fork)
{
    remove_copy(fork->staged);
    remove_copy(fork->staged_files);
}

/* ---- copies that a crash left ---- */

struct left {
    const char *dir;
    struct change_names names;
    bool *named; /* true for each name that a step of a change mentions */
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
    for (int i = 0; i < l->names.n; i++) {
        const char *name = l->names.name[i]->d_name;

        if (strlen(name) == n && memcmp(name, path, n) == 0)
            l->named[i] = true;
    }
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

static bool may_be_removed(const struct left *l, int i, int64_t now_ms)
{
    const char *name = l->names.name[i]->d_name;

    return name[0] != '.' && !l->named[i] && is_old(l->dir, name, now_ms);
}

/* A copy is removed only if every record could be read, no change is under way, and no record names
 * the copy. */
static void remove_left(struct change_log *log, struct left *l, int64_t now_ms)
{
    CLEANUP(change_names_fini) struct change_names done = { 0 };
    CLEANUP(change_names_fini) struct change_names under_way = { 0 };
    char path[PATH_MAX];
    bool any = false;

    /* Most often nothing is old, and the records need not be read. */
    for (int i = 0; i < l->names.n && !any; i++)
        any = may_be_removed(l, i, now_ms);
    if (!any || change_names_read(log, false, &done, NULL) ||
        change_names_read(log, true, &under_way, NULL) || change_list(log, read_change, l, NULL) ||
        l->changes != done.n || under_way.n > 0)
        return;
    for (int i = 0; i < l->names.n; i++)
        if (may_be_removed(l, i, now_ms) && snprintf(path, sizeof path, "%s/%s", l->dir,
                                                     l->names.name[i]->d_name) < (int)sizeof path)
            remove_copy(path);
}

void change_sweep_forks(const struct store_env *env)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    char dir[PATH_MAX];
    struct left l = { .dir = dir };

    if (env_data_path(env, "forks", dir, NULL))
        return;
    disk_new_sweep(dir);
    l.names.n = scandir(dir, &l.names.name, NULL, NULL);
    if (l.names.n < 0)
        return;
    l.named = calloc((size_t)l.names.n + 1, sizeof *l.named);
    if (l.named && l.names.n > 2 && change_log_open(env, &log, NULL) == ERR_OK)
        remove_left(log, &l, env->now_ms);
    free(l.named);
    change_names_fini(&l.names);
}
