#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/place.h"
#include "store/tidy/doctor.h"
#include "store/tidy/sweep.h"

/* A line that is being written looks torn for a moment: a young one is looked at twice. */
enum { YOUNG_MS = 10 * 1000, PAUSE_MS = 200 };

static bool is_wanted(const struct finding *f, enum finding_kind kind)
{
    return f->kind == kind && f->fixable && !f->fixed;
}

static bool wants(const struct finding_list *list, enum finding_kind kind)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_wanted(&list->finding[i], kind))
            return true;
    return false;
}

static enum err_code say_why_not(struct finding_list *list, struct finding *f, const char *why,
                                 struct err *e)
{
    f->why = arena_format(&list->arena, "%s (not repaired: %s)", f->why, why);
    return f->why ? ERR_OK : err_set(e, ERR_NOMEM, f->path, "repair: out of memory");
}

/* Did the repair of this finding work? rc and why are those of the change that was to do it. */
static enum err_code settle(struct finding_list *list, struct finding *f, enum err_code rc,
                            struct err *why, struct err *e)
{
    char line[400];

    if (rc == ERR_NOMEM)
        return err_set(e, rc, f->path, "repair: out of memory");
    f->fixed = rc == ERR_OK;
    if (f->fixed)
        return ERR_OK;
    why->path[0] = '\0';
    err_format(why, line, sizeof line);
    return say_why_not(list, f, line, e);
}

/* ---- a torn last line ---- */

static enum err_code wait_while_young(const struct doctor *d, int fd, struct stat *st,
                                      const char *path, struct err *e)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    int64_t size = st->st_size;

    if (d->env->now_ms - place_mtime(st) / 1000000 > YOUNG_MS)
        return ERR_OK;
    nanosleep(&pause, NULL);
    if (fstat(fd, st))
        return err_sys(e, path, "look at the file");
    return st->st_size == size ? ERR_OK : err_set(e, ERR_LOCKED, path, "it is being written");
}

/* The newline goes behind the very bytes that were looked at, and the file keeps its time: nothing was said. */
static enum err_code plan_newline(const struct doctor *d, const char *path, struct change *c,
                                  struct err *e)
{
    struct stat st;
    int fd;
    enum err_code rc = place_open(path, &fd, &st, e);

    if (rc)
        return rc;
    rc = wait_while_young(d, fd, &st, path, e);
    close(fd);
    struct step s = { .kind = STEP_TAIL,
                      .path = path,
                      .bytes = SLICE("\n"),
                      .old = SLICE(""),
                      .offset = st.st_size,
                      .mtime_ns = place_mtime(&st) };

    return rc ? rc : change_add(c, &s, e);
}

static struct change *change_for(const struct session_ref *ref, const char *text)
{
    struct change *c = change_new("doctor");

    if (c)
        c->text = text;
    if (c && change_session(c, ref->store->ops->name, ref->id, NULL)) {
        change_free(c);
        return NULL;
    }
    return c;
}

static enum err_code fix_torn(const struct doctor *d, const struct session_ref *ref,
                              struct finding_list *list, struct finding *f, struct err *e)
{
    struct err why = { 0 };
    struct change *c = change_for(ref, "gave a torn last line its newline");
    enum err_code rc = c ? plan_newline(d, f->path, c, &why) : ERR_NOMEM;

    if (!rc)
        rc = change_do(d->env, c, &why);
    change_free(c);
    return settle(list, f, rc, &why, e);
}

/* ---- metadata outside of the window ---- */

static enum err_code fix_metadata(const struct doctor *d, const struct session_ref *ref,
                                  struct finding_list *list, struct err *e)
{
    struct err why = { 0 };
    size_t appended = 0;
    struct change *c = change_for(ref, "metadata written again at the end");
    enum err_code rc =
        c ? ref->store->ops->reappend(ref->store, ref, c, &appended, &why) : ERR_NOMEM;

    if (!rc && c->n)
        rc = change_do(d->env, c, &why);
    change_free(c);
    for (size_t i = 0; i < list->n; i++) {
        enum err_code told = is_wanted(&list->finding[i], FINDING_METADATA)
                                 ? settle(list, &list->finding[i], rc, &why, e)
                                 : ERR_OK;

        if (told)
            return told;
    }
    return ERR_OK;
}

/* ---- together ---- */

static enum err_code leave_alone(struct finding_list *list, const char *why, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < list->n && !rc; i++)
        if (list->finding[i].fixable)
            rc = say_why_not(list, &list->finding[i], why, e);
    return rc;
}

enum err_code doctor_fix(const struct doctor *d, const struct session_ref *ref,
                         struct finding_list *list, struct err *e)
{
    const char *stays;
    enum err_code rc = sweep_live(ref, &list->arena, &stays, e);

    if (rc || stays)
        return rc ? rc : leave_alone(list, stays, e);
    for (size_t i = 0; i < list->n && !rc; i++)
        if (is_wanted(&list->finding[i], FINDING_TORN_TAIL))
            rc = fix_torn(d, ref, list, &list->finding[i], e);
    if (!rc && wants(list, FINDING_METADATA) && ref->store->ops->reappend)
        rc = fix_metadata(d, ref, list, e);
    return rc;
}
