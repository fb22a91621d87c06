#include "tui/commands/rewind.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/slice.h"
#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/maintenance/project_note.h"
#include "store/rewind/plan/plan.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* clang-format off */
static const struct { const char *word, *past; } actions[] = {
    [REWIND_RESTORE] = { "restore", "restored" },      [REWIND_CREATE] = { "create", "created" },
    [REWIND_DELETE] = { "delete", "deleted" },         [REWIND_UNCHANGED] = { "unchanged", "unchanged" },
    [REWIND_REFUSED] = { "refused", "refused" },
};
/* clang-format on */

static bool command_rewind_changes(const struct rewind_entry *x)
{
    return x->action == REWIND_RESTORE || x->action == REWIND_CREATE || x->action == REWIND_DELETE;
}

/* ---- JSON ---- */

/* What is not known of the permissions that the file gets; NULL: nothing. */
static const char *permissions_of(const struct rewind_entry *x)
{
    const struct rewind_target *t = x->target;

    if (t->want != REWIND_BYTES || x->action == REWIND_REFUSED || S_ISLNK(t->source.kind))
        return NULL;
    if (t->permissions || t->has_mode)
        return t->permissions;
    return x->seen.exists ? "those of today: not recorded" : "those of a new file: not recorded";
}

static void command_rewind_write_entry_json(const struct rewind_entry *x, struct out *o)
{
    char mode[16] = "";

    /* The mode is a member only if the rewind changes it. */
    if (command_rewind_changes(x) && x->target->has_mode && x->target->want == REWIND_BYTES &&
        x->target->mode != (x->seen.mode & 07777))
        snprintf(mode, sizeof mode, "%04o", (unsigned)x->target->mode);

    out_open(o, NULL, '{');
    out_string(o, "path", x->target->path);
    out_string(o, "action", actions[x->action].word);
    out_int(o, "insertions", x->insertions);
    out_int(o, "deletions", x->deletions);
    out_bool_if_true(o, "binary", x->binary);
    if (rewind_has_kind(x)) {
        out_string(o, "kindNow", rewind_kind_now(x));
        out_string(o, "kind", rewind_kind_wanted(x));
    }
    out_string(o, "mode", mode);
    out_string(o, "permissions", permissions_of(x));
    out_bool_if_true(o, "editedSince", x->edited);
    out_bool_if_true(o, "deletedSince", x->edited && !x->seen.exists);
    out_bool_if_true(o, "changedByCommand", x->by_command == BY_COMMAND);
    if (x->later)
        out_string(o, "laterSession", x->later->session);
    out_bool_if_true(o, "openForWriting", x->held_open);
    out_bool_if_true(o, "unproven", x->unproven);
    if (x->target->other) {
        const struct rewind_other *other = x->target->other;

        out_open(o, "alsoChangedBy", '{');
        out_string(o, "system", other->system);
        out_string(o, "sessionId", other->session);
        out_string(o, "title", other->title);
        out_int(o, "at", other->at_ms);
        out_close(o, '}');
    }
    out_string(o, "why", x->why);
    out_close(o, '}');
}

static void command_rewind_write_conversation_json(const struct rewind_conversation *t,
                                                   struct out *o)
{
    /* Where nothing is rewound because it already ends at the point, this is reported, too. */
    bool ends = t->how == CONVERSATION_NONE && t->kept > 0;

    if (!ends && (!t->change || !rewind_conversation_moves(t->how)))
        return;
    out_open(o, "conversation", '{');
    out_int(o, "dropped", (int64_t)t->dropped);
    out_int(o, "kept", (int64_t)t->kept);
    out_string(o, "how", rewind_conversation_name(t->how));
    out_close(o, '}');
}

static void write_rewind_json(const struct rewind_preview *p, const struct rewind_result *r,
                              struct out *o)
{
    out_open(o, NULL, '{');
    out_bool(o, "canRewind", true);

