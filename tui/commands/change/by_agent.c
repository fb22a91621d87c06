#include "tui/commands/session.h"

#include <unistd.h>

#include "store/maintenance/session_change.h"
#include "tui/commands/out.h"
#include "tui/config/resume_command.h"
#include "tui/text/human.h"

enum err_code by_agent_check(const struct by_agent *b, bool *all, struct err *e)
{
    size_t sessions = 0, theirs = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (!b->ref[i])
            continue;
        sessions++;
        theirs +=
            (store_agent_abilities(b->ref[i]->store->ops) & agent_change_ability(b->what)) != 0;
    }
    *all = theirs > 0;
    return theirs == 0 || theirs == sessions
               ? ERR_OK
               : err_set(e, ERR_USAGE, agent_change_name(b->what),
                         "sessions that only their agent can change need a call of their own");
}

/* ---- the commands ---- */

struct prepared {
    struct agent_change change;
    struct resume command;
    struct agent_changed done;
};

static enum err_code prepare_all(struct invocation *in, const struct by_agent *b, struct arena *a,
                                 struct prepared **out, size_t *n, struct err *e)
{
    struct config config;
    const struct resume_world w = { &config, in->world->env.home, in->world->path };
    struct prepared *p = arena_zalloc(a, (b->n + 1) * sizeof *p);
    enum err_code rc = p ? command_stores(in, &config, e) : err_nomem(e);

    *out = p;
    *n = 0;
    if (rc)
        return rc;
    for (size_t i = 0; i < b->n && !rc; i++) {
        if (!b->ref[i])
            continue;
        p[*n].change =
            (struct agent_change){ .what = b->what,
                                   .ref = b->ref[i],
                                   .title = b->title,
                                   .permanently = option_given(&in->options, OPTION_PERMANENTLY),
                                   .unsure = option_given(&in->options, OPTION_FORCE) };
        rc = resume_make_change(&w, &p[*n].change, a, &p[*n].command, e);
        *n += rc == ERR_OK;
    }
    config_fini(&config);
    return rc;
}

static void write_command(const struct prepared *p, bool alone, struct out *o)
{
    if (!o->wants_json) {
        out_line(o, "", slice_of(p->change.line));
        return;
    }
    out_open(o, NULL, '{');
    out_member(o, "id", p->change.ref->id);
    out_string(o, "system", p->change.ref->store->ops->name);
    out_string(o, "cwd", p->command.dir);
    resume_json(&p->command, out_json(o));
    (alone ? out_end : out_close)(o, '}');
}

/* ---- the question ---- */

static enum err_code confirm_commands(struct invocation *in, const struct prepared *p, size_t n,
                                      struct err *e)
{
    const char *what = agent_change_name(p->change.what);
    struct out question;

    if (option_given(&in->options, OPTION_YES))
        return ERR_OK;
    if (!command_can_ask(in))
        return err_set(e, ERR_UNSUPPORTED, "", "only the agent can %s %s; add --yes to run \"%s\"",
                       what, n == 1 ? "it" : "them", p->change.line);
    out_init(&question, in->err_fd);
    out_addf(&question, "Only the agent can %s %s:\n", what, n == 1 ? "it" : "them");
    for (size_t i = 0; i < n; i++) {
        out_addf(&question, "  ");
        out_text(&question, slice_of(p[i].change.line));
        out_addf(&question, "\n");
    }
    out_addf(&question, "%s\nRun %s? [y/N] ", agent_change_consequence(&p->change),
             n == 1 ? "this" : "these");
    return command_ask(&question, what, "nothing was run", e);
}

/* ---- the answer ---- */

static void write_done_json(const struct prepared *p, bool alone, struct out *o)
{
    out_open(o, NULL, '{');
    out_member(o, "sessionId", p->change.ref->id);
    out_string(o, "command", p->change.line);
    out_string(o, "change", p->done.id);
    if (p->done.trash_id[0]) {
        out_string(o, "trashId", p->done.trash_id);
        out_int(o, "bytes", p->done.bytes);
    }
    (alone ? out_end : out_close)(o, '}');
}

static void write_done_text(const struct prepared *p, struct out *o)
{
    char size[HUMAN_SIZE];

    human_size(p->done.bytes, size);
    out_addf(o, "%sd by ", agent_change_name(p->change.what));
    out_text(o, slice_of(p->change.argv[0]));
    out_addf(o, ": ");
    out_text(o, p->change.ref->id);
    if (p->done.trash_id[0])
        out_addf(o, "; copy in the trash: %s" OUT_UNDO_WITH, size, p->done.id);
    out_addf(o, "\n");
}

enum err_code by_agent_run(struct invocation *in, const struct by_agent *b, struct err *e)
{
    struct arena a = { 0 };
    struct prepared *p = NULL;
    size_t n = 0;
    bool prints = option_given(&in->options, OPTION_PRINT), any = false; /* of them was run */
    enum err_code rc = prepare_all(in, b, &a, &p, &n, e);

    if (!rc && !prints)
        rc = confirm_commands(in, p, n, e);
    if (!rc && in->out.wants_json && n != 1)
        out_open(&in->out, NULL, '[');

    for (size_t i = 0; i < n && prints && !rc; i++)
        write_command(&p[i], n == 1, &in->out);
    if (!rc && !prints) {
        for (size_t i = 0; i < n && !rc; i++) {
            rc = agent_change_run(&in->world->env, &p[i].change, &p[i].done, e);
            if (!rc && in->out.wants_json)
                write_done_json(&p[i], n == 1, &in->out);
            else if (!rc)
                write_done_text(&p[i], &in->out);
            in->done = !rc && i + 1 == n;
            any |= !rc;
        }
    }
    if ((!rc || any) && in->out.wants_json && n != 1)
        out_end(&in->out, ']');
    arena_fini(&a);
    return rc;
}
