#include "tui/jobs/jobs_internal.h"

#include <stdio.h>
#include <string.h>

#include "store/journal/change.h"
#include "store/rewind/record/undo_target.h"
#include "tui/text/human.h"

/* Undo and redo of the newest change that is shown, or of the change that the person was asked
 * about. */
struct undo_job {
    const struct store_env *env;
    const struct shown *shown;
    const struct effect *q;
    struct change_result *out;
    bool passed; /* something newer cannot be undone */
};

/* "claude:5e55…": the id is after the system's name. */
static struct slice session_id_part(const char *session)
{
    const char *colon = strchr(session, ':');
    const char *id = colon ? colon + 1 : session;

    return slice_of(id);
}

static enum err_code change_back(struct undo_job *d, struct change_log *log, const char *id,
                                 struct err *e)
{
    struct change *c = NULL;
    enum err_code rc = change_undo(log, id, &c, e);

    d->out->by_agent = !rc && change_is_agents(c); /* it cannot be redone */
    for (size_t i = 0; !rc && i < c->sessions_n; i++)
        rc = name_list_add(&d->out->sessions, session_id_part(c->sessions[i])) ? ERR_OK
                                                                               : err_nomem(e);
    change_free(c);
    return rc;
}

static enum err_code rewind_back(struct undo_job *d, const char *record, struct err *e)
{
    struct rewind_summary done = { .skipped = 0 };
    enum err_code rc = jobs_undo_rewind(d->env, record, d->q->names, &done, e);

    snprintf(d->out->record, sizeof d->out->record, "%s", done.record);
    if (!rc && done.skipped > 0 &&
        buf_addf(&d->out->text, "; %zu skipped: %s", done.skipped, done.skipped_name))
        rc = err_nomem(e);
    return rc;
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

    undo_target_phrase(n, phrase, sizeof phrase);
    human_age(d->env->now_ms, n->at_ms, age);
    snprintf(d->out->id, sizeof d->out->id, "%s", n->id);
    snprintf(d->out->where, sizeof d->out->where, "%s", n->dir);
    return buf_addf(&d->out->text, "%.120s, %s", phrase, age) ? err_nomem(e) : ERR_OK;
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

    if (rc || target->kind != UNDO_TARGET_NONE)
        return rc ? rc : describe_target(d, target, &others.stuck, e);
    if (q->request == CHANGE_REDO)
        return err_set(e, ERR_NOT_FOUND, "", "nothing to redo");
    if (others.stuck.kind != UNDO_TARGET_NONE)
        return err_set(e, ERR_STALE, others.stuck.id, "%s, and nothing older is left to undo",
                       others.stuck.by_agent ? "only its agent can undo the newest change"
                                             : "the session has continued since");
    return err_set(
        e, ERR_NOT_FOUND, "",
        others.elsewhere.kind == UNDO_TARGET_NONE
            ? "nothing left to undo"
            : "nothing left to undo here; reprise undo %s undoes the change made elsewhere",
        others.elsewhere.id);
}

static bool is_named(const struct name_list *names, const char *id)
{
    for (size_t i = 0; names && i < names->n; i++)
        if (slice_eq(names->name[i], slice_of(id)))
            return true;
    return false;
}

/* Decides whether the person must be asked first. If the request names its target, the person was
 * already asked. */
static enum err_code check_asks(struct undo_job *d, const struct undo_target *n, struct err *e)
{
    if (d->q->text.n > 0)
        return ERR_OK;
    d->out->needs_confirmation = d->passed;
    if (n->kind != UNDO_TARGET_REWIND)
        return ERR_OK;
    enum err_code rc = jobs_undo_edited(d->env, n->id, &d->out->edited, e);

    d->out->needs_confirmation =
        !rc && (d->passed || d->out->edited.n > 0 || !is_named(d->q->names, n->id));
    return rc;
}

/* Undoes the newest change or rewind, as `reprise undo` does. The change log is closed before files
 * are rewound, because a rewind may also change the conversation. */
enum err_code jobs_undo(const struct store_env *env, const struct shown *shown,
                        const struct effect *q, struct change_result *out, struct err *e)
{
    struct undo_job doing = { .env = env, .shown = shown, .q = q, .out = out }, *d = &doing;
    struct change_log *log = NULL;
    struct undo_target target = { .kind = UNDO_TARGET_NONE };
    enum err_code rc = env->state_dir
                           ? change_log_open(env, &log, e)
                           : err_set(e, ERR_NOT_FOUND, "", "keep undo records: HOME is not set");

    if (!rc)
        rc = choose_target(d, log, &target, e);
    if (!rc)
        rc = check_asks(d, &target, e);
    if (!rc && !d->out->needs_confirmation && target.kind == UNDO_TARGET_CHANGE)
        rc = change_back(d, log, target.id, e);
    change_log_close(log);
    return rc || d->out->needs_confirmation || target.kind != UNDO_TARGET_REWIND
               ? rc
               : rewind_back(d, target.id, e);
}
