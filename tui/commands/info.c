#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/maintenance/doctor.h"
#include "store/proc/live.h"
#include "store/query/listing.h"
#include "store/query/resolve.h"
#include "store/query/usage.h"
#include "store/rewind/plan/by_snapshots.h"
#include "tui/commands/command.h"
#include "tui/commands/out.h"
#include "tui/commands/session.h"
#include "tui/text/human.h"

/* ---- info ---- */

/* The facts to print, collected before the first byte is written. */
struct facts {
    struct session_ref ref;
    struct session_row *row;       /* owned */
    struct transcript *transcript; /* owned; NULL if the session no longer has a conversation */
    int64_t messages;
    struct checkpoint_list checkpoints; /* empty if the system has no checkpoints */
    struct session_facts more;          /* what only this system records */
    struct slice *subagents;            /* in the arena of the sessions */
    size_t subagent_count;
    struct finding_list damage; /* damaged lines of the log, if the system has log_rules */
    double cost;                /* in US dollars, as the agent recorded it; NAN: not recorded */
};

/* A session that no listing shows is not found. */
static enum err_code check_listed(const struct facts *f, struct err *e)
{
    const char *path = f->ref.path.p;

    switch (f->row->hidden) {
    case HIDDEN_EMPTY:
        return err_set(e, ERR_NOT_FOUND, path,
                       "describe session: nothing in it could serve as a title, so that only list "
                       "--all-kinds has it");
    case HIDDEN_SIDECHAIN:
        return err_set(e, ERR_NOT_FOUND, path, "describe session: the transcript of a sub-agent");
    case HIDDEN_UNREADABLE:
        if (access(path, R_OK) != 0 && errno == EACCES)
            return err_sys(e, path, "describe session");
        return err_set(e, ERR_NOT_FOUND, path,
                       "describe session: it is a link, not a regular file, or cannot be read; "
                       "reprise messages says why");
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

/* If a session has no conversation, this is a warning, and the other facts are shown. */
static enum err_code command_info_read_conversation(const struct invocation *in, struct facts *f,
                                                    struct err *e)
{
    const struct store_ops *ops = f->ref.store->ops;
    struct message_query q = { .session = f->ref.id };
    enum err_code rc = ops->messages(f->ref.store, &f->ref, &q, count_message, &f->messages, e);

    if (!rc)
        rc = ops->load(f->ref.store, &f->ref, NULL, &f->transcript, e);
    if (rc != ERR_NOT_FOUND)
        return rc;
    out_report(in->err_fd, e);
    return ERR_OK;
}

/* The agent's own figure. Without one the other facts are shown all the same. */
static enum err_code read_recorded_cost(struct facts *f, struct err *e)
{
    struct usage_list list = { .n = 0 };
    struct usage_set set = { .n = 0 };
    struct usage_sum sum = { .first_ms = TIME_NONE, .last_ms = TIME_NONE };
    enum err_code rc = usage_list_read(&f->ref, NULL, &list, NULL);

    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e) : ERR_OK;
    for (size_t i = 0; !rc && i < list.n; i++)
        rc = usage_set_add(&set, 0, &list.record[i]);
    if (!rc)
        rc = usage_set_finish(&set);
    for (size_t i = 0; !rc && i < set.n; i++)
        usage_sum_add(&sum, &set.answer[i], set.answer[i].cost);
    if (!rc && sum.has_cost)
        f->cost = sum.cost;
    usage_set_fini(&set);
    usage_list_fini(&list);
    return rc ? err_nomem(e) : ERR_OK;
}

/* What doctor reports about the lines of the log. */
static enum err_code note_damaged_line(const struct finding *f, void *arg, struct err *e)
{
    struct facts *facts = arg;
    const bool of_line = f->kind <= FINDING_BROKEN_LINE || f->kind == FINDING_SPLIT_LINE ||
                         f->kind == FINDING_POISONED_ROW;

