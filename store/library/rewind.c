#include "store/rewind/plan/rewind.h"
#include "store/rewind/plan/by_snapshots.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/library/call.h"
#include "store/rewind/plan/plan.h"

/* ---- points ---- */

ANSWER(points, reprise_point);

static int32_t point_kind(enum checkpoint_kind kind)
{
    switch (kind) {
    case CHECKPOINT_TURN: return REPRISE_POINT_TURN;
    case CHECKPOINT_TASK: return REPRISE_POINT_TASK;
    case CHECKPOINT_COMMIT: return REPRISE_POINT_COMMIT;
    case CHECKPOINT_SESSION_END: return REPRISE_POINT_SESSION_END;
    }
    return REPRISE_POINT_TURN;
}

static enum err_code library_fill_points(const struct reprise_session *s, struct answer *x,
                                         struct err *e)
{
    CLEANUP(checkpoint_list_fini) struct checkpoint_list list = { 0 };
    const struct store *st = s->ref.store;
    struct arena *a = &x->arena;
    struct session_ref now;

    if (!store_can_rewind(st->ops))
        return store_unsupported_error(&s->ref, CAN_REWIND, "list checkpoints", e);
    TRY(session_now(s, a, &now, e));
    TRY(rewind_checkpoints(&now, &list, e));
    for (size_t i = 0; i < list.n; i++) {
        const struct checkpoint *c = &list.checkpoint[i];
        struct reprise_point *out = answer_add(x);

        NEED(out);
        *out = (struct reprise_point){ .size = sizeof *out,
                                       .id = call_copy(a, c->id),
                                       .message = call_copy(a, c->message),
                                       .prompt = call_copy(a, c->prompt),
                                       .why = call_copy(a, call_text(c->why)),
                                       .time_ms = c->time_ms,
                                       .kind = point_kind(c->kind),
                                       .shell = c->shell,
                                       .files = c->files };
    }
    return ERR_OK;
}

int reprise_checkpoints(const struct reprise_session *s, struct reprise_points **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(points, reprise_point, out, error, library_fill_points(s, x, e));
}

/* ---- the checkpoints of a commit ---- */

static enum err_code find_origins(const struct reprise *r, struct slice name,
                                  struct reprise_texts *texts, struct err *e)
{
    CLEANUP(checkpoint_origins_fini) struct checkpoint_origins found = { .n = 0 };
    AUTO_BUF text = { 0 };
    enum err_code rc = err_set(e, ERR_NOT_FOUND, "",
                               "find a checkpoint: no store with checkpoints of commits is open");

    for (size_t i = 0; i < r->n && rc == ERR_NOT_FOUND; i++)
        if (r->store[i]->ops->origins)
            rc = r->store[i]->ops->origins(r->store[i], name, &found, e);
    for (size_t i = 0; i < found.n && !rc; i++) {
        struct jsonout j;

        text.n = 0;
        jsonout_init(&j, &text);
        checkpoint_origin_json(&j, &found.origin[i]);
        rc = texts_add_json(texts, &j, e);
    }
    return rc;
}

int reprise_checkpoint_of(const struct reprise *r, const char *name, struct reprise_texts **out,
                          struct reprise_error *error)
{
    if (!r || !name || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, find_origins(r, call_text(name), texts, e));
}

/* ---- plans ---- */

struct reprise_rewind {
    struct arena arena;
    struct store_env env; /* with the time of the call */
    struct rewind_plan plan;
    struct rewind_options options; /* its files are in the arena */
    struct rewind_preview preview;
    struct rewind_result result;
    struct reprise_rewind_file *file; /* one for each entry of the preview */
    bool applied;
};

static uint32_t file_flags(const struct rewind_entry *x)
{
    return (x->edited ? (uint32_t)REPRISE_FILE_EDITED : 0) |
           (x->binary ? (uint32_t)REPRISE_FILE_BINARY : 0) |
           (x->chosen && x->action != REWIND_REFUSED && x->action != REWIND_UNCHANGED
                ? (uint32_t)REPRISE_FILE_CHOSEN
                : 0);
}

