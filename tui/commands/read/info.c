#include <inttypes.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/query/session_json.h"
#include "tui/commands/command.h"
#include "tui/commands/report.h"
#include "tui/commands/session_line.h"
#include "tui/commands/sessions.h"
#include "tui/text/when.h"

/* Everything the answer is made of, gathered before the first byte of it is written. */
struct facts {
    struct session_ref ref;
    struct session_row *row;       /* owned */
    struct transcript *transcript; /* owned; NULL: none is left */
    int64_t messages;
    struct checkpoint_list checkpoints; /* none where the system has no such thing */
    struct slice *subagents;            /* in the arena of the sessions */
    size_t subagent_count;
};

/* A session that no listing would show has no row. */
static enum err_code check_listed(const struct facts *f, struct err *e)
{
    const char *path = f->ref.path.p;

    switch (f->row->hidden) {
    case HIDDEN_EMPTY:
        return err_set(e, ERR_NOT_FOUND, path, "describe session: it has no conversation");
    case HIDDEN_SIDECHAIN:
        return err_set(e, ERR_NOT_FOUND, path, "describe session: it is a sub-agent's transcript");
    case HIDDEN_UNREADABLE:
        return err_set(e, ERR_NOT_FOUND, path, "describe session: a link, or not a regular file");
    case HIDDEN_DAMAGED:
        return err_set(e, ERR_FORMAT, path, "describe session: %s", f->row->problem);
    default: return ERR_OK;
    }
}

static enum err_code count_message(struct slice json, void *arg, struct err *e)
{
    int64_t *count = arg;

    (void)json;
    (void)e;
    ++*count;
    return ERR_OK;
}

/* Where it keeps no conversation any more, the rest is told all the same. */
static enum err_code read_conversation(const struct invocation *in, struct facts *f, struct err *e)
{
    const struct store_ops *ops = f->ref.store->ops;
    struct message_query q = { .session = f->ref.id };
    enum err_code rc = ops->messages(f->ref.store, &f->ref, &q, count_message, &f->messages, e);

    if (rc == ERR_OK)
        rc = ops->load(f->ref.store, &f->ref, NULL, &f->transcript, e);
    if (rc != ERR_NOT_FOUND)
        return rc;
    out_report(in->err_fd, e);
    return ERR_OK;
}

static enum err_code collect_facts(struct invocation *in, struct sessions *s, struct facts *f,
                                   struct err *e)
{
    const struct store_ops *ops = f->ref.store->ops;

    f->row = session_row_new();
    if (!f->row)
        return err_nomem(e);
    enum err_code rc = ops->describe(f->ref.store, &s->scope, &f->ref, f->row, e);

    if (rc == ERR_OK)
        rc = check_listed(f, e);
    if (rc == ERR_OK)
        rc = read_conversation(in, f, e);
    if (rc == ERR_OK && ops->subagents)
        rc = ops->subagents(f->ref.store, &f->ref, &s->arena, &f->subagents, &f->subagent_count, e);
    if (rc == ERR_OK && ops->checkpoints)
        rc = ops->checkpoints(f->ref.store, &f->ref, &f->checkpoints, e);
    return rc;
}

static void json_damage(struct jsonout *j, size_t line, int64_t offset, struct slice why)
{
    jsonout_open(j, '{');
    jsonout_key(j, "line");
    jsonout_int(j, (int64_t)line);
    jsonout_key(j, "offset");
    jsonout_int(j, offset);
    jsonout_key(j, "why");
    jsonout_text(j, why);
    jsonout_close(j, '}');
}

static void json_damaged(struct jsonout *j, const struct transcript *t)
{
    jsonout_key(j, "damaged");
    jsonout_open(j, '[');
    for (size_t i = 0; t && i < t->n; i++) {
        const struct message *m = &t->message[i];

        if (m->flags & MESSAGE_BROKEN)
            json_damage(j, m->line + 1, m->offset,
                        m->flags & MESSAGE_MISTYPED ? SLICE("a member has an invalid type")
                                                    : SLICE("not a JSON object"));
    }
    if (t && t->unfinished)
        json_damage(j, t->lines, t->unfinished_at, SLICE("unfinished write"));
    jsonout_close(j, ']');
}

