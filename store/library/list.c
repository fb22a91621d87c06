#include <stdlib.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/json/jsonout.h"
#include "store/library/call.h"
#include "store/query/listing.h"

struct reprise_rows {
    struct arena arena;
    struct reprise_row **row;
    size_t n;
};

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

static enum err_code library_write_json(const struct session_row *row, struct arena *a,
                                        struct reprise_row *out, struct err *e)
{
    struct buf text = { 0 };
    struct jsonout j;

    jsonout_init(&j, &text);
    listing_row_json(&j, row);
    out->json = call_copy(a, buf_slice(&text));
    out->json_length = text.n;
    buf_fini(&text);
    return j.rc ? err_nomem(e) : ERR_OK;
}

static void copy_texts(const struct session_row *row, struct arena *a, struct reprise_row *out)
{
    out->system = row->ref.store->ops->name;
    out->id = call_copy(a, row->ref.id);
    out->path = call_copy(a, row->ref.path);
    out->title = call_copy(a, session_row_title(row));
    out->custom_title = call_copy(a, row->custom_title);
    out->first_prompt = call_copy(a, row->first_prompt);
    out->last_prompt = call_copy(a, row->last_prompt);
    out->branch = call_copy(a, row->git_branch);
    out->directory = call_copy(a, row->cwd);
    out->tag = call_copy(a, row->tag);
    out->model = call_copy(a, row->model);
    out->agent_name = call_copy(a, row->agent_name);
    out->parent = call_copy(a, row->parent_id);
}

static enum err_code library_add_row(const struct session_row *row, void *arg, struct err *e)
{
    struct reprise_rows *rows = arg;
    struct reprise_row *out = arena_zalloc(&rows->arena, sizeof *out);
    struct reprise_row **grown =
        arena_grow(&rows->arena, rows->row, rows->n, sizeof(struct reprise_row *));

    if (!out || !grown)
        return err_nomem(e);
    *out = (struct reprise_row){
        .size = sizeof *out,
        .created_ms = row->created_ms,
        .modified_ms = row->modified_ms,
        .activity_ms = row->activity_ms,
        .expires_ms = row->expires_ms,
        .file_size = row->ref.file.size,
        .flags = library_row_flags(row->flags),
        .pid = row->flags & SESSION_LIVE ? row->live_pid : 0,
    };
    copy_texts(row, &rows->arena, out);
    rows->row = grown;
    rows->row[rows->n++] = out;
    enum err_code rc = library_write_json(row, &rows->arena, out, e);

    return rc || !rows->arena.failed ? rc : err_nomem(e);
}

/* ---- the query ---- */

static enum err_code make_scope(const struct reprise_query *q, struct arena *a, struct scope *out,
                                struct err *e)
{
    bool worktrees = !(q->flags & REPRISE_QUERY_NO_WORKTREES);
    enum err_code rc = ERR_OK;

    *out = (struct scope){ .all = !q->directory };
    if (q->directory && q->directory[0] != '/')
        return err_set(e, ERR_USAGE, q->directory, "list sessions: the directory is not absolute");
    if (q->directory)
        rc = session_scope_of(q->directory, worktrees, a, out, e);
    out->leave_worktrees = !worktrees;
    out->leave_programmatic = q->flags & REPRISE_QUERY_NO_PROGRAMMATIC;
    out->all_kinds = q->flags & REPRISE_QUERY_ALL_KINDS;
    return rc;
}

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
    enum err_code rc = call_options(given, &q, sizeof q, e);

    if (rc)
        return rc;
    if (q.sort < 0 || q.sort > REPRISE_SORT_TITLE || q.flags & ~known)
        return err_set(e, ERR_USAGE, "", "list sessions: unknown order or flag");
    *out = (struct listing_query){
        .sort = sorts[q.sort],
        .tag = call_text(q.tag),
        .branch = call_text(q.branch),
        .since_ms = q.since_ms ? q.since_ms : TIME_NONE,
        .before_ms = q.before_ms ? q.before_ms : TIME_NONE,
        .archived = q.flags & REPRISE_QUERY_ARCHIVED,
        .limit = q.limit,
        .offset = q.offset,
    };
    return make_scope(&q, a, &out->scope, e);
}

static enum err_code library_fill(const struct reprise *r, const struct reprise_query *query,
                                  struct reprise_rows *rows, struct err *e)
{
    struct listing_query q;
    struct listing *listing = NULL;
    enum err_code rc = call_query(query, &rows->arena, &q, e);

