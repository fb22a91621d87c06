#include "store/systems/common/former.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/api/store.h"
#include "store/fs/path.h"
#include "store/journal/change.h"

struct former_search {
    struct former *to;
    struct arena *arena;
    char session[512];
};

static bool former_is_gone(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) != 0 && errno == ENOENT;
}

static bool former_look(const struct change *c, bool undone, void *arg)
{
    struct former_search *s = arg;

    if (undone || strcmp(c->kind, "move") != 0)
        return true;
    for (size_t i = 0; i < c->sessions_n; i++) {
        const char *dir = c->origin[i].dir;

        if (!dir || strcmp(c->sessions[i], s->session) != 0 || !former_is_gone(dir))
            continue;
        if (!arena_add_text(s->arena, &s->to->dir, &s->to->n, arena_copy_text(s->arena, dir)))
            return false;
    }
    return true;
}

enum err_code former_read(const struct session_ref *ref, struct arena *a, struct former *out,
                          struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct former_search s = { .to = out, .arena = a };

    *out = (struct former){ .n = 0 };
    snprintf(s.session, sizeof s.session, "%s:%.*s", ref->store->ops->name, SLICE_ARG(ref->id));
    if (change_log_read(ref->store->env, &log, NULL))
        return ERR_OK;
    enum err_code rc = change_list(log, former_look, &s, e);

    return a->failed ? err_nomem(e) : rc;
}

const char *former_path(struct former *f, const char *path, struct arena *a)
{
    for (size_t i = 0; i < f->n && f->now && path; i++)
        if (path_under(slice_of(path), slice_of(f->dir[i]))) {
            if (i < 32)
                f->used |= UINT32_C(1) << i;
            return arena_format(a, "%s%s", f->now, path + strlen(f->dir[i]));
        }
    return path;
}

bool former_is_in(const struct former *f, struct slice text)
{
    for (size_t i = 0; i < f->n; i++)
        if (slice_has(text, f->dir[i]))
            return true;
    return false;
}

enum err_code former_note(const struct former *f, struct rewind_plan *plan, struct err *e)
{
    for (size_t i = 0; i < f->n && i < 32; i++) {
        if (!(f->used & UINT32_C(1) << i))
            continue;
        const char *note = arena_format(
            &plan->arena, "the project moved: files of %s are those of %s", f->dir[i], f->now);

        TRY(note ? rewind_plan_note(plan, note, e) : err_nomem(e));
    }
    return ERR_OK;
}
