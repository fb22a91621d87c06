#include "tui/commands/rewind.h"

#include <string.h>
#include <unistd.h>

#include "store/rewind/plan/plan.h"
#include "tui/commands/command.h"
#include "tui/commands/sessions.h"

static const enum rewind_mode modes[] = {
    [OPTION_MODE_CODE] = REWIND_CODE,
    [OPTION_MODE_CONVERSATION] = REWIND_CONVERSATION,
    [OPTION_MODE_BOTH] = REWIND_BOTH,
    [OPTION_MODE_HISTORY_ONLY] = REWIND_CONVERSATION,
    [OPTION_MODE_CODE_AND_HISTORY] = REWIND_BOTH,
};

static enum err_code check_usage(const struct invocation *in, struct err *e)
{
    const struct options *o = &in->options;

    if (!o->to)
        return err_set(e, ERR_USAGE, "--to",
                       "rewind: --to MSG is required (see: reprise checkpoints ID)");
    if (option_given(o, OPTION_APPLY) && option_given(o, OPTION_DRY_RUN))
        return err_set(e, ERR_USAGE, "--apply", "rewind: not together with --dry-run");
    if (o->into && o->mode != OPTION_MODE_CODE)
        return err_set(e, ERR_USAGE, "--into", "rewind: works with --mode code only");
    if (option_given(o, OPTION_ONLY) && option_given(o, OPTION_INFERRED))
        return err_set(e, ERR_USAGE, "--only", "rewind: not together with --inferred");
    if (option_given(o, OPTION_ONLY) && (o->into || o->mode != OPTION_MODE_CODE))
        return err_set(e, ERR_USAGE, "--only",
                       "rewind: works with --mode code and without --into only");
    if (option_given(o, OPTION_MOVE_BRANCH) && (o->into || option_given(o, OPTION_ONLY)))
        return err_set(e, ERR_USAGE, "--move-branch", "rewind: not together with --into or --only");
    if (o->files && modes[o->mode] == REWIND_CONVERSATION)
        return err_set(e, ERR_USAGE, "--file", "rewind: not together with --mode conversation");
    return ERR_OK;
}

static enum err_code write_into(struct invocation *in, const struct rewind_plan *plan,
                                const struct rewind_options *ro, struct err *e)
{
    struct arena a = { 0 };
    struct rewind_export_result r;
    const char *into = in->options.into,
               *dir = into[0] == '/' ? into : arena_format(&a, "%s/%s", in->world->env.cwd, into);
    enum err_code rc = dir ? rewind_export(plan, ro, dir, &r, e) : err_nomem(e);

    if (!rc) {
        rc = rewind_answer_into(in, dir, &r, e);
        rewind_export_fini(&r);
    }
    arena_fini(&a);
    return rc;
}

static enum err_code make_files(const struct invocation *in, const struct session_ref *ref,
                                struct rewind_plan *plan, struct err *e)
{
    const struct options *o = &in->options;
    const struct store_ops *ops = ref->store->ops;
    const enum rewind_mode mode = option_given(o, OPTION_ONLY) ? REWIND_TURN : modes[o->mode];
    struct slice point = slice_of(o->to);

    if (option_given(o, OPTION_INFERRED))
        return rewind_plan_infer(ref, point, mode, plan, e);
    if (!option_given(o, OPTION_ENTIRE_RULE))
        return rewind_plan_make(ref, point, mode, plan, e);
    if (mode != REWIND_CODE)
        return err_set(e, ERR_USAGE, "--entire-rule", "rewind: works with --mode code only");
    if (!ops->plan_own)
        return err_set(e, ERR_UNSUPPORTED, "--entire-rule",
                       "rewind: %s sessions have no rule of their own", ops->name);
    enum err_code rc = ops->plan_own(ref->store, ref, point, plan, e);

    return rc ? rc : rewind_plan_origin(ref, plan, e);
}

static enum err_code make_plan(const struct invocation *in, const struct session_ref *ref,
                               struct rewind_plan *plan, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc = make_files(in, ref, plan, e);

    if (rc || !option_given(&in->options, OPTION_MOVE_BRANCH))
        return rc;
    rc = ops->plan_refs ? ops->plan_refs(ref->store, ref, plan, e)
                        : err_set(e, ERR_UNSUPPORTED, "--move-branch",
                                  "rewind: %s sessions have no branch", ops->name);
    if (rc)
        rewind_plan_fini(plan);
    return rc;
}

static enum err_code rewind_session(struct invocation *in, struct sessions *s,
                                    const struct session_ref *ref, struct err *e)
{
    const struct options *o = &in->options;
    struct rewind_options ro = { .allow_outside = option_given(o, OPTION_ALLOW_OUTSIDE),
                                 .allow_edited = option_given(o, OPTION_OVERWRITE_EDITED),
                                 .allow_sensitive = option_given(o, OPTION_ALLOW_SENSITIVE) };
    struct rewind_plan plan;
    enum err_code rc = check_usage(in, e);

    if (!rc && o->files)
        rc = rewind_choose_files(in, &s->arena, &ro, e);
    if (rc)
        return rc;
    rc = make_plan(in, ref, &plan, e);
    if (rc == ERR_NOT_FOUND && e) {
        struct err why = *e;
        enum err_code answered = rewind_answer_none(in, &why, e);

        return answered ? answered : (*e = why, rc);
    }
    if (rc)
        return rc;
    rc = rewind_check_files(&plan, &ro, e);
    if (!rc && o->into)
        rc = write_into(in, &plan, &ro, e);
    else if (!rc)
        rc = rewind_show_or_apply(in, &plan, &ro, option_given(o, OPTION_APPLY),
                                  option_given(o, OPTION_SKIP_REFUSED), e);
    rewind_plan_fini(&plan);
    return rc;
}

/* Without a point to go back to, a person at a terminal is shown all of them. */
static bool wants_screen(const struct invocation *in)
{
    option_bits own = in->command->options & ~OPTION_BIT(NO_WORKTREES);

    return !(in->options.given & own) && !option_given(&in->options, OPTION_JSON) &&
           isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

enum err_code rewind_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct rewind_recovery waiting;
    bool screen = wants_screen(in);
    /* The screen does that itself, and says so. */
    if (!screen)
        rewinds_recover_first(in, &waiting);
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    rc = screen ? picker_show_rewind(in, &s, &ref, e) : rewind_session(in, &s, &ref, e);
    sessions_close(&s);
    return rc;
}
