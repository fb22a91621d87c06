#include "store/maintenance/trash.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/library/call.h"
#include "store/maintenance/doctor.h"

/* ---- delete ---- */

/* The trash keeps the title; a session that cannot be described has none. */
static enum err_code library_title_of(const struct session_ref *ref, struct arena *a,
                                      struct slice *out, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_row *row = session_row_new();

    if (!row)
        return err_nomem(e);
    *out = SLICE("");
    if (ref->store->ops->describe(ref->store, &everywhere, ref, row, NULL) == ERR_OK)
        *out = arena_copy(a, session_row_title(row));
    session_row_free(row);
    return out->p ? ERR_OK : err_nomem(e);
}

static enum err_code library_move_to_trash(const struct reprise *r,
                                           const struct trash_request *request,
                                           struct reprise_delete_result *done, struct err *e)
{
    const struct store_env env = call_env(r);
    struct change_log *log;
    struct trash_list list;
    enum err_code rc = change_log_open(&env, &log, e);

    if (rc)
        return rc;
    rc = trash_add(log, &env, "delete", request, 1, &list, e);
    change_log_close(log);
    if (rc)
        return rc;
    snprintf(done->trash, sizeof done->trash, "%s", list.item[0].trash_id);
    snprintf(done->stays, sizeof done->stays, "%s", list.item[0].stays ? list.item[0].stays : "");
    done->files = (uint64_t)list.item[0].files;
    done->bytes = (uint64_t)list.item[0].bytes;
    trash_list_fini(&list);
    return ERR_OK;
}

static enum err_code library_delete_local(const struct reprise *r, const struct session_ref *ref,
                                          uint32_t flags, struct arena *a,
                                          struct reprise_delete_result *done, struct err *e)
{
    bool permanently = flags & REPRISE_DELETE_PERMANENTLY;
    unsigned what = (permanently ? TRASH_REQUEST_OWN : TRASH_REQUEST_ALL) |
                    (flags & REPRISE_DELETE_UNSURE ? (unsigned)TRASH_REQUEST_UNSURE : 0);
    struct trash_request request;
    struct slice title;
    enum err_code rc = library_title_of(ref, a, &title, e);

    if (!rc)
        rc = trash_request_make(ref, title, what, a, &request, e);
    if (rc)
        return rc;
    return permanently ? trash_request_destroy(&request, e)
                       : library_move_to_trash(r, &request, done, e);
}

static enum err_code delete_session(const struct reprise_session *s, uint32_t flags,
                                    struct reprise_delete_result *done, struct err *e)
{
    const struct store_ops *ops = s->ref.store->ops;
    struct arena a = { 0 };
    struct session_ref now;

    if (flags & ~(uint32_t)(REPRISE_DELETE_UNSURE | REPRISE_DELETE_PERMANENTLY))
        return err_set(e, ERR_USAGE, "", "delete: unknown flag");
    enum err_code rc = session_now(s, &a, &now, e);

    if (!rc && !ops->remote)
        rc = library_delete_local(s->stores, &now, flags, &a, done, e);
    else if (!rc)
        rc = flags & REPRISE_DELETE_PERMANENTLY && ops->remove
                 ? ops->remove(now.store, &now, e)
                 : store_unsupported_error(&now, CAN_DELETE, "delete", e);
    arena_fini(&a);
    return rc;
}

int reprise_delete(const struct reprise_session *s, uint32_t flags,
                   struct reprise_delete_result *result, struct reprise_error *error)
{
    if (!s)
        return call_refuse(error);

    struct reprise_delete_result done = { .size = sizeof done };
    struct call c;

    call_begin(&c);
    enum err_code rc = call_check_result(result, &c.err);

    if (!rc)
        rc = delete_session(s, flags, &done, &c.err);
    if (!rc && result)
        rc = call_result(&done, sizeof done, result, &c.err);
    return call_end(&c, rc, error);
}

/* ---- the trash ---- */

struct reprise_trash {
    struct trash_list list; /* owns the texts */
    struct reprise_trash_item *item;
};

static const char *library_text_of(const char *text)
{
    return text ? text : "";
}

