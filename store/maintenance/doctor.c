#include "store/maintenance/doctor.h"

#include "lite/base/time.h"
#include "store/query/listing.h"

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)
enum {
    SOON_DAYS = 7
}; /* of many sessions only those are told that the agent removes within so many days */

enum err_code doctor_list_add(const struct finding *f, void *arg, struct err *e)
{
    struct finding_list *list = arg;
    struct finding *more = arena_grow(&list->arena, list->finding, list->n, sizeof *more);
    struct finding copy = *f;

    copy.session = arena_copy(&list->arena, f->session.p ? f->session : SLICE(""));
    copy.path = arena_format(&list->arena, "%s", f->path);
    copy.why = arena_format(&list->arena, "%s", f->why);
    if (!more || !copy.session.p || !copy.path || !copy.why)
        return err_nomem(e);
    list->finding = more;
    list->finding[list->n++] = copy;
    return ERR_OK;
}

/* The session in hand. */
struct patient {
    const struct session_ref *ref;
    bool older_copy; /* a newer one lies in another folder */
    struct finding_list list;
};

/* ---- what a list would say ---- */

static const char *hidden_why(const struct session_row *row)
{
    switch (row->hidden) {
    case HIDDEN_EMPTY: return "not listed: nothing near its ends could serve as a title";
    case HIDDEN_SIDECHAIN: return "not listed: it is a sub-agent's transcript";
    case HIDDEN_PROGRAMMATIC:
        return "the agent's own picker does not show it: a program wrote it (sdk or daemon)";
    case HIDDEN_CONTINUED: return "not listed: another session continues it";
    case HIDDEN_COLLISION:
        return "not listed for this directory: it belongs to another one whose folder has "
               "the same name";
    case HIDDEN_DUPLICATE: return "not listed: a newer copy is in another folder";
    case HIDDEN_UNREADABLE: return "not listed: a link, or it cannot be opened";
    case HIDDEN_DAMAGED: return row->problem;
    case HIDDEN_NOT: break;
    }
    return NULL;
}

static enum err_code report_hidden(const struct session_row *row, struct finding_list *list,
                                   struct err *e)
{
    const char *why = hidden_why(row);
    struct finding f = { .kind =
                             row->hidden == HIDDEN_DAMAGED ? FINDING_UNREADABLE : FINDING_HIDDEN,
                         .session = row->ref.id,
                         .path = row->ref.path.p,
                         .why = why };

    return why ? doctor_list_add(&f, list, e) : ERR_OK;
}

static enum err_code report_expiry(const struct doctor *d, const struct session_row *row,
                                   struct finding_list *list, struct err *e)
{
    struct finding f = { .kind = FINDING_EXPIRES, .session = row->ref.id, .path = row->ref.path.p };

    if (row->expires_ms == TIME_NONE)
        return ERR_OK;
    int64_t left = row->expires_ms - d->env->now_ms;
    int days = (int)((left < 0 ? -left : left) / DAY_MS);
    const char *unit = days == 1 ? "day" : "days";

    if (!d->only && left > SOON_DAYS * DAY_MS)
        return ERR_OK;
    f.why = left > 0
                ? arena_format(&list->arena,
                               "the agent's own cleanup removes it in %d %s, unless it is used",
                               days, unit)
                : arena_format(&list->arena,
                               "the agent's own cleanup removes it at its next start: it is "
                               "%d %s overdue",
                               days, unit);
    return f.why ? doctor_list_add(&f, list, e) : err_nomem(e);
}

static enum err_code look_at_row(const struct doctor *d, struct patient *p, struct err *e)
{
    const struct session_ref *ref = p->ref;
    struct scope scope = d->scope;
    struct session_row *row = session_row_new();

