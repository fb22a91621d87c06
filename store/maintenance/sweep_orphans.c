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

static bool sweep_orphans_copy_parts(struct arena *a, const struct leftover *left,
                                     struct sweep_item *item)
{
    struct owned_ref *ref = arena_zalloc(a, (left->owned_refs_n + 1) * sizeof *ref);

    item->part = arena_alloc(a, (left->parts + 1) * sizeof *item->part);
    if (!item->part || !ref)
        return false;
    for (size_t i = 0; i < left->owned_refs_n; i++) {
        const struct owned_ref *was = &left->owned_refs[i];

        ref[i] = (struct owned_ref){ arena_copy_text(a, was->git), arena_copy_text(a, was->name),
                                     arena_copy_text(a, was->tip) };
        if (!ref[i].git || !ref[i].name || !ref[i].tip)
            return false;
    }
    item->owned_refs = (struct owned_refs){ .ref = ref, .n = left->owned_refs_n };
    for (item->parts = 0; item->parts < left->parts; item->parts++)
        if (!(item->part[item->parts] = arena_copy_text(a, left->part[item->parts])))
            return false;
    const char *first = item->parts ? item->part[0] : item->owned_refs.ref[0].name;

    item->ref.path = slice_of(first);
    item->ref.id = arena_copy(a, left->id);
    item->ref.folder = arena_copy(a, left->folder);
    return item->ref.id.p && item->ref.folder.p;
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
    NEED(sweep_orphans_copy_parts(a, left, &item));
    const bool before =
        item.owned_refs.n && slice_starts(slice_of(item.owned_refs.ref[0].name), REF_BEFORE);
    AUTO_BUF why = { 0 };

    NEED(!sweep_age_text(&why, now_ms, item.activity_ms));
    NEED(!buf_addf(&why, "%s",
                   item.parts ? ", its session's transcript is gone"
                   : before   ? ", the work tree as it was before a rewind"
                              : ", none of its sessions has a state any more"));
    NEED(item.why = arena_copy(a, buf_slice(&why)).p);
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

static enum err_code recheck_leftover(const struct leftover *left, void *arg, struct err *e)
{
    struct recheck *a = arg;
    const struct sweep *s = a->sweep;
    struct sweep_item *item = NULL;

    for (size_t tried = 0; tried < s->n && !item; tried++, a->at += !item) {
        struct sweep_item *x = &s->item[a->at % s->n];

        if (x->ref.store == a->store && slice_eq(x->ref.id, left->id))
            item = x;
    }
    if (!item)
        return ERR_OK;
    a->left[item - s->item] = true;

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

enum err_code sweep_recheck_orphans(struct sweep *s, struct err *e)
{
    const struct scope everywhere = { .all = true };
    bool *left = arena_zalloc(&s->arena, s->n * sizeof *left + 1);

    NEED(left);
    for (size_t i = 0; i < s->n; i++) {
        const struct store *st = s->item[i].ref.store;
        struct recheck a = { .sweep = s, .store = st, .left = left, .at = i };
        bool again = false;

        /* Each store is asked once. */
        for (size_t k = 0; k < i && !again; k++)
            again = s->item[k].ref.store == st;
        if (s->item[i].orphan && !again)
            TRY(st->ops->leftovers(st, &everywhere, recheck_leftover, &a, e));
    }
    for (size_t i = 0; i < s->n; i++) {
        struct sweep_item *item = &s->item[i];
        struct disk_usage now;

        if (!item->orphan || !sweep_is_chosen(item))
            continue;
        TRY(sweep_measure(item->part, item->parts, &now, e));
        if (item->stays)
            continue;
        if (!left[i])
            item->stays = "its session exists again, or all of it is gone";
        else if (now.files != item->usage.files || now.bytes != item->usage.bytes ||
                 now.newest_ms != item->usage.newest_ms)
            item->stays = "it changed after it was listed";
    }
    return ERR_OK;
}
