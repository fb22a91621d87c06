#include "store/api/host.h"

#include <string.h>
#include <uuid/uuid.h>

#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/store.h"

static enum err_code cannot(const struct store_ops *ops, const char *what, struct err *e)
{
    return err_set(e, ERR_UNSUPPORTED, ops->name, "%s: not possible for sessions of %s", what,
                   ops->name);
}

const char *host_unpersisted(const struct store *st)
{
    return st->ops->unpersisted ? st->ops->unpersisted(st) : NULL;
}

/* The operations that write to the store: those of noop_store_ops if nothing is to be kept. */
static const struct store_ops *writer_of(const struct store *st)
{
    return host_unpersisted(st) ? &noop_store_ops : st->ops;
}

enum err_code host_make(const struct store_ops *ops, const struct store_env *env, const char *path,
                        struct err *e)
{
    return ops->make ? ops->make(env, path, e) : cannot(ops, "make a store", e);
}

enum err_code host_check_create(const struct store *st, const struct host_create *req,
                                struct host_create *out, struct err *e)
{
    struct host_create full = *req;

    if (!st->ops->create)
        return cannot(st->ops, "create", e);
    if (req->id.n && !host_id_is_plain(req->id))
        return err_set(e, ERR_USAGE, "", "create: invalid session id: %.*s", SLICE_ARG(req->id));
    if (req->dialect.n && !st->ops->has_dialects)
        return err_set(e, ERR_USAGE, "--dialect", "create: %s sessions have no dialects",
                       st->ops->name);
    if (!full.cwd.n)
        full.cwd = slice_of(st->env->cwd);
    if (full.cwd.n == 0 || full.cwd.p[0] != '/' || memchr(full.cwd.p, '\0', full.cwd.n))
        return err_set(e, ERR_USAGE, "", "create: the directory is not absolute");
    *out = full;
    return ERR_OK;
}

enum err_code host_create(const struct store *st, const struct host_create *req, struct arena *a,
                          struct host_created *out, struct err *e)
{
    struct host_create full;

    TRY(host_check_create(st, req, &full, e));
    return writer_of(st)->create(st, &full, a, out, e);
}

enum err_code host_check_rows(const struct host_append *req, struct err *e)
{
    for (size_t i = 0; i < req->n; i++)
        if (json_type(req->row[i]) != JSON_OBJECT || !json_valid(req->row[i]) ||
            memchr(req->row[i].p, '\n', req->row[i].n))
            return err_set(e, ERR_USAGE, "", "append: row %zu is not a JSON object on one line",
                           i + 1);
    return ERR_OK;
}

enum err_code host_append(const struct store *st, const struct session_ref *ref,
                          const struct host_append *req, struct arena *a, struct host_appended *out,
                          struct err *e)
{
    if (!st->ops->append)
        return cannot(st->ops, "append", e);
    TRY(host_check_rows(req, e));
    if (req->n)
        return writer_of(st)->append(st, ref, req, a, out, e);
    *out = (struct host_appended){ 0 };
    return ERR_OK;
}

enum err_code host_checkpoint(const struct store *st, const struct session_ref *ref,
                              const struct host_checkpoint *req, struct arena *a,
                              struct host_checkpointed *out, struct err *e)
{
    if (!st->ops->checkpoint)
        return cannot(st->ops, "checkpoint", e);
    if (req->task.n && !st->ops->has_task_checkpoints)
        return err_set(e, ERR_UNSUPPORTED, ref->path.p,
                       "checkpoint: %s sessions keep no checkpoints of tasks", st->ops->name);
    if (!req->message.n && !req->task.n)
        return err_set(e, ERR_USAGE, "", "checkpoint: needs the id of a message");
    for (size_t i = 0; i < req->files; i++)
        if (req->file[i][0] != '/')
            return err_set(e, ERR_UNSAFE, req->file[i], "checkpoint: the path is not absolute");
    return writer_of(st)->checkpoint(st, ref, req, a, out, e);
}

enum err_code host_set(const struct store *st, const struct session_ref *ref,
                       const struct host_setting *setting, size_t n, struct err *e)
{
    if (!st->ops->set)
        return store_unsupported_error(ref, CAN_SET, "set", e);
    return n ? writer_of(st)->set(st, ref, setting, n, e) : ERR_OK;
}

/* ---- rows ---- */

enum err_code host_first_row(struct slice id, struct slice cwd, struct slice title, struct buf *out)
{
    struct jsonout j;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("mode"));
    jsonout_member(&j, "mode", SLICE("normal"));
    jsonout_member(&j, "sessionId", id);
    jsonout_member(&j, "cwd", cwd);
    if (title.n)
        jsonout_member(&j, HOST_CREATED_TITLE, title);
    jsonout_close(&j, '}');
    return j.rc;
}

/* ---- helpers for callers ---- */

static bool is_blank_line(struct slice line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr(" \t\r", line.p[i]) || !line.p[i])
            return false;
    return true;
}

enum err_code host_rows(struct slice text, struct arena *a, struct slice **row, size_t *n,
                        struct err *e)
{
    struct slice line, *list = NULL;
    size_t count = 0;
    bool torn;

    while (slice_line(&text, &line, &torn)) {
        if (is_blank_line(line))
            continue;
        list = arena_grow(a, list, count, sizeof *list);
        if (!list)
            return err_nomem(e);
        list[count++] = line;
    }
    *row = list;
    *n = count;
    return ERR_OK;
}

void host_generate_id(char out[HOST_ID])
{
    uuid_t random;

    uuid_generate_random(random);
    uuid_unparse_lower(random, out);
}

enum err_code host_id_is_new(const struct store *st, struct slice id, struct arena *a,
                             const char *doing, struct err *e)
{
    const struct scope everywhere = { .all = true };
    struct session_ref there;
    enum err_code rc = st->ops->find(st, &everywhere, id, a, &there, e);

    if (rc == ERR_NOT_FOUND)
        return ERR_OK;
    return rc ? rc
              : err_set(e, ERR_STALE, there.path.p, "%s: a session with this id exists", doing);
}

bool host_id_is_plain(struct slice id)
{
    if (id.n == 0 || id.n > 255 || id.p[0] == '-')
        return false;
    if (slice_eq(id, SLICE(".")) || slice_eq(id, SLICE("..")))
        return false;
    return !memchr(id.p, '/', id.n) && !memchr(id.p, '\0', id.n);
}