    out_open(o, "filesChanged", '[');
    for (size_t i = 0; i < p->n; i++)
        if (command_rewind_changes(&p->entry[i]))
            jsonout_text(out_json(o), slice_of(p->entry[i].target->path));
    out_close(o, ']');
    out_int(o, "insertions", p->insertions);
    out_int(o, "deletions", p->deletions);
    out_string(o, "plan", p->id);
    out_open(o, "files", '[');
    for (size_t i = 0; i < p->n; i++)
        command_rewind_write_entry_json(&p->entry[i], o);
    out_close(o, ']');

    command_rewind_write_conversation_json(&p->plan->conversation, o);

    /* The library of ExAthena counts every file of which it has a copy, even one that already matches. */
    int64_t restored = 0;

    for (size_t i = 0; i < p->n; i++)
        restored += p->entry[i].action != REWIND_REFUSED;
    if (p->plan->restored_key)
        out_int(o, p->plan->restored_key, restored);
    if (p->plan->dropped_key)
        out_int(o, p->plan->dropped_key, (int64_t)p->plan->conversation.dropped);

    if (p->plan->notes)
        out_strings(o, "notes", (const char *const *)p->plan->note, p->plan->notes);
    if (r) {
        out_string(o, "undo", r->undo);
        out_string(o, "undoes", p->plan->undoes);
        if (r->conflicts) {
            out_open(o, "conflicts", '[');
            for (size_t i = 0; i < p->n; i++)
                if (r->outcome[i] == REWIND_CONFLICT)
                    jsonout_text(out_json(o), slice_of(p->entry[i].target->path));
            out_close(o, ']');
        }
    }
    out_end(o, '}');
}

enum err_code rewind_answer_none(struct invocation *in, const struct err *why, struct err *e)
{
    struct out *o = &in->out;

    if (!o->wants_json)
        return ERR_OK;
    out_open(o, NULL, '{');
    out_bool(o, "canRewind", false);
    out_string(o, "error", why->text);
    out_end(o, '}');
    return out_flush(o, e);
}

void rewind_answer_into(struct invocation *in, const char *dir, const struct rewind_scratch_copy *r)
{
    struct out *o = &in->out;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_bool(o, "canRewind", true);
        out_string(o, "into", dir);
        out_int(o, "written", (int64_t)r->written);
        out_int(o, "leftOut", (int64_t)r->left_out);
        out_end(o, '}');
        return;
    }
    out_addf(o, "%zu file%s written, %zu left out: ", r->written, r->written == 1 ? "" : "s",
             r->left_out);
    out_line(o, "", slice_of(dir));
}

/* ---- text ---- */

static void command_rewind_write_entry_text(const struct rewind_entry *x, bool conflict, bool done,
                                            int64_t now_ms, struct out *o)
{
    char age[HUMAN_AGE] = "";
    const char *word = done ? actions[x->action].past : actions[x->action].word;
    const struct rewind_other *other = x->target->other;
    char counts[40] = "";

    if (x->action == REWIND_UNCHANGED)
        return;

    /* Counts of lines mean nothing for binary data or a change of mode or kind, so a word replaces them. */
    if (x->binary && command_rewind_changes(x))
        snprintf(counts, sizeof counts, "binary");
    else if (x->mode_only)
        snprintf(counts, sizeof counts, "mode");
    else if (rewind_has_kind(x) && command_rewind_changes(x))
        snprintf(counts, sizeof counts, "%s",
                 rewind_kind_wanted(x) ? rewind_kind_wanted(x) : rewind_kind_now(x));
    else if (command_rewind_changes(x))
        snprintf(counts, sizeof counts, "+%u -%u", x->insertions, x->deletions);

    out_addf(o, "%-9s %-12s ", conflict ? "conflict" : word, counts);
    out_text(o, slice_of(x->target->path));
    if (x->later)
        human_age(now_ms, x->later->at_ms, age);
    if (x->why) {
        out_addf(o, "  (");
        out_text(o, slice_of(x->why));
        out_addf(o, x->later ? ", %s)" : ")", age);
    }

    if (x->action == REWIND_CREATE && permissions_of(x))
        out_addf(o, "  (permissions: %s)", permissions_of(x));
    if (x->held_open && command_rewind_changes(x))
        out_addf(o, "  (a program has it open for writing)");

    /* The later session that is the reason has been named already. */
    if (other && other != x->later) {
        out_addf(o, "  (also changed by ");
        out_text(o, slice_of(other->title ? other->title : other->session));
        out_addf(o, other->system ? " of %s)" : ")", other->system);
    }
    out_addf(o, "\n");
}

