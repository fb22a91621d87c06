#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/query/listing.h"
#include "store/query/short_ids.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
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
    listing_row_json_members(&j, f->row);
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

enum { TYPE_COLUMNS = 12, TASK_COLUMNS = 32 };

static enum err_code write_subagents_json(const struct slice *ids, size_t n, struct out *out,
                                          struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < n; i++)
        jsonout_text(&j, ids[i]);
    jsonout_close(&j, ']');
    if (j.rc)
        return err_nomem(e);
    return out_add(out, SLICE("\n"), e);
}

static enum err_code write_line(const struct subagent *x, struct out *out, struct err *e)
{
    char size[SIZE_TEXT];

    text_size(x->bytes, size);
    enum err_code rc = out_text(out, x->id, e);

    if (!rc)
        rc = out_addf(out, e, "  %-10s %8s  ", subagent_end_word(x->end), size);
    if (!rc)
        rc = session_line_column(x->type, TYPE_COLUMNS, out, e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = session_line_column(x->task, TASK_COLUMNS, out, e);
    if (!rc)
        rc = out_add(out, SLICE("  "), e);
    if (!rc)
        rc = out_text(out, x->outcome, e);
    return rc ? rc : out_add(out, SLICE("\n"), e);
}

static enum err_code write_subagents_text(const struct session_ref *ref, struct out *out,
                                          struct err *e)
{
    struct subagent_list list = { .n = 0 };
    enum err_code rc = ref->store->ops->describe_subagents
                           ? ref->store->ops->describe_subagents(ref->store, ref, NULL, &list, e)
                           : ERR_OK;

    for (size_t i = 0; !rc && i < list.n; i++)
        rc = write_line(&list.agent[i], out, e);
    subagent_list_fini(&list);
    return rc;
}

enum err_code subagents_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    if (option_given(&in->options, OPTION_JSON) && ref.store->ops->subagents)
        rc = ref.store->ops->subagents(ref.store, &ref, &s.arena, &ids, &n, e);
    if (rc == ERR_OK)
        rc = option_given(&in->options, OPTION_JSON) ? write_subagents_json(ids, n, &in->out, e)
                                                     : write_subagents_text(&ref, &in->out, e);
    sessions_close(&s);
    return rc;
}

/* clang-format off */
static const char *const kinds[] = {
    [CHECKPOINT_TURN] = "turn", [CHECKPOINT_TASK] = "task",
    [CHECKPOINT_COMMIT] = "commit", [CHECKPOINT_SESSION_END] = "session-end",
};
/* clang-format on */

static void json_checkpoint(struct jsonout *j, const struct checkpoint *c)
{
    jsonout_open(j, '{');
    jsonout_member(j, "id", c->id);
    jsonout_member(j, "messageId", c->message);
    if (c->time_ms != TIME_NONE) {
        jsonout_key(j, "timestamp");
        jsonout_int(j, c->time_ms);
    }
    jsonout_member(j, "prompt", c->prompt);
    jsonout_member(j, "kind", slice_of(kinds[c->kind]));
    jsonout_key(j, "files");
    jsonout_int(j, (int64_t)c->files);
    if (c->counted) {
        jsonout_key(j, "insertions");
        jsonout_int(j, c->insertions);
        jsonout_key(j, "deletions");
        jsonout_int(j, c->deletions);
    }
    jsonout_key(j, "restorable");
    jsonout_bool(j, !c->why);
    if (c->why)
        jsonout_member(j, "why", slice_of(c->why));
    if (c->shell) {
        jsonout_key(j, "shell");
        jsonout_bool(j, true);
    }
    if (c->record.n) {
        jsonout_key(j, "record");
        jsonout_raw(j, c->record);
    }
    jsonout_close(j, '}');
}

static enum err_code write_checkpoints_json(struct out *out, const struct checkpoint_list *list,
                                            struct err *e)
{
    struct jsonout j;

    jsonout_init(&j, &out->buf);
    jsonout_open(&j, '[');
    for (size_t i = 0; i < list->n; i++)
        json_checkpoint(&j, &list->checkpoint[i]);
    jsonout_close(&j, ']');
    return j.rc ? err_nomem(e) : out_add(out, SLICE("\n"), e);
}