static int32_t file_action(enum rewind_action action)
{
    switch (action) {
    case REWIND_RESTORE: return REPRISE_FILE_RESTORE;
    case REWIND_CREATE: return REPRISE_FILE_CREATE;
    case REWIND_DELETE: return REPRISE_FILE_DELETE;
    case REWIND_UNCHANGED: return REPRISE_FILE_UNCHANGED;
    case REWIND_REFUSED: return REPRISE_FILE_REFUSED;
    }
    return REPRISE_FILE_REFUSED;
}

static enum err_code library_read_options(struct reprise_rewind *w,
                                          const struct reprise_rewind_options *given,
                                          struct reprise_rewind_options *o, struct err *e)
{
    const uint32_t known =
        REPRISE_REWIND_EDITED | REPRISE_REWIND_OUTSIDE | REPRISE_REWIND_SENSITIVE;

    TRY(call_options(given, o, sizeof *o, e));
    if (o->flags & ~known || o->mode < 0 || o->mode > REPRISE_REWIND_TURN)
        return err_set(e, ERR_USAGE, "", "rewind: unknown mode or flag");
    w->options = (struct rewind_options){
        .allow_edited = o->flags & REPRISE_REWIND_EDITED,
        .allow_outside = o->flags & REPRISE_REWIND_OUTSIDE,
        .allow_sensitive = o->flags & REPRISE_REWIND_SENSITIVE,
    };

    const char **only;

    if (!o->files)
        return ERR_OK;
    only = arena_zalloc(&w->arena, (o->files_count + 1) * sizeof *only);
    for (size_t i = 0; only && i < o->files_count; i++) {
        if (!o->files[i])
            return err_set(e, ERR_USAGE, "", "rewind: the name of a file is NULL");
        only[i] = arena_copy_text(&w->arena, o->files[i]);
    }
    w->options.only = only;
    w->options.only_n = o->files_count;
    return w->arena.failed ? err_nomem(e) : ERR_OK;
}

static enum err_code library_look(struct reprise_rewind *w, struct err *e)
{
    TRY(rewind_plan_check_files(&w->plan, &w->options, e));
    TRY(rewind_preview(&w->plan, &w->options, &w->preview, e));

    w->file = arena_zalloc(&w->arena, (w->preview.n + 1) * sizeof *w->file);
    for (size_t i = 0; w->file && i < w->preview.n; i++) {
        const struct rewind_entry *x = &w->preview.entry[i];

        w->file[i] = (struct reprise_rewind_file){
            .size = sizeof *w->file,
            .path = x->target->path,
            .why = x->why ? x->why : "",
            .action = file_action(x->action),
            .flags = file_flags(x),
            .insertions = x->insertions,
            .deletions = x->deletions,
        };
    }
    return w->file ? ERR_OK : err_nomem(e);
}

static enum err_code plan_point(struct reprise_rewind *w, const struct reprise_session *s,
                                const char *point, const struct reprise_rewind_options *given,
                                struct err *e)
{
    static const enum rewind_mode modes[] = {
        [REPRISE_REWIND_FILES] = REWIND_CODE,
        [REPRISE_REWIND_CONVERSATION] = REWIND_CONVERSATION,
        [REPRISE_REWIND_BOTH] = REWIND_BOTH,
        [REPRISE_REWIND_TURN] = REWIND_TURN,
    };
    struct reprise_rewind_options o;
    struct session_ref now;
    size_t recovered;

    TRY(library_read_options(w, given, &o, e));
    TRY(rewind_recover(&w->env, &recovered, e));
    TRY(session_now(s, &w->arena, &now, e));
    TRY(rewind_plan_make(&now, call_text(point), modes[o.mode], &w->plan, e));
    if (o.mode != REPRISE_REWIND_TURN)
        TRY(rewind_other_stores(s->stores->store, s->stores->n, &now, NULL, &w->plan, e));
    return library_look(w, e);
}

/* Restoring the files of a rewind needs no new consent, because it was given for that rewind. If files are named, the
 * conversation is not changed. */
static enum err_code plan_undo(struct reprise_rewind *w, const char *undo,
                               const struct reprise_rewind_options *given, struct err *e)
{
    struct reprise_rewind_options o;
    size_t recovered;

    TRY(library_read_options(w, given, &o, e));
    w->options.allow_outside = w->options.allow_sensitive = true;
    TRY(rewind_recover(&w->env, &recovered, e));
    TRY(rewind_undo_plan(&w->env, undo, &w->plan, e));
    if (w->options.only)
        rewind_conversation_fini(&w->plan.conversation);
    return library_look(w, e);
}