    return of_line && f->line && strcmp(f->path, facts->ref.path.p) == 0
               ? doctor_list_add(f, &facts->damage, e)
               : ERR_OK;
}

static enum err_code collect_facts(struct invocation *in, struct sessions *s, struct facts *f,
                                   struct err *e)
{
    const struct store_ops *ops = f->ref.store->ops;

    f->row = session_row_new();
    if (!f->row)
        return err_nomem(e);
    enum err_code rc = ops->describe(f->ref.store, &s->scope, &f->ref, f->row, e);

    if (!rc)
        store_admit_row(f->row, &s->scope);
    if (!rc) {
        struct live_table hosts;

        rc = live_read_hosts(f->ref.store->env, &hosts, e);
        if (!rc && !live_show_host(&hosts, f->row))
            rc = err_nomem(e);
        live_fini(&hosts);
    }
    if (!rc)
        rc = check_listed(f, e);
    if (!rc)
        rc = command_info_read_conversation(in, f, e);
    if (rc == ERR_OK && ops->subagents)
        rc = ops->subagents(f->ref.store, &f->ref, &s->arena, &f->subagents, &f->subagent_count, e);
    if (rc == ERR_OK && store_can_rewind(ops))
        rc = rewind_checkpoints(&f->ref, &f->checkpoints, e);
    if (rc == ERR_UNSUPPORTED && !ops->checkpoints) /* it has no snapshots */
        rc = ERR_OK;
    if (rc == ERR_OK && ops->log_rules && f->transcript)
        rc = ops->check(f->ref.store, &f->ref, NULL, note_damaged_line, f, e);
    if (rc == ERR_OK && ops->facts)
        rc = ops->facts(f->ref.store, &f->ref, &f->more, e);
    else if (rc == ERR_OK) /* such facts have a cost of their own */
        rc = read_recorded_cost(f, e);
    return rc;
}

static void write_facts_json(const struct session_facts *more, struct out *o)
{
    for (size_t i = 0; i < more->n; i++) {
        const struct session_fact *x = &more->fact[i];

        if (x->json.n) {
            jsonout_key(out_json(o), x->key);
            jsonout_compact(out_json(o), x->json);
        } else
            out_member(o, x->key, x->text);
    }
}

static void write_facts_text(const struct session_facts *more, struct out *o)
{
    for (size_t i = 0; i < more->n; i++)
        if (more->fact[i].label && more->fact[i].text.n) {
            out_addf(o, "%-14s ", more->fact[i].label);
            out_text(o, more->fact[i].text);
            out_addf(o, "\n");
        }
}

static void write_damage(struct out *o, size_t line, int64_t offset, const char *why)
{
    out_open(o, NULL, '{');
    out_int(o, "line", (int64_t)line);
    out_int(o, "offset", offset);
    out_string(o, "why", why);
    out_close(o, '}');
}

static void write_damages(struct out *o, const struct facts *f)
{
    const struct transcript *t = f->transcript;
    const bool scanned = f->ref.store->ops->log_rules;

    out_open(o, "damaged", '[');
    for (size_t i = 0; i < f->damage.n; i++)
        write_damage(o, (size_t)f->damage.finding[i].line, f->damage.finding[i].offset,
                     f->damage.finding[i].why);
    for (size_t i = 0; t && i < t->n; i++) {
        const struct message *m = &t->message[i];

        if (m->flags & MESSAGE_BROKEN && (!scanned || m->flags & MESSAGE_MISTYPED))
            write_damage(o, m->line + 1, m->offset,
                         m->flags & MESSAGE_MISTYPED ? "a member has an invalid type"
                                                     : "not a JSON object");
    }
    if (t && t->unfinished && !scanned)
        write_damage(o, t->lines, t->unfinished_at, "unfinished write");
    out_close(o, ']');
}

static enum err_code write_info_json(const struct facts *f, struct arena *a, struct out *o,
                                     struct err *e)
{
    const struct store *st = f->ref.store;
    const char *name = arena_format(a, "%s:%s", st->ops->name, st->path);

