#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/systems/goat/goat.h"
#include "store/systems/goat/read/metadata.h"

/* A session by its directory's name, which is what the host opens it by; else by the id in its metadata, which may be
 * another (goat.md B5, List). */

struct finder {
    const struct goat *g;
    const struct scope *scope;
    struct slice id;
    struct arena *a;
    struct session_ref *ref;
    enum err_code rc;
    struct err *e;
};

/* A link in a session's place is not followed. */
static bool is_session_dir(const char *sessions, struct slice id)
{
    char path[PATH_MAX];
    struct stat sb;

    return snprintf(path, sizeof path, "%s/%.*s", sessions, SLICE_ARG(id)) < (int)sizeof path &&
           lstat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

static bool wanted(const struct finder *f, const struct session_ref *ref)
{
    struct goat_metadata m;
    struct arena a = { 0 };
    struct buf bytes = { 0 };
    bool yes = f->scope->all;
    const char *path = yes ? NULL : goat_path(ref, GOAT_METADATA, &a);

    if (path && goat_metadata_read(AT_FDCWD, path, &bytes, &a, &m) == ERR_OK)
        yes = m.why || goat_in_scope(f->scope, m.text[GOAT_CWD], &a);
    buf_fini(&bytes);
    arena_fini(&a);
    return yes;
}

static bool find_in(const char *sessions, struct slice folder, void *arg)
{
    struct finder *f = arg;

    if (!is_session_dir(sessions, f->id))
        return true;
    f->rc = goat_ref_at(&f->g->base, sessions, folder, f->id, f->a, f->ref, f->e);
    if (f->rc == ERR_OK && !wanted(f, f->ref))
        f->rc = ERR_NOT_FOUND;
    return f->rc == ERR_NOT_FOUND;
}

struct by_recorded {
    struct slice id;
    struct arena *a;
    struct session_ref *ref;
    bool found, no_memory;
};

static bool has_recorded(const struct session_ref *ref, void *arg)
{
    struct by_recorded *r = arg;
    struct goat_metadata m;
    struct arena a = { 0 };
    struct buf bytes = { 0 };

    r->no_memory = goat_metadata_of(ref, &bytes, &a, &m) != ERR_OK;
    r->found = !r->no_memory && !m.why && slice_eq(m.text[GOAT_ID], r->id);
    if (r->found)
        r->no_memory = !session_ref_copy(r->a, ref, r->ref);
    buf_fini(&bytes);
    arena_fini(&a);
    return !r->found && !r->no_memory;
}

enum err_code goat_find(const struct store *st, const struct scope *scope, struct slice id,
                        struct arena *a, struct session_ref *ref, struct err *e)
{
    struct finder f = { goat_of(st), scope, id, a, ref, ERR_NOT_FOUND, e };
    struct by_recorded r = { .id = id, .a = a, .ref = ref };

    if (!goat_is_id(id))
        return err_set(e, ERR_USAGE, "", "find session: not a Go session id");
    goat_each_base(f.g, find_in, &f);
    if (f.rc != ERR_NOT_FOUND)
        return f.rc;
    enum err_code rc = goat_enumerate(st, scope, has_recorded, &r, e);

    if (rc)
        return rc;
    if (r.no_memory)
        return err_nomem(e);
    return r.found
               ? ERR_OK
               : err_set(e, ERR_NOT_FOUND, "", "find session %.*s: no such session", SLICE_ARG(id));
}

/* ---- by path ---- */

/* Cuts the last part off. */
static struct slice cut_last_part(struct slice *path)
{
    const char *slash = path->n ? memrchr(path->p, '/', path->n) : NULL;
    struct slice last = { NULL, 0 };

    if (slash) {
        last = (struct slice){ slash + 1, (size_t)(path->p + path->n - slash) - 1 };
        path->n = (size_t)(slash - path->p);
    }
    return last;
}

enum err_code goat_at_path(const struct store *st, struct slice path, struct arena *a,
                           struct session_ref *ref, struct err *e)
{
    struct slice whole = path, id = cut_last_part(&path), folder = { "", 0 };

    if (goat_is_file(id))
        id = cut_last_part(&path);
    const char *sessions = arena_copy(a, path).p;

    if (!sessions)
        return err_nomem(e);
    if (!goat_is_id(id) || !is_session_dir(sessions, id))
        return err_set(e, ERR_NOT_FOUND, whole.p, "open session: no such session");
    if (slice_eq(cut_last_part(&path), SLICE("sessions")))
        folder = cut_last_part(&path);
    return goat_ref_at(st, sessions, folder, id, a, ref, e);
}
