#include "tui/commands/rewind.h"

#include <string.h>
#include <unistd.h>

#include "lite/base/slice.h"
#include "store/journal/change.h"
#include "store/rewind/plan/plan.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"

/* ---- which files ---- */

/* Files are named relative to the current directory. */
enum err_code rewind_choose_files(const struct invocation *in, struct arena *a,
                                  struct rewind_options *o, struct err *e)
{
    size_t n = in->options.files;
    const char **list = arena_zalloc(a, sizeof *list * (n + 1));

    for (size_t i = 0; i < n && list; i++) {
        const char *file = in->options.file[i];

        list[i] = file[0] == '/' ? file : arena_format(a, "%s/%s", in->world->env.cwd, file);
        if (!list[i])
            list = NULL;
    }
    if (!list)
        return err_nomem(e);
    o->only = list;
    o->only_n = n;
    return ERR_OK;
}

/* ---- showing and applying ---- */

/* Names the changed files, as far as the old plan's id allows to find them. */
static enum err_code stale(const struct rewind_preview *p, const char *plan, struct err *e)
{
    size_t which[PLANID_CHANGED_MAX], n = planid_changed(p, plan, which);

    if (n == 1)
        return err_set(e, ERR_STALE, p->entry[which[0]].target->path,
                       "rewind: changed since this plan was shown");
    if (n == 2)
        return err_set(e, ERR_STALE, p->entry[which[0]].target->path,
                       "rewind: changed since this plan was shown, and so did %s",
                       p->entry[which[1]].target->path);
    return err_set(e, ERR_STALE, plan,
                   planid_same_files(p, plan)
                       ? "rewind: the plan was made with other options, or the session continued"
                       : "rewind: several files changed since this plan was shown");
}

static enum err_code check_plan(const struct invocation *in, const struct rewind_preview *p,
                                struct err *e)
{
    const char *plan = in->options.plan;

    return !plan || strcmp(plan, p->id) == 0 ? ERR_OK : stale(p, plan, e);
}

static enum err_code refusal(const struct rewind_preview *p, struct err *e)
{
    const char *are = p->refused == 1 ? " is" : "s are";

    if (p->plan->undoes)
        return err_set(
            e, ERR_UNSAFE, p->plan->undoes,
            "undo: %zu file%s refused, nothing was changed (--skip-edited undoes the rest)",
            p->refused, are);
    return err_set(e, ERR_UNSAFE, p->plan->session,
                   "rewind: %zu file%s refused, nothing was changed (--skip-refused restores "
                   "the rest)",
                   p->refused, are);
}

/* An undo with --skip-edited also skips a conversation that continued. */
static enum err_code apply_all(struct invocation *in, struct rewind_preview *p,
                               struct rewind_plan *files_only, bool skip_conversation,
                               struct rewind_result *r, struct err *e)
{
    enum err_code rc = rewind_apply(&in->world->env, p, r, e);

    const struct change *conversation = p->plan->conversation.change;

    if (rc == ERR_STALE && !skip_conversation && p->plan->undoes && p->n > 0 && conversation &&
        change_is_stale(conversation))
        return err_wrap(e, rc, "undo: --skip-edited undoes the files only");
    if ((rc != ERR_STALE && rc != ERR_LOCKED) || !skip_conversation || !conversation)
        return rc;
    struct err note = *e;

    rc = err_wrap(&note, rc, "undo: the conversation was skipped");
    out_report(in->err_fd, &note);
    *files_only = *p->plan;
    files_only->conversation = (struct rewind_conversation){ .change = NULL };
    p->plan = files_only;
    return rewind_apply(&in->world->env, p, r, e);
}

static enum err_code apply_preview(struct invocation *in, struct rewind_preview *p,
                                   bool skip_refused, struct err *e)
{
    struct rewind_result r = { 0 };
    struct rewind_plan files_only;
    enum err_code rc = check_plan(in, p, e), answered;

    if (rc)
        return rc;
    if (p->refused && !skip_refused) {
        rc = rewind_answer(in, p, NULL, e);
        return rc ? rc : refusal(p, e);
    }
    rc = apply_all(in, p, &files_only, skip_refused && p->plan->undoes, &r, e);
    if (rc)
        return rc;
    answered = rewind_answer(in, p, &r, e);
    if (p->plan->undoes && p->refused && !r.undo[0])
        rc = err_set(e, ERR_UNSAFE, p->plan->undoes,
                     "undo: all remaining files changed since; nothing was undone");
    if (r.conflicts)
        rc = err_set(e, ERR_STALE, p->plan->session,
                     "rewind: %zu file%s changed meanwhile and were skipped", r.conflicts,
                     r.conflicts == 1 ? "" : "s");
    rewind_result_fini(&r);
    in->done = !rc;
    return rc ? rc : answered;
}

