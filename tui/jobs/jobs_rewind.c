#include "lite/base/time.h"
#include "tui/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lite/base/cleanup.h"
#include "store/blame/compare.h"
#include "store/journal/change.h"
#include "store/journal/record.h"
#include "store/maintenance/project_note.h"
#include "store/rewind/plan/by_snapshots.h"
#include "store/rewind/plan/turn_files.h"
#include "store/rewind/record/records.h"
#include "tui/text/clean.h"
#include "tui/text/human.h"

/* A rewind changes a person's files, so the jobs that only look are separate from the one that
 * acts, and that one gets what they found:
 *
 *     plan -> preview -> (the person selects) -> apply the same preview -> summary
 *
 * A rewind applies the preview that was on the screen and never makes a new plan: a file that
 * changed in between is a conflict and stays. An undo has no preview on the screen; it makes its
 * plan here, and asks first about files that were edited since. A preview from the screen is shared
 * with the model, so it is copied before anything in it is set. A job of the view either posts one
 * result or returns an error, and only reports of progress may come before. A change that was begun
 * is not cancelled, because half of a rewind is worse than either end. */

static enum err_code answer_checkpoints(const struct effect *q, const struct reply *r,
                                        struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    CLEANUP(preview_checkpoints_free_at) struct checkpoint_list *list = preview_checkpoints_new();

    NEED(list);
    TRY(rewind_checkpoints(ref, list, e));
    if (q->kind == EFFECT_TURN_LINES)
        TRY(rewind_count_lines(ref, r->cancelled, list, e));
    jobs_post(r, q, (struct msg){ .kind = MSG_CHECKPOINTS, .u.checkpoints = list });
    list = NULL;
    return ERR_OK;
}

/* The message owns the preview from here on. */
static void post_preview(const struct effect *q, const struct reply *r, struct preview **p)
{
    jobs_post(r, q, (struct msg){ .kind = MSG_PREVIEW, .u.preview = *p });
    *p = NULL;
}

static enum err_code answer_preview(const struct job_context *d, const struct effect *q,
                                    const struct reply *r, struct err *e)
{
    const struct session_ref *ref = &q->refs->ref[0];
    CLEANUP(preview_free_at) struct preview *p = preview_new();

    NEED(p);
    TRY(rewind_plan_make(ref, buf_slice(&q->text), q->mode, &p->plan, e));
    if (q->mode != REWIND_TURN)
        TRY(rewind_other_stores(d->store, d->stores, ref, r->cancelled, &p->plan, e));
    TRY(rewind_preview(&p->plan, &p->options, &p->preview, e));
    post_preview(q, r, &p);
    return ERR_OK;
}

static enum err_code answer_take(const struct effect *q, const struct reply *r, struct err *e)
{
    const struct compare_take take = { .side = q->first, .only = buf_slice(&q->text) };
    CLEANUP(compare_fini) struct compared_sessions c = { .files = 0 };
    CLEANUP(preview_free_at) struct preview *p = preview_new();

    NEED(p);
    TRY(compare_sessions(&q->refs->ref[0], &q->refs->ref[1], &c, e));
    TRY(compare_take_plan(q->refs->ref, &c, &take, &p->plan, e));
    TRY(rewind_preview(&p->plan, &p->options, &p->preview, e));
    post_preview(q, r, &p);
    return ERR_OK;
}

/* ---- doing it ---- */

/* The directory would leave no room for the reason. */
static void skip_entry(struct rewind_summary *out, const char *path, const char *why)
{
    struct slice name = text_path_last(slice_of(path));

    if (out->skipped++ > 0)
        return;
    snprintf(out->skipped_name, sizeof out->skipped_name, "%.*s", SLICE_ARG(name));
    out->skipped_why = why;
}

static void count_summary(const struct rewind_preview *p, const struct rewind_result *result,
                          const struct preview_selection *selection, struct rewind_summary *out)
{
    const struct rewind_conversation *conversation = &p->plan->conversation;

    snprintf(out->record, sizeof out->record, "%s", result->undo);
    out->conversation_changed = conversation->change != NULL;
    out->dropped = conversation->dropped;
    out->added = conversation->added;
    out->kept = conversation->kept;
    for (size_t i = 0; i < p->n; i++) {
        const struct rewind_entry *x = &p->entry[i];
        enum rewind_action action = x->action == REWIND_REFUSED && selection ? x->would : x->action;

        if (result->outcome[i] == REWIND_CONFLICT)
            skip_entry(out, x->target->path, "changed meanwhile, or cannot be moved");
        else if (!selection && x->action == REWIND_REFUSED)
            skip_entry(out, x->target->path, x->why);
        if (result->outcome[i] != REWIND_DONE)
            continue;
        out->restored += action == REWIND_RESTORE;
        out->created += action == REWIND_CREATE;
        out->deleted += action == REWIND_DELETE;
    }
}

