#include "tests/sweeps/rewind_sweep.h"

static enum err_code carry_out(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    const struct rewind_options all = { .allow_outside = true,
                                        .allow_edited = true,
                                        .allow_sensitive = true };
    struct rewind_preview preview;
    struct rewind_result result = { 0 };
    enum err_code rc = rewind_preview(plan, &all, &preview, e);

    if (rc)
        return rc;
    if (preview.refused)
        rc = err_set(e, ERR_STALE, NULL, "refused");
    if (!rc)
        rc = rewind_apply(&y->env, &preview, &result, e);
    if (!rc && result.conflicts)
        rc = err_set(e, ERR_STALE, NULL, "%zu conflicts", result.conflicts);
    rewind_result_fini(&result);
    rewind_preview_fini(&preview);
    return rc;
}

enum trial_end rewind_sweep_apply(struct trial_dir *y, plan_fn *make)
{
    struct rewind_plan plan = { 0 };
    struct err e = { 0 };
    size_t recovered;
    enum err_code rc = rewind_recover(&y->env, &recovered, &e);

    if (!rc)
        rc = make(y, &plan, &e);
    if (!rc)
        rc = carry_out(y, &plan, &e);
    rewind_plan_fini(&plan);
    return trial_end_of(rc, &e);
}

enum trial_end rewind_sweep_recover(struct trial_dir *y)
{
    size_t recovered;
    struct err e = { 0 };

    return trial_end_of(rewind_recover(&y->env, &recovered, &e), &e);
}

static enum err_code plan_undo(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    return rewind_undo_plan(&y->env, NULL, plan, e);
}

static enum err_code plan_redo(struct trial_dir *y, struct rewind_plan *plan, struct err *e)
{
    struct rewind_records records;
    enum err_code rc = rewind_records_read(&y->env, &records, e);

    if (rc)
        return rc;
    rc = records.n ? rewind_undo_plan(&y->env, records.record[0].id, plan, e)
                   : err_set(e, ERR_NOT_FOUND, NULL, "there is no record");
    rewind_records_fini(&records);
    return rc;
}

enum trial_end rewind_sweep_undo(struct trial_dir *y)
{
    y->env.now_ms += 1000;
    return rewind_sweep_apply(y, plan_undo);
}

enum trial_end rewind_sweep_redo(struct trial_dir *y)
{
    y->env.now_ms += 2000;
    return rewind_sweep_apply(y, plan_redo);
}
