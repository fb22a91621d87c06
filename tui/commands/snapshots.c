#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/time.h"
#include "store/fs/path.h"
#include "store/proc/process.h"
#include "store/rewind/diff/linediff.h"
#include "store/snapshots/hooks.h"
#include "store/snapshots/snapshot.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/shell.h"
#include "tui/text/human.h"

/* ---- snapshot: run by the hooks ---- */

enum {
    SNAPSHOT_INPUT_MS = 1000,
    /* Agents give up after five seconds, and report it. */
    SNAPSHOT_BLOCKED_S = 4,
    SNAPSHOT_PRUNE_S = 600,
};
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* The last resort where a call blocks: a pipe in place of a file, a file system that does not answer. The store is then as
 * after a crash. */
static void snapshot_end_blocked(int number)
{
    (void)number;
    _exit(0);
}

/* Reads until the agent closes its end, for at most a second: some keep it open. */
static enum err_code snapshot_read_input(struct buf *input, int64_t began_ms)
{
    while (input->n < HOOK_INPUT_MAX) {
        const int64_t left = began_ms + SNAPSHOT_INPUT_MS - time_clock_ms(CLOCK_MONOTONIC);
        struct pollfd wait = { .fd = STDIN_FILENO, .events = POLLIN };

        if (left <= 0 || (poll(&wait, 1, (int)left) <= 0 && errno != EINTR))
            return ERR_OK;
        if (buf_reserve(input, OUT_PIECE))
            return ERR_NOMEM;
        ssize_t got = wait.revents ? read(STDIN_FILENO, input->p + input->n, OUT_PIECE) : 0;

        if (wait.revents && got <= 0 && !(got < 0 && errno == EINTR))
            return ERR_OK;
        input->n += got > 0 ? (size_t)got : 0;
    }
    return ERR_OK;
}

/* The limits of the configuration. Mistakes in it are reported by other commands. Returns false if the limits that are meant
 * are not known, because the defaults may remove what these would keep. */
static bool snapshots_limits(const struct invocation *in, struct snapshot_prune_rule *rule)
{
    const int64_t now_ms = in->world->env.now_ms;
    struct config config;
    struct err ignored;

    *rule = snapshot_prune_defaults(now_ms);
    if (command_config(in, &config, &ignored))
        return false;
    const bool known = !config.limits_unknown;

    if (config.snapshot_limits.days)
        rule->before_ms = now_ms - config.snapshot_limits.days * DAY_MS;
    if (config.snapshot_limits.bytes)
        rule->max_bytes = config.snapshot_limits.bytes;
    config_fini(&config);
    return known;
}

/* Removes what is too old or too much, once a day, in a process of its own: the agent does not wait for it, and it gives
 * up if the next prompt comes. */
static void snapshot_prune_behind(const struct invocation *in, const char *cwd)
{
    struct snapshot_prune_rule rule = { .yields = true };
    bool due = false;

    if (snapshot_prune_due(&in->world->env, cwd, &rule, true, &due, NULL) || !due || fork() != 0)
        return;
    setsid();
    alarm(SNAPSHOT_PRUNE_S);
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        int none = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (none < 0 || dup2(none, fd) < 0)
            _exit(1);
        close(none);
    }
    if (!snapshots_limits(in, &rule))
        _exit(1);
    rule.yields = true;
    _exit(snapshot_prune_due(&in->world->env, cwd, &rule, false, &due, NULL) != ERR_OK);
}

/* Takes a snapshot. Every failure is a sentence in *why. */
static enum err_code snapshot_for_hook(const struct invocation *in, const struct store_ops *ops,
                                       int64_t began_ms, const char **why, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF input = { 0 };
    struct snapshot_request request;
    struct slice told;

    NEED(!snapshot_read_input(&input, began_ms));
    told = buf_slice(&input);
    if (!hook_request_read(ops, (enum hook_event)in->options.event, told, &a, &request, why))
        return ERR_OK;
    request.limit_ms = SNAPSHOT_LIMIT_MS - (time_clock_ms(CLOCK_MONOTONIC) - began_ms);
    if (request.limit_ms < 1)
        request.limit_ms = 1;
    TRY(snapshot_take(&in->world->env, &request, e));
    if (request.kind == SNAPSHOT_END)
        snapshot_prune_behind(in, request.cwd);
    return ERR_OK;
}