/* The record has the time of the rewind, not of the program's start, because records are identified
 * and sorted by it. */
static struct store_env env_of(const struct effect *q)
{
    struct store_env env = *q->refs->ref[0].store->env;

    env.now_ms = q->at_ms;
    return env;
}

/* At most ten reports a second; the last one is the result. */
struct progress_report {
    const struct reply *reply;
    const struct effect *question;
    int64_t reported_ms;
};

enum { REPORT_MS = 100 };

static void jobs_rewind_post_progress(size_t done, size_t all, void *arg)
{
    struct progress_report *t = arg;
    int64_t now_ms = time_clock_ms(CLOCK_MONOTONIC);

    if (done == all || now_ms - t->reported_ms < REPORT_MS)
        return;
    t->reported_ms = now_ms;
    jobs_post(t->reply, t->question,
              (struct msg){ .kind = MSG_PROGRESS,
                            .u.progress = { .done = (int64_t)done, .total = (int64_t)all } });
}

static enum err_code jobs_rewind_apply_selection(const struct effect *q, const struct reply *r,
                                                 struct rewind_summary *out, struct err *e)
{
    const struct store_env env = env_of(q);
    struct progress_report telling = { .reply = r,
                                       .question = q,
                                       .reported_ms = time_clock_ms(CLOCK_MONOTONIC) };
    struct rewind_preview watched = q->preview->preview; /* a copy, because the preview is shared
                                                            and never changes */
    struct rewind_result result;

    watched.options.progress = jobs_rewind_post_progress;
    watched.options.progress_arg = &telling;
    TRY(rewind_apply_selected(&env, &watched, q->selection->pick, &result, e));
    (void)!project_note_add(&env, watched.plan->root, NULL);
    count_summary(&q->preview->preview, &result, q->selection, out);
    rewind_result_fini(&result);
    return ERR_OK;
}

/* As in `reprise undo`, the person has agreed to the undo itself, but files edited since then
 * stay. */
static enum err_code preview_undo(const struct store_env *env, const char *record,
                                  struct preview *p, struct err *e)
{
    p->options = (struct rewind_options){ .allow_outside = true, .allow_sensitive = true };
    TRY(rewind_undo_plan(env, record, &p->plan, e));
    return rewind_preview(&p->plan, &p->options, &p->preview, e);
}

static bool is_consented(const struct name_list *consent, const char *path)
{
    for (size_t i = 0; consent && i < consent->n; i++)
        if (slice_eq(consent->name[i], slice_of(path)))
            return true;
    return false;
}

enum err_code jobs_undo_rewind(const struct store_env *env, const char *record,
                               const struct name_list *consent, struct rewind_summary *out,
                               struct err *e)
{
    AUTO_ARENA a = { 0 };
    CLEANUP(preview_free_at) struct preview *p = preview_new();
    struct rewind_result result;

    NEED(p);
    TRY(preview_undo(env, record, p, e));

    /* All files are undone; those that were edited since only with consent. */
    struct rewind_selection *pick = arena_zalloc(&a, (p->preview.n + 1) * sizeof *pick);

    NEED(pick);
    for (size_t i = 0; i < p->preview.n; i++) {
        pick[i].ticked = true;
        pick[i].consent = is_consented(consent, p->preview.entry[i].target->path);
    }
    TRY(rewind_apply_selected(env, &p->preview, pick, &result, e));
    for (size_t i = 0; i < p->preview.n; i++) /* for the count: they were done */
        if (pick[i].consent && rewind_may_consent(&p->preview.entry[i]))
            p->preview.entry[i].action = p->preview.entry[i].would;
    count_summary(&p->preview, &result, NULL, out);
    rewind_result_fini(&result);
    return ERR_OK;
}

enum err_code jobs_undo_edited(const struct store_env *env, const char *record,
                               struct name_list *out, struct err *e)
{
    CLEANUP(preview_free_at) struct preview *p = preview_new();

    NEED(p);
    TRY(preview_undo(env, record, p, e));
    for (size_t i = 0; i < p->preview.n; i++)
        if (rewind_may_consent(&p->preview.entry[i]))
            NEED(name_list_add(out, slice_of(p->preview.entry[i].target->path)));
    return ERR_OK;
}

