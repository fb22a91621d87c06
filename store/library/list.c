#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/library/call.h"
#include "store/maintenance/session_info.h"
#include "store/query/listing.h"
#include "store/query/running.h"

ANSWER(rows, reprise_row);
ANSWER(agents, reprise_agent);
ANSWER(branches, reprise_branch);

/* ---- one row ---- */

static uint32_t library_row_flags(unsigned flags)
{
    static const struct {
        unsigned inside;
        uint32_t outside;
    } names[] = {
        { SESSION_TORN, REPRISE_ROW_TORN },
        { SESSION_PROGRAMMATIC, REPRISE_ROW_PROGRAMMATIC },
        { SESSION_INTERRUPTED, REPRISE_ROW_INTERRUPTED },
        { SESSION_FORK, REPRISE_ROW_FORK },
        { SESSION_DAMAGED, REPRISE_ROW_DAMAGED },
        { SESSION_ARCHIVED, REPRISE_ROW_ARCHIVED },
        { SESSION_LIVE, REPRISE_ROW_LIVE },
    };
    uint32_t out = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        out |= flags & names[i].inside ? names[i].outside : 0;
    return out;
}

static enum err_code library_add_row(const struct session_row *row, void *arg, struct err *e)
{
    struct answer *x = arg;
    struct arena *a = &x->arena;
    struct reprise_row *out = answer_add(x);
    AUTO_BUF text = { 0 };
    struct jsonout j;

    NEED(out);
    jsonout_init(&j, &text);
    listing_row_json(&j, row);
    *out = (struct reprise_row){
        .size = sizeof *out,
        .system = row->ref.store->ops->name,
        .id = call_copy(a, row->ref.id),
        .path = call_copy(a, row->ref.path),
        .title = call_copy(a, session_row_title(row)),
        .custom_title = call_copy(a, row->custom_title),
        .first_prompt = call_copy(a, row->first_prompt),
        .last_prompt = call_copy(a, row->last_prompt),
        .branch = call_copy(a, row->git_branch),
        .directory = call_copy(a, row->cwd),
        .tag = call_copy(a, row->tag),
        .model = call_copy(a, row->model),
        .agent_name = call_copy(a, row->agent_name),
        .parent = call_copy(a, row->parent_id),
        .created_ms = row->created_ms,
        .modified_ms = row->modified_ms,
        .activity_ms = row->activity_ms,
        .expires_ms = row->expires_ms,
        .file_size = row->ref.file.size,
        .flags = library_row_flags(row->flags),
        .pid = row->flags & SESSION_LIVE ? row->live_pid : 0,
        .json = call_copy(a, buf_slice(&text)),
        .json_length = text.n,
        .state = (int32_t)row->state,
        .waits_for = call_copy(a, row->waits_for),
        .since_ms = row->since_ms,
    };
    return j.rc || a->failed ? err_nomem(e) : ERR_OK;
}

/* ---- the query ---- */

enum err_code call_query(const struct reprise_query *given, struct arena *a,
                         struct listing_query *out, struct err *e)
{
    static const enum listing_sort sorts[] = {
        [REPRISE_SORT_RECENT] = LISTING_RECENT,
        [REPRISE_SORT_CREATED] = LISTING_CREATED,
        [REPRISE_SORT_SIZE] = LISTING_SIZE,
        [REPRISE_SORT_TITLE] = LISTING_TITLE,
    };
    const uint32_t known = REPRISE_QUERY_ARCHIVED | REPRISE_QUERY_NO_WORKTREES |
                           REPRISE_QUERY_NO_PROGRAMMATIC | REPRISE_QUERY_ALL_KINDS;
    struct reprise_query q;

    TRY(call_options(given, &q, sizeof q, e));
    if (q.sort < 0 || q.sort > REPRISE_SORT_TITLE || q.flags & ~known)
        return err_set(e, ERR_USAGE, "", "list sessions: unknown order or flag");
    if (q.directory && q.directory[0] != '/')
        return err_set(e, ERR_USAGE, q.directory, "list sessions: the directory is not absolute");