    out_open(o, NULL, '{');
    listing_row_json_members(out_json(o), f->row);
    out_string(o, "store", name);
    out_int(o, "messageCount", f->messages);
    if (f->transcript && f->transcript->lost)
        out_int(o, "lostMessageCount", (int64_t)f->transcript->lost);
    if (st->ops->checkpoints || f->checkpoints.n)
        out_int(o, "checkpointCount", (int64_t)f->checkpoints.n);
    if (!isnan(f->cost))
        out_money(o, "costUSD", f->cost);
    write_facts_json(&f->more, o);
    out_slices(o, "subagents", f->subagents, f->subagent_count);
    write_damages(o, f);
    out_end(o, '}');
    return name ? ERR_OK : err_nomem(e);
}

/* The state of the session, as the program that runs it publishes it. */
static void write_activity(const struct session_row *row, struct out *o)
{
    if (row->state == SESSION_UNKNOWN)
        return;
    out_addf(o, "%-14s %s", "activity",
             row->state == SESSION_REQUIRES_ACTION ? "waits for you"
             : row->flags & SESSION_SHELL          ? "running: a command, after the turn"
                                                   : session_state_name(row->state));
    if (row->waits_for.n) {
        out_addf(o, ": ");
        out_text(o, row->waits_for);
    }
    out_addf(o, "\n");
}

static void write_pull_request(const struct session_row *row, struct out *o)
{
    if (!row->pr_number)
        return;
    out_addf(o, "%-14s ", "pull request");
    out_text(o, row->pr_repository);
    out_addf(o, "#%" PRId64 "  ", row->pr_number);
    out_text(o, row->pr_url);
    out_addf(o, "\n");
}

/* The path of a session in a database consists of the path of the database and the session's id. */
static struct slice file_of(const struct session_ref *ref)
{
    size_t n = ref->path.n;

    while (n > 0 && ref->path.p[n - 1] != '/')
        n--;
    return ref->store->ops->size_unknown && n > 1 ? (struct slice){ ref->path.p, n - 1 }
                                                  : ref->path;
}

static void write_info_text(const struct facts *f, int64_t now_ms, struct out *o)
{
    const struct session_row *row = f->row;
    const struct {
        const char *name;
        struct slice text;
    } fields[] = {
        { "title", row->shown_title.n ? row->shown_title : row->summary },
        { "id", row->ref.id },
        { "directory", row->cwd },
        { "branch", session_row_branch(row) },
        { "tag", row->tag },
        { "model", row->model },
        { "agent", row->agent_name },
        { "agent type", row->agent_setting },
        { "agent color", row->agent_color },
        { "mode", slice_eq(row->mode, SLICE("normal")) ? SLICE("") : row->mode },
        { "worktree", row->worktree_path },
        { "first prompt", row->first_prompt },
        { "last prompt", row->last_prompt },
        { "forked from", row->parent_id },
        { "phase", row->phase ? slice_of(row->phase) : SLICE("") },
        { row->ref.store->ops->size_unknown ? "database" : "file", file_of(&row->ref) },
    };
    char age[HUMAN_AGE], flags[SESSION_LINE_FLAGS];

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].text.n) {
            out_addf(o, "%-14s ", fields[i].name);
            out_text(o, fields[i].text);
            out_addf(o, "\n");
        }
    write_pull_request(row, o);
    write_activity(row, o);
    human_age(now_ms, row->activity_ms, age);
    out_addf(o, "%-14s %s\n", "active", age);
    out_addf(o, "%-14s %" PRId64 "\n", "messages", f->messages);
    if (f->transcript && f->transcript->lost)
        out_addf(o,
                 "%-14s a resume restores %zu of %zu messages: reprise doctor %.*s --fix "
                 "--reconnect\n",
                 "lost", f->transcript->restored, f->transcript->restored + f->transcript->lost,
                 SLICE_ARG(row->ref.id));
    out_addf(o, "%-14s %zu\n", "checkpoints", f->checkpoints.n);
    out_addf(o, "%-14s %zu\n", "sub-agents", f->subagent_count);
    out_addf(o, "%-14s %zu\n", "damaged lines",
             f->ref.store->ops->log_rules ? f->damage.n
             : f->transcript              ? f->transcript->broken
                                          : 0);
    if (!isnan(f->cost))
        out_addf(o, f->cost < 0.995 ? "%-14s $%.4f\n" : "%-14s $%.2f\n", "cost", f->cost);
    write_facts_text(&f->more, o);
    session_line_flags(row, flags);
    if (flags[0])
        out_addf(o, "%-14s %s\n", "state", flags);
}

