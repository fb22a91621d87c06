#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/journal/change.h"
#include "store/journal/change_internal.h"

/* Whether many changes can be undone one after the other, the newest first. An older one finds what the undos of the
 * newer ones leave, so a step is examined as the disk is now unless an undo before it decides what it will find. */

/* Returns true if one of the paths is the other, or below it. */
static bool overlap(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;

    return memcmp(a, b, least) == 0 && (n == m || (n < m ? b : a)[least] == '/');
}

/* Returns true if an earlier step decides what step i will find. */
static bool is_prepared(const struct change *c, size_t i)
{
    const struct step *s = &c->step[i];

    for (size_t k = 0; k < i; k++) {
        const struct step *x = &c->step[k];

        if (overlap(x->path, s->path) ||
            (x->kind == STEP_MOVE &&
             (overlap(x->to, s->path) || overlap(x->path, s->to ? s->to : s->path))))
            return true;
    }
    return false;
}

/* Adds a step of an undo to those before it, and checks it. Earlier steps are compared only if something is wrong with
 * it, so many changes take time in proportion to their number. */
static enum err_code add_undo_step(struct change *undone, const struct step *s, struct err *e)
{
    struct stat st;
    const bool missing = s->kind == STEP_MOVE && lstat(s->path, &st) != 0 && errno == ENOENT;

    TRY(change_add(undone, s, e));
    if ((!missing && !step_is_stale(s)) || is_prepared(undone, undone->n - 1))
        return ERR_OK;
    return missing ? err_set(e, ERR_NOT_FOUND, s->path, "undo: what it moved is no longer there")
                   : err_set(e, ERR_STALE, s->path, "undo: it was changed again since");
}

enum err_code change_undo_check(struct change_log *log, const char *id, struct change *undone,
                                struct err *e)
{
    CLEANUP(change_free_at) struct change *c = NULL;

    TRY(change_read(log, id, &c, e));
    TRY(change_check_is_ours(c, e));
    for (size_t i = c->n; i > 0; i--) {
        const struct step inverse = step_inverse(&c->step[i - 1]);

        TRY(add_undo_step(undone, &inverse, e));
    }
    return ERR_OK;
}

enum err_code change_undo_check_steps(const struct change *undo, struct change *undone,
                                      struct err *e)
{
    for (size_t i = 0; i < undo->n; i++)
        TRY(add_undo_step(undone, &undo->step[i], e));
    return ERR_OK;
}
