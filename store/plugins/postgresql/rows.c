#include "store/plugins/postgresql/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/array.h"
#include "lite/base/buf.h"

/* ---- the list ---- */

/* A row with long texts shortened: a list needs their beginnings only. */
#define SLIM                                                                                       \
    "CASE WHEN pg_column_size(e) <= 1500 THEN e ELSE jsonb_strip_nulls(jsonb_build_object("        \
    "'type', e->'type', 'uuid', e->'uuid', 'parentUuid', e->'parentUuid', 'sessionId', "           \
    "e->'sessionId', "                                                                             \
    "'timestamp', e->'timestamp', 'cwd', e->'cwd', 'gitBranch', e->'gitBranch', 'isSidechain', "   \
    "e->'isSidechain', "                                                                           \
    "'isMeta', e->'isMeta', 'isCompactSummary', e->'isCompactSummary', 'entrypoint', "             \
    "e->'entrypoint', "                                                                            \
    "'summary', left(e->>'summary', 500), 'lastPrompt', left(e->>'lastPrompt', 500), "             \
    "'message', CASE jsonb_typeof(e->'message') WHEN 'object' THEN jsonb_build_object("            \
    "'role', e->'message'->'role', 'model', e->'message'->'model', 'stop_reason', "                \
    "e->'message'->'stop_reason', "                                                                \
    "'content', CASE jsonb_typeof(e->'message'->'content') "                                       \
    "WHEN 'string' THEN to_jsonb(left(e->'message'->>'content', 500)) "                            \
    "WHEN 'array' THEN (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('type', b->'type', " \
    "'id', b->'id', "                                                                              \
    "'tool_use_id', b->'tool_use_id', 'name', b->'name', 'text', left(b->>'text', 500)))) "        \
    "FROM jsonb_array_elements(e->'message'->'content') b) END) END)) END"

/* The keys are found one after the other in the index, so the rows between them are not read, however many there are:
 * first the projects (j), then the next session of each wanted one (k). All orders name the subpath, although it is the
 * same in all rows: the planner does not see that for NULL, and would sort the rows instead of reading the index. */
static const char projects_sql[] =
    "WITH RECURSIVE j AS ("
    "(SELECT project_key AS p FROM @t ORDER BY 1 LIMIT 1) "
    "UNION ALL "
    "SELECT n.* FROM j CROSS JOIN LATERAL (SELECT project_key FROM @t WHERE project_key > j.p "
    "ORDER BY 1 LIMIT 1) n), ";
static const char one_session_sql[] = "k AS (SELECT p, $1::text AS s FROM j) ";
/* Both columns are compared and ordered, as in the index: for one of them a planner without statistics sorts all rows of
 * the project each time. */
static const char sessions_sql[] =
    "k AS ("
    "SELECT n.p, n.s FROM j CROSS JOIN LATERAL (SELECT project_key AS p, session_id AS s FROM @t "
    "WHERE (project_key, session_id) >= (j.p, '') ORDER BY 1, 2 LIMIT 1) n WHERE n.p = j.p AND "
    "(%s) "
    "UNION ALL "
    "SELECT n.p, n.s FROM k CROSS JOIN LATERAL (SELECT project_key AS p, session_id AS s FROM @t "
    "WHERE (project_key, session_id) > (k.p, k.s) ORDER BY 1, 2 LIMIT 1) n WHERE n.p = k.p) ";
/* Names are separated by a byte that they do not contain. */
#define SEPARATOR "\x1f"
static const char wanted_projects_sql[] =
    "j.p = ANY (string_to_array($1::text, '" SEPARATOR "')) OR j.p NOT LIKE '-%'";
static const char given_sql[] =
    "WITH k AS (SELECT * FROM unnest(string_to_array($1::text, '" SEPARATOR
    "'), string_to_array($2::text, '" SEPARATOR "')) AS x (p, s)) ";

/* When the newest row of each was stored. */
static const char times_sql[] =
    "SELECT k.p, k.s, x.at FROM k "
    "CROSS JOIN LATERAL (SELECT @a AS at FROM @t WHERE project_key = k.p AND session_id = k.s "
    "AND @m ORDER BY subpath DESC, @o DESC LIMIT 1) x WHERE x.at >= %lld";
