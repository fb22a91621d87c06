#include "tui/jobs/jobs.h"

#include <stdio.h>

#include "lite/base/cleanup.h"
#include "store/fs/disk.h"
#include "store/journal/change.h"
#include "store/maintenance/session_change.h"
#include "store/maintenance/trash.h"
#include "store/proc/live.h"
#include "store/rewind/record/records.h"
#include "tui/config/resume_command.h"
#include "tui/data/session_table.h"
#include "tui/text/human.h"

/* What every change needs. */
struct change_job {
    const struct store_env *env; /* its time is that of the request */
    const struct shown *shown;
    const struct effect *q;
    struct change_result *out;
};

/* log: NULL if only the place of the undo records is checked. */
static enum err_code jobs_change_open_log(const struct change_job *d, struct change_log **log,
                                          struct err *e)
{
    if (!d->env->state_dir || !d->env->data_dir)
        return err_set(e, ERR_NOT_FOUND, "", "keep undo records: HOME is not set");
    return log ? change_log_open(d->env, log, e) : ERR_OK;
}

static enum err_code jobs_change_note_session(struct change_job *d, struct slice id, struct err *e)
{
    return name_list_add(&d->out->sessions, id) ? ERR_OK : err_nomem(e);
}

/* ---- one small change of each session, all in one change ---- */

static struct session_change jobs_change_of(const struct change_job *d)
{
    struct slice text = buf_slice(&d->q->text);

    switch (d->q->request) {
    case CHANGE_TAG: /* several sessions keep their own tags */
        return (struct session_change){ .kind = SESSION_TAG,
                                        .tags = text.n && d->q->refs->n > 1 ? TAGS_ADD : TAGS_SET,
                                        .text = text };
    case CHANGE_PIN:
    case CHANGE_UNPIN:
        return (struct session_change){ .kind = SESSION_TAG,
                                        .tags =
                                            d->q->request == CHANGE_PIN ? TAGS_ADD : TAGS_REMOVE,
                                        .text = SLICE(TAG_PINNED) };
    case CHANGE_ARCHIVE: return (struct session_change){ .kind = SESSION_ARCHIVE };
    case CHANGE_UNARCHIVE: return (struct session_change){ .kind = SESSION_UNARCHIVE };
    case CHANGE_RESUME_AT:
        return (struct session_change){ .kind = SESSION_RESUME_AT, .text = d->q->names->name[0] };
    default: return (struct session_change){ .kind = SESSION_RENAME, .text = text };
    }
}

/* ---- a copy ---- */

static enum err_code make_fork(struct change_job *d, struct err *e)
{
    const struct fork_request request = { .at = d->q->names->name[0],
                                          .title = buf_slice(&d->q->text),
                                          .with_files = true };
    CLEANUP(change_free_at) struct change *c = change_new("fork");
    struct fork_result fork = { .path = NULL };

    NEED(c);
    TRY(jobs_change_open_log(d, NULL, e));
    TRY(session_change_fork(d->env, &d->q->refs->ref[0], &request, c, &fork, e));
    snprintf(d->out->copy, sizeof d->out->copy, "%.*s", SLICE_ARG(fork.id));
    return jobs_change_note_session(d, fork.id, e);
}

/* ---- the trash ---- */

/* NULL if out of memory. */
static const struct session_ref **refs_of(const struct ref_list *list, struct arena *a)
{
    const struct session_ref **ref = arena_alloc(a, (list->n + 1) * sizeof(struct session_ref *));

    for (size_t i = 0; i < list->n && ref; i++)
        ref[i] = &list->ref[i];
    return ref;
}

static enum err_code jobs_change_to_trash(struct change_job *d, struct err *e)
{
    const struct ref_list *refs = d->q->refs;
    AUTO_ARENA a = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };
    size_t failed;

    TRY(jobs_change_open_log(d, &log, e));

    /* A request for each session, as it is now. */
    const struct session_ref **ref = refs_of(refs, &a);
    struct trash_request *request = arena_zalloc(&a, (refs->n + 1) * sizeof *request);

    NEED(ref && request);
    TRY(trash_request_make_all(ref, d->q->names->name, refs->n,
                               TRASH_REQUEST_ALL | (d->q->unsure ? TRASH_REQUEST_UNSURE : 0), &a,
                               request, &failed, e));
    for (size_t i = 0; i < refs->n; i++)
        TRY(jobs_change_note_session(d, refs->ref[i].id, e));

    const enum err_code rc = trash_add(log, d->env, "delete", request, refs->n, &list, e);

    for (size_t i = 0; i < list.n; i++)
        d->out->bytes += list.item[i].bytes;
    return rc;
}

