#include <stdio.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/query/short_ids.h"
#include "tui/commands/command.h"
#include "tui/commands/session_line.h"
#include "tui/commands/sessions.h"
#include "tui/text/when.h"

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
        rc = unsupported_error(&ref, CAN_REWIND, "list checkpoints", e);
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
