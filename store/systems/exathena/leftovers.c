#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/id.h"
#include "store/api/leftover.h"
#include "store/systems/exathena/exathena.h"

/* Saved copies of files, and runs of sub-agents, of sessions whose log is gone. As everywhere, absence says nothing
 * where one cannot look, or where no log is at all. */

struct look {
    const struct exathena *x;
    struct arena arena;
    struct idset there; /* ids that have a log */
    struct idset told;
    leftover_fn *fn;
    void *arg;
};

static enum err_code note_logs(struct look *l, struct err *e)
{
    const size_t suffix = sizeof EXATHENA_SUFFIX - 1;
    DIR *dir = opendir(l->x->sessions);
    struct dirent *entry;
    uint32_t number;
    enum err_code rc = ERR_OK;

    if (!dir)
        return errno == ENOENT
                   ? ERR_OK
                   : err_sys(e, l->x->sessions, "look for logs, without which nothing can be said");
    while (!rc && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);

        if (n > suffix && strcmp(entry->d_name + n - suffix, EXATHENA_SUFFIX) == 0 &&
            idset_add(&l->there, id128_of((struct slice){ entry->d_name, n - suffix }), &number))
            rc = err_nomem(e);
    }
    closedir(dir);
    return rc;
}

static bool is_folder(const char *path)
{
    struct stat sb;

    return lstat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

/* Both of its directories, whichever was come upon first. */
static enum err_code report_leftover(struct look *l, struct slice id, struct err *e)
{
    const char *side = arena_format(&l->arena, "%s/%.*s", l->x->sessions, SLICE_ARG(id));
    const char *runs = arena_format(&l->arena, "%s/%.*s/sidechains", l->x->sessions, SLICE_ARG(id));
    const char *saved = arena_format(&l->arena, "%s/%.*s", l->x->history, SLICE_ARG(id));
    struct slice copy = arena_copy(&l->arena, id);
    const char *part[2];
    struct leftover left = { .id = copy, .folder = SLICE(""), .part = part };
    uint32_t number;
    size_t before = l->told.n;

    if (!side || !runs || !saved || !copy.p || idset_add(&l->told, id128_of(id), &number))
        return err_nomem(e);
    if (l->told.n == before)
        return ERR_OK;
    if (is_folder(runs)) /* else it is somebody's own */
        part[left.parts++] = side;
    /* Beside a root of its own, saved copies may be of sessions whose logs are in another. */
    if (!l->x->own_root && is_folder(saved))
        part[left.parts++] = saved;
    return left.parts ? l->fn(&left, l->arg, e) : ERR_OK;
}

static enum err_code search_dir(struct look *l, const char *path, struct err *e)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    enum err_code rc = ERR_OK;

    while (!rc && dir && (entry = readdir(dir))) {
        struct slice id = slice_of(entry->d_name);

        if (exathena_is_id(id) && !idset_has(&l->there, id128_of(id)))
            rc = report_leftover(l, id, e);
    }
    if (dir)
        closedir(dir);
    return rc;
}

enum err_code exathena_leftovers(const struct store *st, const struct scope *scope, leftover_fn *fn,
                                 void *arg, struct err *e)
{
    struct look l = { .x = exathena_of(st), .fn = fn, .arg = arg };
    enum err_code rc = exathena_in_scope(l.x, scope) ? note_logs(&l, e) : ERR_OK;

    if (!rc && l.there.n > 0) {
        rc = search_dir(&l, l.x->sessions, e);
        if (!rc)
            rc = search_dir(&l, l.x->history, e);
    }
    idset_fini(&l.there);
    idset_fini(&l.told);
    arena_fini(&l.arena);
    return rc;
}
