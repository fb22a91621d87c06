#include <string.h>
#include <sys/stat.h>

#include "lite/base/id.h"
#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/maintenance/doctor.h"
#include "store/maintenance/sweep.h"
#include "store/rewind/plan/origin.h"

/* A transcript was moved to where its agent does not look for it:
 *
 *     projects/F/F/ID.jsonl  ->  projects/F/ID.jsonl
 *     projects/F/F/ID/       ->  projects/F/ID/
 *
 * Every file below the agent's folder that has the name of a transcript and that enumerate does not pass on is such a
 * one. It goes to the place that the agent would have chosen, together with the parts of the session that are beside it;
 * parts that are named after the id alone never left. Nothing there is replaced, and two copies of a session stay,
 * because only a person knows which is the right one. */

struct misplaced {
    const struct doctor *d;
    const struct store *st;
    const char *root;
    struct idset path, id; /* of the sessions that enumerate passes on */
    bool failed;           /* out of memory */
    struct session_row *row;
    struct finding_list list;
    struct stray {
        struct session_ref ref;
        const char *to;
    } * stray; /* as many as findings, in the arena of the list */
};

static bool misplaced_note(const struct session_ref *ref, void *arg)
{
    struct misplaced *m = arg;
    uint32_t number;

    m->failed = idset_add(&m->path, id128_of(ref->path), &number) ||
                idset_add(&m->id, id128_of(ref->id), &number);
    return !m->failed;
}

/* ---- which ones ---- */

/* Why the file stays; NULL: it can be moved, or out of memory (the arena has failed). */
static const char *misplaced_obstacle(struct misplaced *m, const struct session_ref *ref,
                                      const char *to)
{
    static const struct scope everywhere = { .all = true };
    struct arena *a = &m->list.arena;
    struct session_ref other;
    struct stat st;

    if (m->row->hidden != HIDDEN_NOT)
        return "nothing in it is a session that a list would show";
    if (!to)
        return "it does not say to which directory it belongs";
    if (lstat(to, &st) == 0)
        return arena_format(a, "something is already there: %s", to);
    if (!idset_has(&m->id, id128_of(ref->id)))
        return NULL;
    if (m->st->ops->find(m->st, &everywhere, ref->id, a, &other, NULL))
        return "another copy of the session is listed";
    return arena_format(a, "another copy of the session is listed: %s", other.path.p);
}

/* Describes the session in a file, and finds its place. *is: it is a session, and not in this place. */
static enum err_code misplaced_place_of(struct misplaced *m, const char *path, struct stray *out,
                                        bool *is, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    const struct store_ops *ops = m->st->ops;
    struct arena *a = &m->list.arena;
    enum err_code rc = ops->at_path(m->st, slice_of(path), a, &out->ref, NULL);

    *is = false;
    if (!rc)
        rc = ops->place(m->st, &out->ref, SLICE(""), a, &out->to, NULL);
    session_row_reset(m->row);
    if (!rc)
        rc = ops->describe(m->st, &everywhere, &out->ref, m->row, NULL);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    TRY(ops->place(m->st, &out->ref, m->row->cwd, a, &out->to, e));
    *is = !out->to || strcmp(out->to, path) != 0;
    return ERR_OK;
}

static enum err_code misplaced_look(const char *path, void *arg, struct err *e)
{
    struct misplaced *m = arg;
    const struct store_ops *ops = m->st->ops;
    struct arena *a = &m->list.arena;
    struct stray stray = { .to = NULL };
    bool is;

    if (idset_has(&m->path, id128_of(slice_of(path))))
        return ERR_OK;
    TRY(misplaced_place_of(m, path, &stray, &is, e));
    if (!is || (m->d->misplaced && !slice_starts(stray.ref.id, m->d->misplaced)))
        return ERR_OK;

    /* The session's own directory decides, and so does the project in whose folder it ended up. */
    const struct scope *scope = &m->d->scope;

    if (!scope->all && !m->d->only && !m->d->misplaced &&
        !(m->row->cwd.n && session_scope_has(scope, m->row->cwd))) {
        const char *rest = path + strlen(m->root) + 1, *slash = strchr(rest, '/');
        const struct slice folder = { rest, slash ? (size_t)(slash - rest) : 0 };

        if (!ops->folder_of || !folder.n ||
            !slice_eq(folder, ops->folder_of(m->st, scope->project, a)))
            return ERR_OK;
    }

    const char *why = misplaced_obstacle(m, &stray.ref, stray.to);
    const struct finding f = { .kind = FINDING_MISPLACED,
                               .session = stray.ref.id,
                               .path = path,
                               .why = arena_format(
                                   a, "no list shows it: %s does not look for sessions there%s%s%s",
                                   ops->label ? ops->label : ops->name, why ? " (it stays: " : "",
                                   why ? why : "", why ? ")" : ""),
                               .repair = why ? NULL : arena_format(a, "moves it to %s", stray.to),
                               .fixable = !why };

    NEED(!a->failed && session_ref_copy(a, &stray.ref, &stray.ref));
    NEED(m->stray = arena_grow(a, m->stray, m->list.n, sizeof *m->stray));
    m->stray[m->list.n] = stray;
    return doctor_list_add(&f, &m->list, e);
}