/* An agent waits for this command, so it answers first, takes about two seconds at most, and never fails. */
enum err_code snapshot_run(struct invocation *in, struct err *e)
{
    const int64_t began_ms = time_clock_ms(CLOCK_MONOTONIC);
    const struct store_ops *ops = store_system(option_text(in->options.agent));
    const char *why = NULL;
    struct err failed = { 0 };
    char text[900], line[1024];

    (void)e;
    signal(SIGALRM, snapshot_end_blocked);
    alarm(SNAPSHOT_BLOCKED_S);
    if (!ops || !ops->hooks || !option_given(&in->options, OPTION_EVENT)) {
        why = "no such agent or event";
    } else {
        /* The agent goes on once it has its answer. */
        if (ops->hooks->answer)
            out_addf(&in->out, "%s", ops->hooks->answer);
        if (out_flush(&in->out, &failed) == ERR_OK &&
            snapshot_for_hook(in, ops, began_ms, &why, &failed) == ERR_OK)
            failed.code = ERR_OK;
    }

    if (!why && !failed.code)
        return ERR_OK;
    if (!why)
        err_format(&failed, text, sizeof text);

    /* The command never fails, so the reason is found in this log only. */
    snprintf(line, sizeof line, "%lld %s: %s", (long long)in->world->env.now_ms,
             ops ? ops->name : "?", why ? why : text);
    hook_log_add(&in->world->env, slice_of(line));
    if (option_given(&in->options, OPTION_VERBOSE))
        command_warn(in, ERR_IO, "", "snapshot: %.400s", why ? why : text);
    return ERR_OK;
}

/* ---- snapshots: on, off, and which ---- */

/* As many as the command takes operands; there are fewer systems. */
enum { SNAPSHOTS_AGENTS_MAX = 64 };

struct snapshots_run {
    struct invocation *in;
    struct arena a;
    struct hook_plan *plan; /* one for each agent that is meant */
    size_t n;
    bool on;
};

static const char *snapshots_label(const struct store_ops *ops)
{
    return ops->label ? ops->label : ops->name;
}

static enum err_code snapshots_add(struct snapshots_run *r, const struct store_ops *ops,
                                   const struct hook_program *program, struct err *e)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->plan[i].ops == ops)
            return ERR_OK; /* it was named twice */
    NEED(r->plan = arena_grow(&r->a, r->plan, r->n, sizeof *r->plan));
    TRY(hook_plan_make(&r->in->world->env, ops, program, r->on, &r->a, &r->plan[r->n], e));
    r->n++;
    return ERR_OK;
}

/* Makes the plans of the agents that are named, or of all that have hooks. */
static enum err_code snapshots_plan(struct snapshots_run *r, struct err *e)
{
    AUTO_BUF word = { 0 };
    char path[PATH_MAX];
    struct hook_program program = { .path = path };

    /* Only a hook that is written needs the path. */
    if (!proc_program(path, sizeof path)) {
        if (r->on)
            return err_set(e, ERR_UNSUPPORTED, "", "the path of this program is not known");
        snprintf(path, sizeof path, "reprise");
    }
    NEED(!shell_quote(&word, slice_of(path)) && (program.word = buf_cstr(&word)));
    for (int i = 1; i < r->in->argc; i++) {
        const struct store_ops *ops = store_system(slice_of(r->in->argv[i]));

        if (!ops)
            return sessions_unknown_agent(NULL, r->in->argv[i], e);
        if (!ops->hooks)
            return err_set(e, ERR_UNSUPPORTED, "", "%s: %s", snapshots_label(ops),
                           ops->no_hooks ? ops->no_hooks : "reprise knows no hooks of it");
        TRY(snapshots_add(r, ops, &program, e));
    }
    for (size_t i = 0; store_systems[i] && r->in->argc < 2; i++)
        if (store_systems[i]->hooks)
            TRY(snapshots_add(r, store_systems[i], &program, e));
    return ERR_OK;
}

