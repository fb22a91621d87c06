#ifndef STORE_PLUGINS_POSTGRESQL_PG_H
#define STORE_PLUGINS_POSTGRESQL_PG_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/plugins/common/server.h"

/* Sessions in PostgreSQL, in the tables of the two reference adapters of the agent's SDK
 * (docs/formats/session-store.md). The columns of a table show which of the two it belongs to:
 *
 *   claude_session_store      subpath '' for the main transcript, ordered by seq, mtime in ms        (Python)
 *   claude_session_entries    subpath NULL for it, ordered by id, created_at                         (TypeScript)
 *
 * The path is anything that libpq accepts: a URL, or "host=… dbname=…". Passwords come from where libpq looks for them
 * (PGPASSFILE, ~/.pgpass, a service file) and never from the path. Options:
 *
 *   table = NAME                  another table than those two
 *   create = python|typescript    creates the table if it does not exist */

enum { PG_TABLE = 63, PG_SQL = 6144, PG_PARAMS = 6 };

/* One of the two schemas, as it appears in queries. */
struct pg_schema {
    const char *name, *table;
    const char *columns[2]; /* that the other one lacks */
    const char *order;      /* the column */
    const char *main;       /* the condition of a main transcript */
    const char *mtime;      /* in ms, of a row */
    const char *newest;     /* the same of the newest one of a group */
    const char *create[2];
};

enum { PG_PYTHON, PG_TYPESCRIPT, PG_SCHEMAS };
extern const struct pg_schema pg_schemas[PG_SCHEMAS];

struct pg {
    char *path;
    char table[PG_TABLE + 1]; /* "": one of the usual ones */
    const struct pg_schema *schema;
    struct server_pool pool;
};

/* ---- connection.c ---- */

/* Sets the reason of a failure: the first line of a text, without the prefixes of libpq and the server. */
void pg_set_error(struct reprise_plugin_call *call, const char *text);
/* The same; returns the code. */
int pg_fail(struct reprise_plugin_call *call, int code, const char *text);

/* Gets a connection for this thread: an idle one, or a new one. */
int pg_acquire(struct pg *pg, struct reprise_plugin_call *call, PGconn **out);
/* Ends the use of a connection. If a query is still running, it is cancelled and the connection is closed. */
void pg_release(struct pg *pg, PGconn *c);
/* The functions of the pool. */
bool pg_is_usable(void *connection);
void pg_disconnect(void *connection);

/* Called for each row of an answer; a code that is not OK ends the query. */
typedef int pg_answer_fn(const PGresult *r, int row, void *arg);

/* The parameters are texts; NULL is NULL. */
struct pg_query {
    const char *sql;
    const char *param[PG_PARAMS];
    int params;
    pg_answer_fn *fn; /* NULL: the rows are ignored */
    void *arg;
    int columns; /* that fn reads */
};

/* Runs a query and reads its rows one by one, so that an answer of any size takes the memory of one row. state: the
 * SQLSTATE of a failure, 6 bytes; may be NULL. */
int pg_run_on(PGconn *c, const struct pg_query *q, struct reprise_plugin_call *call, char *state);
/* The same on a separate connection. */
int pg_run(struct pg *pg, const struct pg_query *q, struct reprise_plugin_call *call);

/* ---- open.c ---- */

/* Fills in a template with names that are ours or were checked: @t the table, @o the column of the order, @m the
 * condition of a main transcript, @a the time of a row in ms, @n that of the newest one of a group, @k the condition of
 * the key in $1 to $3. */
const char *pg_sql(const struct pg *pg, const struct reprise_plugin_key *key, const char *form,
                   char out[PG_SQL]);

int pg_open(const char *path, const struct reprise_plugin_option *option, size_t options,
            struct reprise_plugin_call *call, void **store);
void pg_close(void *store);

/* ---- append.c ---- */

int pg_append(void *store, const struct reprise_plugin_key *key, int64_t after,
              const struct reprise_plugin_text *row, size_t rows, int64_t *last,
              struct reprise_plugin_call *call);
int pg_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call);

#endif
