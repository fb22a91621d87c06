#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lite/base/cleanup.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/maintenance/doctor.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "tui/jobs/jobs.h"

static void describe_one(const struct scope *scope, const struct session_ref *ref,
                         const struct live_table *hosts, struct described *out)
{
    out->row = session_row_new();
    out->code =
        out->row ? ref->store->ops->describe(ref->store, scope, ref, out->row, NULL) : ERR_NOMEM;
    if (!out->code)
        store_admit_row(out->row, scope);
    if (!out->code && !live_show_host(hosts, out->row))
        out->code = ERR_NOMEM;
    if (out->code) {
        session_row_free(out->row);
        out->row = NULL;
    }
}

enum err_code jobs_describe(struct job_context *d, const struct effect *q, size_t piece,
                            const struct reply *r, struct err *e)
{
    size_t first = piece * DESCRIBE_PIECE, left = q->refs->n - first;
    size_t n = left < DESCRIBE_PIECE ? left : DESCRIBE_PIECE;
    struct described_list *list = described_list_new(n);
    struct live_table hosts = { 0 };
    struct scope scope;
    enum err_code rc = list ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (!rc && n)
        rc = live_read_hosts(q->refs->ref[first].store->env, &hosts, e);
    if (rc) {
        described_list_free(list);
        return rc;
    }
    scope.cancel = r->cancelled;
    for (size_t i = first; i < first + n; i++) {
        struct described *item = &list->item[list->n++];

        *item = (struct described){ .entry = q->refs->entry[i] };
        describe_one(&scope, &q->refs->ref[i], &hosts, item);
    }
    live_fini(&hosts);
    jobs_post(r, q, (struct msg){ .kind = MSG_DESCRIBED, .u.described = list });
    return ERR_OK;
}

enum err_code jobs_disk_usage(const struct effect *q, const struct reply *r, struct err *e)
{
    struct described_list *list = described_list_new(q->refs->n);
    struct arena a = { 0 };

    NEED(list);
    for (size_t i = 0; i < q->refs->n && !atomic_load(r->cancelled); i++) {
        const struct session_ref *ref = &q->refs->ref[i];
        const struct store_ops *ops = ref->store->ops;
        const char **part = NULL;
        struct disk_usage w = { 0 };
        size_t n = 0, k = 0;

        /* For a session that is gone or cannot be deleted, it is the size of its transcript. */
        if (!ops->parts || ops->parts(ref->store, ref, true, &a, &part, &n, NULL)) {
            n = 0;
            w.bytes = ref->file.size;
        }
        while (k < n && disk_usage_add(part[k], &w, NULL) == ERR_OK)
            k++;
        list->item[list->n++] = (struct described){ .entry = q->refs->entry[i], .bytes = w.bytes };
        arena_reset(&a);
    }
    arena_fini(&a);
    jobs_post(r, q, (struct msg){ .kind = MSG_DISK_USAGE, .u.described = list });
    return ERR_OK;
}

enum err_code jobs_full_scan(struct job_context *d, const struct effect *q, size_t piece,
                             const struct reply *r, struct err *e)
{
    struct described_list *list = described_list_new(1);
    struct scope scope;
    enum err_code rc = list ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (rc) {
        described_list_free(list);
        return rc;
    }
    scope.cancel = r->cancelled;
    list->item[0] = (struct described){ .entry = q->refs->entry[piece] };
    list->n = 1;

    /* A row is delivered only if the scan found something for it. */
    const struct session_ref *ref = &q->refs->ref[piece];

    const atomic_bool *cancel = r->cancelled;
    struct described *out = &list->item[0];
    struct live_table hosts = { 0 };
    bool found = false;

    if (live_read_hosts(ref->store->env, &hosts, NULL) == ERR_OK)
        describe_one(&scope, ref, &hosts, out);
    live_fini(&hosts);
    if (out->row && ref->store->ops->full_scan && session_wants_title(out->row))
        out->code =
            ref->store->ops->full_scan(ref->store, &out->row->ref, cancel, out->row, &found, NULL);
    /* The conversation is loaded to see whether a resume restores all of it. */
    struct transcript *t = NULL;

    if (out->row && !out->code && out->row->ref.file.size <= FULL_SCAN_LOADS &&
        ref->store->ops->load(ref->store, &out->row->ref, cancel, &t, NULL) == ERR_OK &&
        t->lost > 0) {
        out->row->flags |= SESSION_PARTIAL;
        found = true;
    }
    transcript_free(t);
    if (!found || out->code) {
        session_row_free(out->row);
        out->row = NULL;
    }

    jobs_post(r, q, (struct msg){ .kind = MSG_FULL_SCAN, .u.described = list });
    return ERR_OK;
}

/* A transcript in the trash is read like any other of its system. */
static bool add_trashed(const struct job_context *d, const struct trash_item *x, size_t at,
                        struct ref_list *refs)
{
    const struct store *st = NULL;
    struct stat sb;

    for (size_t i = 0; i < d->stores; i++)
        if (strcmp(d->store[i]->ops->name, x->system) == 0 &&
            (!st || strcmp(d->store[i]->path, x->store) == 0))
            st = d->store[i];
    if (!st || x->parts == 0 || x->refs > 0 || lstat(x->part[0], &sb) != 0)
        return true;
    struct session_ref ref = { .store = st,
                               .id = slice_of(x->session),
                               .path = slice_of(x->part[0]),
                               .folder = SLICE(""),
                               .file = file_id_of(&sb),
                               .preread = SLICE("") };
    struct arena a = { 0 };

