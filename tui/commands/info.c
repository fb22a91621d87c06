#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lite/json/jsonout.h"
#include "store/api/store.h"
#include "store/maintenance/doctor.h"
#include "store/maintenance/session_info.h"
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

static void write_facts_text(const struct session_facts *more, struct out *o)
{
    for (size_t i = 0; i < more->n; i++)
        if (more->fact[i].label && more->fact[i].text.n) {
            out_addf(o, "%-14s ", more->fact[i].label);
            out_line(o, "", more->fact[i].text);
        }
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
    out_line(o, "", row->pr_url);
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

static void write_counts(const struct session_info *f, struct out *o)
{
    const struct session_row *row = f->row;
    const struct store_ops *ops = f->ref.store->ops;

    if (f->messages >= 0)
        out_addf(o, "%-14s %" PRId64 "\n", "messages", f->messages);
    if (f->transcript && f->transcript->lost)
        out_addf(o,
                 "%-14s a resume restores %zu of %zu messages: reprise doctor %.*s --fix "
                 "--reconnect\n",
                 "lost", f->transcript->restored, f->transcript->restored + f->transcript->lost,
                 SLICE_ARG(row->ref.id));
    out_addf(o, "%-14s %zu\n", "checkpoints", f->checkpoints.n);
    out_addf(o, "%-14s %zu\n", "sub-agents", f->subagent_count);
    if (f->messages >= 0)
        out_addf(o, "%-14s %zu\n", "damaged lines",
                 ops->log_rules || ops->one_document ? f->damage.n
                 : f->transcript                     ? f->transcript->broken
                                                     : 0);
}

static void write_info_text(const struct session_info *f, int64_t now_ms, struct out *o)
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
        { row->bundle.n                       ? "bundle"
          : row->ref.store->ops->size_unknown ? "database"
                                              : "file",
          row->bundle.n ? row->bundle : file_of(&row->ref) },
    };
    char age[HUMAN_AGE], flags[SESSION_LINE_FLAGS];

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].text.n) {
            out_addf(o, "%-14s ", fields[i].name);
            out_line(o, "", fields[i].text);
        }

    write_pull_request(row, o);
    write_activity(row, o);
    human_age(now_ms, row->activity_ms, age);
    out_addf(o, "%-14s %s\n", "active", age);
    write_counts(f, o);

    /* A cost of less than a dollar has four digits, because two would show many as $0.00. */
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
    struct session_info f;
    struct out *o = &in->out;

    TRY(session_info_read(ref, &s->scope, &f, e));
    if (!f.transcript)
        out_report(in->err_fd, &f.missing);
    if (o->wants_json) {
        out_open(o, NULL, '{');
        session_info_json_members(&f, out_json(o));
        out_end(o, '}');
    } else {
        write_info_text(&f, in->world->env.now_ms, o);
    }
    session_info_fini(&f);
    return ERR_OK;
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
        out_line(o, "  ", x->outcome);
    }
    subagent_list_fini(&list);
    return rc;
}

enum err_code info_subagents_session(struct invocation *in, struct sessions *s,
                                     const struct session_ref *ref, struct err *e)
{
    if (!in->out.wants_json)
        return write_subagents_text(ref, &in->out, e);
    const struct store_ops *ops = ref->store->ops;
    struct slice *ids = NULL;
    size_t n = 0;

    TRY(ops->subagents ? ops->subagents(ref->store, ref, &s->arena, &ids, &n, e) : ERR_OK);
    out_slices(&in->out, NULL, ids, n);
    out_addf(&in->out, "\n");
    return ERR_OK;
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

static void write_checkpoint_line(const struct checkpoint *c, const struct id_column *ids,
                                  int64_t now_ms, struct out *o)
{
    enum { PROMPT_COLUMNS = 60, LEAST_COLUMNS = 20 };
    char age[HUMAN_AGE], id[SHORT_ID], lines[32] = "";

    human_age(now_ms, c->time_ms, age);
    if (c->counted)
        snprintf(lines, sizeof lines, "+%u -%u", c->insertions, c->deletions);
    out_addf(o, "%8s  ", age);
    session_line_column(short_ids_of(ids->ids, NULL, c->id, id), ids->columns, o);
    out_addf(o, "  %3zu file%s  %-11s ", c->files, c->files == 1 ? " " : "s", lines);

    /* The first line of a prompt, cut to the terminal after `used` columns, since prompts may be
     * pages long. */
    struct slice prompt = c->prompt;
    size_t used = 8 + 2 + ids->columns + 2 + 9 + 12;

    const char *end = prompt.n ? memchr(prompt.p, '\n', prompt.n) : NULL;
    struct slice first = { prompt.p, end ? (size_t)(end - prompt.p) : prompt.n };
    size_t room = o->columns > used + LEAST_COLUMNS ? o->columns - used : PROMPT_COLUMNS;

    session_line_cut(first, room, o);

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
    char text[SHORT_ID];

    bool ok = (ids.ids = short_ids_new()) != NULL;

    ids.columns = 0;
    for (size_t i = 0; i < list->n && ok; i++)
        ok = short_ids_add(ids.ids, NULL, list->checkpoint[i].id);
    if (!ok) {
        short_ids_free(ids.ids);
        return err_nomem(e);
    }
    short_ids_finish(ids.ids);
    for (size_t i = 0; i < list->n; i++) {
        size_t n = short_ids_of(ids.ids, NULL, list->checkpoint[i].id, text).n;

        ids.columns = n > ids.columns ? n : ids.columns;
    }

    for (size_t i = 0; i < list->n; i++)
        write_checkpoint_line(&list->checkpoint[i], &ids, now_ms, o);
    short_ids_free(ids.ids);
    return ERR_OK;
}

enum err_code info_checkpoints_session(struct invocation *in, struct sessions *s,
                                       const struct session_ref *ref, struct err *e)
{
    struct checkpoint_list list = { 0 };
    enum err_code rc = rewind_checkpoints(ref, &list, e);

    (void)s;
    if (!rc)
        rc = rewind_count_lines(ref, NULL, &list, e);
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
