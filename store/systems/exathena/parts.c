#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "lite/base/time.h"
#include "store/log/lease.h"
#include "store/systems/exathena/exathena.h"

/* Everything that is named by a session's id: its log, its own directory with the sub-agents, and what files were
 * before its edits. The library itself deletes no session. */

enum { PARTS = 3 };

enum err_code exathena_copies(const struct store *st, const struct session_ref *ref,
                              struct arena *a, const char **dir, struct err *e)
{
    if (!exathena_is_id(ref->id))
        return err_set(e, ERR_UNSAFE, ref->path.p,
                       "name what belongs to a session: its id is no plain name");
    *dir = arena_format(a, "%s/%.*s", exathena_of(st)->history, SLICE_ARG(ref->id));
    return *dir ? ERR_OK : err_nomem(e);
}

/* Saved copies are named for the id alone: beside a root of its own they may be those of the project's own log. Without
 * memory: yes. */
static bool has_namesake(const struct exathena *x, struct slice id, struct arena *a)
{
    const char *log =
        arena_format(a, "%s/.exathena/sessions/%.*s" EXATHENA_SUFFIX, x->project, SLICE_ARG(id));
    struct stat sb;

    return x->own_root && (!log || lstat(log, &sb) == 0);
}

enum err_code exathena_parts(const struct store *st, const struct session_ref *ref, bool all,
                             struct arena *a, const char ***part, size_t *n, struct err *e)
{
    const char **list = arena_alloc(a, PARTS * sizeof *list);
    enum err_code rc = list ? exathena_copies(st, ref, a, &list[2], e) : err_nomem(e);

    (void)all;
    if (rc)
        return rc;
    list[0] = ref->path.p;
    list[1] = exathena_side_path(ref, "", a);
    if (!list[1])
        return err_nomem(e);
    *part = list;
    *n = PARTS - has_namesake(exathena_of(st), ref->id, a);
    return ERR_OK;
}

/* ---- is it in use? ---- */

/* The library keeps events for a quarter of a second before it writes them, and locks nothing: a log that was written
 * a moment ago is looked at again after this. */
enum { FLUSH_MS = 300 };

static bool keeps_growing(const char *path)
{
    struct stat before, after;
    struct timespec now;

    if (stat(path, &before) || clock_gettime(CLOCK_REALTIME, &now))
        return false;
    int64_t age = time_ns(now) - time_ns(before.st_mtim);
    int64_t nap = FLUSH_MS * INT64_C(1000000) - age;

    if (age < 0 || nap <= 0)
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = (long)nap }, NULL);
    return stat(path, &after) == 0 &&
           (after.st_size != before.st_size || time_ns(after.st_mtim) != time_ns(before.st_mtim));
}

enum err_code exathena_live(const struct store *st, const struct session_ref *ref, struct live *out,
                            struct err *e)
{
    (void)st;
    (void)e;
    *out = (struct live){ .state = LIVE_QUIET };
    if (lease_file_in_use(ref->path.p))
        *out = (struct live){ .state = LIVE_RUNNING, .why = "a program has the session open" };
    else if (keeps_growing(ref->path.p))
        *out = (struct live){ .state = LIVE_RUNNING, .why = "the session is being written to" };
    return ERR_OK;
}
