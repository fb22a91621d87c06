#include <inttypes.h>
#include <string.h>

#include "lite/base/buf.h"
#include "store/git/repo.h"
#include "store/maintenance/sweep_internal.h"

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

/* What deleted sessions left behind.
 *
 * The age of what a session left behind is that of its newest file. Files that were changed within a day are kept,
 * because an agent that starts a session makes the directories before the transcript. */

struct orphan_search {
    const struct sweep_rule *rule;
    const struct store *store;
    struct sweep *sweep;
};

static bool copy_owned_refs(struct arena *a, const struct leftover *left, struct sweep_item *item)
{
    struct owned_ref *ref = arena_zalloc(a, (left->owned_refs_n + 1) * sizeof *ref);

    for (size_t i = 0; ref && i < left->owned_refs_n; i++) {
        const struct owned_ref *was = &left->owned_refs[i];

        ref[i] = (struct owned_ref){ arena_copy_text(a, was->git), arena_copy_text(a, was->name),
                                     arena_copy_text(a, was->tip) };
        if (!ref[i].git || !ref[i].name || !ref[i].tip)
            return false;
    }
    item->owned_refs = (struct owned_refs){ .ref = ref, .n = left->owned_refs_n };
    return ref;
}

static bool sweep_orphans_copy_parts(struct arena *a, const struct leftover *left,
                                     struct sweep_item *item)
{
    item->part = arena_alloc(a, (left->parts + 1) * sizeof *item->part);
    if (!item->part || !copy_owned_refs(a, left, item))
        return false;
    for (item->parts = 0; item->parts < left->parts; item->parts++)
        if (!(item->part[item->parts] = arena_copy_text(a, left->part[item->parts])))
            return false;
    const char *first = item->parts ? item->part[0] : item->owned_refs.ref[0].name;

    item->ref.path = slice_of(first);
    item->ref.id = arena_copy(a, left->id);
    item->ref.folder = arena_copy(a, left->folder);
    return item->ref.id.p && item->ref.folder.p;
}

static bool is_before(const struct sweep_item *item)
{
    return item->owned_refs.n && slice_starts(slice_of(item->owned_refs.ref[0].name), REF_BEFORE);
}

static bool explain_leftover(struct arena *a, int64_t now_ms, struct sweep_item *item)
{
    struct buf text = { 0 };

    if (!sweep_age_text(&text, now_ms, item->activity_ms) &&
        !buf_addf(&text, "%s",
                  item->parts       ? ", its session's transcript is gone"
                  : is_before(item) ? ", the work tree as it was before a rewind"
                                    : ", none of its sessions has a state any more"))
        item->why = arena_copy(a, buf_slice(&text)).p;
    buf_fini(&text);
    return item->why;
}

static enum err_code add_leftover(const struct leftover *left, void *arg, struct err *e)
{
    struct orphan_search *f = arg;
    struct arena *a = &f->sweep->arena;
    int64_t now_ms = f->store->env->now_ms;
    struct sweep_item item = {
        .orphan = true, .ref = { .store = f->store }, .title = SLICE(""), .cwd = SLICE("")
    };

    if (f->rule->cancel && atomic_load(f->rule->cancel))
        return ERR_CANCELLED;
    enum err_code rc = sweep_measure(left->part, left->parts, &item.usage, e);

    item.activity_ms = item.usage.newest_ms;

    /* A ref may have moved after the last file was written. */
    if (left->owned_refs_n && left->owned_refs_ms > item.activity_ms)
        item.activity_ms = left->owned_refs_ms;
    if (rc || (f->rule->before_ms != TIME_NONE && item.activity_ms >= f->rule->before_ms) ||
        (f->rule->larger_than > 0 && item.usage.bytes <= f->rule->larger_than))
        return rc;
    if (!sweep_orphans_copy_parts(a, left, &item) || !explain_leftover(a, now_ms, &item))
        return err_nomem(e);
    if (left->stays)
        item.stays = arena_copy_text(a, left->stays);
    else if (item.activity_ms > now_ms - DAY_MS)
        item.stays = "it was used within the last day: a session may be starting";
    if (left->stays && !item.stays)
        return err_nomem(e);
    item.chosen = !item.stays;
    return sweep_add_item(f->sweep, &item, e);
}

enum err_code sweep_find_orphans(struct store *const stores[], size_t n,
                                 const struct sweep_rule *rule, struct sweep *s, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < n && !rc; i++) {
        struct orphan_search f = { rule, stores[i], s };

        if (stores[i]->ops->leftovers)
            rc = stores[i]->ops->leftovers(stores[i], &rule->scope, add_leftover, &f, e);
    }
    return rc;
}

/* ---- the recheck before moving ---- */

struct recheck {
    struct sweep *sweep;
    const struct store *store;
    bool *left; /* by item: true if it is still left behind */
    size_t at;  /* leftovers usually come in the order of the items */
};

static struct sweep_item *item_of(struct recheck *a, struct slice id)
{
    const struct sweep *s = a->sweep;

    for (size_t tried = 0; tried < s->n; tried++, a->at++) {
        struct sweep_item *item = &s->item[a->at % s->n];

        if (item->ref.store == a->store && slice_eq(item->ref.id, id))
            return item;
    }
    return NULL;
}

static enum err_code recheck_leftover(const struct leftover *left, void *arg, struct err *e)
{
    struct recheck *a = arg;
    struct sweep_item *item = item_of(a, left->id);

    if (!item)
        return ERR_OK;
    a->left[item - a->sweep->item] = true;

    bool same = item->owned_refs.n == left->owned_refs_n;

    for (size_t i = 0; same && i < left->owned_refs_n; i++)
        same = strcmp(item->owned_refs.ref[i].name, left->owned_refs[i].name) == 0 &&
               strcmp(item->owned_refs.ref[i].tip, left->owned_refs[i].tip) == 0;
    if (!same)
        item->stays = "it changed after it was listed";
    if (left->stays && !(item->stays = arena_copy_text(&a->sweep->arena, left->stays)))
        return err_nomem(e);
    return ERR_OK;
}

static enum err_code compare_usage(struct sweep_item *item, bool left, struct err *e)
{
    struct disk_usage now;
    enum err_code rc = sweep_measure(item->part, item->parts, &now, e);

    if (rc || item->stays)
        return rc;
    if (!left)
        item->stays = "its session exists again, or all of it is gone";
    else if (now.files != item->usage.files || now.bytes != item->usage.bytes ||
             now.newest_ms != item->usage.newest_ms)
        item->stays = "it changed after it was listed";
    return ERR_OK;
}

/* Returns true if an earlier item is of the same store. */
static bool is_store_rechecked(const struct sweep *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (s->item[k].ref.store == s->item[i].ref.store)
            return true;
    return false;
}

enum err_code sweep_recheck_orphans(struct sweep *s, struct err *e)
{
    const struct scope everywhere = { .all = true };
    bool *left = arena_zalloc(&s->arena, s->n * sizeof *left + 1);
    enum err_code rc = left ? ERR_OK : err_nomem(e);

    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct store *st = s->item[i].ref.store;
        struct recheck a = { .sweep = s, .store = st, .left = left, .at = i };

        if (s->item[i].orphan && !is_store_rechecked(s, i))
            rc = st->ops->leftovers(st, &everywhere, recheck_leftover, &a, e);
    }
    for (size_t i = 0; i < s->n && !rc; i++)
        if (s->item[i].orphan && sweep_is_chosen(&s->item[i]))
            rc = compare_usage(&s->item[i], left[i], e);
    return rc;
}
