#include <stdio.h>

#include "store/journal/change.h"
#include "store/library/call.h"
#include "store/rewind/plan/rewind.h"
#include "store/rewind/record/records.h"

/* ---- the log ---- */

ANSWER(log, reprise_log_entry);

static const char *const *copy_sessions(const struct history_entry *x, struct arena *a)
{
    const char **copy = arena_zalloc(a, (x->sessions_n + 1) * sizeof *copy);

    for (size_t i = 0; copy && i < x->sessions_n; i++)
        copy[i] = call_copy(a, slice_of(x->session[i]));
    return copy;
}

static enum err_code library_add_entry(const struct history_entry *entry, void *arg, struct err *e)
{
    struct answer *x = arg;
    struct arena *a = &x->arena;
    struct reprise_log_entry *out = answer_add(x);

    NEED(out);
    *out = (struct reprise_log_entry){
        .size = sizeof *out,
        .id = call_copy(a, slice_of(entry->id)),
        .kind = call_copy(a, slice_of(entry->kind)),
        .text = call_copy(a, call_text(entry->text)),
        .title = call_copy(a, call_text(entry->title)),
        .undoes = call_copy(a, call_text(entry->undoes)),
        .sessions = copy_sessions(entry, a),
        .sessions_count = entry->sessions_n,
        .time_ms = entry->at_ms,
        .flags = (entry->undone ? (uint32_t)REPRISE_LOG_UNDONE : 0) |
                 (entry->rewind ? (uint32_t)REPRISE_LOG_REWIND : 0),
    };
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code library_fill_log(const struct reprise *r, struct answer *x, struct err *e)
{
    const struct store_env env = call_env(r);
    size_t recovered;

    TRY(rewind_recover(&env, &recovered, e));
    return history_each(&env, NULL, library_add_entry, x, e);
}

int reprise_list_log(const struct reprise *r, struct reprise_log **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    ANSWER_RETURN(log, reprise_log_entry, out, error, library_fill_log(r, x, e));
}

/* ---- undo ---- */

/* An older change must not be undone instead of the one that is meant, so any obstacle is an error. */
static enum err_code library_find_newest(const struct reprise *r, const struct store_env *env,
                                         struct change_log *log, bool redo, struct undo_target *out,
                                         struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct shown shown = { .store = r->store, .n = r->n, .scope = &everywhere };
    struct undo_target_others others;

    TRY(redo ? undo_target_find_redo(env, log, &shown, out, &others, e)
             : undo_target_find(env, log, &shown, out, &others, e));
    if (others.stuck.kind != UNDO_TARGET_NONE)
        return err_set(e, ERR_STALE, others.stuck.id,
                       redo ? "redo: its session continued since"
                            : "undo: its session has continued since; name an older change to "
                              "undo that");
    return out->kind != UNDO_TARGET_NONE
               ? ERR_OK
               : err_set(e, ERR_NOT_FOUND, "", redo ? "nothing to redo" : "nothing left to undo");
}

static enum err_code undo(const struct reprise *r, const char *id, bool redo,
                          struct reprise_change *out, struct err *e)
{
    const struct store_env env = call_env(r);
    struct undo_target target = { .kind = UNDO_TARGET_NONE };
    struct reprise_change done = { .size = sizeof done };
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(change_free_at) struct change *c = NULL;
    size_t recovered;

    TRY(call_check_result(out, e));
    TRY(rewind_recover(&env, &recovered, e));
    TRY(change_log_open(&env, &log, e));
    TRY(id && !redo ? undo_target_by_id(&env, log, id, &target, e)
                    : library_find_newest(r, &env, log, redo, &target, e));
    if (target.kind == UNDO_TARGET_NONE)
        return err_set(e, ERR_NOT_FOUND, id, "undo: no such change");
    if (target.kind == UNDO_TARGET_REWIND)
        return err_set(e, ERR_USAGE, target.id, "%s: it is a rewind (reprise_rewind_undo)",
                       redo ? "redo" : "undo");

    TRY(change_undo(log, target.id, &c, e));
    snprintf(done.id, sizeof done.id, "%s", c->id);
    snprintf(done.text, sizeof done.text, "%s", c->text ? c->text : "");
    return call_result(&done, sizeof done, out, e);
}

int reprise_undo(const struct reprise *r, const char *id, struct reprise_change *change,
                 struct reprise_error *error)
{
    if (!r)
        return call_refuse(error);
    CALL_RETURN(error, undo(r, id, false, change, e));
}

int reprise_redo(const struct reprise *r, struct reprise_change *change,
                 struct reprise_error *error)
{
    if (!r)
        return call_refuse(error);
    CALL_RETURN(error, undo(r, NULL, true, change, e));
}
