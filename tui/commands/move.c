#include <string.h>

#include "store/fs/path.h"
#include "store/journal/change.h"
#include "store/maintenance/project_find.h"
#include "store/maintenance/project_move.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/shell.h"

struct move_answer {
    struct project_move m;
    bool applied;
};

static void move_write_json(const struct move_answer *a, struct out *o)
{
    out_open(o, NULL, '{');
    out_string(o, "from", a->m.from);
    out_string(o, "to", a->m.to);
    out_bool(o, "dryRun", !a->applied);
    out_open(o, "sessions", '[');
    for (size_t i = 0; i < a->m.n; i++) {
        const struct project_move_item *x = &a->m.item[i];

        out_open(o, NULL, '{');
        out_string(o, "system", x->ref.store->ops->name);
        out_member(o, "sessionId", x->ref.id);
        out_member(o, "title", x->title);
        out_string(o, "from", x->from);
        out_string(o, "to", x->why ? x->from : x->to);
        out_string(o, "path", x->path);
        if (x->why)
            out_string(o, "why", x->why);
        out_close(o, '}');
    }
    out_close(o, ']');
    if (a->applied)
        out_string(o, "change", a->m.change->id);
    out_end(o, '}');
}

static void move_write_text(const struct move_answer *a, struct out *o)
{
    for (size_t i = 0; i < a->m.n; i++) {
        const struct project_move_item *x = &a->m.item[i];

        out_addf(o, "%s:", x->ref.store->ops->name);
        out_text(o, x->ref.id);
        out_addf(o, x->why ? ": stays: " : a->applied ? ": moved to " : ": would move to ");
        out_text(o, slice_of(x->why ? x->why : x->to));
        /* A link that is given may lead to another directory now than when its sessions were made. */
        if (!path_under(slice_of(x->from), slice_of(a->m.from))) {
            out_addf(o, ", from ");
            out_text(o, slice_of(x->from));
        }
        out_addf(o, "\n");
    }
    if (a->applied)
        out_addf(o, "moved: %zu session%s" OUT_UNDO_WITH "\n", a->m.moving,
                 a->m.moving == 1 ? "" : "s", a->m.change->id);
    else
        out_addf(o, "%zu session%s would move; nothing was changed (--apply does it)\n",
                 a->m.moving, a->m.moving == 1 ? "" : "s");
}

/* Sessions that cannot move do not keep the others, but the exit code tells. */
static enum err_code move_report(struct invocation *in, const struct move_answer *a, struct err *e)
{
    size_t left = 0;
    enum err_code code = ERR_OK;

    if (in->out.wants_json)
        move_write_json(a, &in->out);
    else
        move_write_text(a, &in->out);
    for (size_t i = 0; i < a->m.n; i++)
        if (a->m.item[i].why && a->m.item[i].code != ERR_UNSUPPORTED) {
            code = a->m.item[i].code;
            left++;
        }
    if (!left)
        return ERR_OK;
    TRY(out_flush(&in->out, e));
    in->done = false;
    return err_set(e, code, "", "move: %zu of %zu sessions stay where they are", left, a->m.n);
}

/* Prints the directories that the one that is gone may be now, each with what it has in common with it. */
static enum err_code move_find(struct invocation *in, const struct sessions *s, struct err *e)
{
    CLEANUP(project_places_fini) struct project_places p = { .n = 0 };
    struct out *o = &in->out;

    if (option_given(&in->options, OPTION_APPLY))
        return err_set(e, ERR_USAGE, "--apply", "move: name the new directory, too");
    TRY(project_find(s->store, s->n, &in->world->env, in->argv[0], &p, e));
    if (!p.n)
        return err_set(e, ERR_NOT_FOUND, p.gone,
                       "move: no directory that looks like it was found; name the new one");
    if (o->wants_json) {
        out_open(o, NULL, '{');
        out_string(o, "gone", p.gone);
        out_open(o, "places", '[');
    }
    for (size_t i = 0; i < p.n; i++) {
        const struct project_place *x = &p.place[i];

        if (o->wants_json) {
            out_open(o, NULL, '{');
            out_string(o, "from", x->from);
            out_string(o, "to", x->to);
            out_string(o, "why", x->why);
            out_close(o, '}');
            continue;
        }
        out_addf(o, "%s: ", x->why);
        out_text(o, slice_of("reprise move "));
        AUTO_BUF line = { 0 };

        NEED(!shell_quote(&line, slice_of(x->from)) && !buf_add(&line, SLICE(" ")) &&
             !shell_quote(&line, slice_of(x->to)));
        out_line(o, "", buf_slice(&line));
    }
    if (o->wants_json) {
        out_close(o, ']');
        out_end(o, '}');
    }
    return ERR_OK;
}

static enum err_code move_sessions(struct invocation *in, const struct sessions *s, struct err *e)
{
    struct move_answer a = { 0 };
    enum err_code rc =
        project_move_plan(s->store, s->n, &in->world->env, in->argv[0], in->argv[1], &a.m, e);

    if (!rc && a.m.n == 0)
        rc = err_set(e, ERR_NOT_FOUND, a.m.from, "move: no session is of this directory");
    if (!rc && option_given(&in->options, OPTION_APPLY) && a.m.moving) {
        rc = change_do(&in->world->env, a.m.change, e);
        a.applied = in->done = !rc;
    }
    if (!rc)
        rc = move_report(in, &a, e);
    project_move_fini(&a.m);
    return rc;
}

enum err_code move_run(struct invocation *in, struct err *e)
{
    struct sessions s;

    TRY(sessions_open(in, true, &s, e));
    const enum err_code rc = in->argc == 1 ? move_find(in, &s, e) : move_sessions(in, &s, e);

    sessions_close(&s);
    return rc;
}