/* on, off or unused; an agent that runs no hooks is off whatever its configuration contains. */
static const char *snapshots_state(const struct hook_plan *p)
{
    return p->has && p->untrusted   ? "untrusted"
           : p->has && !p->disabled ? "on"
           : p->used || p->has      ? "off"
                                    : "unused";
}

static void snapshots_write_row(const struct hook_plan *p, struct out *o)
{
    const char *why = p->refused ? p->refused : NULL;

    if (o->wants_json) {
        out_json_row(o);
        out_open(o, NULL, '{');
        out_string(o, "agent", p->ops->name);
        out_string(o, "state", snapshots_state(p));
        out_string(o, "path", p->path);
        out_string(o, "refused", why);
        out_string(o, "disabledBy", p->disabled);
        out_bool_if_true(o, "documented", p->ops->hooks->documented);
        out_string(o, "trust", p->untrusted ? p->ops->hooks->trust : NULL);
        out_close(o, '}');
        return;
    }

    out_addf(o, "%-12s %-9s ", p->ops->name, snapshots_state(p));
    out_text(o, slice_of(p->path ? p->path : ""));
    if (p->disabled)
        out_addf(o, "\n%23sit runs no hooks: %s", "", p->disabled);
    if (why && p->used) {
        out_addf(o, "\n%23s", "");
        out_text(o, slice_of(why));
    }
    if (p->untrusted)
        out_addf(o, "\n%23s%s", "", p->ops->hooks->trust);
    if (p->ops->hooks->documented && p->has)
        out_addf(o, "\n%23sits hooks are taken from its documents and were not tried", "");
    out_addf(o, "\n");
}

/* The change of one file as a unified diff. */
enum err_code config_change_show(const struct hook_plan *p, struct out *o, struct err *e)
{
    CLEANUP(linediff_fini) struct linediff d = { 0 };

    TRY(linediff_make(p->before.text, p->after.text, 3, &d, e));
    out_addf(o, "--- ");
    out_text(o, slice_of(p->before.absent ? "/dev/null" : p->path));
    out_line(o, "\n+++ ", slice_of(p->after.absent ? "/dev/null" : p->path));
    compare_write_hunks(&d, o);
    return ERR_OK;
}

/* Collects what would change, shows it, and names what cannot. */
static enum err_code snapshots_preview(struct snapshots_run *r, const struct hook_plan **changes,
                                       size_t *n, struct err *e)
{
    struct out *o = &r->in->out;

    for (size_t i = 0; i < r->n; i++) {
        const struct hook_plan *p = &r->plan[i];

        if (p->refused && r->in->argc > 1)
            return err_set(e, ERR_UNSUPPORTED, p->path ? p->path : "", "%s: %s",
                           snapshots_label(p->ops), p->refused);
        if (p->refused && p->used)
            command_warn(r->in, ERR_UNSUPPORTED, p->path ? p->path : "", "%s: %s",
                         snapshots_label(p->ops), p->refused);
        if (p->disabled && r->on)
            command_warn(r->in, ERR_UNSUPPORTED, p->path, "%s runs no hooks: %s is set",
                         snapshots_label(p->ops), p->disabled);
        if (!hook_plan_changes(p))
            continue;
        changes[(*n)++] = p;
        if (!o->wants_json)
            TRY(config_change_show(p, o, e));
    }
    return ERR_OK;
}

enum err_code config_change_ask(struct invocation *in, enum option_id unasked, const char *name,
                                struct err *e)
{
    struct out question;

    if (option_given(&in->options, unasked))
        return ERR_OK;
    if (!command_can_ask(in))
        return err_set(e, ERR_UNSUPPORTED, "", "add %s to make this change", name);
    TRY(out_flush(&in->out, e));
    out_init(&question, in->err_fd);
    out_addf(&question, "Make this change? [y/N] ");
    return command_ask(&question, in->command->name, "nothing was changed", e);
}

