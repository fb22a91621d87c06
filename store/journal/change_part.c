#include "store/journal/change_part.h"

#include <string.h>

#include "store/fs/disk.h"
#include "store/journal/change_log.h"
#include "store/journal/change_record.h"

enum err_code change_part_roll_back(const char *dir, enum rollback *how, struct err *e)
{
    struct change *c;
    enum err_code rc = change_record_read(dir, &c, e);

    *how = ROLLBACK_DONE;
    if (rc == ERR_NOT_FOUND)
        return change_remove_record(dir, e);
    if (rc)
        return rc;
    rc = change_steps_recover(c, how, e);
    if (!rc && *how == ROLLBACK_CONFLICT) /* with what the steps learned */
        rc = change_record_write(dir, c, e);
    change_free(c);
    return rc || *how != ROLLBACK_DONE ? rc : change_remove_record(dir, e);
}

enum err_code change_part_do(struct change_log *log, const char *dir, struct change *c,
                             struct err *e)
{
    enum err_code rc = disk_private_dir(dir, e);
    size_t done = 0;

    c->at_ms = log->env.now_ms;
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = step_prepare(&c->step[i], &c->arena, e);
    if (!rc)
        rc = change_record_write(dir, c, e);
    if (rc) {
        if (change_remove_record(dir, NULL))
            err_wrap(e, rc, "its record stays behind");
        return rc;
    }
    rc = change_steps_do(c, &done, e);
    if (!rc)
        rc = change_record_write(dir, c, e);
    return rc ? change_roll_back(c, done, dir, rc, e) : ERR_OK;
}

enum err_code change_part_read(const char *dir, struct change **out, struct err *e)
{
    return change_record_read(dir, out, e);
}

/* ---- others of the same steps ---- */

static struct change *like(const struct change *c, const char *kind)
{
    struct change *to = change_new("");

    if (!to)
        return NULL;
    to->kind = arena_copy(&to->arena, slice_of(kind)).p;
    to->text = arena_copy(&to->arena, slice_of(c->text)).p;
    bool ok = to->kind && to->text;

    for (size_t i = 0; i < c->sessions_n && ok; i++)
        ok = change_add_session_name(to, c->sessions[i], NULL) == ERR_OK &&
             change_set_origin(to, &c->origin[i], NULL) == ERR_OK;
    if (ok)
        return to;
    change_free(to);
    return NULL;
}

struct change *change_copy(const struct change *c)
{
    struct change *to = like(c, c->kind);
    bool ok = to != NULL;

    for (size_t i = 0; i < c->n && ok; i++)
        ok = change_add(to, &c->step[i], NULL) == ERR_OK;
    if (ok)
        return to;
    change_free(to);
    return NULL;
}

struct change *change_inverse(const struct change *c, const char *kind)
{
    struct change *back = like(c, kind);
    bool ok = back != NULL;

    for (size_t i = c->n; i > 0 && ok; i--) {
        struct step inverse = step_inverse(&c->step[i - 1]);

        ok = change_add(back, &inverse, NULL) == ERR_OK;
    }
    if (ok)
        return back;
    change_free(back);
    return NULL;
}
