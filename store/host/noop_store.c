#include "store/api/host.h"

#include <stdlib.h>
#include <string.h>

#include "store/api/store.h"
#include "store/journal/change.h"

/* Not a file of a session, but a path that any program may open. */
#define NOWHERE "/dev/null"

static enum err_code noop_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    struct store *st = calloc(1, sizeof *st);

    if (!st)
        return err_nomem(e);
    *st =
        (struct store){ .ops = &noop_store_ops, .env = env, .path = strdup(path ? path : NOWHERE) };
    if (!st->path) {
        free(st);
        return err_nomem(e);
    }
    *out = st;
    return ERR_OK;
}

static void noop_close(struct store *st)
{
    free(st->path);
    free(st);
}

static enum err_code noop_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    (void)st, (void)scope, (void)fn, (void)arg, (void)e;
    return ERR_OK;
}

static enum err_code noop_find(const struct store *st, const struct scope *scope, struct slice id,
                               struct arena *a, struct session_ref *ref, struct err *e)
{
    (void)scope;
    if (!host_id_is_plain(id))
        return err_set(e, ERR_USAGE, "", "find session: not a valid id");
    id = arena_copy(a, id);
    if (!id.p)
        return err_nomem(e);
    *ref = (struct session_ref){
        .store = st, .id = id, .path = SLICE(NOWHERE), .folder = SLICE(""), .preread = SLICE("")
    };
    return ERR_OK;
}

static enum err_code noop_describe(const struct store *st, const struct scope *scope,
                                   const struct session_ref *ref, struct session_row *row,
                                   struct err *e)
{
    (void)st, (void)scope;
    session_row_reset(row);
    row->hidden = HIDDEN_EMPTY;
    return session_ref_copy(&row->arena, ref, &row->ref) ? ERR_OK : err_nomem(e);
}

static enum err_code noop_load(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);

    (void)st, (void)ref, (void)cancel;
    if (t)
        t->path = strdup(NOWHERE);
    if (!t || !t->path) {
        free(t);
        return err_nomem(e);
    }
    *out = t;
    return ERR_OK;
}

static enum err_code noop_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                               const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)bytes;
    return noop_load(st, ref, cancel, out, e);
}

static enum err_code noop_blocks(const struct store *st, struct slice row, struct block_list *out,
                                 struct err *e)
{
    (void)st, (void)row, (void)out, (void)e;
    return ERR_OK;
}

static enum err_code noop_messages(const struct store *st, const struct session_ref *ref,
                                   const struct message_query *q, json_fn *fn, void *arg,
                                   struct err *e)
{
    (void)st, (void)ref, (void)q, (void)fn, (void)arg, (void)e;
    return ERR_OK;
}

static enum err_code noop_create(const struct store *st, const struct host_create *req,
                                 struct arena *a, struct host_created *out, struct err *e)
{
    char drawn[HOST_ID];

    (void)st;
    host_generate_id(drawn);
    struct slice id = arena_copy(a, req->id.n ? req->id : slice_of(drawn));

    if (!id.p)
        return err_nomem(e);
    *out = (struct host_created){ .id = id, .path = SLICE(NOWHERE) };
    return ERR_OK;
}

static enum err_code noop_append(const struct store *st, const struct session_ref *ref,
                                 const struct host_append *req, struct arena *a,
                                 struct host_appended *out, struct err *e)
{
    struct slice *id = arena_zalloc(a, (req->n + 1) * sizeof *id);

    (void)st, (void)ref;
    if (!id)
        return err_nomem(e);
    *out = (struct host_appended){ .n = req->n, .id = id };
    return ERR_OK;
}

static enum err_code noop_checkpoint(const struct store *st, const struct session_ref *ref,
                                     const struct host_checkpoint *req, struct arena *a,
                                     struct host_checkpointed *out, struct err *e)
{
    (void)st, (void)ref;
    const struct slice id = arena_copy(a, req->message);

    if (!id.p)
        return err_nomem(e);
    *out = (struct host_checkpointed){ .id = id };
    return ERR_OK;
}

static enum err_code noop_set(const struct store *st, const struct session_ref *ref,
                              const struct host_setting *setting, size_t n, struct err *e)
{
    (void)st, (void)ref, (void)setting, (void)n, (void)e;
    return ERR_OK;
}

static enum err_code noop_fork(const struct store *st, const struct session_ref *ref,
                               const struct fork_request *req, struct change *c,
                               struct fork_result *out, struct err *e)
{
    const struct host_create create = { .id = req->id };
    struct host_created made;

    (void)ref;
    TRY(noop_create(st, &create, &c->arena, &made, e));
    *out = (struct fork_result){ .id = made.id, .path = NOWHERE };
    return ERR_OK;
}

static enum err_code noop_remove(const struct store *st, const struct session_ref *ref,
                                 struct err *e)
{
    (void)st, (void)ref, (void)e;
    return ERR_OK;
}

const struct store_ops noop_store_ops = {
    .name = "noop",
    .open = noop_open,
    .close = noop_close,
    .enumerate = noop_enumerate,
    .describe = noop_describe,
    .find = noop_find,
    .tail = noop_tail,
    .load = noop_load,
    .blocks = noop_blocks,
    .messages = noop_messages,
    .create = noop_create,
    .append = noop_append,
    .checkpoint = noop_checkpoint,
    .set = noop_set,
    .fork = noop_fork,
    .accepts_fork_id = true,
    .remove = noop_remove,
};
