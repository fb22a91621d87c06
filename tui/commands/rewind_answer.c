#include <stdio.h>
#include <string.h>

#include "lite/base/slice.h"
#include "lite/json/jsonout.h"
#include "store/journal/change.h"
#include "store/rewind/plan/plan.h"
#include "tui/commands/out.h"
#include "tui/commands/rewind.h"

/* clang-format off */
static const struct { const char *word, *past; } actions[] = {
    [REWIND_RESTORE] = { "restore", "restored" },      [REWIND_CREATE] = { "create", "created" },
    [REWIND_DELETE] = { "delete", "deleted" },         [REWIND_UNCHANGED] = { "unchanged", "unchanged" },
    [REWIND_REFUSED] = { "refused", "refused" },
};
/* clang-format on */

static bool changes(const struct rewind_entry *x)
{
    return x->action == REWIND_RESTORE || x->action == REWIND_CREATE || x->action == REWIND_DELETE;
}

/* ---- JSON ---- */

/* Somebody else's work on the file: another session's. */
static void json_other(struct jsonout *j, const struct rewind_other *other)
{
    jsonout_key(j, "alsoChangedBy");
    jsonout_open(j, '{');
    jsonout_member(j, "sessionId", slice_of(other->session));
    if (other->title)
        jsonout_member(j, "title", slice_of(other->title));
    jsonout_key(j, "at");
    jsonout_int(j, other->at_ms);
    jsonout_close(j, '}');
}

static void json_entry(struct jsonout *j, const struct rewind_entry *x)
{
    char mode[16];

    jsonout_open(j, '{');
    jsonout_member(j, "path", slice_of(x->target->path));
    jsonout_member(j, "action", slice_of(actions[x->action].word));
    jsonout_key(j, "insertions");
    jsonout_int(j, x->insertions);
    jsonout_key(j, "deletions");
    jsonout_int(j, x->deletions);
    if (x->binary) {
        jsonout_key(j, "binary");
        jsonout_bool(j, true);
    }
    if (changes(x) && x->target->has_mode && x->target->want == REWIND_BYTES &&
        x->target->mode != x->seen.mode) {
        snprintf(mode, sizeof mode, "%04o", (unsigned)x->target->mode);
        jsonout_member(j, "mode", slice_of(mode));
    }
    if (x->edited) {
        jsonout_key(j, "editedSince");
        jsonout_bool(j, true);
    }
    if (x->held_open) {
        jsonout_key(j, "openForWriting");
        jsonout_bool(j, true);
    }
    if (x->unproven) {
        jsonout_key(j, "unproven");
        jsonout_bool(j, true);
    }
    if (x->target->other)
        json_other(j, x->target->other);
    if (x->why)
        jsonout_member(j, "why", slice_of(x->why));
    jsonout_close(j, '}');
}

static void json_files(struct jsonout *j, const struct rewind_preview *p)
{
    jsonout_key(j, "filesChanged");
    jsonout_open(j, '[');
    for (size_t i = 0; i < p->n; i++)
        if (changes(&p->entry[i]))
            jsonout_text(j, slice_of(p->entry[i].target->path));
    jsonout_close(j, ']');
    jsonout_key(j, "insertions");
    jsonout_int(j, p->insertions);
    jsonout_key(j, "deletions");
    jsonout_int(j, p->deletions);
    jsonout_member(j, "plan", slice_of(p->id));
    jsonout_key(j, "files");
    jsonout_open(j, '[');
    for (size_t i = 0; i < p->n; i++)
        json_entry(j, &p->entry[i]);
    jsonout_close(j, ']');
}

static void json_notes(struct jsonout *j, const struct rewind_plan *plan)
{
    if (!plan->notes)
        return;
    jsonout_key(j, "notes");
    jsonout_open(j, '[');
    for (size_t i = 0; i < plan->notes; i++)
        jsonout_text(j, slice_of(plan->note[i]));
    jsonout_close(j, ']');
}

/* It was asked for, and ends where it is to end. */
static bool ends_there(const struct rewind_conversation *t)
{
    return t->how == CONVERSATION_NONE && t->kept > 0;
}

static void json_conversation(struct jsonout *j, const struct rewind_conversation *t)
{
    if (!ends_there(t) && (!t->change || !rewind_conversation_moves(t->how)))
        return;
    jsonout_key(j, "conversation");
    jsonout_open(j, '{');
    jsonout_key(j, "dropped");
    jsonout_int(j, (int64_t)t->dropped);
    jsonout_key(j, "kept");
    jsonout_int(j, (int64_t)t->kept);
    jsonout_member(j, "how", slice_of(rewind_conversation_name(t->how)));
    jsonout_close(j, '}');
}