    if (!rc)
        rc = listing_open(r->store, r->n, &q, &listing, e);
    if (!rc)
        rc = listing_each(listing, library_add_row, rows, e);
    listing_close(listing);
    return rc;
}

static enum err_code list(const struct reprise *r, const struct reprise_query *query,
                          struct reprise_rows **out, struct err *e)
{
    struct reprise_rows *rows = calloc(1, sizeof *rows);
    enum err_code rc = rows ? library_fill(r, query, rows, e) : err_nomem(e);

    if (rc)
        reprise_rows_free(rows);
    else
        *out = rows;
    return rc;
}

int reprise_list(const struct reprise *r, const struct reprise_query *query,
                 struct reprise_rows **out, struct reprise_error *error)
{
    if (!r || !out)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, list(r, query, out, &c.err), error);
}

/* ---- one session ---- */

static enum err_code library_describe(const struct reprise_session *s, struct reprise_rows *rows,
                                      struct err *e)
{
    const struct scope everywhere = { .all = true };
    const struct store *st = s->ref.store;
    struct session_row *row = session_row_new();
    struct session_ref now;

    if (!row)
        return err_nomem(e);
    enum err_code rc = session_now(s, &rows->arena, &now, e);

    if (!rc)
        rc = st->ops->describe(st, &everywhere, &now, row, e);
    if (!rc && row->hidden == HIDDEN_DAMAGED)
        rc = err_set(e, ERR_FORMAT, s->ref.path.p, "describe session: %s", row->problem);
    else if (!rc && row->hidden != HIDDEN_NOT && row->hidden != HIDDEN_COMMAND)
        rc = err_set(e, ERR_NOT_FOUND, s->ref.path.p, "describe session: it is not listed");
    if (!rc)
        rc = library_add_row(row, rows, e);
    session_row_free(row);
    return rc;
}

static enum err_code describe_alone(const struct reprise_session *s, struct reprise_rows **out,
                                    struct err *e)
{
    struct reprise_rows *rows = calloc(1, sizeof *rows);
    enum err_code rc = rows ? library_describe(s, rows, e) : err_nomem(e);

    if (rc)
        reprise_rows_free(rows);
    else
        *out = rows;
    return rc;
}

int reprise_session_row(const struct reprise_session *s, struct reprise_rows **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, describe_alone(s, out, &c.err), error);
}

size_t reprise_rows_count(const struct reprise_rows *rows)
{
    return rows ? rows->n : 0;
}

const struct reprise_row *reprise_rows_at(const struct reprise_rows *rows, size_t i)
{
    return rows && i < rows->n ? rows->row[i] : NULL;
}

void reprise_rows_free(struct reprise_rows *rows)
{
    if (rows)
        arena_fini(&rows->arena);
    free(rows);
}

/* ---- sub-agents ---- */

struct reprise_agents {
    struct arena arena;
    struct reprise_agent *agent;
    size_t n;
};

_Static_assert((int)REPRISE_AGENT_OPEN == (int)SUBAGENT_OPEN &&
                   (int)REPRISE_AGENT_DONE == (int)SUBAGENT_DONE &&
                   (int)REPRISE_AGENT_FAILED == (int)SUBAGENT_FAILED,
               "the values equal the internal ones");

static enum err_code copy_agents(const struct subagent_list *list, struct reprise_agents *out,
                                 struct err *e)
{
    struct arena *a = &out->arena;

    out->agent = arena_zalloc(a, (list->n + 1) * sizeof *out->agent);
    for (size_t i = 0; out->agent && i < list->n; i++) {
        const struct subagent *x = &list->agent[i];

        out->agent[i] =
            (struct reprise_agent){ .size = sizeof *out->agent,
                                    .id = call_copy(a, x->id),
                                    .type = call_copy(a, x->type),
                                    .task = call_copy(a, x->task),
                                    .outcome = call_copy(a, x->outcome),
                                    .bytes = x->bytes,
                                    .time_ms = x->time_ms ? x->time_ms : REPRISE_TIME_UNKNOWN,
                                    .end = (int32_t)x->end };
    }
    out->n = list->n;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code library_read_agents(const struct reprise_session *s,
                                         struct reprise_agents *out, struct err *e)
{
    struct subagent_list list = { .n = 0 };
    struct session_ref now;
    enum err_code rc = session_now(s, &out->arena, &now, e);