/* The ids of one list, and how wide they get. */
struct id_column {
    struct short_ids *ids;
    size_t columns;
};

static enum err_code fit_ids(const struct checkpoint_list *list, struct id_column *out,
                             struct err *e)
{
    char text[SHORT_ID];
    bool ok = (out->ids = short_ids_new()) != NULL;

    out->columns = 0;
    for (size_t i = 0; i < list->n && ok; i++)
        ok = short_ids_add(out->ids, NULL, list->checkpoint[i].id);
    if (!ok) {
        short_ids_free(out->ids);
        return err_nomem(e);
    }
    short_ids_finish(out->ids);
    for (size_t i = 0; i < list->n; i++) {
        size_t n = short_ids_of(out->ids, NULL, list->checkpoint[i].id, text).n;

        out->columns = n > out->columns ? n : out->columns;
    }
    return ERR_OK;
}

/* The first line of a prompt, as much of it as the terminal has room for behind `used` columns: prompts are pages long. */
static enum err_code write_prompt(struct out *out, struct slice prompt, size_t used, struct err *e)
{
    enum { PROMPT_COLUMNS = 60, LEAST_COLUMNS = 20 };
    const char *end = prompt.n ? memchr(prompt.p, '\n', prompt.n) : NULL;
    struct slice first = { prompt.p, end ? (size_t)(end - prompt.p) : prompt.n };
    size_t room = out->columns > used + LEAST_COLUMNS ? out->columns - used : PROMPT_COLUMNS;

    return session_line_cut(first, room, out, e);
}

static enum err_code write_checkpoint_line(struct out *out, const struct checkpoint *c,
                                           const struct id_column *ids, int64_t now_ms,
                                           struct err *e)
{
    char age[WHEN_AGE], id[SHORT_ID], lines[32] = "";

    when_age(now_ms, c->time_ms, age);
    if (c->counted)
        snprintf(lines, sizeof lines, "+%u -%u", c->insertions, c->deletions);
    enum err_code rc = out_addf(out, e, "%8s  ", age);

    if (!rc)
        rc = session_line_column(short_ids_of(ids->ids, NULL, c->id, id), ids->columns, out, e);
    if (!rc)
        rc = out_addf(out, e, "  %3zu file%s  %-11s ", c->files, c->files == 1 ? " " : "s", lines);
    if (!rc)
        rc = write_prompt(out, c->prompt, 8 + 2 + ids->columns + 2 + 9 + 12, e);
    return rc ? rc
              : out_addf(out, e, "%s%s%s%s%s%s%s\n", c->kind == CHECKPOINT_TURN ? "" : "  (",
                         c->kind == CHECKPOINT_TURN ? "" : kinds[c->kind],
                         c->kind == CHECKPOINT_TURN ? "" : ")", c->shell ? "  (ran commands)" : "",
                         c->why ? "  (" : "", c->why ? c->why : "", c->why ? ")" : "");
}

static enum err_code write_checkpoints_text(struct out *out, const struct checkpoint_list *list,
                                            int64_t now_ms, struct err *e)
{
    struct id_column ids;
    enum err_code rc = fit_ids(list, &ids, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < list->n && !rc; i++)
        rc = write_checkpoint_line(out, &list->checkpoint[i], &ids, now_ms, e);
    short_ids_free(ids.ids);
    return rc;
}

enum err_code checkpoints_run(struct invocation *in, struct err *e)
{
    struct sessions s;
    struct session_ref ref;
    struct checkpoint_list list = { 0 };
    enum err_code rc = sessions_of_operand(in, &s, &ref, e);

    if (rc)
        return rc;
    if (!ref.store->ops->checkpoints)
        rc = store_unsupported_error(&ref, CAN_REWIND, "list checkpoints", e);
    if (!rc)
        rc = ref.store->ops->checkpoints(ref.store, &ref, &list, e);
    if (!rc && ref.store->ops->count_lines)
        rc = ref.store->ops->count_lines(ref.store, &ref, NULL, &list, e);
    if (!rc)
        rc = option_given(&in->options, OPTION_JSON)
                 ? write_checkpoints_json(&in->out, &list, e)
                 : write_checkpoints_text(&in->out, &list, in->world->env.now_ms, e);
    checkpoint_list_fini(&list);
    sessions_close(&s);
    return rc;
}
