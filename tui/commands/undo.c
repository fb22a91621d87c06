#include <stdio.h>
#include <string.h>

#include "lite/base/cleanup.h"
#include "store/journal/change.h"
#include "store/rewind/plan/plan.h"
#include "store/rewind/record/records.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/rewind.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* ---- log ---- */

static enum err_code command_undo_write_entry(const struct history_entry *x, void *arg,
                                              struct err *e)
{
    struct invocation *in = arg;
    struct out *o = &in->out;
    char age[HUMAN_AGE];

    (void)e;
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "id", x->id);
        out_string(o, "kind", x->kind);
        out_string(o, "text", x->text);
        out_int(o, "at", x->at_ms);
        out_strings(o, "sessions", x->session, x->sessions_n);
        out_string(o, "title", x->title);
        out_string(o, "undoes", x->undoes);
        out_string(o, "command", x->command);
        out_bool(o, "undone", x->undone);
        out_close(o, '}');
        return ERR_OK;
    }
    human_age(in->world->env.now_ms, x->at_ms, age);
    out_addf(o, "%8s  %s  %-10s ", age, x->id, x->kind);
    if (x->undoes)
        out_addf(o, strcmp(x->kind, "redo") == 0 ? "redid: " : "undid: ");
    out_text(o, slice_of(x->text));
    if (x->title) {
        out_addf(o, "  \"");
        out_text(o, slice_of(x->title));
        out_addf(o, "\"");
        if (x->sessions_n > 1)
            out_addf(o, " and %zu more%s", x->sessions_n - 1,
                     x->spans ? " (other directories too)" : "");
    }
    /* Records of older versions have no title. */
    for (size_t i = 0; i < x->sessions_n && !x->title; i++) {
        out_addf(o, "  ");
        out_text(o, slice_of(x->session[i]));
    }
    out_addf(o, x->undone ? "  (undone)\n" : "\n");
    return ERR_OK;
}

enum err_code undo_log_run(struct invocation *in, struct err *e)
{
    struct rewind_recovery waiting;

    rewinds_recover_first(in, &waiting);
    if (in->out.wants_json)
        out_open(&in->out, NULL, '[');
    TRY(history_each(&in->world->env, NULL, command_undo_write_entry, in, e));
    if (in->out.wants_json)
        out_end(&in->out, ']');
    return ERR_OK;
}

/* ---- undo: which change ---- */

enum { PHRASE = 512 };

static void describe_undo_target(const struct invocation *in, const struct undo_target *n,
                                 char out[PHRASE])
{
    char phrase[PHRASE - HUMAN_AGE - 4], age[HUMAN_AGE];

    undo_target_phrase(n, phrase, sizeof phrase);
    human_age(in->world->env.now_ms, n->at_ms, age);
    snprintf(out, PHRASE, "%s, %s", phrase, age);
}

/* In a warning, whose parts are put in another order at colons. */
static void command_undo_name(const struct invocation *in, const struct undo_target *n,
                              char out[PHRASE])
{
    char age[HUMAN_AGE];

    human_age(in->world->env.now_ms, n->at_ms, age);
    snprintf(out, PHRASE, "the %s of \"%s\" (%s, %s)", n->command, n->title, age, n->id);
}

static void report_skipped(const struct invocation *in, const struct undo_target_others *others)
{
    char what[PHRASE];

    if (others->edited.kind != UNDO_TARGET_NONE) {
        command_undo_name(in, &others->edited, what);
        command_warn(in, ERR_STALE, "",
                     "skipped %.150s, because its files changed since (--overwrite-edited)", what);
    }
    if (others->gone_newer == 0)
        return;
    command_undo_name(in, &others->gone, what);
    command_warn(in, ERR_NOT_FOUND, "",
                 "skipped %zu change%s to sessions that are gone; the newest is %.150s",
                 others->gone_newer, others->gone_newer == 1 ? "" : "s", what);
}

static enum err_code nothing_left(const struct invocation *in,
                                  const struct undo_target_others *others, struct err *e)
{
    const struct undo_target *n = &others->elsewhere;
    char what[PHRASE];

    if (n->kind == UNDO_TARGET_NONE)
        return err_set(e, ERR_NOT_FOUND, "", "nothing left to undo");
    describe_undo_target(in, n, what);
    return err_set(
        e, ERR_NOT_FOUND, "",
        "nothing left to undo here; the newest change (%.150s) is in %.160s: reprise undo %s", what,
        n->spans  ? "several places"
        : *n->dir ? n->dir
                  : "another project",
        n->id);
}

/* If the newest change cannot be undone, an older one must be named, because it may not be the one
 * that the user means. */
