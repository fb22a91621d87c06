#include <fcntl.h>
#include <stdlib.h>

#include "lite/io/file.h"
#include "store/maintenance/sweep.h"

static bool is_same(const struct file_id *a, const struct file_id *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

/* A session without a conversation says that its transcript is empty, whatever file stands for it: its system is asked
 * again. */
static bool is_still_empty(const struct session_ref *ref)
{
    const struct scope all = { .all = true };
    struct session_ref now;
    struct arena a = { 0 };
    bool same = ref->store->ops->find(ref->store, &all, ref->id, &a, &now, NULL) == ERR_OK &&
                slice_eq(now.path, ref->path) && is_same(&now.file, &ref->file);

    arena_fini(&a);
    return same;
}

/* Between showing and moving a person may have gone for lunch, and the session may have been taken up again. */
static enum err_code look_again(struct sweep_item *item, struct err *e)
{
    struct file f;
    enum err_code rc = file_open(AT_FDCWD, item->ref.path.p, 0, &f, e);

    if (rc == ERR_NOMEM)
        return rc;
    if (rc) {
        item->stays = rc == ERR_NOT_FOUND ? "it is gone" : "it can no longer be read";
        return ERR_OK;
    }
    file_close(&f);
    if (item->ref.file.size == 0 ? !is_still_empty(&item->ref) : !is_same(&f.id, &item->ref.file))
        item->stays = "it changed after it was looked at";
    return ERR_OK;
}

static struct trash_request request_of(const struct sweep_item *item)
{
    return (struct trash_request){ .system = item->ref.store->ops->name,
                                   .store = item->ref.store->path,
                                   .id = item->ref.id,
                                   .title = item->title,
                                   .dir = item->cwd.n ? item->cwd.p : NULL,
                                   .part = item->part,
                                   .parts = item->parts,
                                   .owned_refs = item->owned_refs.ref,
                                   .owned_refs_n = item->owned_refs.n,
                                   .stays = item->owned_refs.stays };
}

enum err_code sweep_move(struct change_log *log, const struct store_env *env, struct sweep *s,
                         struct trash_list *moved, struct err *e)
{
    struct trash_request *request = calloc(s->n + 1, sizeof *request);
    struct trash_list none = { 0 };
    enum err_code rc = request ? ERR_OK : err_nomem(e);
    size_t n = 0;

    if (!rc)
        rc = sweep_orphans_recheck(s, e);
    for (size_t i = 0; i < s->n && !rc; i++)
        if (sweep_is_chosen(&s->item[i]) && !s->item[i].orphan)
            rc = look_again(&s->item[i], e);
    if (!rc)
        rc = sweep_live_all(s, e);
    for (size_t i = 0; i < s->n && !rc; i++)
        if (sweep_is_chosen(&s->item[i]))
            request[n++] = request_of(&s->item[i]);
    if (!rc && n)
        rc = trash_add(log, env, "sweep", request, n, moved, e);
    else if (!rc)
        *moved = none;
    free(request);
    return rc;
}
