#include <fcntl.h>

#include "store/fs/file_at.h"
#include "store/journal/change.h"
#include "store/rewind/plan/rewind.h"
#include "store/systems/exathena/exathena.h"
#include "store/systems/exathena/rewind/point.h"

/* The conversation goes back by cutting the log: lines before the event stay byte for byte, the event itself goes too.
 * Blank lines are no events, and the library's cut leaves none. What is cut off lies in the record of the change. */

static enum err_code read_rest(const struct file *f, int64_t from, struct buf *out, struct err *e)
{
    size_t n = (size_t)(f->id.size - from), got;

    if (buf_reserve(out, n))
        return err_nomem(e);
    enum err_code rc = file_read(f, from, out->p, n, &got, e);

    out->n = got;
    return rc || got == n ? rc : err_set(e, ERR_STALE, NULL, "cut the session: it became shorter");
}

/* The lines that stay, from the first blank one on. */
static enum err_code without_blanks(struct slice lines, struct buf *out)
{
    struct slice line;
    enum err_code rc = ERR_OK;
    bool torn;

    while (!rc && slice_line(&lines, &line, &torn))
        if (line.n) {
            rc = buf_add(out, line);
            if (!rc)
                rc = buf_add_byte(out, '\n');
        }
    return rc;
}

static enum err_code plan_cut(const struct session_ref *ref, const struct point *p,
                              struct change *c, struct err *e)
{
    struct buf old = { 0 }, kept = { 0 };
    struct file f;
    int64_t from = p->blank >= 0 ? p->blank : p->offset;
    enum err_code rc = file_open(AT_FDCWD, ref->path.p, 0, &f, e);

    if (rc)
        return rc;
    if (f.id.size != p->size)
        rc = err_set(e, ERR_STALE, ref->path.p, "cut the session: it went on meanwhile");
    if (!rc)
        rc = read_rest(&f, from, &old, e);
    if (!rc && without_blanks((struct slice){ old.p, (size_t)(p->offset - from) }, &kept))
        rc = err_nomem(e);
    if (!rc)
        rc = change_add(c,
                        &(struct step){ .kind = STEP_TAIL,
                                        .path = ref->path.p,
                                        .offset = from,
                                        .old = buf_slice(&old),
                                        .bytes = buf_slice(&kept),
                                        .mtime_ns = MTIME_NOW },
                        e);
    file_close(&f);
    buf_fini(&old);
    buf_fini(&kept);
    return rc ? err_at(e, rc, ref->path.p) : ERR_OK;
}

enum err_code exathena_plan_conversation(const struct store *st, const struct session_ref *ref,
                                         struct slice point, struct rewind_plan *plan,
                                         struct err *e)
{
    struct point p;
    struct change *c;
    enum err_code rc = exathena_point(ref, point, &plan->arena, &p, e);

    (void)st;
    if (rc)
        return err_wrap(e, rc, "rewind");
    c = change_new("rewind");
    rc = c ? plan_cut(ref, &p, c, e) : err_nomem(e);
    if (rc) {
        change_free(c);
        return rc;
    }
    plan->point = p.id.p;
    plan->point_ms = p.time_ms;
    plan->conversation = (struct rewind_conversation){
        .change = c, .how = CONVERSATION_TRUNCATE, .kept = p.before, .dropped = p.total - p.before
    };
    return ERR_OK;
}
