#include "store/maintenance/session_info.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/api/plugin.h"
#include "store/proc/live.h"
#include "store/query/listing.h"
#include "store/query/usage.h"
#include "store/rewind/plan/by_snapshots.h"

/* A session that no listing shows is not found. */
static enum err_code check_listed(const struct session_info *f, struct err *e)
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

/* A reader of a conversation takes memory for each row. */
enum { REMOTE_ROWS_MOST = 100000 };

static enum err_code read_conversation_of(const struct session_ref *ref, struct session_info *f)
{
    const struct store_ops *ops = ref->store->ops;
    struct message_query q = { .session = f->ref.id };

    TRY(ops->messages(ref->store, ref, &q, count_message, &f->messages, &f->missing));
    return ops->load(ref->store, ref, NULL, &f->transcript, &f->missing);
}

/* The rows come from the server once. */
static enum err_code read_remote_conversation(struct session_info *f)
{
    struct plugin_copy copy;
    struct slice path = f->ref.path;

    TRY(plugin_copy_open(&f->ref, REMOTE_ROWS_MOST, &copy, &f->missing));
    const bool more = copy.more;
    enum err_code rc = more ? ERR_OK : read_conversation_of(&copy.ref, f);

    plugin_copy_close(&copy);
    if (more) {
        f->messages = -1;
        err_set(&f->missing, ERR_UNSUPPORTED, path.p,
                "describe session: it has more than %d rows, so that its messages are not counted: "
                "pull it first",
                REMOTE_ROWS_MOST);
    } else if (rc) {
        snprintf(f->missing.path, sizeof f->missing.path, "%.*s", SLICE_ARG(path));
    }
    return rc;
}

/* The agent's own figure. Without one the other facts are shown all the same. */
static enum err_code read_recorded_cost(struct session_info *f, struct err *e)
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
    struct session_info *facts = arg;
    const bool of_line = f->kind <= FINDING_BROKEN_LINE || f->kind == FINDING_SPLIT_LINE ||
                         f->kind == FINDING_POISONED_ROW || f->kind == FINDING_NO_SESSION;

    return of_line && f->line && strcmp(f->path, facts->ref.path.p) == 0
               ? doctor_list_add(f, &facts->damage, e)
               : ERR_OK;
}

static enum err_code collect_info(const struct scope *scope, struct session_info *f, struct err *e)
{
    const struct store_ops *ops = f->ref.store->ops;
    bool has_cost = false;

    NEED(f->row = session_row_new());
    TRY(ops->describe(f->ref.store, scope, &f->ref, f->row, e));
    store_admit_row(f->row, scope);
    struct live_table hosts;
    enum err_code rc = live_read_hosts(f->ref.store->env, &hosts, e);

    if (!rc && !live_show_host(&hosts, f->row))
        rc = err_nomem(e);
    live_fini(&hosts);
    if (rc)
        return rc;
    TRY(check_listed(f, e));

    /* Without a conversation the other facts are still of use. */
    rc = ops->remote ? read_remote_conversation(f) : read_conversation_of(&f->ref, f);
    if (rc && rc != ERR_NOT_FOUND) {
        if (e)
            *e = f->missing;
        return rc;
    }
    if (ops->subagents)
        TRY(ops->subagents(f->ref.store, &f->ref, &f->arena, &f->subagents, &f->subagent_count, e));
    rc = ERR_OK;
    if (store_can_rewind(ops))
        rc = rewind_checkpoints(&f->ref, &f->checkpoints, e);
    else if (ops->checkpoints) /* they exist, although nothing can be rewound */
        rc = ops->checkpoints(f->ref.store, &f->ref, &f->checkpoints, e);
    if (rc && (rc != ERR_UNSUPPORTED || ops->checkpoints)) /* not: it has no snapshots */
        return rc;
    if ((ops->log_rules || ops->one_document) && f->transcript)
        TRY(ops->check(f->ref.store, &f->ref, NULL, note_damaged_line, f, e));
    if (ops->facts)
        TRY(ops->facts(f->ref.store, &f->ref, &f->more, e));
    for (size_t i = 0; i < f->more.n; i++)
        has_cost |= strcmp(f->more.fact[i].key, "totalCostUsd") == 0;
    return has_cost ? ERR_OK : read_recorded_cost(f, e);
}