static void write_rewind_text(const struct rewind_preview *p, const struct rewind_result *r,
                              bool dry, int64_t now_ms, struct out *o)
{
    const char *undoes = p->plan->undoes;
    bool held_open = false;

    for (size_t i = 0; i < p->n; i++) {
        command_rewind_write_entry_text(&p->entry[i], r && r->outcome[i] == REWIND_CONFLICT,
                                        r != NULL, now_ms, o);
        held_open |= p->entry[i].held_open && command_rewind_changes(&p->entry[i]);
    }

    if (held_open)
        out_addf(o,
                 "note: a program that has a file open keeps writing to the old one, in the undo "
                 "record;\n      an undo restores it with everything that was written\n");
    for (size_t i = 0; i < p->plan->notes; i++)
        out_addf(o, "note: %s\n", p->plan->note[i]);
    if (r && r->undo[0] && undoes && p->refused)
        out_addf(o, "%zu file%s skipped; to undo the rest later: reprise undo %s\n", p->refused,
                 p->refused == 1 ? "" : "s", undoes);
    if (r && r->undo[0])
        out_addf(o, "to undo: reprise undo %s\n", r->undo);
    /* An apply that refused files is not a dry run; apply_preview() reports it. */
    if (!r && dry)
        out_addf(o, "dry run: nothing has been changed (+%u -%u)\n", p->insertions, p->deletions);
}

static bool is_dry(const struct invocation *in)
{
    return in->command->options & OPTION_BIT(APPLY) ? !option_given(&in->options, OPTION_APPLY)
                                                    : option_given(&in->options, OPTION_DRY_RUN);
}

enum err_code rewind_answer(struct invocation *in, const struct rewind_preview *p,
                            const struct rewind_result *result, struct err *e)
{
    if (in->out.wants_json)
        write_rewind_json(p, result, &in->out);
    else
        write_rewind_text(p, result, is_dry(in), in->world->env.now_ms, &in->out);
    return out_flush(&in->out, e);
}

/* ---- which files ---- */

/* Files are named relative to the current directory. */
enum err_code rewind_choose_files(const struct invocation *in, struct arena *a,
                                  struct rewind_options *o, struct err *e)
{
    size_t n = in->options.files;
    const char **list = arena_zalloc(a, sizeof *list * (n + 1));

    for (size_t i = 0; i < n && list; i++) {
        list[i] = path_normalize(in->world->env.cwd, in->options.file[i], a);
        if (!list[i])
            list = NULL;
    }
    NEED(list);
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

    const char *plan = in->options.plan;

    enum err_code rc = (!plan || strcmp(plan, p->id) == 0 ? ERR_OK : stale(p, plan, e)), answered;

