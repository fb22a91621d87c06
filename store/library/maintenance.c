#include "store/maintenance/trash.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/library/call.h"
#include "store/maintenance/doctor.h"

/* ---- delete ---- */

static enum err_code library_delete_local(const struct reprise *r, const struct session_ref *ref,
                                          uint32_t flags, struct arena *a,
                                          struct reprise_delete_result *done, struct err *e)
{
    bool permanently = flags & REPRISE_DELETE_PERMANENTLY;
    unsigned what = (permanently ? TRASH_REQUEST_OWN : TRASH_REQUEST_ALL) |
                    (flags & REPRISE_DELETE_UNSURE ? (unsigned)TRASH_REQUEST_UNSURE : 0);
    struct trash_request request;
    struct slice title;

    /* The trash keeps the title; a session that cannot be described has none. */
    const struct scope everywhere = { .all = true };

    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();

    NEED(row);
    title = SLICE("");
    if (ref->store->ops->describe(ref->store, &everywhere, ref, row, NULL) == ERR_OK)
        title = arena_copy(a, session_row_title(row));
    NEED(title.p);

    TRY(trash_request_make(ref, title, what, a, &request, e));

    if (permanently)
        return trash_request_destroy(&request, e);
    const struct store_env env = call_env(r);

    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list list = { .n = 0 };

    TRY(change_log_open(&env, &log, e));
    TRY(trash_add(log, &env, "delete", &request, 1, &list, e));
    snprintf(done->trash, sizeof done->trash, "%s", list.item[0].trash_id);
    snprintf(done->stays, sizeof done->stays, "%s", list.item[0].stays ? list.item[0].stays : "");
    done->files = (uint64_t)list.item[0].files;
    done->bytes = (uint64_t)list.item[0].bytes;
    return ERR_OK;
}

static enum err_code delete_session(const struct reprise_session *s, uint32_t flags,
                                    struct reprise_delete_result *result, struct err *e)
{
    const struct store_ops *ops = s->ref.store->ops;
    struct reprise_delete_result done = { .size = sizeof done };
    AUTO_ARENA a = { 0 };
    struct session_ref now;

    TRY(call_check_result(result, e));
    if (flags & ~(uint32_t)(REPRISE_DELETE_UNSURE | REPRISE_DELETE_PERMANENTLY))
        return err_set(e, ERR_USAGE, "", "delete: unknown flag");
    TRY(session_now(s, &a, &now, e));
    TRY(!store_changes_at_once(ops) ? library_delete_local(s->stores, &now, flags, &a, &done, e)
        : ops->remove && (flags & REPRISE_DELETE_PERMANENTLY || !ops->remote)
            ? ops->remove(now.store, &now, e)
            : store_unsupported_error(&now, CAN_DELETE, "delete", e));
    return call_result(&done, sizeof done, result, e);
}

int reprise_delete(const struct reprise_session *s, uint32_t flags,
                   struct reprise_delete_result *result, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);
    CALL_RETURN(error, delete_session(s, flags, result, e));
}

/* ---- the trash ---- */

ANSWER(trash, reprise_trash_item);

static enum err_code library_fill_trash(const struct reprise *r, struct answer *x, struct err *e)
{
    CLEANUP(trash_list_fini) struct trash_list list = { .n = 0 };
    struct arena *a = &x->arena;

    TRY(trash_read(&r->env, &list, e));
    for (size_t i = 0; i < list.n; i++) {
        const struct trash_item *item = &list.item[i];
        struct reprise_trash_item *out = answer_add(x);

        NEED(out);
        *out = (struct reprise_trash_item){ .size = sizeof *out,
                                            .id = call_copy(a, call_text(item->trash_id)),
                                            .system = call_copy(a, call_text(item->system)),
                                            .session = call_copy(a, call_text(item->session)),
                                            .title = call_copy(a, call_text(item->title)),
                                            .path = call_copy(a, call_text(item->path)),
                                            .directory = call_copy(a, call_text(item->dir)),
                                            .deleted_ms = item->deleted_ms,
                                            .files = (uint64_t)item->files,
                                            .bytes = (uint64_t)item->bytes };
    }
    return ERR_OK;
}

int reprise_list_trash(const struct reprise *r, struct reprise_trash **out,
                       struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    ANSWER_RETURN(trash, reprise_trash_item, out, error, library_fill_trash(r, x, e));
}

/* ---- out of the trash ---- */