static enum err_code stuck(const struct invocation *in, const struct undo_target *newest,
                           const struct undo_target_others *others, struct err *e)
{
    char what[PHRASE];

    if (others->stuck.kind == UNDO_TARGET_NONE)
        return ERR_OK;
    describe_undo_target(in, &others->stuck, what);
    command_warn(in, ERR_STALE, others->stuck.id, "undo: %s (%.150s)",
                 others->stuck.by_agent ? "only its agent can do that"
                                        : "its session has continued since",
                 what);
    if (newest->kind == UNDO_TARGET_NONE)
        return err_set(e, ERR_STALE, "", "nothing older is left to undo");
    describe_undo_target(in, newest, what);
    return err_set(e, ERR_STALE, "", "an older change can be undone with: reprise undo %s (%.120s)",
                   newest->id, what);
}

/* The newest change to a session of the scope, which is that of `list`. */
static enum err_code choose_latest_target(struct invocation *in, struct change_log *log,
                                          struct undo_target *out, struct err *e)
{
    struct undo_target_others others;
    CLEANUP(sessions_close) struct sessions s = { .n = 0 };

    TRY(sessions_open(in, false, &s, e));
    const struct shown shown = { .store = s.store,
                                 .n = s.n,
                                 .scope = &s.scope,
                                 .home = in->world->env.home,
                                 .skip_edited = option_given(&in->options, OPTION_SKIP_EDITED) };

    TRY(undo_target_find(&in->world->env, log, &shown, out, &others, e));
    report_skipped(in, &others);
    TRY(stuck(in, out, &others, e));
    return out->kind == UNDO_TARGET_NONE ? nothing_left(in, &others, e) : ERR_OK;
}

static void command_undo_write_target(struct invocation *in, const char *what,
                                      const struct undo_target *n)
{
    char text[PHRASE];

    describe_undo_target(in, n, text);
    out_addf(&in->out, "%s", what);
    out_line(&in->out, "", slice_of(text));
}

/* ---- undo: a change of a session ---- */

struct named {
    const struct undo_target *newest;
    struct invocation *in;
    bool undone;
};

static void write_target_json(const struct undo_target *n, struct out *o)
{
    out_string(o, "kind", n->command);
    out_string(o, "title", n->title);
    out_int(o, "at", n->at_ms);
}

/* What an undo would change. */
static void write_dry_run(struct invocation *in, const struct change *c,
                          const struct undo_target *n)
{
    struct out *o = &in->out;

    if (!o->wants_json) {
        command_undo_write_target(in, "would undo: ", n);
        return;
    }
    out_open(o, NULL, '{');
    out_string(o, "undoes", c->id);
    out_string(o, "text", c->text);
    write_target_json(n, o);
    out_strings(o, "sessions", (const char *const *)c->sessions, c->sessions_n);
    out_bool(o, "dryRun", true);
    out_end(o, '}');
}

static bool show_named(const struct change *c, bool undone, void *arg)
{
    struct named *n = arg;

    if (strcmp(c->id, n->newest->id) != 0)
        return true;
    n->undone = undone;
    if (!undone)
        write_dry_run(n->in, c, n->newest);
    return false;
}

static void write_undone(struct invocation *in, const struct change *c, const struct undo_target *n)
{
    struct out *o = &in->out;

    if (!o->wants_json) {
        command_undo_write_target(in, "undone: ", n);
        return;
    }
    out_open(o, NULL, '{');
    out_string(o, "id", c->id);
    out_string(o, "undoes", c->undoes);
    out_string(o, "text", c->text);
    write_target_json(n, o);
    out_end(o, '}');
}

static enum err_code undo_change(struct invocation *in, struct change_log *log,
                                 const struct undo_target *n, struct err *e)
{
    CLEANUP(change_free_at) struct change *c = NULL;

    if (option_given(&in->options, OPTION_DRY_RUN) && !n->by_agent) {
        struct named named = { .newest = n, .in = in };

        TRY(change_list(log, show_named, &named, e));
        return named.undone ? err_set(e, ERR_NOT_FOUND, n->id, "undo: it was undone already")
                            : ERR_OK;
    }
    TRY(change_undo(log, n->id, &c, e));
    in->done = true;
    write_undone(in, c, n);
    return ERR_OK;
}

/* ---- undo: a rewind ---- */

/* The files of a rewind need no new consent to be restored: it was given for that rewind. Files
 * edited by hand since are still refused. If files are named, the conversation is not touched. */
static enum err_code undo_rewind(struct invocation *in, const struct undo_target *n, struct err *e)
{
    const struct options *o = &in->options;
    struct rewind_options options = { .allow_outside = true,
                                      .allow_sensitive = true,
                                      .allow_edited = option_given(o, OPTION_OVERWRITE_EDITED) };
    const bool dry = option_given(o, OPTION_DRY_RUN);
    CLEANUP(rewind_plan_fini) struct rewind_plan plan = { 0 };