/* The same for all projects by reading the whole table once, which is faster if it has few pages for each session. The
 * server sends nothing until it is done. */
static const char all_times_sql[] = "SELECT project_key, session_id, @n AS at FROM @t WHERE @m "
                                    "GROUP BY 1, 2 HAVING @n >= $1::bigint";
/* A step through the index takes about as long as reading eight pages. */
static const char is_dense_sql[] =
    "SELECT size <= 2147483648 AND size / 8192 <= 8 * CASE WHEN s.n_distinct < 0 THEN "
    "-s.n_distinct * c.reltuples ELSE s.n_distinct END FROM pg_class c JOIN pg_namespace n "
    "ON n.oid = c.relnamespace JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = "
    "c.relname AND s.attname = 'session_id' CROSS JOIN LATERAL pg_relation_size(c.oid) size "
    "WHERE c.oid = to_regclass($1) AND c.relkind = 'r' AND NOT s.inherited";
/* The first 8 and the last 12 rows of each; all in one round trip. */
static const char ends_sql[] =
    "SELECT k.p, k.s, t.at, h.rows, t.rows, h.n < 8 FROM k "
    "CROSS JOIN LATERAL (SELECT string_agg((" SLIM
    ")::text, E'\\n' ORDER BY o) AS rows, max(o) AS last, count(*) AS n "
    "FROM (SELECT @o AS o, entry AS e FROM @t WHERE project_key = k.p AND session_id = k.s AND @m "
    "ORDER BY subpath, @o LIMIT 8) x) h "
    "CROSS JOIN LATERAL (SELECT string_agg((" SLIM
    ")::text, E'\\n' ORDER BY o) FILTER (WHERE o > h.last) AS rows, max(m) AS at "
    "FROM (SELECT @o AS o, entry AS e, @a AS m FROM @t WHERE project_key = k.p AND session_id = "
    "k.s AND @m ORDER BY subpath DESC, @o DESC LIMIT 12) x) t "
    "WHERE t.at >= %lld";

struct listing {
    reprise_plugin_session_fn *fn;
    void *arg;
};

static struct reprise_plugin_text postgresql_text_of(const PGresult *r, int row, int column)
{
    return (struct reprise_plugin_text){ PQgetvalue(r, row, column),
                                         (size_t)PQgetlength(r, row, column) };
}

