#include "store/journal/change.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/buf.h"

struct change *change_new(const char *kind)
{
    struct change *c = calloc(1, sizeof *c);

    if (c) {
        c->kind = kind;
        c->text = "";
    }
    return c;
}

void change_free(struct change *c)
{
    if (!c)
        return;
    arena_fini(&c->arena);
    free(c);
}

static bool copy_step_slice(struct change *c, struct slice *s)
{
    if (!s->p)
        return true;
    *s = arena_copy(&c->arena, *s);
    return s->p != NULL;
}

static bool copy_step_text(struct change *c, const char **text)
{
    if (!*text)
        return true;
    *text = arena_copy(&c->arena, (struct slice){ *text, strlen(*text) }).p;
    return *text != NULL;
}

enum err_code change_add(struct change *c, const struct step *s, struct err *e)
{
    struct step copy = *s;
    struct step *list = arena_grow(&c->arena, c->step, c->n, sizeof *list);

    if (!list || !copy_step_text(c, &copy.path) || !copy_step_text(c, &copy.to) ||
        !copy_step_text(c, &copy.lock) || !copy_step_slice(c, &copy.bytes) ||
        !copy_step_slice(c, &copy.old) || !copy_step_slice(c, &copy.opposite))
        return err_nomem(e);
    c->step = list;
    c->step[c->n++] = copy;
    return ERR_OK;
}

enum err_code change_add_session_name(struct change *c, const char *session, struct err *e)
{
    const char **list = arena_grow(&c->arena, c->sessions, c->sessions_n, sizeof *list);
    struct change_origin *origin = arena_grow(&c->arena, c->origin, c->sessions_n, sizeof *origin);

    if (!list || !origin || !copy_step_text(c, &session))
        return err_nomem(e);
    c->sessions = list;
    c->origin = origin;
    c->sessions[c->sessions_n++] = session;
    return ERR_OK;
}

enum err_code change_set_origin(struct change *c, const struct change_origin *origin, struct err *e)
{
    struct change_origin copy = *origin;

    if (!copy_step_text(c, &copy.store) || !copy_step_text(c, &copy.dir) ||
        !copy_step_text(c, &copy.title))
        return err_nomem(e);
    c->origin[c->sessions_n - 1] = copy;
    return ERR_OK;
}

enum err_code change_add_session(struct change *c, const char *system, struct slice id,
                                 struct err *e)
{
    struct buf name = { 0 };
    enum err_code rc = buf_addf(&name, "%s:", system);

    if (!rc)
        rc = buf_add(&name, id);
    rc = rc || !buf_cstr(&name) ? err_nomem(e) : change_add_session_name(c, name.p, e);
    buf_fini(&name);
    return rc;
}