/* The store of a team has no trash. If one deletion fails, the others are still carried out. */
static enum err_code remove_for_good(struct change_job *d, struct err *e)
{
    const struct ref_list *refs = d->q->refs;
    struct err problem = { 0 };
    size_t left = 0;

    for (size_t i = 0; i < refs->n; i++) {
        const struct session_ref *ref = &refs->ref[i];
        const struct store_ops *ops = ref->store->ops;
        enum err_code rc = ops->remove
                               ? ops->remove(ref->store, ref, &problem)
                               : store_unsupported_error(ref, CAN_DELETE, "delete", &problem);

        left += rc != ERR_OK;
        if (!rc && jobs_change_note_session(d, ref->id, e))
            return ERR_NOMEM;
    }
    if (!left)
        return ERR_OK;
    *e = problem;
    return refs->n == 1
               ? e->code
               : err_set(e, e->code, problem.path, "%zu of %zu sessions were not deleted: %s", left,
                         refs->n, problem.text);
}

/* Sessions that were used since they were chosen stay; this is an error only if all of them
 * stay. */
static enum err_code sweep_chosen(struct change_job *d, struct err *e)
{
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list moved = { 0 };
    struct disk_usage weight;
    const size_t chosen = sweep_disk_usage(d->q->sweep, &weight);

    TRY(jobs_change_open_log(d, &log, e));
    TRY(sweep_move(log, d->env, d->q->sweep, &moved, e));
    for (size_t i = 0; i < moved.n; i++) {
        d->out->bytes += moved.item[i].bytes;
        TRY(jobs_change_note_session(d, slice_of(moved.item[i].session), e));
    }
    d->out->not_moved = chosen - moved.n;
    d->out->orphans = d->q->sweep->n > 0 && d->q->sweep->item[0].orphan;
    return moved.n ? ERR_OK
                   : err_set(e, ERR_STALE, "",
                             "clean up: the sessions were used meanwhile and are kept");
}

/* Collects the named items that are still in the trash. */
static enum err_code items_named(struct change_job *d, const struct trash_list *list,
                                 const struct trash_item **item, size_t *n, struct err *e)
{
    const struct name_list *names = d->q->names;
    CLEANUP(slice_set_fini) struct slice_set wanted = { 0 };
    uint32_t number;

    for (size_t i = 0; i < names->n; i++)
        if (slice_set_add(&wanted, names->name[i], &number))
            return err_nomem(e);
    *n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct trash_item *found = &list->item[i];

        if (*n == names->n || slice_set_find(&wanted, slice_of(found->trash_id)) == SLICE_SET_NONE)
            continue;
        item[(*n)++] = found;
        d->out->bytes += found->bytes;
        TRY(jobs_change_note_session(d, slice_of(found->session), e));
    }
    return *n ? ERR_OK : err_set(e, ERR_NOT_FOUND, "", "no longer in the trash");
}

/* If a newer transcript is in the place of an item, a question follows; if several items are
 * restored, an error that names it. */
static enum err_code check_places(struct change_job *d, const struct trash_item *const item[],
                                  size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (!trash_can_join(item[i]))
            continue;
        if (n > 1)
            return err_set(e, ERR_STALE, item[i]->path,
                           "restore: a newer transcript is in its place; restore it alone to join "
                           "the two");
        d->out->needs_confirmation = true;
        snprintf(d->out->id, sizeof d->out->id, "%s", item[i]->trash_id);
        snprintf(d->out->where, sizeof d->out->where, "%s", item[i]->title);
    }
    return ERR_OK;
}

/* Handles only the items that were shown: a session that was deleted since then stays in the trash.
 * Items that are no longer there are skipped. */
static enum err_code from_trash(struct change_job *d, struct err *e)
{
    AUTO_ARENA a = { 0 };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list list = { 0 };
    const struct trash_item **item = arena_zalloc(&a, (d->q->names->n + 1) * sizeof *item);
    size_t n = 0;

