#include <string.h>

#include "lite/jsonout.h"
#include "store/change/change.h"
#include "tui/commands/command.h"
#include "tui/commands/rewind_answer.h"

/* There are two kinds of changes to take back, rewinds of files and changes of sessions, each with a log of its own;
 * their ids never meet. Without an id it is the newest that stands, of either kind. */
struct newest {
    char id[40];
    int64_t at_ms;
    bool found;
};

/* ---- which one ---- */

static bool newest_change(const struct change *c, bool undone, void *arg)
{
    struct newest *n = arg;

    if (undone || strcmp(c->kind, "undo") == 0)
        return true;
    *n = (struct newest){ .at_ms = c->at_ms, .found = true };
    memcpy(n->id, c->id, sizeof n->id);
    return false;
}

struct named {
    const char *id;
    bool found;
};

static bool is_named(const struct change *c, bool undone, void *arg)
{
    struct named *n = arg;

    (void)undone;
    n->found = strcmp(c->id, n->id) == 0;
    return !n->found;
}

static void newest_rewind(const struct rewind_records *list, struct newest *n)
{
    for (size_t i = 0; i < list->n && !n->found; i++) {
        const struct rewind_record *r = &list->record[i];

        if (r->undone || r->undoes)
            continue;
        *n = (struct newest){ .at_ms = r->at_ms, .found = true };
        memcpy(n->id, r->id, strnlen(r->id, sizeof n->id - 1));
    }
}

/* Is it a change of a session that shall be taken back, and which? An id that neither log knows is left to the log
 * of rewinds, which says so. */
static enum err_code choose_change(const struct invocation *in, struct change_log *log,
                                   const char **id, struct newest *change, struct err *e)
{
    struct rewind_records list;
    struct newest rewind = { .found = false };

    *id = NULL;
    if (in->argc) {
        struct named n = { .id = in->argv[0] };
        enum err_code rc = change_list(log, is_named, &n, e);

        *id = n.found ? in->argv[0] : NULL;
        return rc;
    }
    enum err_code rc = change_list(log, newest_change, change, e);

    if (!rc)
        rc = rewind_records_read(&in->world->env, &list, e);
    if (rc)
        return rc;
    newest_rewind(&list, &rewind);
    rewind_records_fini(&list);
    if (change->found && (!rewind.found || change->at_ms >= rewind.at_ms))
        *id = change->id;
    return ERR_OK;
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

static enum err_code undo_change(struct invocation *in, struct change_log *log, const char *id,
                                 struct err *e)
{
    struct change *c;

    if (option_given(&in->options, OPTION_DRY_RUN))
        return err_set(e, ERR_UNSUPPORTED, id,
                       "undo: a change of a session has no dry run (see: reprise log)");
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
    struct newest change = { .found = false };
    const char *id;
    size_t recovered;
    enum err_code rc = rewind_recover(&in->world->env, &recovered, e);

    if (!rc)
        rc = change_log_open(&in->world->env, &log, e);
    if (rc)
        return rc;
    rc = choose_change(in, log, &id, &change, e);
    if (!rc && id)
        rc = undo_change(in, log, id, e);
    change_log_close(log);
    return rc || id ? rc : undo_rewind(in, e);
}
