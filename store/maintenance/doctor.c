#include "store/maintenance/doctor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lite/base/time.h"
#include "store/fs/file_at.h"
#include "store/log/log_damage.h"
#include "store/maintenance/sweep.h"
#include "store/query/listing.h"
#include "store/rewind/plan/origin.h"

/* ---- repairs ---- */

/* A line that is being written looks torn for a moment, so a recent one is examined twice. */
enum { YOUNG_MS = 10 * 1000, PAUSE_MS = 200 };

static bool is_fixable(const struct finding *f, enum finding_kind kind)
{
    return f->kind == kind && f->fixable && !f->fixed;
}

/* A log that is rewritten gets its last newline with the rest. */
static bool is_rewritten(const struct finding_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->finding[i].rewrites && list->finding[i].fixable &&
            strcmp(list->finding[i].path, path) == 0)
            return true;
    return false;
}

static enum err_code explain_not_repaired(struct finding_list *list, struct finding *f,
                                          const char *why, struct err *e)
{
    f->why = arena_format(&list->arena, "%s (not repaired: %s)", f->why, why);
    return f->why ? ERR_OK : err_nomem(e);
}

enum err_code doctor_settle(struct finding_list *list, struct finding *f, enum err_code rc,
                            struct err *why, struct err *e)
{
    char line[400];

    if (rc == ERR_NOMEM)
        return err_nomem(e);
    f->fixed = rc == ERR_OK;
    if (f->fixed)
        return ERR_OK;
    why->path[0] = '\0';
    err_format(why, line, sizeof line);
    return explain_not_repaired(list, f, line, e);
}

/* The findings of one session that one change repairs: those in the range [from, to) that are fixable and not yet
 * fixed. */
struct repair {
    const struct doctor *d;
    const struct session_ref *ref;
    struct finding_list *list;
    size_t from, to;
    /* the logs that are rewritten, or else what is added: rows cannot be appended to a log that the same change
     * shortens */
    bool rewrites;
};

static bool is_in_repair(const struct repair *r, size_t i)
{
    const struct finding *f = &r->list->finding[i];

    if (i < r->from || i >= r->to || !f->fixable || f->fixed || f->kind == FINDING_LOST_PART)
        return false;
    if (r->rewrites)
        return f->repair && is_rewritten(r->list, f->path);
    return is_fixable(f, FINDING_TORN_TAIL) ||
           (is_fixable(f, FINDING_METADATA) && r->ref->store->ops->reappend);
}

static size_t count_repairs(const struct repair *r, enum finding_kind kind)
{
    size_t n = 0;

    for (size_t i = r->from; i < r->to; i++)
        n += is_in_repair(r, i) && (kind == FINDING_KINDS || r->list->finding[i].kind == kind);
    return n;
}

/* ---- a torn last line ---- */

/* Appending rows after a torn line also adds its newline. */
static bool is_appended_to(const struct change *c, const char *path)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->step[i].kind == STEP_APPEND && strcmp(c->step[i].path, path) == 0)
            return true;
    return false;
}

/* The newline is added after exactly the bytes that were examined, and the file keeps its mtime, because the
 * conversation did not change. The step refuses to write through a link. */
static enum err_code examine_log(const struct doctor *d, const char *path, struct stat *st,
                                 struct err *e)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return err_sys(e, path, "open");
    if (fstat(fd, st))
        return err_sys(e, path, "examine the file");
    if (d->env->now_ms - file_at_mtime(st) / 1000000 > YOUNG_MS)
        return ERR_OK;
    int64_t size = st->st_size;

    nanosleep(&pause, NULL);
    if (fstat(fd, st))
        return err_sys(e, path, "examine the file");
    return st->st_size == size ? ERR_OK : err_set(e, ERR_LOCKED, path, "it is being written");
}

static enum err_code plan_newline(const struct doctor *d, const char *path, struct change *c,
                                  struct err *e)
{
    struct stat st;
    enum err_code rc = examine_log(d, path, &st, e);

    if (rc || is_appended_to(c, path))
        return rc;
    const struct step s = { .kind = STEP_TAIL,
                            .path = path,
                            .bytes = SLICE("\n"),
                            .old = SLICE(""),
                            .offset = st.st_size,
                            .mtime_ns = file_at_mtime(&st) };

    return change_add(c, &s, e);
}

/* ---- a log with damaged lines ---- */

/* All damages of a log are repaired by one step, which replaces the bytes from the first of them on; the file keeps its
 * mtime. The scan is the one that reported them. */
