#include "store/plugins/postgresql/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array of texts as PostgreSQL reads it: {"…","…"}. The caller frees it. */
static char *array_of(const struct reprise_plugin_text *row, size_t rows)
{
    size_t most = 3;
    char *text, *to;

    for (size_t i = 0; i < rows; i++)
        most += row[i].n * 2 + 3;
    text = to = malloc(most);
    if (!text)
        return NULL;
    *to++ = '{';
    for (size_t i = 0; i < rows; i++) {
        if (i)
            *to++ = ',';
        *to++ = '"';
        for (size_t k = 0; k < row[i].n; k++) {
            if (row[i].p[k] == '"' || row[i].p[k] == '\\')
                *to++ = '\\';
            *to++ = row[i].p[k];
        }
        *to++ = '"';
    }
    *to++ = '}';
    *to = '\0';
    return text;
}

static bool has_nul(const struct reprise_plugin_text *row, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (memchr(row[i].p, '\0', row[i].n))
            return true;
    return false;
}

/* Finds the row that the server refused: it may contain a number or a text that it cannot store, \u0000 or a lone
 * surrogate. */
static int find_bad_row(PGconn *c, const struct reprise_plugin_text *row, size_t rows,
                        struct reprise_plugin_call *call)
{
    for (size_t i = 0; i < rows; i++) {
        char state[6], *text = strndup(row[i].p, row[i].n);
        const struct pg_query q = { .sql = "SELECT $1::jsonb IS NULL",
                                    .param = { text },
                                    .params = 1 };
        int rc = !text                 ? REPRISE_PLUGIN_NO_MEMORY
                 : has_nul(&row[i], 1) ? REPRISE_PLUGIN_BAD_ROW
                                       : pg_run_on(c, &q, call, state);

        free(text);
        if (rc && rc != REPRISE_PLUGIN_NO_MEMORY && PQstatus(c) == CONNECTION_OK) {
            call->row = i;
            return REPRISE_PLUGIN_BAD_ROW;
        }
        if (rc)
            return rc;
    }
    return REPRISE_PLUGIN_FAILED;
}

static int note_position(const PGresult *r, int row, void *arg)
{
    int64_t *last = arg, at = strtoll(PQgetvalue(r, row, 0), NULL, 10);

    if (at > *last)
        *last = at;
    return REPRISE_PLUGIN_OK;
}

#define IF_NEWEST                                                                                  \
    " FROM unnest($4::text[]) WITH ORDINALITY AS t(e, ord) WHERE $5::bigint < 0 OR "               \
    "$5::bigint = coalesce((SELECT @o FROM @t WHERE @k ORDER BY @o DESC LIMIT 1), 0) ORDER BY "    \
    "ord RETURNING @o"

static const char insert_python[] =
    "INSERT INTO @t (project_key, session_id, subpath, entry, mtime) SELECT $1, $2, "
    "coalesce($3::text, ''), e::jsonb, "
    "(extract(epoch FROM clock_timestamp()) * 1000)::bigint" IF_NEWEST;
static const char insert_typescript[] = "INSERT INTO @t (project_key, session_id, subpath, entry) "
                                        "SELECT $1, $2, $3::text, e::jsonb" IF_NEWEST;

/* Called in the transaction, with the lock of the key, so that programs that follow this protocol take turns. */
static int insert_rows(const struct pg *pg, PGconn *c, const struct reprise_plugin_key *key,
                       int64_t after, const char *array, int64_t *last,
                       struct reprise_plugin_call *call, char *state)
{
    bool python = pg->schema == &pg_schemas[PG_PYTHON];
    char sql[PG_SQL], number[32];
    const struct pg_query lock = {
        .sql = "SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('/', $1::text, $2::text, "
               "$3::text), 0))",
        .param = { key->project, key->session, key->subpath },
        .params = 3,
    };
    const struct pg_query insert = { .sql = sql,
                                     .param = { key->project, key->session, key->subpath, array,
                                                number },
                                     .params = 5,
                                     .fn = note_position,
                                     .arg = last,
                                     .columns = 1 };

    PLUGIN_TRY(pg_run_on(c, &lock, call, state));
    snprintf(number, sizeof number, "%lld", (long long)after);
    pg_sql(pg, key, python ? insert_python : insert_typescript, sql);
    return pg_run_on(c, &insert, call, state);
}

static int postgresql_run_plain(PGconn *c, const char *sql, struct reprise_plugin_call *call)
{
    return pg_run_on(c, &(struct pg_query){ .sql = sql }, call, NULL);
}

static int append_array(struct pg *pg, PGconn *c, const struct reprise_plugin_key *key,
                        int64_t after, const char *array, int64_t *last,
                        struct reprise_plugin_call *call, char *state)
{
    char why[REPRISE_PLUGIN_ERROR];
    int rc = postgresql_run_plain(c, "BEGIN", call);

    if (!rc)
        rc = insert_rows(pg, c, key, after, array, last, call, state);
    if (!rc && *last == 0)
        rc = REPRISE_PLUGIN_CHANGED;
    if (!rc)
        return postgresql_run_plain(c, "COMMIT", call);
    memcpy(why, call->error, sizeof why);
    if (PQstatus(c) == CONNECTION_OK && rc != REPRISE_PLUGIN_STOPPED &&
        postgresql_run_plain(c, "ROLLBACK", call) == REPRISE_PLUGIN_OK)
        memcpy(call->error, why, sizeof why);
    return rc;
}

int pg_append(void *store, const struct reprise_plugin_key *key, int64_t after,
              const struct reprise_plugin_text *row, size_t rows, int64_t *last,
              struct reprise_plugin_call *call)
{
    struct pg *pg = store;
    AUTO_FREE char *array = array_of(row, rows);
    bool bad = has_nul(row, rows);
    char state[6] = "";
    int rc = REPRISE_PLUGIN_OK;
    PGconn *c;

    *last = 0;
    if (rows == 0)
        return REPRISE_PLUGIN_OK;
    if (!array)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(pg_acquire(pg, call, &c));
    if (!bad)
        rc = append_array(pg, c, key, after, array, last, call, state);
    if (bad || (rc == REPRISE_PLUGIN_FAILED && strncmp(state, "22", 2) == 0))
        rc = find_bad_row(c, row, rows, call);
    pg_release(pg, c);
    return rc;
}

int pg_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call)
{
    struct pg *pg = store;
    char sql[PG_SQL];
    const struct pg_query q = { .sql = sql,
                                .param = { key->project, key->session, key->subpath },
                                .params = key->subpath ? 3 : 2 };

    pg_sql(pg, NULL,
           key->subpath
               ? "DELETE FROM @t WHERE project_key = $1 AND session_id = $2 AND subpath = $3"
               : "DELETE FROM @t WHERE project_key = $1 AND session_id = $2",
           sql);
    return pg_run(pg, &q, call);
}
