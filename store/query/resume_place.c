#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/io/window.h"
#include "lite/json/json.h"
#include "store/fs/path.h"
#include "store/query/resolve.h"

/* Agents look for a session by its id in the directory in which they are started. If several folders have the id, the
 * directory decides which copy is resumed. */

bool resolve_same_copy(const struct session_ref *a, const struct session_ref *b)
{
    const char *a_name = strrchr(a->path.p, '/'), *b_name = strrchr(b->path.p, '/');
    char a_dir[PATH_MAX], b_dir[PATH_MAX];
    struct stat a_sb, b_sb;

    if (a->store != b->store || slice_eq(a->path, b->path))
        return a->store == b->store;
    return a_name && b_name && strcmp(a_name, b_name) == 0 && path_parent(a->path.p, a_dir) &&
           path_parent(b->path.p, b_dir) && stat(a_dir, &a_sb) == 0 && stat(b_dir, &b_sb) == 0 &&
           a_sb.st_dev == b_sb.st_dev && a_sb.st_ino == b_sb.st_ino;
}

/* The copies of a session in a scope, compared with the one that is meant. */
struct seen_copies {
    const struct session_ref *meant;
    bool has_meant, has_other;
};

static bool see_copy(const struct session_ref *ref, void *arg)
{
    struct seen_copies *s = arg;

    *(resolve_same_copy(ref, s->meant) ? &s->has_meant : &s->has_other) = true;
    return true;
}

static enum err_code see_copies(const struct session_ref *meant, const struct scope *scope,
                                struct seen_copies *out, struct err *e)
{
    *out = (struct seen_copies){ .meant = meant };
    return meant->store->ops->find_each(meant->store, scope, meant->id, see_copy, out, e);
}

/* Sets *dir if the agent would find the session there. */
static enum err_code try_dir(const struct session_ref *ref, struct slice cwd, struct arena *a,
                             const char **dir, struct err *e)
{
    const char *path = cwd.n && !memchr(cwd.p, '\0', cwd.n) ? arena_copy(a, cwd).p : NULL;
    struct seen_copies seen;
    struct scope scope;

    if (a->failed)
        return err_nomem(e);
    if (!path || !path_is_dir(path))
        return ERR_OK;
    TRY(session_scope_of(path, false, a, &scope, e));
    TRY(see_copies(ref, &scope, &seen, e));
    if (seen.has_meant)
        *dir = path;
    return ERR_OK;
}

/* The directories in the rows of a window, newest first. */
static enum err_code try_rows(const struct session_ref *ref, struct slice rows, struct arena *a,
                              const char **dir, struct err *e)
{
    struct slice last = { NULL, 0 };
    enum err_code rc = ERR_OK;

    while (!rc && !*dir && rows.n) {
        const char *newline = memrchr(rows.p, '\n', rows.n);
        const char *from = newline ? newline + 1 : rows.p;
        struct slice row = { from, (size_t)(rows.p + rows.n - from) }, cwd = { NULL, 0 };

        rows.n = newline ? (size_t)(newline - rows.p) : 0;
        if (!slice_has(row, "\"cwd\":") || !json_valid(row) ||
            !json_get_text(row, "cwd", a, &cwd) || slice_eq(cwd, last))
            continue;
        last = cwd;
        rc = try_dir(ref, cwd, a, dir, e);
    }
    return rc;
}

static enum err_code try_recorded(const struct session_ref *ref, struct arena *a, const char **dir,
                                  struct err *e)
{
    struct window w;
    enum err_code rc = window_init(&w, e);

    if (rc)
        return rc;
    if (window_open(&w, AT_FDCWD, ref->path.p, 0, NULL) == ERR_OK &&
        window_widen(&w, NULL) == ERR_OK) {
        rc = try_rows(ref, w.tail, a, dir, e);
        if (!rc && !*dir)
            rc = try_rows(ref, w.head, a, dir, e);
    }
    window_fini(&w);
    return rc;
}

enum err_code resolve_resume_dir(const struct session_ref *ref, struct slice cwd, struct arena *a,
                                 const char **dir, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    const struct store *st = ref->store;
    struct seen_copies seen = { .has_other = false };
    const char *found = NULL;
    enum err_code rc = st->ops->find_each ? see_copies(ref, &everywhere, &seen, e) : ERR_OK;

    if (!rc && seen.has_meant && seen.has_other) {
        rc = try_dir(ref, cwd, a, &found, e);
        if (!rc && !found)
            rc = try_recorded(ref, a, &found, e);
        if (!rc && !found)
            rc = try_dir(ref, slice_of(st->env->cwd), a, &found, e);
    }
    if (!rc && !found && cwd.n) { /* a row of Windows names the directory in its own way */
        const char *here = session_linux_path(cwd, a).p;

        found = here && path_is_dir(here) ? here : arena_copy(a, cwd).p;
        rc = here && found ? ERR_OK : err_nomem(e);
    }
    if (!rc)
        *dir = found;
    return rc;
}

enum err_code resolve_resume_word(const struct session_ref *ref, const char *dir, struct arena *a,
                                  struct slice *word, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    const struct store_ops *ops = ref->store->ops;
    struct seen_copies all, here;
    struct scope scope;

    *word = ops->agent_id ? ops->agent_id(ref->id) : ref->id;
    if (!ops->find_each)
        return ERR_OK;
    enum err_code rc = see_copies(ref, &everywhere, &all, e);

    if (rc || (all.has_meant && !all.has_other))
        return rc;

    /* The id is enough if the agent finds this copy from the directory. */
    if (all.has_meant) {
        rc = session_scope_of(dir, false, a, &scope, e);
        if (!rc)
            rc = see_copies(ref, &scope, &here, e);
        if (rc || here.has_meant)
            return rc;
    }

    /* An agent that opens paths opens exactly this copy. */
    if (ops->opens_paths)
        *word = ref->path;
    else if (all.has_meant)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "resume: its agent would open another copy of the session in %s", dir);
    return ERR_OK;
}