static enum err_code plan_log(const struct repair *r, const char *path, struct change *c,
                              struct err *e)
{
    static const struct index_keys none = { .type = NULL };
    CLEANUP(log_repair_fini) struct log_repair repair = { .offset = 0 };
    struct logfile log;
    struct stat st;

    /* A log with several damages is planned with the first of them. */
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->step[i].path, path) == 0)
            return ERR_OK;
    TRY(examine_log(r->d, path, &st, e));
    TRY(logfile_open(&log, path, 0, &none, r->d->cancel, e));
    const enum err_code rc = log_repair_read(&log, r->ref->store->ops->log_rules, &repair, e);

    logfile_close(&log);
    if (rc || !repair.repaired)
        return rc;
    const struct step s = { .kind = STEP_TAIL,
                            .path = path,
                            .bytes = buf_slice(&repair.bytes),
                            .old = buf_slice(&repair.old),
                            .offset = repair.offset,
                            .mtime_ns = file_at_mtime(&st) };

    return change_add(c, &s, e);
}

/* ---- together ---- */

/* Metadata comes first because it determines which files are appended to. A torn line in one of these is always
 * examined twice. */
static enum err_code plan_repair(const struct repair *r, struct change *c, struct err *e)
{
    const struct store *st = r->ref->store;
    size_t appended;

    if (r->rewrites) {
        for (size_t i = 0; i < r->list->n; i++)
            if (is_in_repair(r, i))
                TRY(plan_log(r, r->list->finding[i].path, c, e));
        return ERR_OK;
    }
    if (count_repairs(r, FINDING_METADATA))
        TRY(st->ops->reappend(st, r->ref, c, &appended, e));
    for (size_t i = 0; i < r->list->n; i++) {
        const struct finding *f = &r->list->finding[i];

        if (is_fixable(f, FINDING_TORN_TAIL) && (is_in_repair(r, i) || is_appended_to(c, f->path)))
            TRY(plan_newline(r->d, f->path, c, e));
    }
    return ERR_OK;
}

static enum err_code run_repair(const struct repair *r, struct err *why)
{
    CLEANUP(change_free_at) struct change *c = change_new("doctor");
    const size_t lines = count_repairs(r, FINDING_KINDS);

    if (!c)
        return ERR_NOMEM;
    TRY(origin_add_session(c, r->ref, why));
    TRY(plan_repair(r, c, why));
    if (!c->n)
        return ERR_OK;
    if (r->rewrites)
        c->text =
            arena_format(&c->arena, "repaired %zu damaged line%s", lines, lines == 1 ? "" : "s");
    else if (!count_repairs(r, FINDING_METADATA))
        c->text = "completed a torn last line";
    else
        c->text = count_repairs(r, FINDING_TORN_TAIL)
                      ? "completed a torn last line; appended the metadata again"
                      : "appended the metadata again";
    return c->text ? change_do(r->d->env, c, why) : err_nomem(why);
}

static enum err_code settle_findings(const struct repair *r, enum err_code rc, struct err *why,
                                     struct err *e)
{
    for (size_t i = r->from; i < r->to; i++)
        if (is_in_repair(r, i))
            TRY(doctor_settle(r->list, &r->list->finding[i], rc, why, e));
    return ERR_OK;
}

/* One change for the whole session, so that a single undo reverts it. */
static enum err_code repair_all(const struct repair *all, struct err *e)
{
    struct err why = { 0 };
    size_t n = count_repairs(all, FINDING_KINDS);

    if (n == 0)
        return ERR_OK;
    enum err_code rc = run_repair(all, &why);

    if (n == 1 || (rc != ERR_LOCKED && rc != ERR_STALE && rc != ERR_UNSAFE))
        return settle_findings(all, rc, &why, e);

    /* A file that is in use does not prevent the repair of the others. */
    for (size_t i = all->from; i < all->to; i++) {
        struct repair one = *all;

        one.from = i;
        one.to = i + 1;
        why = (struct err){ 0 };
        if (is_in_repair(all, i))
            TRY(settle_findings(&one, run_repair(&one, &why), &why, e));
    }
    return ERR_OK;
}

/* The parts of a conversation that a resume leaves out, all by one change. */
static enum err_code join_parts(const struct doctor *d, const struct session_ref *ref,
                                struct err *e)
{
    CLEANUP(change_free_at) struct change *c = change_new("doctor");
    struct stat st;

    NEED(c);
    TRY(origin_add_session(c, ref, e));
    TRY(examine_log(d, ref->path.p, &st, e));
    TRY(ref->store->ops->reconnect(ref->store, ref, c, d->cancel, e));
    c->text = "joined the parts of the conversation";
    return c->n ? change_do(d->env, c, e) : ERR_OK;
}

