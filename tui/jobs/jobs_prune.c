#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/rewind/plan/rewind.h"
#include "store/snapshots/snapshot.h"
#include "tui/jobs/jobs.h"

/* Old undo records of rewinds, and old snapshots of projects. They are counted when the clean-up view opens, and removed for
 * good after a question. */

/* Removes the old snapshots of every project, or, with `held`, counts them, and those that stay because the clock may be
 * wrong. If the limits of the configuration cannot be read, it finds none. A project whose snapshots cannot be pruned does
 * not keep those of the others. */
static enum err_code prune_snapshots(const struct store_env *env, const struct config *config,
                                     size_t *n, size_t *held, struct err *e)
{
    enum { DAY_MS = 86400000 };
    CLEANUP(snapshot_projects_fini) struct snapshot_projects all = { .n = 0 };
    struct snapshot_prune_rule rule = snapshot_prune_defaults(env->now_ms);
    enum err_code rc = ERR_OK;

    *n = 0;
    if (held)
        *held = 0;
    if (!config || config->limits_unknown)
        return ERR_OK;
    if (config->snapshot_limits.days)
        rule.before_ms = env->now_ms - config->snapshot_limits.days * (int64_t)DAY_MS;
    if (config->snapshot_limits.bytes)
        rule.max_bytes = config->snapshot_limits.bytes;
    struct snapshot_prune_rule trusting = rule;

    trusting.doubts = false;
    TRY(snapshot_projects_read(env, &all, e));
    for (size_t i = 0; i < all.n; i++) {
        size_t removed = 0, old = 0;
        const enum err_code one =
            snapshot_prune(&all.project[i], &rule, held != NULL, &removed, rc ? NULL : e);

        *n += one ? 0 : removed;
        if (held && !one && !snapshot_prune(&all.project[i], &trusting, true, &old, NULL))
            *held += old - removed;
        rc = rc ? rc : one;
    }
    if (rc == ERR_NOMEM)
        return err_nomem(e);
    return rc && !held ? err_wrap(e, rc, "%zu snapshots of other projects were removed", *n)
                       : ERR_OK;
}

/* Records that cannot be read are not offered. */
void jobs_prune_count(const struct store_env *env, const struct config *config, struct sweep *out)
{
    const struct rewind_prune_rule rule = rewind_prune_defaults(env->now_ms);
    struct rewind_records old;

    if (!env->state_dir)
        return;
    if (prune_snapshots(env, config, &out->old_snapshots, &out->held_snapshots, NULL))
        out->old_snapshots = out->held_snapshots = 0;
    if (rewind_prune(env, &rule, true, &old, NULL))
        return;
    out->undo_records = old.n;
    for (size_t i = 0; i < old.n; i++)
        out->undo_bytes += old.record[i].bytes;
    rewind_records_fini(&old);
}

/* The person was asked about so many, and no others are removed. */
enum err_code jobs_prune(const struct job_context *d, const struct effect *q,
                         struct change_result *out, struct err *e)
{
    struct store_env then = *d->env;
    struct sweep counted = { .n = 0 };
    struct rewind_records list;

    then.now_ms = q->at_ms;
    const struct rewind_prune_rule rule = rewind_prune_defaults(then.now_ms);

    TRY(prune_snapshots(&then, d->config, &counted.old_snapshots, &counted.held_snapshots, e));
    TRY(rewind_prune(&then, &rule, true, &list, e));
    counted.undo_records = list.n;
    rewind_records_fini(&list);
    if (counted.undo_records != q->n || counted.old_snapshots != q->first)
        return err_set(
            e, ERR_STALE, "",
            "there are now %zu old undo records and %zu old snapshots; nothing was removed",
            counted.undo_records, counted.old_snapshots);

    if (q->n) {
        TRY(rewind_prune(&then, &rule, false, &list, e));
        out->pruned = list.n;
        for (size_t i = 0; i < list.n; i++)
            out->bytes += list.record[i].bytes;
        rewind_records_fini(&list);
    }
    return q->first ? prune_snapshots(&then, d->config, &out->pruned_snapshots, NULL, e) : ERR_OK;
}