    /* If a session is a directory, only its system knows where the conversation is. */
    bool known = S_ISREG(sb.st_mode) ||
                 (st->ops->at_path && !st->ops->at_path(st, slice_of(x->part[0]), &a, &ref, NULL));
    bool ok = !known || ref_list_add(refs, &ref, (uint32_t)at);

    arena_fini(&a);
    return ok;
}

enum err_code jobs_trash(const struct job_context *d, const struct effect *q, const struct reply *r,
                         struct err *e)
{
    struct trash_list *list = calloc(1, sizeof *list);
    enum err_code rc = list ? ERR_OK : err_nomem(e);

    if (rc == ERR_OK && d->env && d->env->data_dir)
        rc = trash_read(d->env, list, e);
    struct ref_list *refs = rc ? NULL : ref_list_new();
    bool ok = refs;

    for (size_t i = 0; ok && i < list->n; i++)
        ok = add_trashed(d, &list->item[i], i, refs);
    if (!rc && !ok) {
        trash_list_fini(list);
        rc = err_nomem(e);
    }
    if (rc) {
        ref_list_free(refs);
        free(list);
    } else
        jobs_post(r, q, (struct msg){ .kind = MSG_TRASH, .u.trash = { list, refs } });
    return rc;
}

/* ---- one session ---- */

struct findings_sink {
    struct findings *findings;
    const char *system;
    const struct store *store;
};

static enum err_code collect_finding(const struct finding *f, void *arg, struct err *e)
{
    const struct findings_sink *n = arg;

    return findings_add(n->findings, n->system, n->store, f, e);
}

enum err_code jobs_check_session(struct job_context *d, const struct effect *q,
                                 const struct reply *r, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    struct findings_sink n = { findings_new(), ref->store->ops->name, ref->store };
    struct doctor doctor = { .env = d->env, .only = ref, .cancel = r->cancelled };
    enum err_code rc = n.findings ? jobs_scope(d, q->scope, &doctor.scope, e) : err_nomem(e);

    if (rc == ERR_OK && !d->env)
        rc = err_set(e, ERR_UNSUPPORTED, "", "nothing to check here");
    if (rc == ERR_OK)
        rc = doctor_examine(&doctor, collect_finding, &n, e);
    if (rc)
        findings_free(n.findings);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_FINDINGS, .u.findings = n.findings });
    return rc;
}

/* ---- files around the sessions ---- */

/* Damage to data that belongs to no session, or to no listed session. The cleanup shows leftovers,
 * and the doctor shows oddities. */
static bool is_damage(enum finding_kind kind)
{
    switch (kind) {
    case FINDING_UNREADABLE:
    case FINDING_CHECKSUM:
    case FINDING_MISSING_BACKUP:
    case FINDING_WRONG_BACKUP:
    case FINDING_UNFINISHED_CHANGE:
    case FINDING_DAMAGED_CHANGE:
    case FINDING_UNFINISHED_REWIND:
    case FINDING_DAMAGED_REWIND:
    case FINDING_DAMAGED_TRASH:
    case FINDING_MISPLACED: return true;
    default: return false;
    }
}

static enum err_code jobs_rows_note_damage(const struct finding *f, void *arg, struct err *e)
{
    return is_damage(f->kind) ? collect_finding(f, arg, e) : ERR_OK;
}

enum err_code jobs_check_store(struct job_context *d, const struct effect *q, const struct reply *r,
                               struct err *e)
{
    struct findings_sink n = { .findings = findings_new(), .system = "reprise" };
    struct doctor look = { .env = d->env };
    enum err_code rc = n.findings ? jobs_scope(d, q->scope, &look.scope, e) : err_nomem(e);
    bool moved = false;

    if (!rc && d->env)
        rc = doctor_own(&look, jobs_rows_note_damage, &n, e);
    for (size_t i = 0; i < d->stores && !rc && !atomic_load(r->cancelled); i++) {
        const struct store *st = d->store[i];

        n.system = st->ops->name;
        n.store = st;
        if (st->ops->check_store)
            rc = st->ops->check_store(st, &look.scope, jobs_rows_note_damage, &n, e);
        if (!rc)
            rc = doctor_misplaced(&look, st, jobs_rows_note_damage, &n, &moved, e);
    }
    if (rc)
        findings_free(n.findings);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_FINDINGS, .u.findings = n.findings });
    return rc;
}

/* ---- repairs ---- */

struct repair_job {
    struct change_result *out;
    bool metadata;  /* metadata was rewritten, which happens for all of it at once */
    bool rewritten; /* and damaged lines were */
    char left[200]; /* the reason for the first failed repair */
};

static enum err_code count_repaired(const struct finding *f, void *arg, struct err *e)
{
    struct repair_job *p = arg;

    (void)e;
    if (f->fixed) {
        p->out->repaired++;
        p->out->steps += f->rewrites                   ? !p->rewritten
                         : f->kind == FINDING_METADATA ? !p->metadata
                                                       : 1;
        p->metadata |= f->kind == FINDING_METADATA;
        p->rewritten |= f->rewrites;
    } else if (f->fixable && !p->left[0]) {
        snprintf(p->left, sizeof p->left, "%s", f->why);
    }
    return ERR_OK;
}

enum err_code jobs_fix(const struct store_env *env, const struct scope *scope,
                       const struct effect *q, struct change_result *out, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    const struct doctor doctor = { .env = env, .scope = *scope, .only = ref, .fix = true };
    struct repair_job p = { .out = out };

    TRY(doctor_examine(&doctor, count_repaired, &p, e));
    if (out->repaired == 0)
        return err_set(e, ERR_STALE, ref->path.p, "repair: %s",
                       p.left[0] ? p.left : "nothing left to repair");
    return name_list_add(&out->sessions, ref->id) ? ERR_OK : err_nomem(e);
}