    /* A member that is zero is no condition. */
    *out = (struct listing_query){
        .sort = sorts[q.sort],
        .tag = call_text(q.tag),
        .branch = call_text(q.branch),
        .since_ms = q.since_ms ? q.since_ms : TIME_NONE,
        .before_ms = q.before_ms ? q.before_ms : TIME_NONE,
        .archived = q.flags & REPRISE_QUERY_ARCHIVED,
        .limit = q.limit,
        .offset = q.offset,
        .scope = { .all = !q.directory },
    };

    /* n=2 */
    if (q.directory)
        TRY(session_scope_of(q.directory, !(q.flags & REPRISE_QUERY_NO_WORKTREES), a, &out->scope,
                             e));
    out->scope.leave_worktrees = q.flags & REPRISE_QUERY_NO_WORKTREES;
    out->scope.leave_programmatic = q.flags & REPRISE_QUERY_NO_PROGRAMMATIC;
    out->scope.all_kinds = q.flags & REPRISE_QUERY_ALL_KINDS;
    return ERR_OK;
}

static enum err_code library_fill_rows(const struct reprise *r, const struct reprise_query *query,
                                       struct answer *x, struct err *e)
{
    CLEANUP(listing_close_at) struct listing *listing = NULL;
    struct listing_query q;

    TRY(call_query(query, &x->arena, &q, e));
    TRY(listing_open(r->store, r->n, &q, &listing, e));
    return listing_each(listing, library_add_row, x, e);
}

int reprise_list(const struct reprise *r, const struct reprise_query *query,
                 struct reprise_rows **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    ANSWER_RETURN(rows, reprise_row, out, error, library_fill_rows(r, query, x, e));
}

static enum err_code library_fill_running(const struct reprise *r, struct answer *x, struct err *e)
{
    static const struct scope everywhere = { .all = true };
    CLEANUP(running_fini) struct running running = { 0 };

    TRY(running_read(r->store, r->n, &everywhere, &running, e));
    for (size_t i = 0; i < running.n; i++)
        TRY(library_add_row(running.row[i], x, e));
    return ERR_OK;
}

int reprise_running(const struct reprise *r, struct reprise_rows **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);
    ANSWER_RETURN(rows, reprise_row, out, error, library_fill_running(r, x, e));
}

/* ---- one session ---- */

static enum err_code library_fill_row(const struct reprise_session *s, struct answer *x,
                                      struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store *st = s->ref.store;
    CLEANUP(session_row_free_at) struct session_row *row = session_row_new();
    struct session_ref now;

    NEED(row);
    TRY(session_now(s, &x->arena, &now, e));
    TRY(st->ops->describe(st, &everywhere, &now, row, e));
    if (row->hidden == HIDDEN_DAMAGED)
        return err_set(e, ERR_FORMAT, s->ref.path.p, "describe session: %s", row->problem);
    if (row->hidden != HIDDEN_NOT && row->hidden != HIDDEN_COMMAND)
        return err_set(e, ERR_NOT_FOUND, s->ref.path.p, "describe session: it is not listed");
    return library_add_row(row, x, e);
}

int reprise_session_row(const struct reprise_session *s, struct reprise_rows **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(rows, reprise_row, out, error, library_fill_row(s, x, e));
}

static enum err_code library_describe(const struct reprise_session *s, struct reprise_texts *texts,
                                      struct err *e)
{
    const struct scope everywhere = { .all = true };
    CLEANUP(session_info_fini) struct session_info info = { .messages = 0 };
    AUTO_ARENA a = { 0 };
    AUTO_BUF text = { 0 };
    struct session_ref now;
    struct jsonout j;

    TRY(session_now(s, &a, &now, e));
    TRY(session_info_read(&now, &everywhere, &info, e));
    jsonout_init(&j, &text);
    jsonout_open(&j, '{');
    session_info_json_members(&info, &j);
    jsonout_close(&j, '}');
    return texts_add_json(texts, &j, e);
}