static void json_result(struct jsonout *j, const struct rewind_preview *p,
                        const struct rewind_result *r)
{
    if (r->undo[0])
        jsonout_member(j, "undo", slice_of(r->undo));
    if (p->plan->undoes)
        jsonout_member(j, "undoes", slice_of(p->plan->undoes));
    if (!r->conflicts)
        return;
    jsonout_key(j, "conflicts");
    jsonout_open(j, '[');
    for (size_t i = 0; i < p->n; i++)
        if (r->outcome[i] == REWIND_CONFLICT)
            jsonout_text(j, slice_of(p->entry[i].target->path));
    jsonout_close(j, ']');
}

static enum err_code json_end(struct jsonout *j, struct out *out, struct err *e)
{
    jsonout_close(j, '}');
    return j->rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

static enum err_code write_rewind_json(struct out *out, const struct rewind_preview *p,
                                       const struct rewind_result *r, struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    jsonout_key(&j, "canRewind");
    jsonout_bool(&j, true);
    json_files(&j, p);
    json_conversation(&j, &p->plan->conversation);
    json_notes(&j, p->plan);
    if (r)
        json_result(&j, p, r);
    return json_end(&j, out, e);
}

enum err_code rewind_answer_none(struct invocation *in, const struct err *why, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON))
        return ERR_OK;
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_key(&j, "canRewind");
    jsonout_bool(&j, false);
    jsonout_member(&j, "error", slice_of(why->text));
    enum err_code rc = json_end(&j, &in->out, e);

    return rc ? rc : out_flush(&in->out, e);
}

enum err_code rewind_answer_into(struct invocation *in, const char *dir,
                                 const struct rewind_export_result *r, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON)) {
        enum err_code rc = out_addf(&in->out, e, "%zu file%s written, %zu left out: ", r->written,
                                    r->written == 1 ? "" : "s", r->left_out);

        if (!rc)
            rc = out_text(&in->out, slice_of(dir), e);
        return rc ? rc : out_add(&in->out, SLICE("\n"), e);
    }
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_key(&j, "canRewind");
    jsonout_bool(&j, true);
    jsonout_member(&j, "into", slice_of(dir));
    jsonout_key(&j, "written");
    jsonout_int(&j, (int64_t)r->written);
    jsonout_key(&j, "leftOut");
    jsonout_int(&j, (int64_t)r->left_out);
    return json_end(&j, &in->out, e);
}

/* ---- lines ---- */

static enum err_code text_other(struct out *out, const struct rewind_other *other, struct err *e)
{
    enum err_code rc = out_add(out, SLICE("  (also changed by "), e);

    if (!rc)
        rc = out_text(out, slice_of(other->title ? other->title : other->session), e);
    return rc ? rc : out_add(out, SLICE(")"), e);
}