enum err_code session_info_read(const struct session_ref *ref, const struct scope *scope,
                                struct session_info *out, struct err *e)
{
    *out = (struct session_info){ .ref = *ref, .cost = NAN };
    enum err_code rc = collect_info(scope, out, e);

    if (rc)
        session_info_fini(out);
    return rc;
}

void session_info_fini(struct session_info *f)
{
    checkpoint_list_fini(&f->checkpoints);
    session_facts_fini(&f->more);
    arena_fini(&f->damage.arena);
    transcript_free(f->transcript);
    session_row_free(f->row);
    arena_fini(&f->arena);
    *f = (struct session_info){ .cost = NAN };
}

/* ---- as JSON ---- */

static void write_info_damage(struct jsonout *j, size_t line, int64_t offset, const char *why)
{
    jsonout_open(j, '{');
    jsonout_int_member(j, "line", (int64_t)line);
    jsonout_int_member(j, "offset", offset);
    jsonout_member(j, "why", slice_of(why));
    jsonout_close(j, '}');
}

void session_info_json_members(const struct session_info *f, struct jsonout *j)
{
    const struct store *st = f->ref.store;
    AUTO_BUF store = { 0 };
    char cost[64];

    listing_row_json_members(j, f->row);
    const struct slice bundle = f->row->bundle;

    if (buf_addf(&store, "%s:%.*s", st->ops->name,
                 SLICE_ARG(bundle.n ? bundle : slice_of(st->path))))
        j->rc = ERR_NOMEM;
    jsonout_member(j, "store", buf_slice(&store));
    if (f->messages >= 0)
        jsonout_int_member(j, "messageCount", f->messages);
    if (f->transcript && f->transcript->lost)
        jsonout_int_member(j, "lostMessageCount", (int64_t)f->transcript->lost);
    if (st->ops->checkpoints || f->checkpoints.n)
        jsonout_int_member(j, "checkpointCount", (int64_t)f->checkpoints.n);
    if (!isnan(f->cost)) {
        snprintf(cost, sizeof cost, "%.15g", f->cost);
        jsonout_raw_member(j, "costUSD", slice_of(cost));
    }
    for (size_t i = 0; i < f->more.n; i++) {
        const struct session_fact *x = &f->more.fact[i];

        jsonout_key(j, x->key);
        if (x->json.n)
            jsonout_compact(j, x->json);
        else
            jsonout_text(j, x->text);
    }
    jsonout_key(j, "subagents");
    jsonout_open(j, '[');
    for (size_t i = 0; i < f->subagent_count; i++)
        jsonout_text(j, f->subagents[i]);
    jsonout_close(j, ']');

    /* The scan of a log has found its broken lines and a torn tail, so that only mistyped members are left to add. */
    const struct transcript *t = f->transcript;
    const bool scanned = st->ops->log_rules || st->ops->one_document;

    jsonout_key(j, "damaged");
    jsonout_open(j, '[');
    for (size_t i = 0; i < f->damage.n; i++)
        write_info_damage(j, (size_t)f->damage.finding[i].line, f->damage.finding[i].offset,
                          f->damage.finding[i].why);
    for (size_t i = 0; t && i < t->n; i++) {
        const struct message *m = &t->message[i];

        if (m->flags & MESSAGE_BROKEN && (!scanned || m->flags & MESSAGE_MISTYPED))
            write_info_damage(j, m->line + 1, m->offset,
                              m->flags & MESSAGE_MISTYPED ? "a member has an invalid type"
                                                          : "not a JSON object");
    }
    if (t && t->unfinished && !scanned)
        write_info_damage(j, t->lines, t->unfinished_at, "unfinished write");
    jsonout_close(j, ']');
}