    NEED(item);
    TRY(jobs_change_open_log(d, &log, e));
    TRY(trash_read(d->env, &list, e));
    TRY(items_named(d, &list, item, &n, e));
    if (d->q->request == CHANGE_JOIN)
        return trash_join(log, item[0], e);
    if (d->q->request == CHANGE_EMPTY) {
        for (size_t i = 0; i < n; i++)
            TRY(trash_destroy(d->env, item[i], e));
        return ERR_OK;
    }
    TRY(check_places(d, item, n, e));
    return d->out->needs_confirmation ? ERR_OK : trash_restore_all(log, item, n, e);
}

/* ---- the way in ---- */

enum err_code jobs_change(const struct store_env *env, const struct shown *shown,
                          const struct effect *q, struct change_result *out, struct err *e)
{
    struct store_env then = *env;
    struct change_job d = { &then, shown, q, out };

    then.now_ms = q->at_ms;
    switch (q->request) {
    case CHANGE_TRASH: return jobs_change_to_trash(&d, e);
    case CHANGE_REMOVE: return remove_for_good(&d, e);
    case CHANGE_SWEEP: return sweep_chosen(&d, e);
    case CHANGE_RESTORE:
    case CHANGE_JOIN:
    case CHANGE_EMPTY: return from_trash(&d, e);
    case CHANGE_UNDO:
    case CHANGE_REDO: return jobs_undo(&then, shown, q, out, e);
    case CHANGE_BACK_TO: return jobs_back_to(&then, shown, q, out, e);
    case CHANGE_FIX: return jobs_fix(&then, shown->scope, q, out, e);
    default: break;
    }
    if (buf_add(&out->text, buf_slice(&q->text)))
        return err_nomem(e);

    if (q->request == CHANGE_FORK)
        return make_fork(&d, e);
    const struct session_change what = jobs_change_of(&d);
    const struct ref_list *refs = d.q->refs;
    CLEANUP(change_free_at) struct change *c = change_new(session_change_name(what.kind));
    CLEANUP(change_log_close_at) struct change_log *log = NULL;

    NEED(c);
    TRY(jobs_change_open_log(&d, &log, e));

    /* The time of the screen would be too early: an archive mark takes effect from now. */
    c->at_ms = d.env->now_ms;
    for (size_t i = 0; i < refs->n; i++) {
        const struct session_ref *ref = &refs->ref[i];
        struct live live = { .state = LIVE_QUIET };
        size_t before = c->n;
        bool at_once = false;

        /* A person must never accidentally get a second agent in a conversation that the first agent
         * is still changing. */
        if (what.kind == SESSION_RESUME_AT)
            TRY(live_check(&ref, 1, &live, e));
        if (live.state != LIVE_QUIET)
            return err_set(e, ERR_LOCKED, ref->path.p,
                           "an agent may be writing to it (%s); quit the agent first",
                           live.why ? live.why : "it is registered as running");

        TRY(session_change_plan(ref, d.shown->scope, &what, c, &at_once, e));
        if (c->n > before || at_once)
            TRY(jobs_change_note_session(&d, ref->id, e));
    }
    return c->n ? change_run(log, c, e) : ERR_OK;
}

enum err_code jobs_sweep(struct store *const stores[], size_t n, const struct config *config,
                         const struct scope *scope, const struct effect *q,
                         const atomic_bool *cancelled, struct sweep *out, struct err *e)
{
    struct sweep_rule rule = q->rule;

    rule.scope = *scope;
    rule.cancel = cancelled;
    TRY(sweep_find(stores, n, &rule, out, e));
    if (q->n && n)
        jobs_prune_count(stores[0]->env, config, out);
    return ERR_OK;
}

/* Counts the sessions that an agent may be writing to; the person may delete them anyway. */
static enum err_code request_for(const struct session_ref *ref, struct live live, struct arena *a,
                                 struct trash_request *r, size_t *unsure, struct err *e)
{
    enum err_code rc = trash_request_make_live(ref, live, SLICE(""), TRASH_REQUEST_ALL, a, r, e);

