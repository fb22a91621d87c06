#include "store/maintenance/session_change.h"

#include "store/api/host.h"
#include "store/api/restore.h"
#include "store/api/store.h"
#include "store/fs/disk.h"
#include "store/rewind/plan/origin.h"

const char *session_change_name(enum session_change_kind kind)
{
    static const char *const names[] = {
        [SESSION_RENAME] = "rename",       [SESSION_TAG] = "tag",
        [SESSION_ARCHIVE] = "archive",     [SESSION_UNARCHIVE] = "unarchive",
        [SESSION_RESUME_AT] = "resume-at", [SESSION_TOMBSTONE] = "tombstone",
        [SESSION_REAPPEND] = "reappend",
    };

    return names[kind];
}

/* ---- one session ---- */

struct planning {
    const struct session_ref *ref;
    const struct scope *scope;
    const struct session_change *what;
    struct change *c;
    bool at_once;
};

/* NULL if out of memory. */
static const char *description_of(const struct planning *p)
{
    struct arena *a = &p->c->arena;
    struct slice text = p->what->text;

    switch (p->what->kind) {
    case SESSION_RENAME: return arena_format(a, "renamed to %.*s", SLICE_ARG(text));
    case SESSION_TAG:
        return text.n ? arena_format(a, "tagged %.*s", SLICE_ARG(text)) : "tag removed";
    case SESSION_ARCHIVE: return "archived";
    case SESSION_UNARCHIVE: return "unarchived";
    case SESSION_RESUME_AT:
        return text.n ? arena_format(a, "resumes after %.*s", SLICE_ARG(text))
                      : "resumes with an empty conversation";
    case SESSION_TOMBSTONE: return arena_format(a, "message %.*s removed", SLICE_ARG(text));
    case SESSION_REAPPEND: return "metadata appended again";
    }
    return "changed";
}

/* Stores that are not files have no steps to plan. */
static bool is_set_at_once(const struct store_ops *ops)
{
    return ops->remote && ops->set;
}

static enum err_code set_at_once(struct planning *p, const char *key, struct err *e)
{
    const struct host_setting setting = { slice_of(key), p->what->text };
    enum err_code rc = host_set(p->ref->store, p->ref, &setting, 1, e);

    p->at_once = !rc;
    return rc;
}

static enum err_code plan_rename(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;

    if (ops->rename)
        return ops->rename(p->ref->store, p->ref, p->what->text, p->c, e);
    return is_set_at_once(ops) ? set_at_once(p, "title", e)
                               : store_unsupported_error(p->ref, CAN_RENAME, "rename", e);
}

static enum err_code plan_tag(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;
    struct slice tag = p->what->text;

    if (ops->tag)
        return ops->tag(p->ref->store, p->ref, tag, tag.n == 0, p->c, e);
    return is_set_at_once(ops) ? set_at_once(p, "tag", e)
                               : store_unsupported_error(p->ref, CAN_TAG, "tag", e);
}

/* An archived session that got another prompt since is not archived any more. */
static bool is_archived(const struct planning *p, bool *known)
{
    const struct store *st = p->ref->store;
    struct session_row *row = session_row_new();
    bool archived = false;

    *known = row && st->ops->describe(st, p->scope, p->ref, row, NULL) == ERR_OK;
    if (*known)
        archived = row->flags & SESSION_ARCHIVED;
    session_row_free(row);
    return archived;
}

static enum err_code plan_archive(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;
    bool known, archived = is_archived(p, &known);

    if (ops->archive && known && archived == (p->what->kind == SESSION_ARCHIVE))
        return ERR_OK;
    return ops->archive ? ops->archive(p->ref->store, p->scope, p->ref,
                                       p->what->kind == SESSION_ARCHIVE, p->c, e)
                        : store_unsupported_error(p->ref, CAN_ARCHIVE,
                                                  session_change_name(p->what->kind), e);
}

static enum err_code plan_resume_at(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;

    return ops->resume_at ? ops->resume_at(p->ref->store, p->ref, p->what->text, p->c, e)
                          : store_unsupported_error(p->ref, CAN_RESUME_AT, "resume-at", e);
}

static enum err_code plan_tombstone(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;

    return ops->tombstone
               ? ops->tombstone(p->ref->store, p->ref, p->what->text, p->what->cut, p->c, e)
               : store_unsupported_error(p->ref, CAN_TOMBSTONE, "tombstone", e);
}