    TRY(rewind_undo_plan(&in->world->env, n->id, &plan, e));
    if (o->files) {
        TRY(rewind_choose_files(in, &plan.arena, &options, e));
        TRY(rewind_plan_check_files(&plan, &options, e));
        rewind_conversation_fini(&plan.conversation);
    }
    if (n->command[0] && !in->out.wants_json)
        command_undo_write_target(in, dry ? "would undo: " : "undo: ", n);
    return rewind_show_or_apply(in, &plan, &options, !dry, option_given(o, OPTION_SKIP_EDITED), e);
}

/* ---- undo: everything since a change ---- */

static void write_back_to_json(const struct invocation *in, const struct back_to *b,
                               const char *const *made, size_t made_n, struct out *o)
{
    out_open(o, NULL, '{');
    out_string(o, "backTo", in->options.back_to);
    out_open(o, "undoes", '[');
    for (size_t i = 0; i < b->n; i++) {
        out_open(o, NULL, '{');
        out_string(o, "id", b->entry[i].id);
        out_string(o, "text", b->entry[i].text);
        write_target_json(&b->entry[i], o);
        out_close(o, '}');
    }
    out_close(o, ']');
    out_int(o, "elsewhere", (int64_t)b->elsewhere);
    if (made)
        out_strings(o, "made", made, made_n);
    else
        out_bool(o, "dryRun", true);
    out_end(o, '}');
}

/* The list comes first, because a refusal is about one of its entries. */
static enum err_code go_back_to(struct invocation *in, const struct shown *shown, struct err *e)
{
    const struct store_env *env = &in->world->env;
    bool dry = option_given(&in->options, OPTION_DRY_RUN);
    CLEANUP(back_to_fini) struct back_to b = { .n = 0 };
    const char **made = NULL;
    size_t made_n = 0;
    struct out *o = &in->out;

    TRY(back_to_plan(env, shown, in->options.back_to, &b, e));

    /* One change that cannot be undone stops all of it, so the message names this change. */
    if (b.why.code) {
        char what[PHRASE];

        describe_undo_target(in, &b.entry[b.at], what);
        command_warn(in, b.why.code, b.entry[b.at].id, "cannot be undone: %.200s", what);
        *e = b.why;
        return b.why.code;
    }

    if (!dry)
        TRY(back_to_apply(env, &b, &made, &made_n, e));
    in->done = !dry;
    if (o->wants_json) {
        write_back_to_json(in, &b, made, made_n, o);
        return ERR_OK;
    }
    for (size_t i = 0; i < b.n; i++)
        command_undo_write_target(in, made ? "undone: " : "would undo: ", &b.entry[i]);
    if (b.elsewhere)
        out_addf(o, "%zu later change%s elsewhere stay%s (--all)\n", b.elsewhere,
                 b.elsewhere == 1 ? "" : "s", b.elsewhere == 1 ? "s" : "");
    for (size_t i = 0; i < made_n; i++)
        out_addf(o, "%s: reprise undo %s\n", i ? "and" : "to go forward again", made[i]);
    return ERR_OK;
}

enum err_code undo_run(struct invocation *in, struct err *e)
{
    const struct store_env *env = &in->world->env;
    CLEANUP(change_log_close_at) struct change_log *log = NULL;
    struct undo_target newest = { .kind = UNDO_TARGET_NONE };
    struct rewind_recovery waiting;

    rewinds_recover_first(in, &waiting);
    if (option_given(&in->options, OPTION_BACK_TO)) {
        /* Undo everything back to the change that is named. */
        CLEANUP(sessions_close) struct sessions s = { .n = 0 };

        if (in->argc)
            return err_set(e, ERR_USAGE, "--back-to", "takes the change itself: no other is named");
        TRY(sessions_open(in, false, &s, e));
        const struct shown shown = {
            .store = s.store, .n = s.n, .scope = &s.scope, .home = env->home
        };

        return go_back_to(in, &shown, e);
    }
    TRY((option_given(&in->options, OPTION_DRY_RUN) ? change_log_read : change_log_open)(env, &log,
                                                                                         e));
    TRY(in->argc ? undo_target_by_id(env, log, in->argv[0], &newest, e)
                 : choose_latest_target(in, log, &newest, e));

    /* An id that neither log contains is looked up in the rewinds, which report the error. */
    if (in->argc && newest.kind == UNDO_TARGET_NONE) {
        newest.kind = UNDO_TARGET_REWIND;
        snprintf(newest.id, sizeof newest.id, "%s", in->argv[0]);
    }
    if (newest.kind == UNDO_TARGET_CHANGE)
        return undo_change(in, log, &newest, e);

    /* A rewind may change a conversation, which needs the lock. */
    change_log_close(log);
    log = NULL;
    return undo_rewind(in, &newest, e);
}