    scope.leave_programmatic = true;
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &scope, ref, row, e) : err_nomem(e);

    if (!rc && row->hidden == HIDDEN_NOT && p->older_copy)
        row->hidden = HIDDEN_DUPLICATE;
    if (!rc)
        rc = report_hidden(row, &p->list, e);
    if (!rc)
        rc = report_expiry(d, row, &p->list, e);
    session_row_free(row);
    return rc;
}

/* ---- one session ---- */

static bool ends_all(enum err_code rc)
{
    return rc == ERR_NOMEM || rc == ERR_CANCELLED;
}

static enum err_code report_unreadable(const struct session_ref *ref, const struct err *why,
                                       struct finding_list *list, struct err *e)
{
    char line[400];
    struct err text = *why;

    text.path[0] = '\0'; /* the finding names it */
    err_format(&text, line, sizeof line);
    struct finding f = {
        .kind = FINDING_UNREADABLE, .session = ref->id, .path = ref->path.p, .why = line
    };

    return doctor_list_add(&f, list, e);
}

static enum err_code collect_findings(const struct doctor *d, struct patient *p, struct err *e)
{
    const struct session_ref *ref = p->ref;
    const struct store_ops *ops = ref->store->ops;
    struct err why = { 0 };
    enum err_code rc = look_at_row(d, p, &why);

    if (!rc && ops->check)
        rc = ops->check(ref->store, ref, d->cancel, doctor_list_add, &p->list, &why);
    if (!rc)
        return ERR_OK;
    if (ends_all(rc)) {
        if (e)
            *e = why;
        return rc;
    }
    if (!d->only)
        return rc == ERR_NOT_FOUND ? ERR_OK : report_unreadable(ref, &why, &p->list, e);
    if (rc != ERR_NOT_FOUND) /* it was deleted meanwhile */
        rc = ERR_FORMAT;
    if (e) {
        *e = why;
        e->code = rc;
    }
    return rc;
}

static enum err_code examine_session(const struct doctor *d, const struct session_ref *ref,
                                     bool older_copy, finding_fn *fn, void *arg, struct err *e)
{
    struct patient p = { .ref = ref, .older_copy = older_copy };
    enum err_code rc = collect_findings(d, &p, e);

    if (!rc && d->fix)
        rc = doctor_fix(d, ref, &p.list, e);
    for (size_t i = 0; i < p.list.n && !rc; i++)
        rc = fn(&p.list.finding[i], arg, e);
    arena_fini(&p.list.arena);
    return rc;
}

/* ---- all of them ---- */

/* The order is newest first. */
static bool is_older_copy(const struct session_ref *const *order, size_t i)
{
    bool older = false;

    for (size_t k = 0; k < i && !older && listing_has_copies(order[i]); k++)
        older = order[k]->store == order[i]->store && slice_eq(order[k]->id, order[i]->id);
    return older;
}

static enum err_code look_at_all(const struct doctor *d, finding_fn *fn, void *arg, struct err *e)
{
    const struct listing_query q = { .scope = d->scope,
                                     .since_ms = TIME_NONE,
                                     .before_ms = TIME_NONE };
    struct listing *l;
    size_t n;
    enum err_code rc = listing_open(d->store, d->stores, &q, &l, e);

    if (rc)
        return rc;
    const struct session_ref *const *ref = listing_refs(l, &n);

    for (size_t i = 0; i < n && !rc; i++)
        rc = examine_session(d, ref[i], is_older_copy(ref, i), fn, arg, e);
    listing_close(l);
    return rc;
}

enum err_code doctor_examine(const struct doctor *d, finding_fn *fn, void *arg, struct err *e)
{
    if (d->only)
        return examine_session(d, d->only, false, fn, arg, e);
    enum err_code rc = look_at_all(d, fn, arg, e);

    for (size_t i = 0; i < d->stores && !rc; i++)
        if (d->store[i]->ops->check_store)
            rc = d->store[i]->ops->check_store(d->store[i], &d->scope, fn, arg, e);
    return rc ? rc : doctor_own(d, fn, arg, e);
}