static enum err_code plan_reappend(struct planning *p, struct err *e)
{
    const struct store_ops *ops = p->ref->store->ops;
    size_t appended = 0;
    enum err_code rc = ops->reappend
                           ? ops->reappend(p->ref->store, p->ref, p->c, &appended, e)
                           : store_unsupported_error(p->ref, CAN_REAPPEND, "re-append", e);

    if (!rc && p->what->appended)
        *p->what->appended = appended;
    return rc;
}

static enum err_code plan_steps(struct planning *p, struct err *e)
{
    switch (p->what->kind) {
    case SESSION_RENAME: return plan_rename(p, e);
    case SESSION_TAG: return plan_tag(p, e);
    case SESSION_ARCHIVE:
    case SESSION_UNARCHIVE: return plan_archive(p, e);
    case SESSION_RESUME_AT: return plan_resume_at(p, e);
    case SESSION_TOMBSTONE: return plan_tombstone(p, e);
    case SESSION_REAPPEND: return plan_reappend(p, e);
    }
    return ERR_OK;
}

enum err_code session_change_plan(const struct session_ref *ref, const struct scope *scope,
                                  const struct session_change *what, struct change *c,
                                  bool *at_once, struct err *e)
{
    struct planning p = { .ref = ref, .scope = scope, .what = what, .c = c };
    size_t before = c->n;
    enum err_code rc = (c->text = description_of(&p)) ? plan_steps(&p, e) : err_nomem(e);

    if (!rc && c->n > before) /* a session that is already like that is not part of the change */
        rc = origin_add_session(c, ref, e);
    if (!rc && at_once && p.at_once)
        *at_once = true;
    return rc;
}

/* ---- copies ---- */

static enum err_code check_fork(const struct session_ref *ref, const struct fork_request *req,
                                struct err *e)
{
    if (!ref->store->ops->fork)
        return store_unsupported_error(ref, CAN_FORK, "fork", e);
    if (req->id.n && !ref->store->ops->accepts_fork_id)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p, "fork: %s sessions choose the ids of forks",
                       ref->store->ops->name);
    return ERR_OK;
}

/* Makes the copy, and plans the change that moves it into its store. */
static enum err_code plan_fork(const struct session_ref *ref, const struct fork_request *req,
                               struct change *c, struct fork_result *out, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc = ops->fork(ref->store, ref, req, c, out, e);

    if (rc)
        return rc;
    c->text = arena_format(&c->arena, "forked as %.*s", SLICE_ARG(out->id));
    return c->text ? change_add_session(c, out->system ? out->system : ops->name, out->id, e)
                   : err_nomem(e);
}

enum err_code session_change_fork(const struct store_env *env, const struct session_ref *ref,
                                  const struct fork_request *req, struct change *c,
                                  struct fork_result *out, struct err *e)
{
    struct fork_result fork = { .path = NULL };
    enum err_code rc = check_fork(ref, req, e);

    if (!rc)
        rc = origin_add_session(c, ref, e);
    if (rc)
        return rc;
    change_sweep_forks(env);
    rc = plan_fork(ref, req, c, &fork, e);
    if (!rc)
        rc = change_do(env, c, e);
    if (!rc)
        *out = fork;
    else if (fork.path)
        change_discard_fork(&fork);
    return rc;
}

/* ---- the transcript of a session that is kept elsewhere ---- */

static enum err_code make_folders(const struct retrieved *r, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < r->n && !rc; i++)
        if (r->item[i].planned)
            rc = disk_private_dir(r->item[i].folder, e);
    return rc;
}

enum err_code session_change_retrieve(const struct store_env *env, const struct session_ref *ref,
                                      const struct retrieve_request *req, struct change *c,
                                      struct retrieved *out, struct err *e)
{
    if (!ref->store->ops->retrieve)
        return store_unsupported_error(ref, CAN_RETRIEVE, "retrieve", e);
    enum err_code rc = origin_add_session(c, ref, e);

    c->text = "transcript retrieved";
    if (!rc)
        rc = ref->store->ops->retrieve(ref->store, ref, req, c, out, e);
    if (rc || !c->n || req->dry_run)
        return rc;
    rc = make_folders(out, e);
    if (!rc)
        rc = change_do(env, c, e);
    if (rc)
        retrieved_fini(out);
    return rc;
}