/* The person is asked about files that changed since, unless this was already done. */
static enum err_code answer_undo(const struct store_env *env, const struct effect *q,
                                 const char *record, struct rewind_summary *out, struct err *e)
{
    if (q->names)
        return jobs_undo_rewind(env, record, q->names, out, e);
    struct name_list *edited = name_list_new();
    enum err_code rc = edited ? jobs_undo_edited(env, record, edited, e) : err_nomem(e);

    if (!rc && edited->n > 0) {
        out->edited = edited;
        out->needs_confirmation = true;
        return ERR_OK;
    }
    name_list_free(edited);
    return rc ? rc : jobs_undo_rewind(env, record, NULL, out, e);
}

static enum err_code answer_rewind(const struct effect *q, const struct reply *r, struct err *e)
{
    struct msg m = { .kind = MSG_REWIND_DONE };

    if (q->kind == EFFECT_REWIND) {
        TRY(jobs_rewind_apply_selection(q, r, &m.u.rewind_summary, e));
    } else {
        const struct store_env env = env_of(q);
        AUTO_BUF record = { 0 };
        const char *name = buf_add(&record, buf_slice(&q->text)) ? NULL : buf_cstr(&record);

        NEED(name && *name); /* an empty name could not be copied */
        TRY(answer_undo(&env, q, name, &m.u.rewind_summary, e));
    }
    jobs_post(r, q, m);
    return ERR_OK;
}

static enum err_code answer_turn_files(const struct effect *q, const struct reply *r, struct err *e)
{
    const struct slice point[2] = { q->names->name[0], q->names->name[1] };
    struct turn_files *files = calloc(1, sizeof *files);

    NEED(files);
    const enum err_code rc = turn_files_read(&q->refs->ref[0], point, files, e);

    if (rc)
        turn_files_free(files);
    else
        jobs_post(r, q, (struct msg){ .kind = MSG_TURN_FILES, .u.turn_files = files });
    return rc;
}

static enum err_code answer_turn_file(const struct effect *q, const struct reply *r, struct err *e)
{
    struct msg m = { .kind = MSG_TURN_FILE };
    AUTO_BUF path = { 0 };

    if (buf_add(&path, buf_slice(&q->text)) || !buf_cstr(&path))
        return err_nomem(e);
    const enum err_code rc =
        turn_files_read_present(path.p, &m.u.turn_file.text, &m.u.turn_file.why, e);

    if (rc)
        buf_fini(&m.u.turn_file.text);
    else
        jobs_post(r, q, m);
    return rc;
}

enum err_code jobs_run_rewind(const struct job_context *d, const struct effect *q,
                              const struct reply *r, struct err *e)
{
    switch (q->kind) {
    case EFFECT_TURN_LINES:
    case EFFECT_CHECKPOINTS: return answer_checkpoints(q, r, e);
    case EFFECT_PREVIEW: return answer_preview(d, q, r, e);
    case EFFECT_TAKE: return answer_take(q, r, e);
    case EFFECT_TURN_FILES: return answer_turn_files(q, r, e);
    case EFFECT_TURN_FILE: return answer_turn_file(q, r, e);
    case EFFECT_COMPARE: {
        const struct rewind_entry *entry = &q->preview->preview.entry[q->first];
        CLEANUP(preview_comparison_free_at) struct comparison *c = calloc(1, sizeof *c);

        NEED(c);
        c->entry = q->first;
        TRY(rewind_sides_read(&q->preview->plan, entry, &c->sides, e));
        TRY(linediff_make(buf_slice(&c->sides.present), buf_slice(&c->sides.wanted), REWIND_CONTEXT,
                          &c->diff, e));
        jobs_post(r, q, (struct msg){ .kind = MSG_COMPARISON, .u.comparison = c });
        c = NULL;
        return ERR_OK;
    }
    default: return answer_rewind(q, r, e);
    }
}

/* Undo and redo of the newest change that is shown, or of the change that the person was asked
 * about. */
struct undo_job {
    const struct store_env *env;
    const struct shown *shown;
    const struct effect *q;
    struct change_result *out;
    bool passed; /* something newer cannot be undone */
};

static enum err_code rewind_back(struct undo_job *d, const char *record, struct err *e)
{
    struct rewind_summary done = { .skipped = 0 };

    TRY(jobs_undo_rewind(d->env, record, d->q->names, &done, e));
    snprintf(d->out->record, sizeof d->out->record, "%s", done.record);
    if (done.skipped > 0)
        NEED(!buf_addf(&d->out->text, "; %zu skipped: %s", done.skipped, done.skipped_name));
    return ERR_OK;
}