enum err_code rewind_show_or_apply(struct invocation *in, const struct rewind_plan *plan,
                                   const struct rewind_options *options, bool apply,
                                   bool skip_refused, struct err *e)
{
    struct rewind_preview p;
    enum err_code rc = rewind_preview(plan, options, &p, e);

    if (rc)
        return rc;
    rc = apply ? apply_preview(in, &p, skip_refused, e) : rewind_answer(in, &p, NULL, e);
    rewind_preview_fini(&p);
    return rc;
}

/* ---- the command ---- */

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
    bool only = option_given(o, OPTION_ONLY), code = o->mode == OPTION_MODE_CODE;
    const struct {
        bool wrong;
        const char *option, *why;
    } rules[] = {
        { !o->to, "--to", "--to MSG is required (see: reprise checkpoints ID)" },
        { option_given(o, OPTION_APPLY) && option_given(o, OPTION_DRY_RUN), "--apply",
          "not together with --dry-run" },
        { o->into && !code, "--into", "works with --mode code only" },
        { only && option_given(o, OPTION_INFERRED), "--only", "not together with --inferred" },
        { only && (o->into || !code), "--only", "works with --mode code and without --into only" },
        { option_given(o, OPTION_MOVE_BRANCH) && (o->into || only), "--move-branch",
          "not together with --into or --only" },
        { o->files && modes[o->mode] == REWIND_CONVERSATION, "--file",
          "not together with --mode conversation" },
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return err_set(e, ERR_USAGE, rules[i].option, "rewind: %s", rules[i].why);
    return ERR_OK;
}

static enum err_code write_into(struct invocation *in, const struct rewind_plan *plan,
                                const struct rewind_options *ro, struct err *e)
{
    struct arena a = { 0 };
    struct rewind_scratch_copy r;
    const char *into = in->options.into,
               *dir = into[0] == '/' ? into : arena_format(&a, "%s/%s", in->world->env.cwd, into);
    enum err_code rc = dir ? rewind_write_scratch_copy(plan, ro, dir, &r, e) : err_nomem(e);

    if (!rc) {
        rewind_answer_into(in, dir, &r);
        rewind_scratch_copy_fini(&r);
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

static enum err_code make_plan(const struct invocation *in, const struct sessions *s,
                               const struct session_ref *ref, struct rewind_plan *plan,
                               struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc = make_files(in, ref, plan, e);

    /* what came after a single turn stays */
    if (!rc && !option_given(&in->options, OPTION_ONLY) &&
        (rc = rewind_other_stores(s->store, s->n, ref, NULL, plan, e)))
        rewind_plan_fini(plan);
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
    rc = make_plan(in, s, ref, &plan, e);
    if (rc == ERR_NOT_FOUND && e) {
        struct err why = *e;
        enum err_code answered = rewind_answer_none(in, &why, e);

        return answered ? answered : (*e = why, rc);
    }
    if (rc)
        return rc;
    rc = rewind_plan_check_files(&plan, &ro, e);
    if (!rc && o->into)
        rc = write_into(in, &plan, &ro, e);
    else if (!rc)
        rc = rewind_show_or_apply(in, &plan, &ro, option_given(o, OPTION_APPLY),
                                  option_given(o, OPTION_SKIP_REFUSED), e);
    rewind_plan_fini(&plan);
    return rc;
}

/* Without a point, a person at a terminal gets the screen with all points. */
static bool wants_screen(const struct invocation *in)
{
    option_bits own = in->command->options & ~OPTION_BIT(NO_WORKTREES);

    return !(in->options.given & own) && !in->out.wants_json && isatty(STDIN_FILENO) &&
           isatty(STDOUT_FILENO);
}

enum err_code rewind_run(struct invocation *in, struct err *e)
{
    struct rewind_recovery waiting;

    if (wants_screen(in)) /* the screen recovers and shows a notice */
        return command_with_session(in, picker_show_rewind, e);
    rewinds_recover_first(in, &waiting);
    return command_with_session(in, rewind_session, e);
}