/* An operation on an item. The log is open, so no other program can use the item meanwhile. */
typedef enum err_code item_fn(const struct store_env *env, struct change_log *log,
                              const struct trash_item *item, uint32_t flags, struct err *e);

static enum err_code restore_item(const struct store_env *env, struct change_log *log,
                                  const struct trash_item *item, uint32_t flags, struct err *e)
{
    (void)env;
    return flags & REPRISE_TRASH_JOIN && trash_can_join(item) ? trash_join(log, item, e)
                                                              : trash_restore(log, item, e);
}

static enum err_code destroy_item(const struct store_env *env, struct change_log *log,
                                  const struct trash_item *item, uint32_t flags, struct err *e)
{
    (void)log;
    (void)flags;
    return trash_destroy(env, item, e);
}

static enum err_code with_item(const struct reprise *r, const char *id, item_fn *use,
                               uint32_t flags, struct err *e)
{
    const struct store_env env = call_env(r);
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    CLEANUP(trash_list_fini) struct trash_list list = { .n = 0 };

    TRY(change_log_open(&env, &log, e));
    TRY(trash_read(&env, &list, e));
    const struct trash_item *item = trash_find(&list, id);

    return item ? use(&env, log, item, flags, e)
                : err_set(e, ERR_NOT_FOUND, id, "not in the trash");
}

int reprise_trash_restore(const struct reprise *r, const char *id, uint32_t flags,
                          struct reprise_error *error)
{
    if (!r || !id)
        return call_refuse(error);

    CALL_RETURN(error, flags & ~(uint32_t)REPRISE_TRASH_JOIN
                           ? err_set(e, ERR_USAGE, "", "restore: unknown flag")
                           : with_item(r, id, restore_item, flags, e));
}

int reprise_trash_destroy(const struct reprise *r, const char *id, struct reprise_error *error)
{
    if (!r || !id)
        return call_refuse(error);
    CALL_RETURN(error, with_item(r, id, destroy_item, 0, e));
}

struct receiver {
    reprise_finding_fn *fn;
    void *arg;
};

static enum err_code hand_over(const struct finding *f, void *arg, struct err *e)
{
    const struct receiver *to = arg;
    AUTO_ARENA a = { 0 };
    const struct reprise_finding finding = {
        .size = sizeof finding,
        .kind = finding_name(f->kind),
        .session = call_copy(&a, f->session),
        .path = f->path,
        .why = f->why,
        .line = f->line,
        .offset = f->line ? f->offset : 0,
        .flags = (f->fixable ? (uint32_t)REPRISE_FINDING_FIXABLE : 0) |
                 (f->fixed ? (uint32_t)REPRISE_FINDING_FIXED : 0),
    };

    NEED(!a.failed);
    return to->fn(&finding, to->arg)
               ? err_set(e, ERR_CANCELLED, "", "doctor: stopped by the caller")
               : ERR_OK;
}

static enum err_code library_examine(const struct reprise *r, const struct session_ref *only,
                                     uint32_t flags, struct receiver *to, struct err *e)
{
    const struct store_env env = call_env(r);
    const struct doctor d = { .env = &env,
                              .store = r->store,
                              .stores = r->n,
                              .scope = { .all = true },
                              .only = only,
                              .fix = flags & REPRISE_DOCTOR_FIX };

    if (flags & ~(uint32_t)REPRISE_DOCTOR_FIX)
        return err_set(e, ERR_USAGE, "", "doctor: unknown flag");
    return doctor_examine(&d, hand_over, to, e);
}

int reprise_doctor(const struct reprise *r, uint32_t flags, reprise_finding_fn *fn, void *arg,
                   struct reprise_error *error)
{
    if (!r || !fn)
        return call_refuse(error);

    struct receiver to = { fn, arg };

    CALL_RETURN(error, library_examine(r, NULL, flags, &to, e));
}

static enum err_code library_examine_session(const struct reprise_session *s, uint32_t flags,
                                             struct receiver *to, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct session_ref now;

    TRY(session_now(s, &a, &now, e));
    return library_examine(s->stores, &now, flags, to, e);
}

int reprise_session_doctor(const struct reprise_session *s, uint32_t flags, reprise_finding_fn *fn,
                           void *arg, struct reprise_error *error)
{
    if (!s || !fn)
        return call_refuse(error);

    struct receiver to = { fn, arg };

    CALL_RETURN(error, library_examine_session(s, flags, &to, e));
}
