#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/journal/change_log.h"
#include "store/journal/change_part.h"
#include "store/journal/change_record.h"

/* Walks from the newest to the oldest. A change was taken back when a later one names it and was not taken
 * back itself: by the time an older change is met, all that could undo it have been seen. */
struct walk {
    struct dirent **names;
    int n, at;
    char (*undone)[40]; /* ids that were taken back */
    int undone_n;
};

static enum err_code walk_open(const struct change_log *log, struct walk *w, struct err *e)
{
    *w = (struct walk){ 0 };
    enum err_code rc = change_names(log, false, &w->names, &w->n, e);

    if (rc)
        return rc;
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

static bool walk_was_undone(const struct walk *w, const char *id)
{
    for (int i = 0; i < w->undone_n; i++)
        if (strcmp(w->undone[i], id) == 0)
            return true;
    return false;
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

        if (rc) { /* another user's is no record of ours at all */
            if (rc != ERR_UNSAFE && strcmp(name, log->unread) > 0)
                snprintf(log->unread, sizeof log->unread, "%s", name);
            continue;
        }
        memcpy(c->id, name, strlen(name) + 1);
        *undone = walk_was_undone(w, c->id);
        if (!*undone && c->undoes && strlen(c->undoes) < sizeof *w->undone)
            memcpy(w->undone[w->undone_n++], c->undoes, strlen(c->undoes) + 1);
        return c;
    }
    return NULL;
}

const char *change_log_unread(const struct change_log *log)
{
    return log->unread;
}

enum err_code change_list(struct change_log *log, change_fn *fn, void *arg, struct err *e)
{
    struct walk w;
    struct change *c;
    bool undone, more = true;
    enum err_code rc = walk_open(log, &w, e);

    if (rc)
        return rc;
    while (more && (c = walk_next(log, &w, &undone))) {
        more = fn(c, undone, arg);
        change_free(c);
    }
    walk_close(&w);
    return ERR_OK;
}

static enum err_code find_change(struct change_log *log, const char *id, struct change **out,
                                 struct err *e)
{
    struct walk w;
    struct change *c;
    bool undone;
    enum err_code rc = walk_open(log, &w, e);

    if (rc)
        return rc;
    *out = NULL;
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

static enum err_code invert(struct change_log *log, const struct change *c, const char *kind,
                            struct change **out, struct err *e)
{
    struct change *back = change_inverse(c, kind);

    if (back)
        back->undoes = arena_copy(&back->arena, slice_of(c->id)).p;
    enum err_code rc = back && back->undoes ? change_run(log, back, e) : err_nomem(e);

    if (rc || !out)
        change_free(back);
    else
        *out = back;
    return rc;
}

enum err_code change_undo(struct change_log *log, const char *id, struct change **out,
                          struct err *e)
{
    struct change *c;
    enum err_code rc = find_change(log, id, &c, e);

    if (rc)
        return rc;
    rc = invert(log, c, strcmp(c->kind, "undo") == 0 ? "redo" : "undo", out, e);
    change_free(c);
    return rc;
}

/* An earlier step changes what it finds. */
static bool comes_first(const struct change *c, size_t i)
{
    size_t k = 0;

    while (k < i && (c->step[k].kind == STEP_MOVE || strcmp(c->step[k].path, c->step[i].path) != 0))
        k++;
    return k == i;
}

bool change_is_stale(const struct change *c)
{
    bool stale = false;

    for (size_t i = 0; i < c->n && !stale; i++)
        stale = step_is_stale(&c->step[i]) && comes_first(c, i);
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
    enum err_code rc = change_list(log, newest_is_undo, id, e);

    if (rc)
        return rc;
    return id[0] ? change_undo(log, id, out, e)
                 : err_set(e, ERR_NOT_FOUND, NULL, "nothing to redo");
}