    if (rc)
        return rc;
    if (p->refused && !skip_refused) {
        rc = rewind_answer(in, p, NULL, e);

        if (rc)
            return rc;
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
    TRY(apply_all(in, p, &files_only, skip_refused && p->plan->undoes, &r, e));
    (void)!project_note_add(&in->world->env, p->plan->root, NULL);
    answered = rewind_answer(in, p, &r, e);
    /* If nothing could be done at all, there is nothing to undo, and success would be followed by
     * an undo of something else. A rewind that finds the other files as they should be has been done
     * before. */
    if (!p->refused || r.undo[0] || (!p->plan->undoes && p->refused < p->n))
        rc = ERR_OK;
    else if (p->plan->undoes)
        rc = err_set(e, ERR_UNSAFE, p->plan->undoes,
                     "undo: all remaining files changed since; nothing was undone");
    else
        rc = err_set(e, ERR_UNSAFE, p->plan->session,
                     "rewind: %zu file%s refused, and there is no other; nothing was changed",
                     p->refused, p->refused == 1 ? " is" : "s are");
    if (r.conflicts)
        rc = err_set(e, ERR_STALE, p->plan->session,
                     "rewind: %zu file%s changed meanwhile or cannot be moved, and %s skipped",
                     r.conflicts, r.conflicts == 1 ? "" : "s", r.conflicts == 1 ? "was" : "were");
    rewind_result_fini(&r);
    in->done = !rc;
    return rc ? rc : answered;
}

enum err_code rewind_show_or_apply(struct invocation *in, const struct rewind_plan *plan,
                                   const struct rewind_options *options, bool apply,
                                   bool skip_refused, struct err *e)
{
    struct rewind_preview p;

    TRY(rewind_preview(plan, options, &p, e));
    enum err_code rc =
        apply ? apply_preview(in, &p, skip_refused, e) : rewind_answer(in, &p, NULL, e);

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
        { !o->to, "rewind", "needs --to MSG; see reprise checkpoints" },
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
            return err_set(e, ERR_USAGE, rules[i].option, "%s", rules[i].why);
    return ERR_OK;
}

static enum err_code write_into(struct invocation *in, const struct rewind_plan *plan,
                                const struct rewind_options *ro, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct rewind_scratch_copy r;
    const char *into = in->options.into,
               *dir = into[0] == '/' ? into : arena_format(&a, "%s/%s", in->world->env.cwd, into);

    TRY(dir ? rewind_write_scratch_copy(plan, ro, dir, &r, e) : err_nomem(e));
    rewind_answer_into(in, dir, &r);
    rewind_scratch_copy_fini(&r);
    return ERR_OK;
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
        return err_set(e, ERR_UNSUPPORTED, "",
                       "rewind: --entire-rule is for sessions of Entire, and this is one of %s",
                       ops->name);
    enum err_code rc = ops->plan_own(ref->store, ref, point, plan, e);

    return rc ? rc : rewind_plan_origin(ref, plan, e);
}

static enum err_code command_rewind_make_plan(const struct invocation *in, const struct sessions *s,
                                              const struct session_ref *ref,
                                              struct rewind_plan *plan, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    enum err_code rc = make_files(in, ref, plan, e);

    /* what came after a single turn stays */
    if (!rc && !option_given(&in->options, OPTION_ONLY) &&
        (rc = rewind_other_stores(s->store, s->n, ref, NULL, plan, e)))
        rewind_plan_fini(plan);
    if (rc || !option_given(&in->options, OPTION_MOVE_BRANCH))
        return rc;
    rc = ops->plan_refs
             ? ops->plan_refs(ref->store, ref, plan, e)
             : err_set(e, ERR_UNSUPPORTED, "",
                       "rewind: --move-branch is for sessions of Entire, and this is one of %s",
                       ops->name);
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
    rc = command_rewind_make_plan(in, s, ref, &plan, e);
    if (!rc && (rc = rewind_plan_check_files(&plan, &ro, e)))
        rewind_plan_fini(&plan);
    if (rc && rc != ERR_USAGE && rc != ERR_NOMEM) { /* there is an answer, and it is no */
        struct err why = *e;
        enum err_code answered = rewind_answer_none(in, &why, e);

        return answered ? answered : (*e = why, rc);
    }
    if (rc)
        return rc;
    rc = o->into ? write_into(in, &plan, &ro, e)
                 : rewind_show_or_apply(in, &plan, &ro, option_given(o, OPTION_APPLY),
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
    if (!in->read_only)
        rewinds_recover_first(in, &waiting);
    return command_with_session(in, rewind_session, e);
}