enum err_code info_session(struct invocation *in, struct sessions *s, const struct session_ref *ref,
                           struct err *e)
{
    struct facts f = { .ref = *ref, .cost = NAN };
    enum err_code rc = collect_facts(in, s, &f, e);

    if (!rc && in->out.wants_json)
        rc = write_info_json(&f, &s->arena, &in->out, e);
    else if (!rc)
        write_info_text(&f, in->world->env.now_ms, &in->out);
    checkpoint_list_fini(&f.checkpoints);
    session_facts_fini(&f.more);
    arena_fini(&f.damage.arena);
    transcript_free(f.transcript);
    session_row_free(f.row);
    return rc;
}

/* ---- subagents ---- */

enum { TYPE_COLUMNS = 12, TASK_COLUMNS = 32 };

static enum err_code write_subagents_text(const struct session_ref *ref, struct out *o,
                                          struct err *e)
{
    struct subagent_list list;
    enum err_code rc = store_describe_subagents(ref, NULL, &list, e);

    for (size_t i = 0; !rc && i < list.n; i++) {
        const struct subagent *x = &list.agent[i];
        char size[HUMAN_SIZE] = "-";

        if (x->bytes >= 0)
            human_size(x->bytes, size);
        out_text(o, x->id);
        out_addf(o, "  %-10s %8s  ", subagent_end_word(x->end), size);
        session_line_column(x->type, TYPE_COLUMNS, o);
        out_addf(o, "  ");
        session_line_column(x->task, TASK_COLUMNS, o);
        out_addf(o, "  ");
        out_text(o, x->outcome);
        out_addf(o, "\n");
    }
    subagent_list_fini(&list);
    return rc;
}

static enum err_code write_subagents_json(const struct session_ref *ref, struct arena *a,
                                          struct out *o, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct slice *ids = NULL;
    size_t n = 0;
    enum err_code rc = ops->subagents ? ops->subagents(ref->store, ref, a, &ids, &n, e) : ERR_OK;

    if (rc)
        return rc;
    out_slices(o, NULL, ids, n);
    out_addf(o, "\n");
    return ERR_OK;
}

enum err_code info_subagents_session(struct invocation *in, struct sessions *s,
                                     const struct session_ref *ref, struct err *e)
{
    return in->out.wants_json ? write_subagents_json(ref, &s->arena, &in->out, e)
                              : write_subagents_text(ref, &in->out, e);
}

/* ---- checkpoints ---- */

/* clang-format off */
static const char *const kinds[] = {
    [CHECKPOINT_TURN] = "turn", [CHECKPOINT_TASK] = "task",
    [CHECKPOINT_COMMIT] = "commit", [CHECKPOINT_SESSION_END] = "session-end",
};
/* clang-format on */

