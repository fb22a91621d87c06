#include "store/plugins/postgresql/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/plugins/common/text.h"

const struct pg_schema pg_schemas[PG_SCHEMAS] = {
    { .name = "python",
      .table = "claude_session_store",
      .columns = { "seq", "mtime" },
      .order = "seq",
      .main = "subpath = ''",
      .mtime = "mtime",
      .newest = "max(mtime)",
      .create = { "CREATE TABLE IF NOT EXISTS @t (project_key text NOT NULL, session_id text NOT "
                  "NULL, "
                  "subpath text NOT NULL DEFAULT '', seq bigserial, entry jsonb NOT NULL, mtime "
                  "bigint NOT NULL, "
                  "PRIMARY KEY (project_key, session_id, subpath, seq))",
                  "CREATE INDEX IF NOT EXISTS @t_list_idx ON @t (project_key, session_id) WHERE "
                  "subpath = ''" } },
    { .name = "typescript",
      .table = "claude_session_entries",
      .columns = { "id", "created_at" },
      .order = "id",
      .main = "subpath IS NULL",
      .mtime = "(extract(epoch FROM created_at) * 1000)::bigint",
      .newest = "(extract(epoch FROM max(created_at)) * 1000)::bigint",
      .create = { "CREATE TABLE IF NOT EXISTS @t (id BIGSERIAL PRIMARY KEY, project_key TEXT NOT "
                  "NULL, "
                  "session_id TEXT NOT NULL, subpath TEXT, entry JSONB NOT NULL, "
                  "created_at TIMESTAMPTZ NOT NULL DEFAULT NOW())",
                  "CREATE INDEX IF NOT EXISTS @t_key_idx ON @t (project_key, session_id, subpath, "
                  "id)" } },
};
/* ---- queries from templates ---- */

const char *pg_sql(const struct pg *pg, const struct reprise_plugin_key *key, const char *form,
                   char out[PG_SQL])
{
    size_t n = 0;

    for (; *form && n + 1 < PG_SQL; form++) {
        const char *part = NULL;

        switch (form[0] == '@' ? form[1] : '\0') {
        case 't': part = pg->table; break;
        case 'o': part = pg->schema->order; break;
        case 'm': part = pg->schema->main; break;
        case 'a': part = pg->schema->mtime; break;
        case 'n': part = pg->schema->newest; break;
        case 'k': /* a main transcript has no third parameter: both schemas can use the index */
            if (key && key->subpath)
                part = "project_key = $1 AND session_id = $2 AND subpath = $3";
            else
                part = pg->schema == &pg_schemas[PG_PYTHON]
                           ? "project_key = $1 AND session_id = $2 AND $3::text IS NULL AND "
                             "subpath = ''"
                           : "project_key = $1 AND session_id = $2 AND $3::text IS NULL AND "
                             "subpath IS NULL";
            break;
        default: out[n++] = *form; break;
        }
        if (part) {
            form++;
            n += (size_t)snprintf(out + n, PG_SQL - n, "%s", part);
        }
    }
    out[n < PG_SQL ? n : PG_SQL - 1] = '\0';
    return out;
}

/* ---- opening ---- */

static bool is_identifier(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

    return name[0] && strchr(letters, name[0]) && strlen(name) <= PG_TABLE &&
           name[strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")] ==
               '\0';
}

/* A password in the path would appear in the configuration, in the history of a shell and in the list of processes. */
static int postgresql_check_path(const char *path, struct reprise_plugin_call *call)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(path, &why);
    int rc = REPRISE_PLUGIN_OK;

    if (!options) {
        pg_set_error(call, why ? why : "out of memory");
        PQfreemem(why);
        return REPRISE_PLUGIN_FAILED;
    }
    for (PQconninfoOption *o = options; o->keyword; o++)
        if ((strcmp(o->keyword, "password") == 0 || strcmp(o->keyword, "sslpassword") == 0) &&
            o->val && o->val[0])
            rc = pg_fail(call, REPRISE_PLUGIN_REFUSED,
                         "its path contains a password; keep that in ~/.pgpass, PGPASSFILE or a "
                         "service file");
    PQconninfoFree(options);
    return rc;
}

/* Which columns a table has: a bit for each that a schema is known by. */
static int note_column(const PGresult *r, int row, void *arg)
{
    const char *column = PQgetvalue(r, row, 0);
    unsigned *seen = arg;

    for (unsigned i = 0; i < PG_SCHEMAS; i++)
        for (unsigned k = 0; k < 2; k++)
            if (strcmp(column, pg_schemas[i].columns[k]) == 0)
                *seen |= 1u << (i * 2 + k);
    *seen |= 1u << 31; /* the table exists */
    return REPRISE_PLUGIN_OK;
}

