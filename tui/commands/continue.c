#include <string.h>

#include "store/maintenance/continue_in.h"
#include "tui/commands/command.h"
#include "tui/commands/session.h"
#include "tui/config/resume_command.h"

struct continue_answer {
    struct continue_in in;
    const struct session_ref *from;
    bool applied;
    struct resume resume; /* how the new session is resumed; argv NULL: not known */
};

/* ---- the other agent ---- */

static enum err_code continue_find_agent(const struct sessions *s, const char *name,
                                         struct arena *a, const struct store **out, struct err *e)
{
    const struct store_ops *system = store_system(slice_of(name));
    const char *agents = continue_in_agents(a, NULL);

    NEED(agents);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->store[i]->ops->name, name) == 0 && continue_in_can(s->store[i])) {
            *out = s->store[i];
            return ERR_OK;
        }
    if (system && system->compose)
        return err_set(
            e, ERR_NOT_FOUND, name,
            "continue in: the agent has no sessions here: start it once, or name its store "
            "with --store");
    return err_set(e, system ? ERR_UNSUPPORTED : ERR_USAGE, name,
                   "continue in: sessions can only be made for %s", agents);
}

/* ---- the answer ---- */

static void continue_write_json(const struct continue_answer *a, struct out *o)
{
    const struct continue_in *c = &a->in;

    out_open(o, NULL, '{');
    out_string(o, "from", a->from->store->ops->name);
    out_member(o, "fromId", a->from->id);
    out_string(o, "to", c->to->ops->name);
    out_bool(o, "dryRun", !a->applied);
    out_string(o, "cwd", c->dir);
    out_int(o, "prompts", (int64_t)c->prompts);
    out_int(o, "replies", (int64_t)c->replies);
    out_int(o, "calls", (int64_t)c->calls);
    out_int(o, "callsAsText", (int64_t)c->texts);
    out_int(o, "callsWithoutResult", (int64_t)c->unanswered);
    out_int(o, "textsRepaired", (int64_t)c->repaired);
    out_open(o, "leftOut", '{');
    out_int(o, "thinking", (int64_t)c->thoughts);
    out_int(o, "media", (int64_t)c->media);
    out_int(o, "subagents", (int64_t)c->agents);
    out_close(o, '}');
    out_int(o, "bytes", c->bytes);
    if (a->applied) {
        out_member(o, "sessionId", c->id);
        out_string(o, "path", c->path);
        out_string(o, "change", c->change->id);
        if (a->resume.argv)
            resume_json(&a->resume, out_json(o));
    }
    out_end(o, '}');
}

static void continue_write_count(struct out *o, size_t n, const char *one, const char *many)
{
    if (n)
        out_addf(o, "  %zu %s\n", n, n == 1 ? one : many);
}

static enum err_code continue_write_text(const struct continue_answer *a, struct out *o,
                                         struct err *e)
{
    const struct continue_in *c = &a->in;
    enum { TITLE_COLUMNS = 60 };
    const char *label = c->to->ops->label ? c->to->ops->label : c->to->ops->name;

    out_addf(o, "in %s: ", label);
    session_line_cut(c->title, TITLE_COLUMNS, o);
    out_addf(o, "\n");
    if (c->elsewhere) {
        out_addf(o, "  in the repository's directory, because %s knows no other: ", label);
        out_line(o, "", slice_of(c->dir));
    }
    continue_write_count(o, c->prompts, "prompt", "prompts");
    continue_write_count(o, c->replies, "reply", "replies");
    continue_write_count(o, c->calls, "tool call as one of its own", "tool calls as its own");
    continue_write_count(o, c->texts, "tool call as text", "tool calls as text");
    continue_write_count(o, c->unanswered, "of them without a result", "of them without a result");
    continue_write_count(o, c->repaired, "text without characters that a model refuses",
                         "texts without characters that a model refuses");

    if (c->thoughts || c->media || c->agents)
        out_addf(o, "left out:\n");
    continue_write_count(o, c->thoughts, "message's thinking", "messages' thinking");
    continue_write_count(o, c->media, "image or document, named in its place",
                         "images and documents, named in their place");
    continue_write_count(o, c->agents, "conversation of a sub-agent",
                         "conversations of sub-agents");

    if (!a->applied) {
        out_addf(o, "nothing was written (--apply makes the session)\n");
        return ERR_OK;
    }
    out_addf(o, "made %s:", c->to->ops->name);
    out_text(o, c->id);
    out_addf(o, OUT_UNDO_WITH "\n", c->change->id);

    AUTO_BUF line = { 0 };

    if (a->resume.argv) {
        if (resume_line(&a->resume, &line))
            return err_nomem(e);
        out_line(o, "", buf_slice(&line));
    }
    return ERR_OK;
}

/* ---- the command ---- */

/* The command that resumes the new session. Without one the session is nevertheless made. */
static enum err_code continue_hand_off(struct invocation *in, struct continue_answer *a,
                                       struct err *e)
{
    const struct session_ref ref = { .store = a->in.to,
                                     .id = a->in.id,
                                     .path = slice_of(a->in.path) };
    struct config config;
    struct err why = { 0 };

    TRY(command_stores(in, &config, e));
    if (resume_make(&config, &ref, a->in.dir, &a->in.arena, &a->resume, &why)) {
        a->resume.argv = NULL;
        out_report(in->err_fd, &why);
    }
    config_fini(&config);
    return ERR_OK;
}

enum err_code continue_session(struct invocation *in, struct sessions *s,
                               const struct session_ref *ref, struct err *e)
{
    struct continue_answer a = { .from = ref, .applied = option_given(&in->options, OPTION_APPLY) };
    const struct store *to = NULL;

    if (!in->options.in)
        return err_set(e, ERR_USAGE, "continue", "needs --in AGENT; see reprise help agents");
    TRY(continue_find_agent(s, in->options.in, &s->arena, &to, e));
    TRY((a.applied ? continue_in_do : continue_in_plan)(ref, to, &a.in, e));
    in->done = a.applied;
    enum err_code rc = a.applied ? continue_hand_off(in, &a, e) : ERR_OK;

    if (!rc && in->out.wants_json)
        continue_write_json(&a, &in->out);
    else if (!rc)
        rc = continue_write_text(&a, &in->out, e);
    continue_in_fini(&a.in);
    return rc;
}