static enum err_code read_trash(const struct reprise *r, struct reprise_trash *out, struct err *e)
{
    enum err_code rc = trash_read(&r->env, &out->list, e);

    if (rc)
        return rc;
    out->item = arena_zalloc(&out->list.arena, (out->list.n + 1) * sizeof *out->item);
    for (size_t i = 0; out->item && i < out->list.n; i++) {
        const struct trash_item *x = &out->list.item[i];

        out->item[i] = (struct reprise_trash_item){ .size = sizeof *out->item,
                                                    .id = x->trash_id,
                                                    .system = x->system,
                                                    .session = x->session,
                                                    .title = x->title,
                                                    .path = x->path,
                                                    .directory = library_text_of(x->dir),
                                                    .deleted_ms = x->deleted_ms,
                                                    .files = (uint64_t)x->files,
                                                    .bytes = (uint64_t)x->bytes };
    }
    return out->item ? ERR_OK : err_nomem(e);
}

int reprise_list_trash(const struct reprise *r, struct reprise_trash **out,
                       struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct reprise_trash *trash = calloc(1, sizeof *trash);
    struct call c;

    call_begin(&c);
    enum err_code rc = trash ? read_trash(r, trash, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_trash_free(trash);
    else
        *out = trash;
    return call_end(&c, rc, error);
}

size_t reprise_trash_count(const struct reprise_trash *trash)
{
    return trash ? trash->list.n : 0;
}

const struct reprise_trash_item *reprise_trash_at(const struct reprise_trash *trash, size_t i)
{
    return trash && i < trash->list.n ? &trash->item[i] : NULL;
}

void reprise_trash_free(struct reprise_trash *trash)
{
    if (trash)
        trash_list_fini(&trash->list);
    free(trash);
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
    struct trash_list list = { .n = 0 };
    struct change_log *log;
    enum err_code rc = change_log_open(&env, &log, e);

    if (rc)
        return rc;
    rc = trash_read(&env, &list, e);
    const struct trash_item *item = rc ? NULL : trash_find(&list, library_text_of(id));

    if (!rc)
        rc = item ? use(&env, log, item, flags, e)
                  : err_set(e, ERR_NOT_FOUND, library_text_of(id), "not in the trash");
    trash_list_fini(&list);
    change_log_close(log);
    return rc;
}

int reprise_trash_restore(const struct reprise *r, const char *id, uint32_t flags,
                          struct reprise_error *error)
{
    if (!r || !id)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    enum err_code rc = flags & ~(uint32_t)REPRISE_TRASH_JOIN
                           ? err_set(&c.err, ERR_USAGE, "", "restore: unknown flag")
                           : with_item(r, id, restore_item, flags, &c.err);

    return call_end(&c, rc, error);
}

int reprise_trash_destroy(const struct reprise *r, const char *id, struct reprise_error *error)
{
    if (!r || !id)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, with_item(r, id, destroy_item, 0, &c.err), error);
}

struct receiver {
    reprise_finding_fn *fn;
    void *arg;
};

static enum err_code hand_over(const struct finding *f, void *arg, struct err *e)
{
    const struct receiver *to = arg;
    struct arena a = { 0 };
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
    enum err_code rc = a.failed ? err_nomem(e) : ERR_OK;

    if (!rc && to->fn(&finding, to->arg))
        rc = err_set(e, ERR_CANCELLED, "", "doctor: stopped by the caller");
    arena_fini(&a);
    return rc;
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
    struct call c;

    call_begin(&c);
    return call_end(&c, library_examine(r, NULL, flags, &to, &c.err), error);
}

int reprise_session_doctor(const struct reprise_session *s, uint32_t flags, reprise_finding_fn *fn,
                           void *arg, struct reprise_error *error)
{
    if (!s || !fn)
        return call_refuse(error);

    struct receiver to = { fn, arg };
    struct arena a = { 0 };
    struct session_ref now;
    struct call c;

    call_begin(&c);
    enum err_code rc = session_now(s, &a, &now, &c.err);

    if (!rc)
        rc = library_examine(s->stores, &now, flags, &to, &c.err);
    arena_fini(&a);
    return call_end(&c, rc, error);
}