    if (rc != ERR_LOCKED)
        return rc;
    rc = trash_request_make_live(ref, live, SLICE(""), TRASH_REQUEST_ALL | TRASH_REQUEST_UNSURE, a,
                                 r, e);
    *unsure += rc == ERR_OK;
    return rc;
}

enum err_code jobs_estimate_delete(const struct effect *q, const atomic_bool *cancelled,
                                   struct delete_estimate *out, struct err *e)
{
    AUTO_ARENA all = { 0 };
    AUTO_ARENA a = { 0 };
    struct disk_usage weight = { 0 };
    const struct session_ref **ref = refs_of(q->refs, &all);
    struct live *live = arena_alloc(&all, (q->refs->n + 1) * sizeof *live);

    NEED(ref && live);
    TRY(live_check(ref, q->refs->n, live, e));
    for (size_t i = 0; i < q->refs->n && !atomic_load(cancelled); i++) {
        struct trash_request r = { 0 };
        enum err_code rc = request_for(ref[i], live[i], &a, &r, &out->unsure, e);

        /* A session that cannot be deleted is counted, and does not end the estimate. */
        if (rc && rc != ERR_LOCKED && rc != ERR_UNSUPPORTED)
            return rc;
        out->running += rc == ERR_LOCKED;
        out->unsupported += rc == ERR_UNSUPPORTED;
        out->n += rc == ERR_OK;
        if (r.stays)
            out->stays = r.stays;
        out->partly += r.stays != NULL;
        for (size_t k = 0; k < r.parts; k++)
            TRY(disk_usage_add(r.part[k], &weight, e));
        arena_reset(&a);
    }
    out->bytes = weight.bytes;
    return ERR_OK;
}

/* Changes that only the agent of a session can make. The command is shown before it runs: the first request returns it,
 * the second one, which the person has confirmed, names it. */

static enum store_command jobs_change_command_of(enum change_request request)
{
    switch (request) {
    case CHANGE_RENAME: return STORE_COMMAND_RENAME;
    case CHANGE_ARCHIVE: return STORE_COMMAND_ARCHIVE;
    case CHANGE_UNARCHIVE: return STORE_COMMAND_UNARCHIVE;
    case CHANGE_TRASH: return STORE_COMMAND_DELETE;
    default: return STORE_COMMANDS;
    }
}

bool jobs_is_by_agent(const struct effect *q)
{
    enum store_command what = jobs_change_command_of(q->request);

    return what != STORE_COMMANDS && q->refs && q->refs->n == 1 &&
           store_agent_abilities(q->refs->ref[0].store->ops) & agent_change_ability(what);
}

/* If the session changed its directory meanwhile, the command is another one. */
static enum err_code run(const struct job_context *d, const struct effect *q,
                         const struct agent_change *change, struct change_result *out,
                         struct err *e)
{
    struct store_env then = *d->env;
    struct agent_changed done;

    then.now_ms = q->at_ms;
    if (!q->names || q->names->n != 1 || !slice_eq(q->names->name[0], slice_of(change->line)))
        return err_set(e, ERR_STALE, change->ref->path.p, "the command is another one now: %s",
                       change->line);
    TRY(agent_change_run(&then, change, &done, e));
    NEED(name_list_add(&out->sessions, change->ref->id) && !buf_add(&out->text, change->title));
    out->bytes = done.bytes;
    return ERR_OK;
}

enum err_code jobs_change_by_agent(const struct job_context *d, const struct effect *q,
                                   struct change_result *out, struct err *e)
{
    const struct resume_world w = { d->config, d->env->home, d->path };
    AUTO_ARENA a = { 0 };
    struct resume command;
    struct agent_change change = { .what = jobs_change_command_of(q->request),
                                   .ref = &q->refs->ref[0],
                                   .title = buf_slice(&q->text) };
    out->by_agent = true;
    if (!d->env->state_dir || !d->env->data_dir)
        return err_set(e, ERR_NOT_FOUND, "", "keep a record: HOME is not set");
    TRY(resume_make_change(&w, &change, &a, &command, e));
    if (q->confirmed)
        return run(d, q, &change, out, e);
    out->needs_confirmation = true;
    snprintf(out->where, sizeof out->where, "%s", agent_change_consequence(&change));
    NEED(!buf_add(&out->text, slice_of(change.line)));
    return ERR_OK;
}