static void snapshots_write_answer(const struct snapshots_run *r,
                                   const struct hook_plan *const *changes, size_t n, const char *id)
{
    struct out *o = &r->in->out;
    const char *names[SNAPSHOTS_AGENTS_MAX];

    for (size_t i = 0; i < n; i++)
        names[i] = changes[i]->ops->name;
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "change", id);
        out_strings(o, "agents", names, n);
        out_bool_if_true(o, "dryRun", option_given(&r->in->options, OPTION_DRY_RUN));
        out_end(o, '}');
        return;
    }
    if (n == 0)
        out_addf(o, "Nothing to change.\n");
    else if (id)
        out_addf(o, "Snapshots are %s" OUT_UNDO_WITH "\n", r->on ? "on" : "off", id);
    for (size_t i = 0; i < n && id && r->on; i++)
        if (changes[i]->ops->hooks->trust)
            out_addf(o, "%s\n", changes[i]->ops->hooks->trust);
}

static enum err_code snapshots_switch(struct snapshots_run *r, struct err *e)
{
    char id[64];
    size_t n = 0;
    const struct hook_plan **changes = arena_zalloc(&r->a, (r->n + 1) * sizeof *changes);
    bool dry = option_given(&r->in->options, OPTION_DRY_RUN);

    NEED(changes);
    TRY(snapshots_preview(r, changes, &n, e));
    if (n > 0 && !dry) {
        TRY(config_change_ask(r->in, OPTION_YES, "--yes", e));
        TRY(hook_plans_apply(&r->in->world->env, changes, n, r->on, id, e));
        r->in->done = true;
    }
    snapshots_write_answer(r, changes, n, n > 0 && !dry ? id : NULL);
    return ERR_OK;
}

/* ---- snapshots: what is kept, prune ---- */

static void snapshots_write_projects(const struct snapshot_projects *all, int64_t now_ms,
                                     struct out *o)
{
    char size[HUMAN_SIZE], age[HUMAN_AGE];

    for (size_t i = 0; i < all->n; i++) {
        const struct snapshot_project *p = &all->project[i];

        human_size(p->bytes, size);
        human_age(now_ms, p->newest_ms, age);
        out_addf(o, "%s%5zu snapshot%s, %s, newest %s  ", i ? "" : "\n", p->n,
                 p->n == 1 ? " " : "s", size, age);
        out_line(o, "", slice_of(p->root ? p->root : p->dir));
    }
}

static enum err_code snapshots_prune_rule(const struct invocation *in, struct arena *a,
                                          struct snapshot_prune_rule *rule, struct err *e)
{
    const struct options *o = &in->options;
    const int64_t now_ms = in->world->env.now_ms;

    if (!snapshots_limits(in, rule) && in->argc == 1 && !o->older_than)
        return err_set(e, ERR_UNSUPPORTED, "",
                       "prune snapshots: the limits in the configuration cannot be read; name one "
                       "with --older-than");
    if (in->argc > 1 || o->older_than)
        rule->max_bytes = 0;
    rule->doubts = !o->older_than;
    if (in->argc > 1) {
        rule->before_ms = INT64_MIN;
        NEED(rule->path = path_normalize(in->world->env.cwd, in->argv[1], a));
    }
    if (o->older_than && !human_time_parse(slice_of(o->older_than), now_ms, &rule->before_ms))
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not an age; write 30d, 12h or 2w",
                       o->older_than);
    return ERR_OK;
}

/* One project whose snapshots cannot be pruned does not keep those of the others: each is named. The first reason is the
 * answer. *bytes is what there was. */
