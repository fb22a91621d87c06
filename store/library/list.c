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

static uint32_t row_flags(unsigned flags)
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

static enum err_code write_json(const struct session_row *row, struct arena *a,
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

static enum err_code add_row(const struct session_row *row, void *arg, struct err *e)
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
        .flags = row_flags(row->flags),
        .pid = row->flags & SESSION_LIVE ? row->live_pid : 0,
    };
    copy_texts(row, &rows->arena, out);
    rows->row = grown;
    rows->row[rows->n++] = out;
    enum err_code rc = write_json(row, &rows->arena, out, e);

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

static enum err_code fill(const struct reprise *r, const struct reprise_query *query,
                          struct reprise_rows *rows, struct err *e)
{
    struct listing_query q;
    struct listing *listing = NULL;
    enum err_code rc = call_query(query, &rows->arena, &q, e);

    if (!rc)
        rc = listing_open(r->store, r->n, &q, &listing, e);
    if (!rc)
        rc = listing_each(listing, add_row, rows, e);
    listing_close(listing);
    return rc;
}

static enum err_code list(const struct reprise *r, const struct reprise_query *query,
                          struct reprise_rows **out, struct err *e)
{
    struct reprise_rows *rows = calloc(1, sizeof *rows);
    enum err_code rc = rows ? fill(r, query, rows, e) : err_nomem(e);

    if (rc)
        reprise_rows_free(rows);
    else
        *out = rows;
    return rc;
}

int reprise_list(const struct reprise *r, const struct reprise_query *query,
                 struct reprise_rows **out, struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, list(r, query, out, &c.err), error);
}

/* ---- one session ---- */

static enum err_code describe(const struct reprise_session *s, struct reprise_rows *rows,
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
        rc = add_row(row, rows, e);
    session_row_free(row);
    return rc;
}

static enum err_code describe_alone(const struct reprise_session *s, struct reprise_rows **out,
                                    struct err *e)
{
    struct reprise_rows *rows = calloc(1, sizeof *rows);
    enum err_code rc = rows ? describe(s, rows, e) : err_nomem(e);

    if (rc)
        reprise_rows_free(rows);
    else
        *out = rows;
    return rc;
}

int reprise_session_row(const struct reprise_session *s, struct reprise_rows **out,
                        struct reprise_error *error)
{
    struct call c;

    call_begin(&c);
    return call_end(&c, describe_alone(s, out, &c.err), error);
}

size_t reprise_rows_count(const struct reprise_rows *rows)
{
    return rows->n;
}

const struct reprise_row *reprise_rows_at(const struct reprise_rows *rows, size_t i)
{
    return i < rows->n ? rows->row[i] : NULL;
}

void reprise_rows_free(struct reprise_rows *rows)
{
    if (rows)
        arena_fini(&rows->arena);
    free(rows);
}