static enum err_code library_rewind_finish(struct reprise_rewind *w, enum err_code rc,
                                           struct reprise_rewind **out)
{
    if (rc)
        reprise_rewind_close(w);
    else
        *out = w;
    return rc;
}

static struct reprise_rewind *rewind_new(const struct reprise *r)
{
    struct reprise_rewind *w = calloc(1, sizeof *w);

    if (w)
        w->env = call_env(r);
    return w;
}

int reprise_rewind_plan(const struct reprise_session *s, const char *point,
                        const struct reprise_rewind_options *options, struct reprise_rewind **out,
                        struct reprise_error *error)
{
    if (!s || !point || !out)
        return call_refuse(error);

    struct reprise_rewind *w = rewind_new(s->stores);
    struct call c;

    call_begin(&c);
    enum err_code rc = w ? plan_point(w, s, point, options, &c.err) : err_nomem(&c.err);

    return call_end(&c, library_rewind_finish(w, rc, out), error);
}

int reprise_rewind_undo(const struct reprise *r, const char *undo,
                        const struct reprise_rewind_options *options, struct reprise_rewind **out,
                        struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct reprise_rewind *w = rewind_new(r);
    struct call c;

    call_begin(&c);
    enum err_code rc = w ? plan_undo(w, undo, options, &c.err) : err_nomem(&c.err);

    return call_end(&c, library_rewind_finish(w, rc, out), error);
}

size_t reprise_rewind_count(const struct reprise_rewind *w)
{
    return w ? w->preview.n : 0;
}

const struct reprise_rewind_file *reprise_rewind_at(const struct reprise_rewind *w, size_t i)
{
    return w && i < w->preview.n ? &w->file[i] : NULL;
}

int reprise_rewind_describe(const struct reprise_rewind *w, struct reprise_rewind_summary *out,
                            struct reprise_error *error)
{
    if (!w || !out)
        return call_refuse(error);

    struct reprise_rewind_summary s = {
        .files = w->preview.n,
        .refused = w->preview.refused,
        .conflicts = w->result.conflicts,
        .insertions = w->preview.insertions,
        .deletions = w->preview.deletions,
        .dropped = w->plan.conversation.dropped,
        .kept = w->plan.conversation.kept,
    };
    struct call c;

    call_begin(&c);
    snprintf(s.plan, sizeof s.plan, "%s", w->preview.id);
    snprintf(s.undo, sizeof s.undo, "%s", w->result.undo);
    return call_end(&c, call_result(&s, sizeof s, out, &c.err), error);
}

/* ---- apply ---- */

static enum err_code apply(struct reprise_rewind *w, uint32_t flags, struct err *e)
{
    const char *name = w->plan.undoes ? w->plan.undoes : w->plan.session;

    if (flags & ~(uint32_t)REPRISE_APPLY_SKIP_REFUSED)
        return err_set(e, ERR_USAGE, "", "rewind: unknown flag");
    if (w->applied)
        return err_set(e, ERR_STALE, name, "rewind: this plan was applied already");
    if (w->preview.refused && !(flags & REPRISE_APPLY_SKIP_REFUSED))
        return err_set(e, ERR_UNSAFE, name, "rewind: %zu files are refused, nothing was changed",
                       w->preview.refused);
    w->env.now_ms = env_now_ms(&w->env);
    enum err_code rc = rewind_apply(&w->env, &w->preview, &w->result, e);

    w->applied = !rc;
    for (size_t i = 0; !rc && w->result.outcome && i < w->preview.n; i++)
        if (w->result.outcome[i] == REWIND_CONFLICT)
            w->file[i].flags |= REPRISE_FILE_CONFLICT;
    return rc;
}

int reprise_rewind_apply(struct reprise_rewind *w, uint32_t flags, struct reprise_error *error)
{
    if (!w)
        return call_refuse(error);
    CALL_RETURN(error, apply(w, flags, e));
}

void reprise_rewind_close(struct reprise_rewind *w)
{
    if (!w)
        return;
    rewind_result_fini(&w->result);
    rewind_preview_fini(&w->preview);
    rewind_plan_fini(&w->plan);
    arena_fini(&w->arena);
    free(w);
}
