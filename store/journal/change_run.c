#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "store/fs/copy.h"
#include "store/fs/disk.h"
#include "store/journal/change_log.h"
#include "store/journal/change_record.h"
#include "store/journal/record_id.h"

enum err_code change_steps_roll_back(struct change *c, size_t done, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (done > 0 && !rc) {
        struct step inverse = step_inverse(&c->step[--done]);

        rc = step_do(&inverse, &c->arena, e);
        if (!rc)
            rc = step_sync(&inverse, e);
    }
    return rc;
}

/* The random end tells two of one millisecond apart. */
static enum err_code id_make(struct change_log *log, char out[40], struct err *e)
{
    unsigned char r[4];
    int64_t ms;
    enum err_code rc = record_id_next(&log->env, &ms, e);

    if (rc)
        return rc;
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return err_sys(e, log->dir, "draw a random name");
    snprintf(out, 40, "%015lld-%02x%02x%02x%02x", (long long)ms, r[0], r[1], r[2], r[3]);
    return ERR_OK;
}

static enum err_code intent_write(struct change_log *log, const struct change *c, const char *dir,
                                  struct err *e)
{
    if (mkdir(dir, 0700))
        return err_sys(e, dir, "make directory");
    enum err_code rc = change_record_write(dir, c, e);

    return rc ? rc : disk_sync_dir(log->dir, e);
}

/* A batch moves many things out of few directories: each of them is synced once. */
enum err_code change_steps_sync(const struct change *c, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < c->n && !rc; i++) {
        bool synced = false;

        /* What a batch shares, it shares with steps nearby: a session has a handful of parts. */
        for (size_t back = 1; back <= 8 && back <= i && !synced; back++)
            synced = step_shares_dirs(&c->step[i - back], &c->step[i]);
        if (!synced)
            rc = step_sync(&c->step[i], e);
    }
    return rc;
}

enum err_code change_steps_do(struct change *c, size_t *done, struct err *e)
{
    enum err_code rc = ERR_OK;

    while (*done < c->n && !rc) {
        struct step *s = &c->step[*done], before;

        memcpy(&before, s, sizeof before); /* to the byte, for the comparison */
        rc = step_do(s, &c->arena, e);
        c->learned = c->learned || memcmp(&before, s, sizeof before) != 0;
        *done += rc == ERR_OK;
    }
    return rc ? rc : change_steps_sync(c, e);
}

/* Where the bytes of an append went is known only afterwards, so its record is written again. */
enum err_code change_finish(struct change_log *log, const struct change *c, const char *intent,
                            bool *stands, struct err *e)
{
    char done[PATH_MAX];
    enum err_code rc = c->learned ? change_record_write(intent, c, e) : ERR_OK;

    *stands = false;
    snprintf(done, sizeof done, "%s/%s", log->dir, c->id);
    if (rc)
        return rc;
    if (rename(intent, done))
        return err_sys(e, intent, "finish the record");
    rc = disk_sync_dir(log->dir, e);
    if (!rc || rename(done, intent) == 0)
        return rc;
    *stands = true;
    return err_wrap(e, rc, "unfinished: it is done, but perhaps not for good");
}

enum err_code change_remove_record(const char *dir, struct err *e)
{
    char above[PATH_MAX];
    const char *slash = strrchr(dir, '/');

    if (!slash || (size_t)(slash - dir) >= sizeof above)
        return err_set(e, ERR_UNSAFE, dir, "the state directory's name is too long");
    memcpy(above, dir, (size_t)(slash - dir));
    above[slash - dir] = '\0';
    enum err_code rc = copy_remove(dir, e);

    return rc ? rc : disk_sync_dir(above, e);
}

/* Was the step refused before it touched anything? Then what lies there is somebody else's, even where it looks like
 * ours. */
static bool untouched(enum err_code rc)
{
    return rc == ERR_STALE || rc == ERR_LOCKED || rc == ERR_UNSAFE || rc == ERR_NOT_FOUND;
}

/* Where that fails too, the record stays and the next start tries again. */
enum err_code change_roll_back(struct change *c, size_t done, const char *dir, enum err_code why,
                               struct err *e)
{
    enum rollback how = ROLLBACK_DONE;
    enum err_code rc = ERR_OK;

    if (done < c->n && !untouched(why))
        rc = change_step_recover(c, &c->step[done], &how, NULL);
    if (!rc && how == ROLLBACK_DONE)
        rc = change_steps_roll_back(c, done, NULL);
    if (rc || how != ROLLBACK_DONE)
        return err_wrap(e, why, "unfinished, and could not be taken back yet");
    if (change_remove_record(dir, NULL))
        return err_wrap(e, why, "its record stays behind");
    return why;
}

enum err_code change_run(struct change_log *log, struct change *c, struct err *e)
{
    char dir[PATH_MAX];
    size_t done = 0;
    bool stands = false;
    enum err_code rc = id_make(log, c->id, e);

    for (size_t i = 0; i < c->n && !rc; i++)
        rc = step_prepare(&c->step[i], &c->arena, e);
    if (rc)
        return rc;
    c->at_ms = log->env.now_ms;
    snprintf(dir, sizeof dir, "%s/%s%s", log->dir, c->id, CHANGE_INTENT_SUFFIX);
    rc = intent_write(log, c, dir, e);
    if (rc) {
        if (change_remove_record(dir, NULL))
            err_wrap(e, rc, "its record stays behind");
        return rc;
    }
    rc = change_steps_do(c, &done, e);
    if (!rc)
        rc = change_finish(log, c, dir, &stands, e);
    return rc && !stands ? change_roll_back(c, done, dir, rc, e) : rc;
}

enum err_code change_do(const struct store_env *env, struct change *c, struct err *e)
{
    struct change_log *log;
    enum err_code rc = change_log_open(env, &log, e);

    if (rc)
        return rc;
    rc = change_run(log, c, e);
    change_log_close(log);
    return rc;
}
