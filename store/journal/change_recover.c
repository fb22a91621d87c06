#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/journal/change_internal.h"

/* Recovers a change that a crash cut short:
 *
 *   no record          no step was begun              the directory is removed
 *   every step done    only the last renaming lacks   it is done now: later work may rely on it
 *   anything else      some steps, and half a step    they are undone, newest first
 *
 * If a directory of a step does not exist, the store may be moved away or not mounted yet: then the
 * change is left for a later start, as it is if the disk is read-only.
 *
 * A step that was done stays if it cannot be undone because another program changed the same file
 * since: that work counts more than our tidiness, and the next start must not fail because of it
 * for ever. Its record stays too, as that of a completed change, because it has the only copy of
 * what the step removed. If a program merely has the file open, the next start tries again. */

static const char stays_text[] = "interrupted; it is kept, because another program wrote after it";

/* A refusal is a result, not a failure. */
static enum err_code change_recover_answer_of(enum err_code rc, enum rollback *how)
{
    if (rc == ERR_LOCKED)
        *how = ROLLBACK_RETRY;
    else if (rc == ERR_STALE || rc == ERR_UNSAFE)
        *how = ROLLBACK_CONFLICT;
    return *how == ROLLBACK_DONE ? rc : ERR_OK;
}

/* Returns how many of the first n bytes of a path are those of its directory. */
static size_t change_recover_dir_length(const char *path, size_t n)
{
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n > 0 ? n - 1 : 0;
}

static bool change_recover_dir_exists(const char *path, size_t n)
{
    char dir[PATH_MAX];

    if (n == 0 || n >= sizeof dir)
        return true;
    memcpy(dir, path, n);
    dir[n] = '\0';
    return access(dir, F_OK) == 0 || errno != ENOENT;
}

/* Returns true if the first n bytes of a path name this directory, of m bytes, or one below it. */
static bool change_recover_is_in(const char *path, size_t n, const char *dir, size_t m)
{
    return m <= n && memcmp(dir, path, m) == 0 && (path[m] == '/' || m == n);
}

/* Returns true if a step of the change makes, removes or moves this directory or one above it. */
static bool is_step_dir(const struct change *c, const char *path, size_t n)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct step *s = &c->step[i];
        const size_t m = strlen(s->path);

        if (s->kind == STEP_MOVE
                ? change_recover_is_in(path, n, s->path, m) ||
                      change_recover_is_in(path, n, s->to, strlen(s->to))
                : s->with_dir &&
                      change_recover_is_in(path, n, s->path, change_recover_dir_length(s->path, m)))
            return true;
    }
    return false;
}

/* The previous content can only be restored if its directory exists. A document that did not exist needs no directory,
 * and a directory that is made and removed with the change needs the one above it. */
static bool is_away(const struct change *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct step *s = &c->step[i];
        size_t n = change_recover_dir_length(s->path, strlen(s->path));

        if (s->kind == STEP_PUT && s->old_absent)
            continue;
        if (s->with_dir)
            n = change_recover_dir_length(s->path, n);
        if (!change_recover_dir_exists(s->path, n) && (s->with_dir || !is_step_dir(c, s->path, n)))
            return true;
    }
    return false;
}

enum err_code change_step_recover(struct change *c, struct step *s, enum rollback *how,
                                  struct err *e)
{
    bool done;
    enum err_code rc = step_is_done(s, &done, e);

    *how = ROLLBACK_DONE;
    if (rc)
        return rc;
    if (done) {
        struct step inverse = step_inverse(s);

        rc = change_recover_answer_of(step_do(&inverse, &c->arena, e), how);
        if (!rc && *how == ROLLBACK_DONE)
            rc = step_sync(&inverse, e);
    }
    if (rc || *how != ROLLBACK_DONE)
        return rc;
    return change_recover_answer_of(step_repair(s, e), how);
}

