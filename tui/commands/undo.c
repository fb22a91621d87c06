#include <string.h>

#include "lite/jsonout.h"
#include "store/newest.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind_answer.h"

/* ---- which one ---- */

struct named {
    const char *id;
    bool found;
    bool undone;           /* was it taken back already? */
    struct invocation *in; /* a dry run: to be told of it; else NULL */
    enum err_code rc;
    struct err *e;
};

/* What taking it back would be about. */
static enum err_code answer_dry_run(struct invocation *in, const struct change *c, struct err *e)
{
    struct jsonout j;
    const struct slice text = { c->text, strlen(c->text) };

    if (!option_given(&in->options, OPTION_JSON)) {
        enum err_code rc = out_add(&in->out, SLICE("would take back: "), e);

        if (!rc)
            rc = out_text(&in->out, text, e);
        for (size_t i = 0; i < c->sessions_n && !rc; i++) {
            rc = out_add(&in->out, SLICE("  "), e);
            if (!rc)
                rc =
                    out_text(&in->out, (struct slice){ c->sessions[i], strlen(c->sessions[i]) }, e);
        }
        return rc ? rc : out_add(&in->out, SLICE("\n"), e);
    }
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "undoes", (struct slice){ c->id, strlen(c->id) });
    jsonout_member(&j, "text", text);
    jsonout_key(&j, "sessions");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < c->sessions_n; i++)
        jsonout_text(&j, (struct slice){ c->sessions[i], strlen(c->sessions[i]) });
    jsonout_close(&j, ']');
    jsonout_key(&j, "dryRun");
    jsonout_bool(&j, true);
    jsonout_close(&j, '}');
    return j.rc ? err_set(e, ERR_NOMEM, "", "write the answer: out of memory")
                : out_add(&in->out, SLICE("\n"), e);
}

static bool is_named(const struct change *c, bool undone, void *arg)
{
    struct named *n = arg;

    n->found = strcmp(c->id, n->id) == 0;
    if (!n->found)
        return true;
    n->undone = undone;
    if (n->in && !undone)
        n->rc = answer_dry_run(n->in, c, n->e);
    return false;
}

/* Is it a change of a session that shall be taken back, and which? An id that neither log knows is left to the log
 * of rewinds, which says so. */
static enum err_code choose_change(const struct invocation *in, struct change_log *log,
                                   const char **id, struct newest *newest, struct err *e)
{
    *id = NULL;
    if (in->argc) {
        struct named n = { .id = in->argv[0] };
        enum err_code rc = change_list(log, is_named, &n, e);

        *id = n.found ? in->argv[0] : NULL;
        return rc;
    }
    enum err_code rc = newest_standing(&in->world->env, log, newest, e);

    if (!rc && newest->kind == NEWEST_CHANGE)
        *id = newest->id;
    return rc;
}

/* ---- a change of a session ---- */

static enum err_code answer_change(struct invocation *in, const struct change *c, struct err *e)
{
    struct jsonout j;

    if (!option_given(&in->options, OPTION_JSON)) {
        enum err_code rc = out_add(&in->out, SLICE("taken back: "), e);

        if (!rc)
            rc = out_text(&in->out, (struct slice){ c->text, strlen(c->text) }, e);
        return rc ? rc : out_add(&in->out, SLICE("\n"), e);
    }
    jsonout_init(&j, &in->out.buf);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", (struct slice){ c->id, strlen(c->id) });
    jsonout_member(&j, "undoes", (struct slice){ c->undoes, strlen(c->undoes) });
    jsonout_member(&j, "text", (struct slice){ c->text, strlen(c->text) });
    jsonout_close(&j, '}');
    return j.rc ? err_set(e, ERR_NOMEM, "", "write the answer: out of memory")
                : out_add(&in->out, SLICE("\n"), e);
}

static enum err_code dry_run(struct invocation *in, struct change_log *log, const char *id,
                             struct err *e)
{
    struct named n = { .id = id, .in = in, .e = e };
    enum err_code rc = change_list(log, is_named, &n, e);

    if (!rc && n.undone)
        rc = err_set(e, ERR_NOT_FOUND, id, "undo: it was taken back already");
    return rc ? rc : n.rc;
}

static enum err_code undo_change(struct invocation *in, struct change_log *log, const char *id,
                                 struct err *e)
{
    struct change *c;

    if (option_given(&in->options, OPTION_DRY_RUN))
        return dry_run(in, log, id, e);
    enum err_code rc = change_undo(log, id, &c, e);

    if (rc)
        return rc;
    rc = answer_change(in, c, e);
    change_free(c);
    return rc;
}

/* ---- a rewind ---- */

/* Going back to what a rewind kept needs no consent: it was given for that rewind. What was edited by hand since is
 * held back all the same. */
static enum err_code undo_rewind(struct invocation *in, struct err *e)
{
    const struct rewind_options options = { .allow_outside = true, .allow_sensitive = true };
    struct rewind_plan plan;
    enum err_code rc = rewind_undo_plan(&in->world->env, in->argc ? in->argv[0] : NULL, &plan, e);

    if (rc)
        return rc;
    rc = rewind_carry_out(in, &plan, &options, !option_given(&in->options, OPTION_DRY_RUN), false,
                          e);
    rewind_plan_fini(&plan);
    return rc;
}

enum err_code undo_run(struct invocation *in, struct err *e)
{
    struct change_log *log;
    struct newest newest = { .kind = NEWEST_NONE };
    const char *id;
    size_t recovered;
    enum err_code rc = rewind_recover(&in->world->env, &recovered, e);

    if (!rc)
        rc = change_log_open(&in->world->env, &log, e);
    if (rc)
        return rc;
    rc = choose_change(in, log, &id, &newest, e);
    if (!rc && id)
        rc = undo_change(in, log, id, e);
    change_log_close(log);
    return rc || id ? rc : undo_rewind(in, e);
}