static int find_table(struct pg *pg, const char *table, struct reprise_plugin_call *call,
                      bool *found)
{
    unsigned seen = 0;
    const struct pg_query q = { .sql = "SELECT attname FROM pg_attribute WHERE attrelid = "
                                       "to_regclass($1) AND attnum > 0 AND NOT attisdropped",
                                .param = { table },
                                .params = 1,
                                .fn = note_column,
                                .arg = &seen,
                                .columns = 1 };
    int rc = pg_run(pg, &q, call);

    *found = false;
    if (rc || !seen)
        return rc;

    /* A schema is known by two columns that a table of the other one lacks. */
    for (unsigned i = 0; i < PG_SCHEMAS && !*found; i++)
        if ((seen >> i * 2 & 3) == 3) {
            pg->schema = &pg_schemas[i];
            if (table != pg->table)
                snprintf(pg->table, sizeof pg->table, "%s", table);
            *found = true;
        }
    if (*found)
        return rc;
    snprintf(call->error, sizeof call->error, "table %s has none of the two known schemas", table);
    return REPRISE_PLUGIN_FAILED;
}

static int choose_table(struct pg *pg, const char *create, struct reprise_plugin_call *call)
{
    bool found = false;
    int rc = REPRISE_PLUGIN_OK;

    if (pg->table[0])
        rc = find_table(pg, pg->table, call, &found);
    for (unsigned i = 0; i < PG_SCHEMAS && !rc && !found && !pg->table[0]; i++)
        rc = find_table(pg, pg_schemas[i].table, call, &found);
    if (rc || found)
        return rc;
    if (create) {
        char sql[PG_SQL];

        for (unsigned i = 0; i < PG_SCHEMAS && !pg->schema; i++)
            if (strcmp(pg_schemas[i].name, create) == 0)
                pg->schema = &pg_schemas[i];
        if (!pg->schema)
            return pg_fail(call, REPRISE_PLUGIN_FAILED, "create needs python or typescript");
        if (!pg->table[0])
            snprintf(pg->table, sizeof pg->table, "%s", pg->schema->table);
        for (unsigned i = 0; i < 2 && !rc; i++)
            rc = pg_run(pg,
                        &(struct pg_query){ .sql = pg_sql(pg, NULL, pg->schema->create[i], sql) },
                        call);
        return rc;
    }
    snprintf(call->error, sizeof call->error,
             "no table %s; `create = python` in the configuration creates one",
             pg->table[0] ? pg->table : "claude_session_store or claude_session_entries");
    return REPRISE_PLUGIN_NOT_FOUND;
}

void pg_close(void *store)
{
    struct pg *pg = store;

    server_pool_fini(&pg->pool);
    free(pg->path);
    free(pg);
}

static int postgresql_read_options(struct pg *pg, const struct reprise_plugin_option *option,
                                   size_t options, const char **create,
                                   struct reprise_plugin_call *call)
{
    for (size_t i = 0; i < options; i++) {
        const char *name = option[i].name;
        char why[80];

        if (strcmp(name, "table") == 0) {
            if (!is_identifier(option[i].value))
                return pg_fail(call, REPRISE_PLUGIN_FAILED,
                               "table needs a name of letters, digits and _");
            snprintf(pg->table, sizeof pg->table, "%s", option[i].value);
        } else if (strcmp(name, "create") == 0) {
            *create = option[i].value;
        } else if (!text_is_common_option(name)) {
            snprintf(why, sizeof why, TEXT_UNKNOWN_OPTION, name);
            return pg_fail(call, REPRISE_PLUGIN_FAILED, why);
        }
    }
    return REPRISE_PLUGIN_OK;
}

int pg_open(const char *path, const struct reprise_plugin_option *option, size_t options,
            struct reprise_plugin_call *call, void **store)
{
    struct pg *pg = calloc(1, sizeof *pg);
    const char *create = NULL;
    int rc;

    if (!pg || !(pg->path = strdup(path))) {
        free(pg);
        return REPRISE_PLUGIN_NO_MEMORY;
    }
    server_pool_init(&pg->pool, pg_is_usable, pg_disconnect);
    rc = postgresql_check_path(path, call);
    if (!rc)
        rc = postgresql_read_options(pg, option, options, &create, call);
    if (!rc)
        rc = choose_table(pg, create, call);
    if (rc)
        pg_close(pg);
    else
        *store = pg;
    return rc;
}