/* The crash may have come between the write of a step and its fsync. */
static enum err_code harden(const struct step *s, struct err *e)
{
    if (s->kind == STEP_MOVE || s->kind == STEP_REF || s->kind == STEP_ROWS ||
        (s->kind == STEP_PUT && s->absent))
        return ERR_OK;
    AUTO_FD fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    return fd < 0 ? err_sys(e, s->path, "open") : disk_sync(fd, s->path, e);
}

static enum err_code change_recover_go_forward(struct change_log *log, struct change *c,
                                               const char *dir, struct err *e)
{
    bool committed;

    for (size_t i = 0; i < c->n; i++)
        TRY(harden(&c->step[i], e));
    TRY(change_steps_sync(c, e));
    for (size_t i = 0; i < c->n; i++)
        TRY(step_clean_up(&c->step[i], e));
    if (!disk_new_sweep(dir))
        return err_sys(e, dir, "remove temporary files");
    return change_finish(log, c, dir, &committed, e);
}

enum err_code change_steps_recover(struct change *c, enum rollback *how, struct err *e)
{
    CLEANUP(change_moves_fini) struct change_moves moves = { .least = 0 };
    const struct step *stays = NULL;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->n; i++)
        TRY(change_moves_add(&moves, c, i, e));
    *how = is_away(c) ? ROLLBACK_RETRY : ROLLBACK_DONE;
    for (size_t i = c->n; i > 0 && !rc && *how != ROLLBACK_RETRY; i--) {
        struct step *s = &c->step[i - 1];
        enum rollback one;

        /* A file that was to be moved first, and was not, is as it was. */
        const char *source = change_step_source(&moves, c, i - 1);

        if (!source)
            return err_nomem(e);
        if (source != s->path && access(s->path, F_OK) != 0)
            continue;

        /* The commit of a removed ref may be kept by a ref that the change made before it: if the removal stays, so
         * does that ref. */
        if (stays && s->kind == STEP_REF && strcmp(s->path, stays->path) == 0)
            continue;
        rc = change_step_recover(c, s, &one, e);
        if (!rc && one != ROLLBACK_DONE)
            *how = one;
        if (!rc && one == ROLLBACK_CONFLICT && s->kind == STEP_REF)
            stays = s;
    }
    return rc;
}

static enum err_code change_recover_go_back(struct change_log *log, struct change *c,
                                            const char *dir, struct err *e)
{
    enum rollback how;
    bool committed;
    enum err_code rc = change_steps_recover(c, &how, e);

    if (rc || how == ROLLBACK_RETRY)
        return rc;
    if (how == ROLLBACK_DONE)
        return change_remove_record(dir, e);
    c->text = stays_text;
    return change_finish(log, c, dir, &committed, e);
}

bool change_waits_for_person(const struct err *e)
{
    return e && (e->sys == EROFS || e->sys == EACCES || e->sys == EPERM);
}

enum err_code change_recover(struct change_log *log, const char *name, struct err *e)
{
    char dir[PATH_MAX];
    struct change *c;
    bool done = false;
    size_t n = strlen(name) - strlen(CHANGE_INTENT_SUFFIX);

    if ((size_t)snprintf(dir, sizeof dir, "%s/%s", log->dir, name) >= sizeof dir)
        return ERR_OK;
    enum err_code rc = change_record_read(dir, &c, e);

    if (rc == ERR_NOT_FOUND)
        return change_remove_record(dir, e);
    /* a record that cannot be understood is left for a newer reprise, and doctor reports it */
    if (rc)
        return rc == ERR_FORMAT || rc == ERR_UNSAFE ? ERR_OK : rc;
    if (n < sizeof c->id) {
        memcpy(c->id, name, n);
        c->id[n] = '\0';
        done = true;
        for (size_t i = 0; i < c->n && done && !rc; i++)
            rc = step_is_done(&c->step[i], &done, e);
        c->record_outdated = true;
    }
    if (!rc)
        rc = done ? change_recover_go_forward(log, c, dir, e)
                  : change_recover_go_back(log, c, dir, e);
    change_free(c);
    if (rc && change_waits_for_person(e))
        return ERR_OK;
    return rc ? err_wrap(e, rc, "finish an interrupted change") : ERR_OK;
}
