#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/journal/change.h"
#include "store/journal/change_internal.h"

/* Undoing many changes with one: its steps are the inverse steps of all of them, the newest first. A later part begins
 * with what an earlier one leaves, so its steps are examined, and recorded as begun, only then (change.c). */

static bool change_back_has_session(const struct change *c, const char *session)
{
    for (size_t i = 0; i < c->sessions_n; i++)
        if (strcmp(c->sessions[i], session) == 0)
            return true;
    return false;
}

static enum err_code add_sessions(struct change *to, const struct change *from, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < from->sessions_n && !rc; i++) {
        const char *name = from->sessions[i], *colon = strchr(name, ':');
        char system[64];

        if (!colon || (size_t)(colon - name) >= sizeof system || change_back_has_session(to, name))
            continue;
        memcpy(system, name, (size_t)(colon - name));
        system[colon - name] = '\0';
        rc = change_add_session(to, system, slice_of(colon + 1), e);
        if (!rc)
            rc = change_set_origin(to, &from->origin[i], e);
    }
    return rc;
}

static enum err_code add_inverse(struct change *to, const struct change *c, struct err *e)
{
    enum err_code rc = change_check_is_ours(c, e);

    if (!rc)
        rc = add_sessions(to, c, e);
    for (size_t i = c->n; i > 0 && !rc; i--) {
        struct step inverse = step_inverse(&c->step[i - 1]);

        inverse.part = to->n > 0 && (i == c->n || c->step[i].part);
        rc = change_add(to, &inverse, e);
    }
    if (rc)
        return rc;
    if (to->undoes)
        return arena_add_text(&to->arena, &to->also, &to->also_n, c->id) ? ERR_OK : err_nomem(e);
    to->undoes = arena_copy_text(&to->arena, c->id);
    return to->undoes ? ERR_OK : err_nomem(e);
}

/* *at is the change that could not be added. end, unless NULL: n numbers, where the steps of each change end. */
static enum err_code join_inverses(struct change_log *log, const char *const *ids, size_t n,
                                   struct change **out, size_t *end, size_t *at, struct err *e)
{
    struct change *all = change_new("undo"), *c = NULL;
    enum err_code rc = all ? ERR_OK : err_nomem(e);

    for (*at = 0; *at < n && !rc; *at += rc == ERR_OK) {
        rc = change_read(log, ids[*at], &c, e);
        if (rc)
            break;
        rc = add_inverse(all, c, e);
        if (end)
            end[*at] = all->n;
        if (!rc && *at + 1 == n) /* the oldest gives it its name */
            all->text =
                n == 1 ? arena_copy_text(&all->arena, c->text)
                       : arena_format(&all->arena, "%zu changes, back to before: %s", n, c->text);
        change_free(c);
    }
    if (!rc && !all->text)
        rc = err_nomem(e);
    if (rc)
        change_free(all);
    else
        *out = all;
    return rc;
}

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

static bool change_back_is_missing(const struct step *s)
{
    struct stat st;

    return s->kind == STEP_MOVE && lstat(s->path, &st) != 0 && errno == ENOENT;
}

/* Earlier parts are compared only if something is wrong with a step, so many changes take time in proportion to their
 * number. */
static enum err_code check_step(const struct change *c, size_t i, struct err *e)
{
    const struct step *s = &c->step[i];
    bool missing = change_back_is_missing(s);

    if ((!missing && !step_is_stale(s)) || is_prepared(c, i))
        return ERR_OK;
    return missing ? err_set(e, ERR_NOT_FOUND, s->path, "undo: what it moved is no longer there")
                   : err_set(e, ERR_STALE, s->path, "undo: it was changed again since");
}

enum err_code change_undo_all_check(struct change_log *log, const char *const *ids, size_t n,
                                    size_t *at, struct err *e)
{
    struct arena a = { 0 };
    struct change *all;
    size_t *end = arena_zalloc(&a, (n + 1) * sizeof *end);
    enum err_code rc = end ? join_inverses(log, ids, n, &all, end, at, e) : err_nomem(e);

    if (!rc) {
        *at = 0;
        for (size_t i = 0; i < all->n && !rc; i++) {
            while (i >= end[*at])
                ++*at;
            rc = check_step(all, i, e);
        }
        change_free(all);
    }
    arena_fini(&a);
    return rc;
}
