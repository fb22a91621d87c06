#include "store/rewind/plan/former.h"

#include <errno.h>
#include <limits.h>
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

static bool former_look(const struct change *c, bool undone, void *arg)
{
    struct former_search *s = arg;

    if (undone || strcmp(c->kind, "move") != 0)
        return true;
    for (size_t i = 0; i < c->sessions_n; i++) {
        const char *dir = c->origin[i].dir;

        if (!dir || strcmp(c->sessions[i], s->session) != 0)
            continue;
        struct stat st;
        const bool gone = lstat(dir, &st) != 0 && errno == ENOENT;

        if (!arena_add_text(s->arena, gone ? &s->to->dir : &s->to->again,
                            gone ? &s->to->n : &s->to->again_n, arena_copy_text(s->arena, dir)))
            return false;
    }
    return true;
}

/* A log that cannot be read names no directory: the paths are then outside the project, and refused. */
void former_read(struct former *f, struct arena *a)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct former_search s = { .to = f, .arena = a };

    if (f->is_read)
        return;
    f->is_read = true;
    snprintf(s.session, sizeof s.session, "%s:%.*s", f->ref->store->ops->name,
             SLICE_ARG(f->ref->id));
    if (change_log_read(f->ref->store->env, &log, NULL) == ERR_OK)
        (void)!change_list(log, former_look, &s, NULL);
}

const char *former_path(struct former *f, const char *path, struct arena *a)
{
    char dir[PATH_MAX];

    if (!f->ref || !f->now || !path)
        return path;
    /* The present directory may be above the former one. */
    if (path_under(slice_of(path), slice_of(f->now)) && path_parent(path, dir) && path_is_dir(dir))
        return path;
    former_read(f, a);
    for (size_t i = 0; i < f->n; i++)
        if (path_under(slice_of(path), slice_of(f->dir[i]))) {
            if (i < 32)
                f->used |= UINT32_C(1) << i;
            return arena_format(a, "%s%s", f->now, path + strlen(f->dir[i]));
        }
    return a->failed ? NULL : path;
}

bool former_is_in(struct former *f, struct slice text, struct arena *a)
{
    /* A word of the command must be an absolute path that is not in the present directory. A device in /dev is no file
     * of a project; a file in shared memory is one. */
    bool elsewhere = false;

    for (size_t i = 0; i < text.n && f->ref && !elsewhere; i++) {
        const struct slice rest = { text.p + i, text.n - i };
        const bool device = slice_starts(rest, "/dev/") && !slice_starts(rest, "/dev/shm/");

        elsewhere = text.p[i] == '/' && (!i || strchr(" \t\n\"'=(:<>|&;", text.p[i - 1])) &&
                    !device && !(f->now && slice_starts(rest, f->now));
    }
    if (!elsewhere)
        return false;
    former_read(f, a);
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