static enum err_code snapshots_prune_all(const struct invocation *in,
                                         const struct snapshot_projects *all,
                                         const struct snapshot_prune_rule *rule, size_t *removed,
                                         int64_t *bytes, struct err *e)
{
    const bool dry = option_given(&in->options, OPTION_DRY_RUN);
    struct snapshot_prune_rule trusting = *rule;
    enum err_code rc = ERR_OK;
    size_t held = 0;

    trusting.doubts = false;
    for (size_t i = 0; i < all->n; i++) {
        const struct snapshot_project *p = &all->project[i];
        struct err why = { 0 };
        size_t n = 0, old = 0;
        const enum err_code one = snapshot_prune(p, rule, dry, &n, &why);

        if (one == ERR_NOMEM)
            return err_nomem(e);
        if (one)
            command_warn(in, one, p->root ? p->root : p->dir, "%s", why.text);
        else
            *removed += n;
        if (!one && rule->doubts && snapshot_prune(p, &trusting, true, &old, NULL) == ERR_OK)
            held += dry ? old - n : old;
        *bytes += p->bytes;
        rc = rc ? rc : one;
    }
    if (held)
        command_warn(in, ERR_OK, NULL,
                     "%zu old snapshot%s stay%s because the newest is weeks younger, as when a "
                     "clock is wrong; "
                     "--older-than 30d removes them",
                     held, held == 1 ? "" : "s", held == 1 ? "s" : "");
    return rc ? err_set(e, rc, "", "the snapshots of some projects were not pruned") : ERR_OK;
}

static enum err_code snapshots_prune(struct invocation *in, struct err *e)
{
    CLEANUP(snapshot_projects_fini) struct snapshot_projects before = { .n = 0 }, after = before;
    AUTO_ARENA a = { 0 };
    struct out *o = &in->out;
    struct snapshot_prune_rule rule;
    const bool dry = option_given(&in->options, OPTION_DRY_RUN);
    size_t all = 0;
    int64_t bytes = 0;
    char size[HUMAN_SIZE];

    TRY(snapshots_prune_rule(in, &a, &rule, e));
    TRY(snapshot_projects_read(&in->world->env, &before, e));
    const enum err_code rc = snapshots_prune_all(in, &before, &rule, &all, &bytes, e);

    if (rc && !all)
        return rc;

    /* Snapshots share their contents, so the space that was freed is known only by measuring again. */
    TRY(snapshot_projects_read(&in->world->env, &after, rc ? NULL : e));
    in->done = !dry && all && !rc;
    if (rule.path && !all)
        return err_set(e, ERR_NOT_FOUND, "", "no snapshot contains \"%.200s\"", in->argv[1]);
    for (size_t i = 0; i < after.n; i++)
        bytes -= after.project[i].bytes;

    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_int(o, "removed", (int64_t)all);
        out_int(o, "bytes", bytes);
        out_bool(o, "dryRun", dry);
        out_end(o, '}');
        return rc;
    }

    human_size(bytes > 0 ? bytes : 0, size);
    out_addf(o, "%s for good%s %zu snapshot%s", dry ? "would be removed" : "removed",
             rule.path ? " from" : ":", all, all == 1 ? "" : "s");
    out_addf(o, dry ? "\n" : ", %s\n", size);
    return rc;
}

enum err_code snapshots_run(struct invocation *in, struct err *e)
{
    struct snapshots_run r = { .in = in };
    bool off = in->argc && strcmp(in->argv[0], "off") == 0;
    enum err_code rc;

    r.on = in->argc && strcmp(in->argv[0], "on") == 0;
    if (in->argc && strcmp(in->argv[0], "prune") == 0)
        return in->argc < 3 ? snapshots_prune(in, e) : command_unexpected(in, 2, e);
    if (in->argc && !r.on && !off)
        return err_set(e, ERR_USAGE, "", "snapshots takes on, off or prune, not \"%.80s\"",
                       in->argv[0]);
    if (in->options.older_than)
        return err_set(e, ERR_USAGE, "", "--older-than needs prune");

    rc = snapshots_plan(&r, e);
    if (!rc && in->argc)
        rc = snapshots_switch(&r, e);

    /* Without an operand the present state is shown. */
    for (size_t i = 0; i < r.n && !rc && !in->argc; i++)
        snapshots_write_row(&r.plan[i], &in->out);
    if (!rc && !in->argc && in->out.wants_json)
        out_json_rows_end(&in->out);
    if (!rc && !in->argc && !in->out.wants_json) {
        CLEANUP(snapshot_projects_fini) struct snapshot_projects kept = { .n = 0 };

        rc = snapshot_projects_read(&in->world->env, &kept, e);
        snapshots_write_projects(&kept, in->world->env.now_ms, &in->out);
    }
    arena_fini(&r.a);
    return rc;
}