static enum err_code doctor_reconnect(const struct doctor *d, const struct session_ref *ref,
                                      struct finding_list *list, struct err *e)
{
    struct err why = { 0 };
    bool any = false;

    for (size_t i = 0; i < list->n; i++)
        any |= is_fixable(&list->finding[i], FINDING_LOST_PART);
    if (!any)
        return ERR_OK;
    const enum err_code rc = join_parts(d, ref, &why);

    for (size_t i = 0; i < list->n; i++) {
        struct finding *f = &list->finding[i];

        if (f->kind != FINDING_LOST_PART)
            continue;
        TRY(doctor_settle(list, f, rc, &why, e));
        for (size_t k = 0; k < list->n; k++) /* the missing parent of the same row */
            if (list->finding[k].kind == FINDING_DANGLING_PARENT &&
                list->finding[k].line == f->line)
                list->finding[k].fixed = f->fixed;
    }
    return ERR_OK;
}

/* A row whose line could not be read was missing as a parent. The repair is done, so nothing here may fail: without an
 * answer the findings stay as they are. */
static void doctor_look_again(const struct doctor *d, const struct session_ref *ref,
                              struct finding_list *list)
{
    struct finding_list now = { .n = 0 };
    const size_t before = list->n;
    bool rewritten = false;
    size_t n = 0;

    for (size_t i = 0; i < before; i++)
        rewritten |= list->finding[i].rewrites && list->finding[i].fixed;
    bool ok = rewritten &&
              !ref->store->ops->check(ref->store, ref, d->cancel, doctor_list_add, &now, NULL);

    for (size_t i = 0; i < now.n && ok; i++)
        if (now.finding[i].kind == FINDING_DANGLING_PARENT)
            ok = !doctor_list_add(&now.finding[i], list, NULL);
    for (size_t i = 0; i < list->n && ok; i++)
        if (i >= before || list->finding[i].fixed ||
            list->finding[i].kind != FINDING_DANGLING_PARENT)
            list->finding[n++] = list->finding[i];
    list->n = ok ? n : before;
    arena_fini(&now.arena);
}

static enum err_code repair_session(const struct doctor *d, const struct session_ref *ref,
                                    struct finding_list *list, struct err *e)
{
    struct repair all = { .d = d, .ref = ref, .list = list, .to = list->n, .rewrites = true };
    const char *stays;

    TRY(sweep_live(ref, &list->arena, &stays, e));
    if (stays) {
        for (size_t i = 0; i < list->n; i++)
            if (list->finding[i].fixable)
                TRY(explain_not_repaired(list, &list->finding[i], stays, e));
        return ERR_OK;
    }
    TRY(repair_all(&all, e));
    all.rewrites = false;
    TRY(repair_all(&all, e));
    doctor_look_again(d, ref, list);
    return doctor_reconnect(d, ref, list, e);
}

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)
enum {
    SOON_DAYS = 7
}; /* in a listing, only sessions that the agent will remove within them are reported */

/* The session being examined. */
struct examined {
    const struct session_ref *ref;
    bool older_copy; /* a newer copy is in another folder */
    struct finding_list list;
};

/* ---- what a list would show ---- */

