#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "store/systems/exathena/exathena.h"

/* Runs of sub-agents: <session>/sidechains/<agent>.jsonl, one line for each finished run. */

enum { SUFFIX = sizeof EXATHENA_SUFFIX - 1 };

static int by_bytes(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    return strcmp(x->p, y->p);
}

static enum err_code add(struct arena *a, struct slice **ids, size_t *n, const char *name)
{
    size_t len = strlen(name);
    struct slice id = { name, len > SUFFIX ? len - SUFFIX : 0 };

    if (!id.n || strcmp(name + id.n, EXATHENA_SUFFIX) != 0 || !exathena_is_id(id))
        return ERR_OK;
    struct slice *more = arena_grow(a, *ids, *n, sizeof *more);

    if (!more)
        return ERR_NOMEM;
    *ids = more;
    more[*n] = arena_copy(a, id);
    *n += more[*n].p != NULL;
    return more[*n - 1].p ? ERR_OK : ERR_NOMEM;
}

enum err_code exathena_subagents(const struct store *st, const struct session_ref *ref,
                                 struct arena *a, struct slice **ids, size_t *n, struct err *e)
{
    const char *path = exathena_side_path(ref, "sidechains", a);
    struct dirent *entry;
    struct slice *found = NULL;
    size_t count = 0;
    enum err_code rc = path ? ERR_OK : ERR_NOMEM;
    DIR *dir = path ? opendir(path) : NULL;

    (void)st;
    while (dir && !rc && (entry = readdir(dir)))
        rc = add(a, &found, &count, entry->d_name);
    if (dir)
        closedir(dir);
    if (rc)
        return err_set(e, rc, ref->path.p, "look for sub-agents: out of memory");
    if (count)
        qsort(found, count, sizeof *found, by_bytes);
    *ids = found;
    *n = count;
    return ERR_OK;
}

enum err_code exathena_subagent(const struct store *st, const struct session_ref *ref,
                                struct slice agent, struct arena *a, struct session_ref *out,
                                struct err *e)
{
    const char *dir = exathena_side_path(ref, "sidechains", a);
    struct session_ref sub = { .store = st, .folder = ref->folder };
    struct file f;

    if (!exathena_is_id(agent))
        return err_set(e, ERR_NOT_FOUND, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent));
    sub.path.p = dir ? arena_format(a, "%s/%.*s" EXATHENA_SUFFIX, dir, SLICE_ARG(agent)) : NULL;
    sub.id = arena_copy(a, agent);
    if (!sub.path.p || !sub.id.p)
        return err_set(e, ERR_NOMEM, ref->path.p, "open a sub-agent: out of memory");
    sub.path.n = strlen(sub.path.p);
    enum err_code rc = file_open(AT_FDCWD, sub.path.p, 0, &f, e);

    if (rc == ERR_NOT_FOUND)
        return err_set(e, rc, ref->path.p, "no sub-agent %.*s", SLICE_ARG(agent));
    if (rc)
        return rc;
    sub.file = f.id;
    file_close(&f);
    *out = sub;
    return ERR_OK;
}