/* Two copies of a session, or two sessions for one place. */
static enum err_code misplaced_refuse_copies(struct misplaced *m, struct err *e)
{
    CLEANUP(idset_fini) struct idset seen = { 0 };
    size_t *first = arena_alloc(&m->list.arena, (m->list.n + 1) * sizeof *first);

    NEED(first);
    for (size_t i = 0; i < m->list.n; i++) {
        const size_t n = seen.n;
        uint32_t number;

        NEED(!idset_add(&seen, id128_of(m->stray[i].ref.id), &number));
        if (seen.n > n)
            first[number] = i;
        const size_t pair[] = { first[number], i };

        for (size_t k = 0; seen.n == n && k < 2; k++) {
            struct finding *f = &m->list.finding[pair[k]];

            if (f->fixable)
                NEED(f->why = arena_format(&m->list.arena, "%s (it stays: another copy is %s)",
                                           f->why, m->list.finding[pair[1 - k]].path));
            f->fixable = false;
        }
    }
    return ERR_OK;
}

/* ---- back to its place ---- */

/* The end that both paths share stays; what is above it in the old one becomes what is above it in the new one, for the
 * other parts, too. */
static enum err_code misplaced_steps(const struct stray *x, struct change *c, struct err *e)
{
    const struct store_ops *ops = x->ref.store->ops;
    const char *from = x->ref.path.p, *alone[] = { from }, **part = alone;
    size_t i = x->ref.path.n, k = strlen(x->to), n = 1;

    while (i > 0 && k > 0 && from[i - 1] == x->to[k - 1]) {
        i--;
        k--;
    }
    while (from[i] != '/') {
        i++;
        k++;
    }
    /* An agent with an index also deletes other sessions with this one. */
    if (!ops->deleted_parts)
        TRY(store_session_parts(ops)(x->ref.store, &x->ref, true, &c->arena, &part, &n, e));
    for (size_t p = 0; p < n; p++) {
        struct stat st;

        if (strncmp(part[p], from, i + 1) != 0 || lstat(part[p], &st))
            continue;
        const struct step move = { .kind = STEP_MOVE,
                                   .path = part[p],
                                   .to = arena_format(&c->arena, "%.*s%s", (int)k, x->to,
                                                      part[p] + i),
                                   .made = true };

        NEED(move.to);
        if (lstat(move.to, &st) == 0)
            return err_set(e, ERR_STALE, move.to, "move a session: something is already there");
        TRY(change_add(c, &move, e));
    }
    return ERR_OK;
}

static enum err_code misplaced_report(struct misplaced *m, finding_fn *fn, void *arg, bool *moved,
                                      struct err *e)
{
    static const struct scope everywhere = { .all = true };
    struct stray only = { .to = NULL };
    bool is = true;

    /* One session is usually where it belongs, and then no other one has to be known. */
    NEED(m->row);
    if (m->d->only)
        TRY(misplaced_place_of(m, m->d->only->path.p, &only, &is, e));
    if (!is)
        return ERR_OK;
    TRY(m->st->ops->enumerate(m->st, &everywhere, misplaced_note, m, e));
    NEED(!m->failed);
    if (m->d->only)
        TRY(misplaced_look(m->d->only->path.p, m, e));
    else
        TRY(path_each_file(m->root, MISPLACED_DEPTH, misplaced_look, m, e));
    TRY(misplaced_refuse_copies(m, e));
    for (size_t i = 0; i < m->list.n; i++) {
        struct finding *f = &m->list.finding[i];

        if (m->d->fix && f->fixable) {
            /* One session is put back by one change, which can be undone. */
            CLEANUP(change_free_at) struct change *c = change_new("doctor");
            const char *stays = NULL;
            struct err why = { 0 };

            NEED(c);
            TRY(sweep_live(&m->stray[i].ref, &m->list.arena, &stays, e));
            enum err_code rc = stays ? err_set(&why, ERR_LOCKED, "", "%s", stays)
                                     : origin_add_session(c, &m->stray[i].ref, &why);

            if (!rc)
                rc = misplaced_steps(&m->stray[i], c, &why);
            c->text = "put a session back where its agent looks for it";
            if (!rc)
                rc = change_do(m->d->env, c, &why);
            TRY(doctor_settle(&m->list, f, rc, &why, e));
        }
        *moved |= f->fixed;
        TRY(fn(f, arg, e));
    }
    return ERR_OK;
}

enum err_code doctor_misplaced(const struct doctor *d, const struct store *st, finding_fn *fn,
                               void *arg, bool *moved, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct misplaced m = { .d = d, .st = st };

    if (!st->ops->place)
        return ERR_OK;
    m.root = st->ops->folders ? arena_format(&a, "%s/%s", st->path, st->ops->folders) : st->path;
    NEED(m.root);
    if (d->only && !path_under(d->only->path, slice_of(m.root)))
        return ERR_OK;
    m.row = session_row_new();
    enum err_code rc = misplaced_report(&m, fn, arg, moved, e);

    session_row_free(m.row);
    idset_fini(&m.path);
    idset_fini(&m.id);
    arena_fini(&m.list.arena);
    return rc;
}
