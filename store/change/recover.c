#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/change/log.h"
#include "store/change/record.h"
#include "store/disk.h"

/* What a crash left of a change:
 *
 *   no record          no step was begun              the directory goes
 *   every step done    only the last renaming lacks   it is done now: what followed upon it may be there already
 *   anything else      some steps, and half a step    they are taken back, newest first
 *
 * A step that was done and cannot be taken back, because somebody worked on the same file since, stays: their work
 * counts more than our tidiness, and the next start must not fail over it for ever. */

static bool refused(enum err_code rc)
{
    return rc == ERR_STALE || rc == ERR_LOCKED;
}

enum err_code change_step_recover(struct change *c, struct step *s, struct err *e)
{
    bool done;
    enum err_code rc = step_done(s, &done, e);

    if (rc || !done)
        return rc ? rc : step_mend(s, &c->arena, e);
    struct step inverse = step_inverse(s);

    rc = step_do(&inverse, &c->arena, e);
    if (refused(rc))
        return ERR_OK;
    if (!rc)
        rc = step_sync(&inverse, e);
    return rc ? rc : step_mend(s, &c->arena, e);
}

static enum err_code all_done(struct change *c, bool *done, struct err *e)
{
    enum err_code rc = ERR_OK;

    *done = true;
    for (size_t i = 0; i < c->n && *done && !rc; i++)
        rc = step_done(&c->step[i], done, e);
    return rc;
}

/* The crash may have come between a step's bytes and their fsync. */
static enum err_code harden(const struct step *s, struct err *e)
{
    if (s->kind == STEP_MOVE || (s->kind == STEP_PUT && s->absent))
        return ERR_OK;
    int fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(e, s->path, "open");
    enum err_code rc = disk_sync(fd, s->path, e);

    close(fd);
    return rc;
}

static enum err_code go_forward(struct change_log *log, struct change *c, const char *dir,
                                struct err *e)
{
    bool stands;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->n && !rc; i++)
        rc = harden(&c->step[i], e);
    if (!rc)
        rc = change_steps_sync(c, e);
    for (size_t i = 0; i < c->n && !rc; i++)
        if (c->step[i].kind == STEP_PUT) /* its directory, and what it left there */
            rc = step_settle(&c->step[i], &c->arena, e);
    if (!rc && !disk_new_sweep(dir))
        rc = err_sys(e, dir, "remove temporary files");
    return rc ? rc : change_finish(log, c, dir, &stands, e);
}

enum err_code change_steps_recover(struct change *c, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = c->n; i > 0 && !rc; i--)
        rc = change_step_recover(c, &c->step[i - 1], e);
    return rc;
}

static enum err_code go_back(struct change *c, const char *dir, struct err *e)
{
    enum err_code rc = change_steps_recover(c, e);

    return rc ? rc : change_forget(dir, e);
}

enum err_code change_recover(struct change_log *log, const char *name, struct err *e)
{
    char dir[PATH_MAX];
    struct change *c;
    bool done = false;
    size_t n = strlen(name) - strlen(CHANGE_INTENT_SUFFIX);

    if ((size_t)snprintf(dir, sizeof dir, "%s/%s", log->dir, name) >= sizeof dir)
        return ERR_OK;
    enum err_code rc = record_read(dir, &c, e);

    if (rc == ERR_NOT_FOUND)
        return change_forget(dir, e);
    if (rc)
        return rc;
    if (n < sizeof c->id) {
        memcpy(c->id, name, n);
        c->id[n] = '\0';
        rc = all_done(c, &done, e);
        c->learned = true;
    }
    if (!rc)
        rc = done ? go_forward(log, c, dir, e) : go_back(c, dir, e);
    change_free(c);
    return rc ? err_wrap(e, rc, "end a change that was cut short") : ERR_OK;
}