static enum err_code describe_target(struct undo_job *d, const struct undo_target *n,
                                     const struct undo_target *stuck, struct err *e)
{
    char phrase[512], age[HUMAN_AGE];

    d->passed = stuck->kind != UNDO_TARGET_NONE;
    if (d->passed) {
        undo_target_phrase(stuck, phrase, sizeof phrase);
        if (buf_addf(&d->out->text, "%.100s: %s. Older: ", phrase,
                     stuck->by_agent ? "only its agent can undo it" : "its session continued"))
            return err_nomem(e);
    }

    human_age(d->env->now_ms, n->at_ms, age);
    snprintf(d->out->id, sizeof d->out->id, "%s", n->id);
    snprintf(d->out->where, sizeof d->out->where, "%s", n->dir);
    d->out->spans = n->spans;
    /* The undo that is redone has the text of the change, and so has the redo that is undone; a fork has an id, which
     * means nothing to a person. */
    bool again = d->q->request == CHANGE_REDO || strcmp(n->command, "redo") == 0;
    bool plain = strcmp(n->command, "fork") == 0;
    struct buf *text = &d->out->text;
    enum err_code rc = again && n->kind == UNDO_TARGET_CHANGE
                           ? buf_addf(text, "“%s”", n->title)
                           : buf_addf(text, "the %s of “%s”", n->command, n->title);

    if (!rc && n->sessions > 1 && !plain)
        rc = buf_addf(text, " and %zu more", n->sessions - 1);
    if (!rc)
        rc = buf_addf(text, " (%s%s%s%s)", plain ? "" : n->text, plain ? "" : ", ",
                      strcmp(age, "now") ? "" : "just ", age);
    return rc ? err_nomem(e) : ERR_OK;
}

static enum err_code choose_target(struct undo_job *d, struct change_log *log,
                                   struct undo_target *target, struct err *e)
{
    struct undo_target_others others = { .gone_newer = 0 };
    const struct effect *q = d->q;
    char id[64];

    snprintf(id, sizeof id, "%.*s", SLICE_ARG(buf_slice(&q->text)));
    enum err_code rc = id[0] ? undo_target_by_id(d->env, log, id, target, e)
                       : q->request == CHANGE_UNDO
                           ? undo_target_find(d->env, log, d->shown, target, &others, e)
                           : undo_target_find_redo(d->env, log, d->shown, target, &others, e);

    if (rc)
        return rc;
    if (target->kind != UNDO_TARGET_NONE)
        return describe_target(d, target, &others.stuck, e);

    if (q->request == CHANGE_REDO)
        return err_set(e, ERR_NOT_FOUND, "", "nothing to redo");
    if (others.stuck.kind != UNDO_TARGET_NONE)
        return err_set(e, ERR_STALE, others.stuck.id, "%s, and nothing older is left to undo",
                       others.stuck.by_agent ? "only its agent can undo the newest change"
                                             : "the session has continued since");
    return err_set(e, ERR_NOT_FOUND, "",
                   others.elsewhere.kind == UNDO_TARGET_NONE
                       ? "nothing left to undo"
                       : "nothing left to undo here; reprise undo %s undoes the newest change, in "
                         "another project",
                   others.elsewhere.id);
}

/* Undoes the newest change or rewind, as `reprise undo` does. The change log is closed before files
 * are rewound, because a rewind may also change the conversation. */
enum err_code jobs_undo(const struct store_env *env, const struct shown *shown,
                        const struct effect *q, struct change_result *out, struct err *e)
{
    struct undo_job doing = { .env = env, .shown = shown, .q = q, .out = out }, *d = &doing;
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct undo_target target = { .kind = UNDO_TARGET_NONE };

    if (!env->state_dir)
        return err_set(e, ERR_NOT_FOUND, "", "keep undo records: HOME is not set");
    TRY(change_log_open(env, &log, e));
    TRY(choose_target(d, log, &target, e));

    /* A change that another run of the program made, or an earlier one, is never undone without a question. If the
     * request names its target, the person was already asked. */
    if (q->text.n == 0 || q->asks) {
        if (target.kind == UNDO_TARGET_REWIND)
            TRY(jobs_undo_edited(env, target.id, &out->edited, e));
        out->needs_confirmation =
            q->asks || d->passed || out->edited.n > 0 || !record_id_is_of_run(env, target.id);
        if (out->needs_confirmation)
            return ERR_OK;
    }
    if (target.kind == UNDO_TARGET_REWIND) {
        change_log_close(log);
        log = NULL;
        return rewind_back(d, target.id, e);
    }

    CLEANUP(change_free_at) struct change *c = NULL;

    TRY(change_undo(log, target.id, &c, e));
    out->by_agent = change_is_agents(c); /* it cannot be redone */
    for (size_t i = 0; i < c->sessions_n; i++) {
        const char *colon = strchr(c->sessions[i], ':'); /* "claude:5e55…" */
        const char *id = colon ? colon + 1 : c->sessions[i];

        NEED(name_list_add(&out->sessions, slice_of(id)));
    }
    return ERR_OK;
}