static enum err_code write_info_json(const struct facts *f, struct out *out, struct err *e)
{
    const struct store *st = f->ref.store;
    struct buf name = { 0 };
    struct jsonout j;
    enum err_code rc = buf_addf(&name, "%s:%s", st->ops->name, st->path);

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '{');
    session_json_members(&j, f->row);
    jsonout_member(&j, "store", buf_slice(&name));
    jsonout_key(&j, "messageCount");
    jsonout_int(&j, f->messages);
    if (st->ops->checkpoints) {
        jsonout_key(&j, "checkpointCount");
        jsonout_int(&j, (int64_t)f->checkpoints.n);
    }
    jsonout_key(&j, "subagents");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < f->subagent_count; i++)
        jsonout_text(&j, f->subagents[i]);
    jsonout_close(&j, ']');
    json_damaged(&j, f->transcript);
    jsonout_close(&j, '}');
    buf_fini(&name);
    if (rc || j.rc)
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

static enum err_code write_field(const char *name, struct slice text, struct out *out,
                                 struct err *e)
{
    if (text.n == 0)
        return ERR_OK;
    enum err_code rc = out_addf(out, e, "%-14s ", name);

    if (rc == ERR_OK)
        rc = out_text(out, text, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_numbers(const struct facts *f, int64_t now_ms, struct out *out,
                                   struct err *e)
{
    char age[WHEN_AGE], flags[SESSION_LINE_FLAGS];

    when_age(now_ms, f->row->activity_ms, age);
    session_line_flags(f->row->flags, flags);
    return out_addf(out, e, "%-14s %s\n%-14s %" PRId64 "\n%-14s %zu\n%-14s %zu\n%-14s %zu\n%s%s%s",
                    "active", age, "messages", f->messages, "checkpoints", f->checkpoints.n,
                    "sub-agents", f->subagent_count, "damaged lines",
                    f->transcript ? f->transcript->broken : 0, flags[0] ? "state          " : "",
                    flags, flags[0] ? "\n" : "");
}

static enum err_code write_info_text(const struct facts *f, int64_t now_ms, struct out *out,
                                     struct err *e)
{
    const struct session_row *row = f->row;
    const struct {
        const char *name;
        struct slice text;
    } fields[] = {
        { "title", row->summary },
        { "id", row->ref.id },
        { "directory", row->cwd },
        { "branch", row->git_branch },
        { "tag", row->tag },
        { "model", row->model },
        { "agent", row->agent_name },
        { "first prompt", row->first_prompt },
        { "last prompt", row->last_prompt },
        { "forked from", row->parent_id },
        { "file", row->ref.path },
    };
    enum err_code rc = ERR_OK;

    for (size_t i = 0; rc == ERR_OK && i < sizeof fields / sizeof fields[0]; i++)
        rc = write_field(fields[i].name, fields[i].text, out, e);
    return rc ? rc : write_numbers(f, now_ms, out, e);
}

enum err_code info_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct facts f = { 0 };
    enum err_code rc = sessions_of_operand(in, &s, &f.ref, e);

    if (rc)
        return rc;
    rc = collect_facts(in, &s, &f, e);
    if (rc == ERR_OK && option_given(&in->options, OPTION_JSON))
        rc = write_info_json(&f, &in->out, e);
    else if (rc == ERR_OK)
        rc = write_info_text(&f, in->world->env.now_ms, &in->out, e);
    checkpoint_list_fini(&f.checkpoints);
    transcript_free(f.transcript);
    session_row_free(f.row);
    sessions_close(&s);
    return rc;
}