static enum err_code text_entry(struct out *out, const struct rewind_entry *x, bool conflict,
                                bool done, struct err *e)
{
    const char *word = done ? actions[x->action].past : actions[x->action].word;
    char counts[40] = "";

    if (x->action == REWIND_UNCHANGED)
        return ERR_OK;
    if (x->binary && changes(x))
        snprintf(counts, sizeof counts, "binary");
    else if (x->mode_only)
        snprintf(counts, sizeof counts, "mode");
    else if (changes(x))
        snprintf(counts, sizeof counts, "+%u -%u", x->insertions, x->deletions);
    enum err_code rc = out_addf(out, e, "%-9s %-12s ", conflict ? "conflict" : word, counts);

    if (!rc)
        rc = out_text(out, slice_of(x->target->path), e);
    if (!rc && x->why)
        rc = out_addf(out, e, "  (%s)", x->why);
    if (!rc && x->held_open && changes(x))
        rc = out_add(out, SLICE("  (a program has it open for writing)"), e);
    if (!rc && x->target->other)
        rc = text_other(out, x->target->other, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code text_conversation(struct out *out, const struct rewind_conversation *t,
                                       bool done, struct err *e)
{
    if (ends_there(t))
        return out_addf(out, e, "%-9s the conversation: it already ends there\n",
                        done ? "kept" : "keep");
    if (!t->change)
        return ERR_OK;
    if (!rewind_conversation_moves(t->how))
        return out_addf(out, e, "%-9s the shadow branch\n", done ? "moved" : "move");
    if (t->added > 0)
        return out_addf(out, e, "%-9s %zu message%s of the conversation %s back, of %zu\n",
                        done ? "returned" : "return", t->added, t->added == 1 ? "" : "s",
                        done ? "came" : "come", t->kept);
    return out_addf(out, e, "%-9s %zu message%s of the conversation, %zu %s (%s)\n",
                    done ? "dropped" : "drop", t->dropped, t->dropped == 1 ? "" : "s", t->kept,
                    t->kept == 1 ? "stays" : "stay", rewind_conversation_name(t->how));
}

/* A program that has a file open goes on with the old one. */
static enum err_code text_open(struct out *out, const struct rewind_preview *p, struct err *e)
{
    bool any = false;

    for (size_t i = 0; i < p->n && !any; i++)
        any = p->entry[i].held_open && changes(&p->entry[i]);
    return any ? out_add(out,
                         SLICE("note: a program that has a file open goes on with the old one, in "
                               "the undo record;\n      reprise undo brings it back with what was "
                               "written to it\n"),
                         e)
               : ERR_OK;
}

/* An apply that refused is no dry run, and says so itself (apply_preview). */
static enum err_code text_end(struct out *out, const struct rewind_preview *p,
                              const struct rewind_result *r, bool dry, struct err *e)
{
    if (r)
        return r->undo[0] ? out_addf(out, e, "to undo: reprise undo %s\n", r->undo) : ERR_OK;
    return dry ? out_addf(out, e, "dry run: nothing has been changed (+%u -%u)\n", p->insertions,
                          p->deletions)
               : ERR_OK;
}

static enum err_code write_rewind_text(struct out *out, const struct rewind_preview *p,
                                       const struct rewind_result *r, bool dry, struct err *e)
{
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < p->n && !rc; i++)
        rc = text_entry(out, &p->entry[i], r && r->outcome[i] == REWIND_CONFLICT, r != NULL, e);
    if (!rc)
        rc = text_conversation(out, &p->plan->conversation, r != NULL, e);
    if (!rc)
        rc = text_open(out, p, e);
    for (size_t i = 0; i < p->plan->notes && !rc; i++)
        rc = out_addf(out, e, "note: %s\n", p->plan->note[i]);
    if (!rc && r && r->undo[0] && p->plan->undoes && p->refused)
        rc = out_addf(out, e, "%zu file%s skipped; to undo the rest later: reprise undo %s\n",
                      p->refused, p->refused == 1 ? "" : "s", p->plan->undoes);
    return rc ? rc : text_end(out, p, r, dry, e);
}

static bool is_dry(const struct invocation *in)
{
    return in->command->options & OPTION_BIT(APPLY) ? !option_given(&in->options, OPTION_APPLY)
                                                    : option_given(&in->options, OPTION_DRY_RUN);
}

enum err_code rewind_answer(struct invocation *in, const struct rewind_preview *p,
                            const struct rewind_result *result, struct err *e)
{
    enum err_code rc = option_given(&in->options, OPTION_JSON)
                           ? write_rewind_json(&in->out, p, result, e)
                           : write_rewind_text(&in->out, p, result, is_dry(in), e);

    return rc ? rc : out_flush(&in->out, e);
}

/* ---- which files ---- */

/* Files are named as a person names them: relative to where they are. */
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

enum err_code rewind_check_files(const struct rewind_plan *plan, const struct rewind_options *o,
                                 struct err *e)
{
    struct slice_set known = { .n = 0 };
    uint32_t number;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < plan->n && !rc; i++)
        if (slice_set_add(&known, slice_of(plan->target[i].path), &number))
            rc = err_nomem(e);
    for (size_t i = 0; i < o->only_n && !rc; i++)
        if (slice_set_find(&known, slice_of(o->only[i])) == SLICE_SET_NONE)
            rc = err_set(e, ERR_NOT_FOUND, o->only[i],
                         plan->undoes
                             ? "undo: the rewind did not change this file, or it was undone already"
                             : "rewind: the session never changed this file");
    slice_set_fini(&known);
    return rc;
}

/* ---- doing it ---- */

/* Names what changed, as far as the old plan's id tells. */
static enum err_code stale(const struct rewind_preview *p, const char *plan, struct err *e)
{
    size_t which[PLANID_TOLD], n = planid_changed(p, plan, which);

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
            "undo: %zu file%s refused, nothing was changed (--skip-edited takes back the "
            "rest)",
            p->refused, are);
    return err_set(e, ERR_UNSAFE, p->plan->session,
                   "rewind: %zu file%s refused, nothing was changed (--skip-refused leaves them as "
                   "they are and does the rest)",
                   p->refused, are);
}

/* An undo that skips what changed since skips a conversation that went on, too. */
static enum err_code apply_all(struct invocation *in, struct rewind_preview *p,
                               struct rewind_plan *files_only, bool skip_talk,
                               struct rewind_result *r, struct err *e)
{
    enum err_code rc = rewind_apply(&in->world->env, p, r, e);

    const struct change *talk = p->plan->conversation.change;

    if (rc == ERR_STALE && !skip_talk && p->plan->undoes && p->n > 0 && talk &&
        change_is_stale(talk))
        return err_wrap(e, rc, "undo: --skip-edited takes back the files alone");
    if ((rc != ERR_STALE && rc != ERR_LOCKED) || !skip_talk || !talk)
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