static int postgresql_list_session(const PGresult *r, int row, void *arg)
{
    const struct listing *l = arg;
    const struct reprise_plugin_session s = {
        .size = sizeof s,
        .project = PQgetvalue(r, row, 0),
        .session = PQgetvalue(r, row, 1),
        .mtime_ms = strtoll(PQgetvalue(r, row, 2), NULL, 10),
        .head = postgresql_text_of(r, row, 3),
        .tail = postgresql_text_of(r, row, 4),
        .whole = PQgetvalue(r, row, 5)[0] == 't',
    };

    return l->fn(&s, l->arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

/* The keys of sessions, to be put in order before the ends of the newest ones are requested. The server sends them as
 * it finds them, so that it is never silent for long. */
struct found {
    const char *project, *session; /* in the arena */
    int64_t mtime_ms;
};

struct finding {
    struct arena a;
    struct found *found;
    size_t n, cap;
};

static void finding_fini(struct finding *f)
{
    free(f->found);
    arena_fini(&f->a);
}

static int note_found(const PGresult *r, int row, void *arg)
{
    struct finding *f = arg;
    const char *project = arena_copy_text(&f->a, PQgetvalue(r, row, 0));
    const char *session = arena_copy_text(&f->a, PQgetvalue(r, row, 1));

    if (f->a.failed || !array_reserve(f->found, f->cap, f->n + 1))
        return REPRISE_PLUGIN_NO_MEMORY;
    f->found[f->n++] = (struct found){ project, session, strtoll(PQgetvalue(r, row, 2), NULL, 10) };
    return REPRISE_PLUGIN_OK;
}

static int postgresql_newest_first(const void *x, const void *y)
{
    const struct found *p = x, *q = y;

    if (p->mtime_ms != q->mtime_ms)
        return p->mtime_ms < q->mtime_ms ? 1 : -1;
    return strcmp(p->session, q->session);
}

/* Adds a name to a list of them. */
static bool add_name(struct buf *names, const char *name)
{
    return !buf_addf(names, "%s%s", names->n ? SEPARATOR : "", name);
}

static bool has_ends(const struct finding *f, size_t i, size_t newest)
{
    return i < newest && !strstr(f->found[i].project, SEPARATOR) &&
           !strstr(f->found[i].session, SEPARATOR);
}

static int read_bool(const PGresult *r, int row, void *arg)
{
    *(bool *)arg = PQgetvalue(r, row, 0)[0] == 't';
    return REPRISE_PLUGIN_OK;
}

/* Finds the sessions of all projects by reading the whole table, if the server's statistics say that this is faster.
 * *found is false if they do not, or if the server was silent for too long. */
static int find_in_table(struct pg *pg, int64_t since_ms, struct finding *f, bool *found,
                         struct reprise_plugin_call *call)
{
    char sql[PG_SQL], since[32];
    struct pg_query q = { .sql = is_dense_sql,
                          .param = { pg->table },
                          .params = 1,
                          .fn = read_bool,
                          .arg = found,
                          .columns = 1 };

    *found = false;
    int rc = pg_run(pg, &q, call);

    if (rc || !*found) /* a server may not know what is asked */
        return rc == REPRISE_PLUGIN_FAILED ? REPRISE_PLUGIN_OK : rc;
    snprintf(since, sizeof since, "%lld", (long long)since_ms);
    q = (struct pg_query){ .sql = pg_sql(pg, NULL, all_times_sql, sql),
                           .param = { since },
                           .params = 1,
                           .fn = note_found,
                           .arg = f,
                           .columns = 3 };
    rc = pg_run(pg, &q, call);
    *found = rc == REPRISE_PLUGIN_OK;
    if (!*found)
        f->n = 0;
    return rc == REPRISE_PLUGIN_FAILED ? REPRISE_PLUGIN_OK : rc;
}

/* The newest sessions come with their ends, the others without. */
static int list_newest(struct pg *pg, const struct reprise_plugin_query *query,
                       const struct pg_query *times, const struct listing *l,
                       struct reprise_plugin_call *call)
{
    CLEANUP(finding_fini) struct finding f = { .n = 0 };
    AUTO_BUF projects = { 0 }, sessions = { 0 }, form = { 0 };
    const size_t newest = query->newest;
    char sql[PG_SQL];
    struct pg_query q = *times;
    bool found = false;

    if (!query->session && query->projects == 0)
        PLUGIN_TRY(find_in_table(pg, query->since_ms, &f, &found, call));
    q.fn = note_found;
    q.arg = &f;
    if (!found)
        PLUGIN_TRY(pg_run(pg, &q, call));
    bool ok = !buf_addf(&form, "%s", given_sql) && !buf_addf(&form, ends_sql, 0LL);

    if (f.n > 1)
        qsort(f.found, f.n, sizeof *f.found, postgresql_newest_first);

    /* One query reads the ends of all these sessions, because each query costs a round trip. */
    for (size_t i = 0; i < f.n && ok; i++)
        if (has_ends(&f, i, newest))
            ok = add_name(&projects, f.found[i].project) && add_name(&sessions, f.found[i].session);
    q = (struct pg_query){ .sql = sql,
                           .param = { buf_cstr(&projects), buf_cstr(&sessions) },
                           .params = 2,
                           .fn = postgresql_list_session,
                           .arg = (void *)l,
                           .columns = 6 };
    if (!ok || !q.param[0] || !q.param[1] || !buf_cstr(&form))
        return REPRISE_PLUGIN_NO_MEMORY;
    if (projects.n) {
        pg_sql(pg, NULL, buf_cstr(&form), sql);
        PLUGIN_TRY(pg_run(pg, &q, call));
    }
    for (size_t i = 0; i < f.n; i++)
        if (!has_ends(&f, i, newest))
            PLUGIN_TRY(server_list_bare(f.found[i].project, f.found[i].session, f.found[i].mtime_ms,
                                        l->fn, l->arg));
    return REPRISE_PLUGIN_OK;
}

static int pg_list(void *store, const struct reprise_plugin_query *asked,
                   reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    const struct reprise_plugin_query query = server_query(asked);
    const size_t projects = query.session ? 0 : query.projects;
    struct pg *pg = store;
    struct listing l = { fn, arg };
    AUTO_BUF names = { 0 }, form = { 0 };
    char sql[PG_SQL];
    struct pg_query q = { .sql = sql,
                          .param = { query.session },
                          .params = query.session || projects,
                          .fn = postgresql_list_session,
                          .arg = &l,
                          .columns = query.newest ? 3 : 6 };

    /* If only the newest sessions need their ends, the first query returns no more than the times. */
    bool ok = !buf_addf(&form, "%s", projects_sql);

    ok = ok &&
         !(query.session ? buf_addf(&form, "%s", one_session_sql)
                         : buf_addf(&form, sessions_sql, projects ? wanted_projects_sql : "true"));
    ok = ok && !buf_addf(&form, query.newest ? times_sql : ends_sql, (long long)query.since_ms);
    for (size_t i = 0; i < projects && ok; i++)
        ok = add_name(&names, query.project[i]);
    if (ok && projects)
        ok = (q.param[0] = buf_cstr(&names)) != NULL;
    if (!ok || !buf_cstr(&form))
        return REPRISE_PLUGIN_NO_MEMORY;
    pg_sql(pg, NULL, buf_cstr(&form), sql);
    return query.newest ? list_newest(pg, &query, &q, &l, call) : pg_run(pg, &q, call);
}

/* ---- rows ---- */

struct rows {
    reprise_plugin_row_fn *fn;
    void *arg;
    int64_t n, last; /* how many came, and the position of the last one */
};

static int postgresql_hand_row(const PGresult *r, int row, void *arg)
{
    struct rows *to = arg;

    to->n++;
    to->last = strtoll(PQgetvalue(r, row, 0), NULL, 10);
    return to->fn(to->last, postgresql_text_of(r, row, 1), to->arg) ? REPRISE_PLUGIN_STOPPED
                                                                    : REPRISE_PLUGIN_OK;
}

static int run_rows(struct pg *pg, const struct reprise_plugin_key *key, const char *form,
                    const int64_t number[3], struct rows *to, struct reprise_plugin_call *call)
{
    char sql[PG_SQL], text[3][32];
    struct pg_query q = { .sql = pg_sql(pg, key, form, sql),
                          .param = { key->project, key->session, key->subpath },
                          .params = 3,
                          .fn = postgresql_hand_row,
                          .arg = to,
                          .columns = 2 };

    to->n = 0;
    for (int i = 0; i < 3 && number[i] >= 0; i++) {
        snprintf(text[i], sizeof text[i], "%lld", (long long)number[i]);
        q.param[q.params++] = text[i];
    }
    return pg_run(pg, &q, call);
}

/* A reader may stop soon, so the server is asked for the first rows in small steps, which it finds in the index; what
 * is left then comes in one answer. */
static int pg_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                   reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    enum { FIRST = 64, GROWS = 8, STEPS = 4 };
    static const char form[] = "SELECT @o, entry::text FROM @t WHERE @k AND @o > $4::bigint ORDER "
                               "BY subpath, @o LIMIT $5::bigint";
    struct rows to = { .fn = fn, .arg = arg, .last = after };
    int64_t most = FIRST;

    for (int i = 0;; i++, most *= GROWS) {
        most = i < STEPS ? most : INT64_MAX;
        PLUGIN_TRY(run_rows(store, key, form, (const int64_t[]){ to.last, most, -1 }, &to, call));
        if (to.n < most)
            return REPRISE_PLUGIN_OK;
    }
}

static int pg_ids(void *store, const struct reprise_plugin_key *key, reprise_plugin_row_fn *fn,
                  void *arg, struct reprise_plugin_call *call)
{
    static const char form[] = "SELECT @o, CASE jsonb_typeof(entry->'uuid') WHEN 'string' "
                               "THEN jsonb_build_object('uuid', entry->'uuid') ELSE entry END FROM "
                               "@t WHERE @k ORDER BY subpath, @o";

    struct rows to = { .fn = fn, .arg = arg };

    return run_rows(store, key, form, (const int64_t[]){ -1, -1, -1 }, &to, call);
}

static int64_t postgresql_number_of(size_t n)
{
    return n < INT32_MAX ? (int64_t)n : INT32_MAX;
}

/* The newest row is in the page whatever its size. */
static int pg_page(void *store, const struct reprise_plugin_key *key, int64_t before, size_t rows,
                   size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                   struct reprise_plugin_call *call)
{
    static const char form[] = "SELECT o, e FROM (SELECT o, e, sum(length(e)) OVER (ORDER BY o "
                               "DESC) - length(e) AS newer FROM "
                               "(SELECT @o AS o, entry::text AS e FROM @t WHERE @k AND @o < "
                               "$4::bigint ORDER BY subpath DESC, @o DESC LIMIT $5::bigint) x) y "
                               "WHERE newer < $6::bigint ORDER BY o";
    const int64_t number[] = { before > 0 ? before : INT64_MAX, postgresql_number_of(rows),
                               postgresql_number_of(bytes) };
    struct rows to = { .fn = fn, .arg = arg };

    return run_rows(store, key, form, number, &to, call);
}

static int read_position(const PGresult *r, int row, void *arg)
{
    *(int64_t *)arg = strtoll(PQgetvalue(r, row, 0), NULL, 10);
    return REPRISE_PLUGIN_OK;
}

/* Reads the index from its end, and no row is sent. */
static int pg_find(void *store, const struct reprise_plugin_key *key, const char *uuid,
                   int64_t *position, struct reprise_plugin_call *call)
{
    static const char form[] =
        "SELECT @o FROM @t WHERE @k AND entry->>'uuid' = $4 ORDER BY subpath DESC, @o DESC LIMIT 1";
    struct pg *pg = store;
    char sql[PG_SQL];
    const struct pg_query q = { .sql = pg_sql(pg, key, form, sql),
                                .param = { key->project, key->session, key->subpath, uuid },
                                .params = 4,
                                .fn = read_position,
                                .arg = position,
                                .columns = 1 };

    *position = 0;
    return pg_run(pg, &q, call);
}

struct names {
    reprise_plugin_name_fn *fn;
    void *arg;
};

static int postgresql_hand_name(const PGresult *r, int row, void *arg)
{
    const struct names *to = arg;

    return to->fn(PQgetvalue(r, row, 0), to->arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

static int pg_subkeys(void *store, const struct reprise_plugin_key *key, reprise_plugin_name_fn *fn,
                      void *arg, struct reprise_plugin_call *call)
{
    struct pg *pg = store;
    struct names to = { fn, arg };
    char sql[PG_SQL];
    const struct pg_query q = { .sql = sql,
                                .param = { key->project, key->session },
                                .params = 2,
                                .fn = postgresql_hand_name,
                                .arg = &to,
                                .columns = 1 };

    pg_sql(
        pg, NULL,
        "SELECT DISTINCT subpath FROM @t WHERE project_key = $1 AND session_id = $2 AND NOT (@m)",
        sql);
    return pg_run(pg, &q, call);
}

extern const struct reprise_plugin reprise_plugin;
const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .flags = REPRISE_PLUGIN_THREADS | REPRISE_PLUGIN_REORDERS,
    .size = sizeof(struct reprise_plugin),
    .name = "postgresql",
    .open = pg_open,
    .close = pg_close,
    .list = pg_list,
    .read = pg_read,
    .page = pg_page,
    .ids = pg_ids,
    .subkeys = pg_subkeys,
    .append = pg_append,
    .remove = pg_remove,
    .find = pg_find,
};
