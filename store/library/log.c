#include <stdio.h>
#include <stdlib.h>

#include "store/journal/change.h"
#include "store/library/call.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/records.h"

/* ---- the log ---- */

struct reprise_log {
    struct arena arena;
    struct reprise_log_entry **entry;
    size_t n;
};

static const char *const *copy_sessions(const struct history_entry *x, struct arena *a)
{
    const char **copy = arena_zalloc(a, (x->sessions_n + 1) * sizeof *copy);

    for (size_t i = 0; copy && i < x->sessions_n; i++)
        copy[i] = call_copy(a, slice_of(x->session[i]));
    return copy;
}

static enum err_code library_add_entry(const struct history_entry *x, void *arg, struct err *e)
{
    struct reprise_log *log = arg;
    struct arena *a = &log->arena;
    struct reprise_log_entry *out = arena_zalloc(a, sizeof *out);
    struct reprise_log_entry **grown =
        arena_grow(a, log->entry, log->n, sizeof(struct reprise_log_entry *));

    if (!out || !grown)
        return err_nomem(e);
    *out = (struct reprise_log_entry){
        .size = sizeof *out,
        .id = call_copy(a, slice_of(x->id)),
        .kind = call_copy(a, slice_of(x->kind)),
        .text = call_copy(a, call_text(x->text)),
        .title = call_copy(a, call_text(x->title)),
        .undoes = call_copy(a, call_text(x->undoes)),
        .sessions = copy_sessions(x, a),
        .sessions_count = x->sessions_n,
        .time_ms = x->at_ms,
        .flags = (x->undone ? (uint32_t)REPRISE_LOG_UNDONE : 0) |
                 (x->rewind ? (uint32_t)REPRISE_LOG_REWIND : 0),
    };
    log->entry = grown;
    log->entry[log->n++] = out;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code library_read_log(const struct reprise *r, struct reprise_log *out,
                                      struct err *e)
{
    const struct store_env env = call_env(r);
    size_t recovered;
    enum err_code rc = rewind_recover(&env, &recovered, e);

    return rc ? rc : history_each(&env, NULL, library_add_entry, out, e);
}

int reprise_list_log(const struct reprise *r, struct reprise_log **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct reprise_log *log = calloc(1, sizeof *log);
    struct call c;

    call_begin(&c);
    enum err_code rc = log ? library_read_log(r, log, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_log_free(log);
    else
        *out = log;
    return call_end(&c, rc, error);
}

size_t reprise_log_count(const struct reprise_log *log)
{
    return log ? log->n : 0;
}

const struct reprise_log_entry *reprise_log_at(const struct reprise_log *log, size_t i)
{
    return log && i < log->n ? log->entry[i] : NULL;
}

void reprise_log_free(struct reprise_log *log)
{
    if (log)
        arena_fini(&log->arena);
    free(log);
}

/* ---- undo ---- */

/* An older change must not be undone instead of the one that is meant, so any obstacle is an
 * error. */
static enum err_code library_find_newest(const struct reprise *r, const struct store_env *env,
                                         struct change_log *log, struct undo_target *out,
                                         struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct shown shown = { .store = r->store, .n = r->n, .scope = &everywhere };
    struct undo_target_others others;
    enum err_code rc = undo_target_find(env, log, &shown, out, &others, e);

    if (!rc && others.stuck.kind != UNDO_TARGET_NONE)
        rc = err_set(e, ERR_STALE, others.stuck.id,
                     "undo: its session has continued since; name an older change to undo that");
    if (!rc && out->kind == UNDO_TARGET_NONE)
        rc = err_set(e, ERR_NOT_FOUND, "", "nothing left to undo");
    return rc;
}

static enum err_code find_newest_undo(const struct reprise *r, const struct store_env *env,
                                      struct change_log *log, struct undo_target *out,
                                      struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct shown shown = { .store = r->store, .n = r->n, .scope = &everywhere };
    struct undo_target_others others;
    enum err_code rc = undo_target_find_redo(env, log, &shown, out, &others, e);

    if (!rc && others.stuck.kind != UNDO_TARGET_NONE)
        rc = err_set(e, ERR_STALE, others.stuck.id, "redo: its session continued since");
    if (!rc && out->kind == UNDO_TARGET_NONE)
        rc = err_set(e, ERR_NOT_FOUND, "", "nothing to redo");
    return rc;
}

static enum err_code library_find_target(const struct reprise *r, const struct store_env *env,
                                         struct change_log *log, const char *id, bool redo,
                                         struct undo_target *out, struct err *e)
{
    enum err_code rc = redo ? find_newest_undo(r, env, log, out, e)
                       : id ? undo_target_by_id(env, log, id, out, e)
                            : library_find_newest(r, env, log, out, e);

    if (!rc && out->kind == UNDO_TARGET_NONE)
        rc = err_set(e, ERR_NOT_FOUND, id, "undo: no such change");
    if (!rc && out->kind == UNDO_TARGET_REWIND)
        rc = err_set(e, ERR_USAGE, out->id, "%s: it is a rewind (reprise_rewind_undo)",
                     redo ? "redo" : "undo");
    return rc;
}

static enum err_code undo_with(const struct reprise *r, const struct store_env *env,
                               struct change_log *log, const char *id, bool redo,
                               struct reprise_change *out, struct err *e)
{
    struct undo_target target = { .kind = UNDO_TARGET_NONE };
    struct reprise_change done = { .size = sizeof done };
    struct change *c;
    enum err_code rc = library_find_target(r, env, log, id, redo, &target, e);

    if (!rc)
        rc = change_undo(log, target.id, &c, e);
    if (rc)
        return rc;
    snprintf(done.id, sizeof done.id, "%s", c->id);
    snprintf(done.text, sizeof done.text, "%s", c->text ? c->text : "");
    change_free(c);
    return out ? call_result(&done, sizeof done, out, e) : ERR_OK;
}

static enum err_code undo(const struct reprise *r, const char *id, bool redo,
                          struct reprise_change *out, struct err *e)
{
    const struct store_env env = call_env(r);
    struct change_log *log;
    size_t recovered;
    enum err_code rc = call_check_result(out, e);

    if (!rc)
        rc = rewind_recover(&env, &recovered, e);
    if (!rc)
        rc = change_log_open(&env, &log, e);
    if (rc)
        return rc;
    rc = undo_with(r, &env, log, id, redo, out, e);
    change_log_close(log);
    return rc;
}

int reprise_undo(const struct reprise *r, const char *id, struct reprise_change *change,
                 struct reprise_error *error)
{
    if (!r)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, undo(r, id, false, change, &c.err), error);
}

int reprise_redo(const struct reprise *r, struct reprise_change *change,
                 struct reprise_error *error)
{
    if (!r)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, undo(r, NULL, true, change, &c.err), error);
}
