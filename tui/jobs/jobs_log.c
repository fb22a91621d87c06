#include <stdlib.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/rewind/record/records.h"
#include "tui/data/log_rows.h"
#include "tui/jobs/jobs.h"

/* The operation log: everything that was changed in the scope, or what going back to an entry would undo. */

static struct log_row *grow_rows(struct log_rows *r)
{
    struct log_row *list = arena_grow(&r->arena, r->row, r->n, sizeof *list);

    if (list)
        r->row = list;
    return list ? &r->row[r->n++] : NULL;
}

static struct slice jobs_log_copy_text(struct log_rows *r, const char *text)
{
    return arena_copy(&r->arena, slice_of(text ? text : ""));
}

static enum err_code jobs_log_take_entry(const struct history_entry *x, void *arg, struct err *e)
{
    struct log_rows *r = arg;

    if (x->elsewhere) {
        r->elsewhere++;
        return ERR_OK;
    }
    struct log_row *row = grow_rows(r);

    NEED(row);
    *row = (struct log_row){ .id = arena_copy_text(&r->arena, x->id),
                             .kind = arena_copy_text(&r->arena, x->kind),
                             .text = jobs_log_copy_text(r, x->text),
                             .title = jobs_log_copy_text(r, x->title        ? x->title
                                                            : x->sessions_n ? x->session[0]
                                                                            : ""),
                             .dir = jobs_log_copy_text(r, x->dir),
                             .at_ms = x->at_ms,
                             .sessions = x->sessions_n,
                             .undone = x->undone,
                             .is_undo = x->undoes != NULL,
                             .by_agent = x->by_agent,
                             .spans = x->spans };
    return r->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code take_way_back(const struct back_to *b, struct log_rows *r, struct err *e)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct undo_target *t = &b->entry[i];
        struct log_row *row = grow_rows(r);

        NEED(row);
        *row = (struct log_row){ .id = arena_copy_text(&r->arena, t->id),
                                 .kind = arena_copy_text(&r->arena, t->command),
                                 .text = jobs_log_copy_text(r, t->text),
                                 .title = jobs_log_copy_text(r, t->title),
                                 .dir = jobs_log_copy_text(r, t->dir),
                                 .at_ms = t->at_ms,
                                 .sessions = t->sessions,
                                 .by_agent = t->by_agent,
                                 .spans = t->spans };
    }
    r->elsewhere = b->elsewhere;
    r->why = b->why;
    r->at = b->at;
    return r->arena.failed ? err_nomem(e) : ERR_OK;
}

/* The id that the question names. */
static const char *asked_id(const struct effect *q, struct arena *a)
{
    return arena_copy(a, buf_slice(&q->text)).p;
}

enum err_code jobs_log(struct job_context *d, const struct effect *q, const struct reply *reply,
                       struct err *e)
{
    struct log_rows *r = calloc(1, sizeof *r);
    struct scope scope = { 0 };
    const struct shown shown = {
        .store = d->store, .n = d->stores, .scope = &scope, .home = d->env ? d->env->home : NULL
    };
    struct back_to b = { 0 };
    enum err_code rc = r ? jobs_scope(d, q->scope, &scope, e) : err_nomem(e);

    if (!rc && d->env && d->env->state_dir && q->text.n == 0)
        rc = history_each(d->env, &shown, jobs_log_take_entry, r, e);
    else if (!rc && d->env && d->env->state_dir)
        rc = back_to_plan(d->env, &shown, asked_id(q, &r->arena), &b, e);
    if (!rc && q->text.n)
        rc = take_way_back(&b, r, e);
    back_to_fini(&b);
    if (rc)
        log_rows_free(r);
    else
        jobs_post(reply, q, (struct msg){ .kind = MSG_LOG, .u.log = r });
    return rc;
}

enum err_code jobs_back_to(const struct store_env *env, const struct shown *shown,
                           const struct effect *q, struct change_result *out, struct err *e)
{
    AUTO_ARENA a = { 0 };
    CLEANUP(back_to_fini) struct back_to b = { 0 };
    const char **made, *id = asked_id(q, &a);
    size_t made_n;

    TRY(id ? back_to_plan(env, shown, id, &b, e) : err_nomem(e));
    TRY(back_to_apply(env, &b, &made, &made_n, e));
    if (buf_addf(&out->text, "%zu change%s", b.n, b.n == 1 ? "" : "s"))
        return err_nomem(e);
    return ERR_OK;
}
