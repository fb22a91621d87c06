#include <string.h>

#include "lite/jsonout.h"
#include "store/change/change.h"
#include "tui/commands/command.h"
#include "tui/when.h"

/* What reprise changed, newest first: renames, tags, deletions, ... Rewinds have a list of their own (rewinds). */
struct writing {
    struct invocation *in;
    struct jsonout j;
    enum err_code rc;
    struct err *e;
};

static struct slice slice_of(const char *text)
{
    return (struct slice){ text, strlen(text) };
}

static void json_change(struct jsonout *j, const struct change *c, bool undone)
{
    jsonout_open(j, '{');
    jsonout_member(j, "id", slice_of(c->id));
    jsonout_member(j, "kind", slice_of(c->kind));
    jsonout_member(j, "text", slice_of(c->text));
    jsonout_key(j, "at");
    jsonout_int(j, c->at_ms);
    jsonout_key(j, "sessions");
    jsonout_open(j, '[');
    for (size_t i = 0; i < c->sessions_n; i++)
        jsonout_text(j, slice_of(c->sessions[i]));
    jsonout_close(j, ']');
    if (c->undoes)
        jsonout_member(j, "undoes", slice_of(c->undoes));
    jsonout_key(j, "undone");
    jsonout_bool(j, undone);
    jsonout_close(j, '}');
}

static bool add_json(const struct change *c, bool undone, void *arg)
{
    struct writing *w = arg;

    json_change(&w->j, c, undone);
    w->rc = w->j.rc ? err_set(w->e, ERR_NOMEM, "", "write the answer: out of memory") : ERR_OK;
    return !w->rc;
}

static bool add_text(const struct change *c, bool undone, void *arg)
{
    struct writing *w = arg;
    struct out *out = &w->in->out;
    char age[WHEN_AGE];

    when_age(w->in->world->env.now_ms, c->at_ms, age);
    w->rc = out_addf(out, w->e, "%8s  %s  %-10s ", age, c->id, c->kind);
    if (!w->rc)
        w->rc = out_text(out, slice_of(c->text), w->e);
    for (size_t i = 0; i < c->sessions_n && !w->rc; i++) {
        w->rc = out_add(out, SLICE("  "), w->e);
        if (!w->rc)
            w->rc = out_text(out, slice_of(c->sessions[i]), w->e);
    }
    if (!w->rc)
        w->rc = out_add(out, undone ? SLICE("  (undone)\n") : SLICE("\n"), w->e);
    return !w->rc;
}

enum err_code log_run(struct invocation *in, struct err *e)
{
    bool json = option_given(&in->options, OPTION_JSON);
    struct writing w = { .in = in, .e = e };
    struct change_log *log;
    enum err_code rc = change_log_open(&in->world->env, &log, e);

    if (rc)
        return rc;
    jsonout_init(&w.j, &in->out.buf);
    if (json)
        jsonout_open(&w.j, '[');
    rc = change_list(log, json ? add_json : add_text, &w, e);
    if (json)
        jsonout_close(&w.j, ']');
    change_log_close(log);
    if (!rc)
        rc = w.rc;
    if (!rc && json)
        rc = w.j.rc ? err_set(e, ERR_NOMEM, "", "write the answer: out of memory")
                    : out_add(&in->out, SLICE("\n"), e);
    return rc;
}