    if (!rc)
        rc = store_describe_subagents(&now, NULL, &list, e);
    if (!rc)
        rc = copy_agents(&list, out, e);
    subagent_list_fini(&list);
    return rc;
}

int reprise_list_agents(const struct reprise_session *s, struct reprise_agents **out,
                        struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct reprise_agents *agents = calloc(1, sizeof *agents);
    struct call c;

    call_begin(&c);
    enum err_code rc = agents ? library_read_agents(s, agents, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_agents_free(agents);
    else
        *out = agents;
    return call_end(&c, rc, error);
}

size_t reprise_agents_count(const struct reprise_agents *agents)
{
    return agents ? agents->n : 0;
}

const struct reprise_agent *reprise_agents_at(const struct reprise_agents *agents, size_t i)
{
    return agents && i < agents->n ? &agents->agent[i] : NULL;
}

void reprise_agents_free(struct reprise_agents *agents)
{
    if (agents)
        arena_fini(&agents->arena);
    free(agents);
}

/* ---- branches ---- */

struct reprise_branches {
    struct arena arena;
    struct reprise_branch *branch;
    size_t n;
};

static enum err_code copy_branches(const struct branch_list *list, struct reprise_branches *out,
                                   struct err *e)
{
    struct arena *a = &out->arena;

    out->branch = arena_zalloc(a, (list->n + 1) * sizeof *out->branch);
    for (size_t i = 0; out->branch && i < list->n; i++) {
        const struct branch *b = &list->branch[i];

        out->branch[i] = (struct reprise_branch){ .size = sizeof *out->branch,
                                                  .id = call_copy(a, b->leaf_name),
                                                  .from = call_copy(a, b->from_name),
                                                  .prompt = call_copy(a, b->prompt),
                                                  .last_prompt = call_copy(a, b->last),
                                                  .time_ms = b->time_ms,
                                                  .messages = b->messages };
    }
    out->n = list->n;
    return a->failed ? err_nomem(e) : ERR_OK;
}

static enum err_code read_branches(const struct reprise_session *s, struct reprise_branches *out,
                                   struct err *e)
{
    const struct store *st = s->ref.store;
    struct branch_list list = { .n = 0 };
    struct session_ref now;
    enum err_code rc = session_now(s, &out->arena, &now, e);

    if (!rc && st->ops->branches)
        rc = st->ops->branches(st, &now, NULL, &list, e);
    if (!rc)
        rc = copy_branches(&list, out, e);
    branch_list_fini(&list);
    return rc;
}

int reprise_list_branches(const struct reprise_session *s, struct reprise_branches **out,
                          struct reprise_error *error)
{
    if (!s || !out)
        return call_refuse(error);

    struct reprise_branches *branches = calloc(1, sizeof *branches);
    struct call c;

    call_begin(&c);
    enum err_code rc = branches ? read_branches(s, branches, &c.err) : err_nomem(&c.err);

    if (rc)
        reprise_branches_free(branches);
    else
        *out = branches;
    return call_end(&c, rc, error);
}

size_t reprise_branches_count(const struct reprise_branches *branches)
{
    return branches ? branches->n : 0;
}

const struct reprise_branch *reprise_branches_at(const struct reprise_branches *branches, size_t i)
{
    return branches && i < branches->n ? &branches->branch[i] : NULL;
}

void reprise_branches_free(struct reprise_branches *branches)
{
    if (branches)
        arena_fini(&branches->arena);
    free(branches);
}

static enum err_code library_read_branch(const struct reprise_session *s, const char *id,
                                         struct reprise_texts **out, struct err *e)
{
    const struct store *st = s->ref.store;
    struct reprise_texts *texts = texts_new();
    struct transcript *t = NULL;
    struct arena a = { 0 };
    struct session_ref now;
    enum err_code rc = texts ? session_now(s, &a, &now, e) : err_nomem(e);

    if (!rc)
        rc = st->ops->load_branch
                 ? st->ops->load_branch(st, &now, id128_of(call_text(id)), NULL, &t, e)
                 : store_unsupported_error(&now, CAN_HAVE_BRANCHES, "read a branch", e);
    if (!rc)
        rc = texts_add_rows(texts, t, e);
    transcript_free(t);
    arena_fini(&a);
    return texts_finish(texts, rc, out);
}

int reprise_read_branch(const struct reprise_session *s, const char *id, struct reprise_texts **out,
                        struct reprise_error *error)
{
    if (!s || !out || !id)
        return call_refuse(error);

    struct call c;

    call_begin(&c);
    return call_end(&c, library_read_branch(s, id, out, &c.err), error);
}