static void write_checkpoint_json(const struct checkpoint *c, struct out *o)
{
    out_open(o, NULL, '{');
    out_member(o, "id", c->id);
    out_member(o, "messageId", c->message);
    if (c->time_ms != TIME_NONE)
        out_int(o, "timestamp", c->time_ms);
    out_member(o, "prompt", c->prompt);
    out_string(o, "kind", kinds[c->kind]);
    out_int(o, "files", (int64_t)c->files);
    if (c->counted) {
        out_int(o, "insertions", c->insertions);
        out_int(o, "deletions", c->deletions);
    }
    if (c->counted && c->removed)
        out_int(o, "filesDeleted", c->removed);
    out_bool(o, "restorable", !c->why);
    out_string(o, "why", c->why);
    out_bool_if_true(o, "shell", c->shell);
    if (c->record.n)
        jsonout_raw_member(out_json(o), "record", c->record);
    out_close(o, '}');
}

/* The ids of one list, and the width that they need. */
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

/* The first line of a prompt, cut to the terminal after `used` columns, since prompts may be pages
 * long. */
static void command_info_write_prompt(struct slice prompt, size_t used, struct out *o)
{
    enum { PROMPT_COLUMNS = 60, LEAST_COLUMNS = 20 };
    const char *end = prompt.n ? memchr(prompt.p, '\n', prompt.n) : NULL;
    struct slice first = { prompt.p, end ? (size_t)(end - prompt.p) : prompt.n };
    size_t room = o->columns > used + LEAST_COLUMNS ? o->columns - used : PROMPT_COLUMNS;

    session_line_cut(first, room, o);
}

static void write_checkpoint_line(const struct checkpoint *c, const struct id_column *ids,
                                  int64_t now_ms, struct out *o)
{
    char age[HUMAN_AGE], id[SHORT_ID], lines[32] = "";

    human_age(now_ms, c->time_ms, age);
    if (c->counted)
        snprintf(lines, sizeof lines, "+%u -%u", c->insertions, c->deletions);
    out_addf(o, "%8s  ", age);
    session_line_column(short_ids_of(ids->ids, NULL, c->id, id), ids->columns, o);
    out_addf(o, "  %3zu file%s  %-11s ", c->files, c->files == 1 ? " " : "s", lines);
    command_info_write_prompt(c->prompt, 8 + 2 + ids->columns + 2 + 9 + 12, o);
    if (c->kind != CHECKPOINT_TURN)
        out_addf(o, "  (%s)", kinds[c->kind]);
    if (c->counted && c->removed)
        out_addf(o, "  (deleted %u file%s)", c->removed, c->removed == 1 ? "" : "s");
    if (c->shell)
        out_addf(o, "  (ran commands)");
    if (c->why)
        out_addf(o, "  (%s)", c->why);
    out_addf(o, "\n");
}

static enum err_code write_checkpoints_text(const struct checkpoint_list *list, int64_t now_ms,
                                            struct out *o, struct err *e)
{
    struct id_column ids;
    enum err_code rc = fit_ids(list, &ids, e);

    if (rc)
        return rc;
    for (size_t i = 0; i < list->n; i++)
        write_checkpoint_line(&list->checkpoint[i], &ids, now_ms, o);
    short_ids_free(ids.ids);
    return ERR_OK;
}

enum err_code info_checkpoints_session(struct invocation *in, struct sessions *s,
                                       const struct session_ref *ref, struct err *e)
{
    const struct store_ops *ops = ref->store->ops;
    struct checkpoint_list list = { 0 };
    enum err_code rc = rewind_checkpoints(ref, &list, e);

    (void)s;
    if (!rc && ops->count_lines)
        rc = ops->count_lines(ref->store, ref, NULL, &list, e);
    if (!rc && list.incomplete) {
        struct err note = { 0 };

        err_set(&note, ERR_FORMAT, ref->path.p, "list checkpoints: %s", list.incomplete);
        out_report(in->err_fd, &note);
    }
    if (!rc && in->out.wants_json) {
        out_open(&in->out, NULL, '[');
        for (size_t i = 0; i < list.n; i++)
            write_checkpoint_json(&list.checkpoint[i], &in->out);
        out_end(&in->out, ']');
    } else if (!rc)
        rc = write_checkpoints_text(&list, in->world->env.now_ms, &in->out, e);
    checkpoint_list_fini(&list);
    return rc;
}