static const char *hidden_why(const struct session_row *row)
{
    switch (row->hidden) {
    case HIDDEN_EMPTY: return "not listed: nothing in it could serve as a title";
    case HIDDEN_SIDECHAIN: return "not listed: it is a sub-agent's transcript";
    case HIDDEN_PROGRAMMATIC:
        return "the agent's own picker does not show it: a program wrote it (sdk or daemon)";
    case HIDDEN_COMMAND: return "not listed without --all-kinds: a command started it";
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

static enum err_code look_at_row(const struct doctor *d, struct examined *p, struct err *e)
{
    const struct session_ref *ref = p->ref;
    struct scope scope = d->scope;
    struct session_row *row = session_row_new();

    scope.leave_programmatic = true;
    enum err_code rc =
        row ? ref->store->ops->describe(ref->store, &scope, ref, row, e) : err_nomem(e);

    if (!rc && row->hidden == HIDDEN_NOT && p->older_copy)
        row->hidden = HIDDEN_DUPLICATE;
    if (!rc) {
        const char *why = hidden_why(row);
        struct finding f = { .kind = row->hidden == HIDDEN_DAMAGED ? FINDING_UNREADABLE
                                                                   : FINDING_HIDDEN,
                             .session = row->ref.id,
                             .path = row->ref.path.p,
                             .why = why };

        rc = why ? doctor_list_add(&f, &p->list, e) : ERR_OK;
    }
    if (!rc)
        rc = report_expiry(d, row, &p->list, e);
    session_row_free(row);
    return rc;
}

/* ---- one session ---- */

/* Lists do not follow a link, so what it leads to is not a session. */
static bool is_link(const struct session_ref *ref)
{
    struct stat st;

    return !ref->nameless && lstat(ref->path.p, &st) == 0 && S_ISLNK(st.st_mode);
}

static enum err_code collect_findings(const struct doctor *d, struct examined *p, struct err *e)
{
    const struct session_ref *ref = p->ref;
    const struct store_ops *ops = ref->store->ops;
    struct err why = { 0 };
    enum err_code rc = look_at_row(d, p, &why);
    char line[400];

    if (!rc && is_link(ref))
        rc = err_set(&why, ERR_UNSAFE, ref->path.p, "check: a link is not followed");
    else if (!rc && ops->check)
        rc = ops->check(ref->store, ref, d->cancel, doctor_list_add, &p->list, &why);
    if (!rc)
        return ERR_OK;
    if (rc == ERR_NOMEM || rc == ERR_CANCELLED) {
        if (e)
            *e = why;
        return rc;
    }
    if (!d->only) {
        if (rc == ERR_NOT_FOUND)
            return ERR_OK;
        struct err text = why;

        text.path[0] = '\0'; /* the finding contains it */
        err_format(&text, line, sizeof line);
        struct finding f = {
            .kind = FINDING_UNREADABLE, .session = ref->id, .path = ref->path.p, .why = line
        };

        return doctor_list_add(&f, &p->list, e);
    }
    if (rc != ERR_NOT_FOUND) /* unless it was deleted meanwhile */
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
    struct examined p = { .ref = ref, .older_copy = older_copy };
    enum err_code rc = collect_findings(d, &p, e);

    for (size_t i = 0; i < p.list.n; i++)
        if (p.list.finding[i].kind == FINDING_LOST_PART)
            p.list.finding[i].fixable = d->reconnect && ref->store->ops->reconnect;
    if (!rc && d->fix)
        rc = repair_session(d, ref, &p.list, e);
    for (size_t i = 0; i < p.list.n && !rc; i++)
        rc = fn(&p.list.finding[i], arg, e);
    arena_fini(&p.list.arena);
    return rc;
}

/* ---- all of them ---- */

static enum err_code doctor_look_at_all(const struct doctor *d, finding_fn *fn, void *arg,
                                        struct err *e)
{
    const struct listing_query q = {
        .scope = d->scope, .since_ms = TIME_NONE, .before_ms = TIME_NONE, .here = true
    };
    CLEANUP(listing_close_at) struct listing *l = NULL;
    size_t n;

    TRY(listing_open(d->store, d->stores, &q, &l, e));
    const struct session_ref *const *ref = listing_refs(l, &n);

    for (size_t i = 0; i < n; i++) {
        bool older_copy = false;

        /* The sessions are sorted newest first. */
        for (size_t k = 0; k < i && !older_copy && listing_has_copies(ref[i]); k++)
            older_copy = ref[k]->store == ref[i]->store && slice_eq(ref[k]->id, ref[i]->id);
        TRY(examine_session(d, ref[i], older_copy, fn, arg, e));
    }
    return ERR_OK;
}

enum err_code doctor_examine(const struct doctor *d, finding_fn *fn, void *arg, struct err *e)
{
    bool moved = false;

    /* Whether it is in its place is found out first, so that nothing can fail after its lines were repaired. Those of one
     * that was moved are left to the next call. */
    if (d->only) {
        TRY(doctor_misplaced(d, d->only->store, fn, arg, &moved, e));
        return moved ? ERR_OK : examine_session(d, d->only, false, fn, arg, e);
    }
    enum err_code rc = d->misplaced ? ERR_OK : doctor_look_at_all(d, fn, arg, e);

    for (size_t i = 0; i < d->stores && !rc; i++) {
        const struct store *st = d->store[i];

        if (d->misplaced) {
            rc = doctor_misplaced(d, st, fn, arg, &moved, e);
            continue;
        }
        struct finding f = { .kind = FINDING_SETTINGS };

        f.why = st->ops->settings_note ? st->ops->settings_note(st, &f.path) : NULL;
        rc = f.why ? fn(&f, arg, e) : ERR_OK;

        if (!rc && d->store[i]->ops->check_store)
            rc = d->store[i]->ops->check_store(d->store[i], &d->scope, fn, arg, e);
        if (!rc)
            rc = doctor_misplaced(d, st, fn, arg, &moved, e);
    }
    return rc || d->misplaced ? rc : doctor_own(d, fn, arg, e);
}