int reprise_session_info(const struct reprise_session *s, struct reprise_texts **out,
                         struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    TEXTS_RETURN(out, error, library_describe(s, texts, e));
}

/* ---- sub-agents ---- */

_Static_assert((int)REPRISE_AGENT_OPEN == (int)SUBAGENT_OPEN &&
                   (int)REPRISE_AGENT_DONE == (int)SUBAGENT_DONE &&
                   (int)REPRISE_AGENT_FAILED == (int)SUBAGENT_FAILED,
               "the values equal the internal ones");

static enum err_code library_fill_agents(const struct reprise_session *s, struct answer *x,
                                         struct err *e)
{
    CLEANUP(subagent_list_fini) struct subagent_list list = { .n = 0 };
    struct arena *a = &x->arena;
    struct session_ref now;

    TRY(session_now(s, a, &now, e));
    TRY(store_describe_subagents(&now, NULL, &list, e));
    for (size_t i = 0; i < list.n; i++) {
        const struct subagent *agent = &list.agent[i];
        struct reprise_agent *out = answer_add(x);

        NEED(out);
        *out = (struct reprise_agent){ .size = sizeof *out,
                                       .id = call_copy(a, agent->id),
                                       .type = call_copy(a, agent->type),
                                       .task = call_copy(a, agent->task),
                                       .outcome = call_copy(a, agent->outcome),
                                       .bytes = agent->bytes,
                                       .time_ms =
                                           agent->time_ms ? agent->time_ms : REPRISE_TIME_UNKNOWN,
                                       .end = (int32_t)agent->end };
    }
    return ERR_OK;
}

int reprise_list_agents(const struct reprise_session *s, struct reprise_agents **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(agents, reprise_agent, out, error, library_fill_agents(s, x, e));
}

/* ---- branches ---- */

static enum err_code library_fill_branches(const struct reprise_session *s, struct answer *x,
                                           struct err *e)
{
    CLEANUP(branch_list_fini) struct branch_list list = { .n = 0 };
    const struct store *st = s->ref.store;
    struct arena *a = &x->arena;
    struct session_ref now;

    TRY(session_now(s, a, &now, e));
    if (st->ops->branches)
        TRY(st->ops->branches(st, &now, NULL, &list, e));
    for (size_t i = 0; i < list.n; i++) {
        const struct branch *b = &list.branch[i];
        struct reprise_branch *out = answer_add(x);

        NEED(out);
        *out = (struct reprise_branch){ .size = sizeof *out,
                                        .id = call_copy(a, b->leaf_name),
                                        .from = call_copy(a, b->from_name),
                                        .prompt = call_copy(a, b->prompt),
                                        .last_prompt = call_copy(a, b->last),
                                        .time_ms = b->time_ms,
                                        .messages = b->messages };
    }
    return ERR_OK;
}

int reprise_list_branches(const struct reprise_session *s, struct reprise_branches **out,
                          struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);
    ANSWER_RETURN(branches, reprise_branch, out, error, library_fill_branches(s, x, e));
}

static enum err_code library_read_branch(const struct reprise_session *s, const char *id,
                                         struct reprise_texts *texts, struct err *e)
{
    const struct store *st = s->ref.store;
    CLEANUP(transcript_free_at) struct transcript *t = NULL;
    AUTO_ARENA a = { 0 };
    struct session_ref now;

    TRY(session_now(s, &a, &now, e));
    if (!st->ops->load_branch)
        return store_unsupported_error(&now, CAN_HAVE_BRANCHES, "read a branch", e);
    TRY(st->ops->load_branch(st, &now, id128_of(call_text(id)), NULL, &t, e));
    return texts_add_rows(texts, t, e);
}

int reprise_read_branch(const struct reprise_session *s, const char *id, struct reprise_texts **out,
                        struct reprise_error *error)
{
    if (!s || !out || !id)
        return call_refuse(error);
    TEXTS_RETURN(out, error, library_read_branch(s, id, texts, e));
}
