#include "store/plugins/postgresql/pg.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* ---- errors ---- */

void pg_set_error(struct reprise_plugin_call *call, const char *text)
{
    static const char *const fronts[] = { "failed: ", "FATAL:  ", "ERROR:  " };

    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        const char *front = strstr(text, fronts[i]), *line = strchr(text, '\n');

        if (front && (!line || front < line))
            text = front + strlen(fronts[i]);
    }
    snprintf(call->error, sizeof call->error, "%.*s", (int)strcspn(text, "\n"), text);
}

int pg_fail(struct reprise_plugin_call *call, int code, const char *text)
{
    pg_set_error(call, text);
    return code;
}

static int fail_connection(struct reprise_plugin_call *call, const PGconn *c)
{
    static const char *const unreachable[] = { "Connection refused", "unreachable",
                                               "Cannot assign" };
    const char *text = PQerrorMessage(c), *why = NULL;

    /* A name may have several addresses, and libpq reports each that it tried: the first one that was reached tells more
     * than one where no server listens. */
    for (const char *attempt = text; attempt && !why;
         attempt = strstr(attempt, "\nconnection to server ")) {
        bool reached = true;

        attempt += *attempt == '\n';
        for (size_t i = 0; i < COUNT_OF(unreachable) && reached; i++) {
            const char *found = strstr(attempt, unreachable[i]);

            reached = !found || found >= attempt + strcspn(attempt, "\n");
        }
        why = reached ? attempt : NULL;
    }
    return pg_fail(call,
                   PQconnectionNeedsPassword(c) || PQconnectionUsedPassword(c)
                       ? REPRISE_PLUGIN_REFUSED
                       : REPRISE_PLUGIN_FAILED,
                   why ? why : text);
}

static int fail_result(struct reprise_plugin_call *call, const PGconn *c, const PGresult *r)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    const char *text = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;

    pg_set_error(call, text ? text : PQerrorMessage(c));
    return state && (strncmp(state, "28", 2) == 0 || strcmp(state, "42501") == 0)
               ? REPRISE_PLUGIN_REFUSED
               : REPRISE_PLUGIN_FAILED;
}

/* ---- connections ---- */

/* Notices of the server are not for the terminal. Servers warn while they are being connected to. */
static void drop_notice(void *arg, const PGresult *r)
{
    (void)arg, (void)r;
}

/* Notices a server that is gone. */
bool pg_is_usable(void *connection)
{
    PQconsumeInput(connection);
    return PQstatus(connection) == CONNECTION_OK;
}

void pg_disconnect(void *connection)
{
    PQfinish(connection);
}

int pg_acquire(struct pg *pg, struct reprise_plugin_call *call, PGconn **out)
{
    const char *const names[] = { "dbname", "fallback_application_name", "client_encoding", NULL };
    const char *const values[] = { pg->path, "reprise", "UTF8", NULL };
    PGconn *c = server_pool_take(&pg->pool);
    int rc = REPRISE_PLUGIN_OK;

    if (c) {
        *out = c;
        return REPRISE_PLUGIN_OK;
    }
    c = PQconnectStartParams(names, values, 1);
    if (!c)
        return REPRISE_PLUGIN_NO_MEMORY;
    PQsetNoticeReceiver(c, drop_notice, NULL);
    bool failed = PQstatus(c) == CONNECTION_BAD;
    int64_t deadline = server_now_ms() + call->timeout_ms;

    for (PostgresPollingStatusType next = PGRES_POLLING_WRITING;
         !rc && !failed && next != PGRES_POLLING_OK;) {
        failed = next == PGRES_POLLING_FAILED || PQsocket(c) < 0;
        if (!failed)
            rc = server_wait(PQsocket(c), next == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                             deadline, call);
        if (!failed && !rc)
            next = PQconnectPoll(c);
    }
    if (!rc && (failed || PQsetnonblocking(c, 1) != 0))
        rc = fail_connection(call, c);
    if (rc)
        PQfinish(c);
    else
        *out = c;
    return rc;
}

/* PQcancel() waits without a limit, for the connection and until the server closes it, so that a thread calls it, which
 * is left alone after a while. The last of the two frees the request. */
struct cancelling {
    PGcancel *cancel;
    atomic_int owners;
};

static void leave_cancelling(struct cancelling *x)
{
    if (atomic_fetch_sub(&x->owners, 1) == 1) {
        PQfreeCancel(x->cancel);
        free(x);
    }
}

static void *send_cancel(void *arg)
{
    struct cancelling *x = arg;
    char why[64];

    PQcancel(x->cancel, why, sizeof why);
    leave_cancelling(x);
    return NULL;
}

static void cancel_query(PGconn *c)
{
    enum { WAIT_MS = 300, STEP_MS = 5 };
    struct cancelling *x = malloc(sizeof *x);
    pthread_t thread;

    if (!x)
        return;
    x->cancel = PQgetCancel(c);
    atomic_init(&x->owners, 2);
    if (!x->cancel || pthread_create(&thread, NULL, send_cancel, x) != 0) {
        atomic_store(&x->owners, 1);
    } else {
        pthread_detach(thread);
        for (int ms = 0; ms < WAIT_MS && atomic_load(&x->owners) == 2; ms += STEP_MS)
            poll(NULL, 0, STEP_MS);
    }
    leave_cancelling(x);
}

void pg_release(struct pg *pg, PGconn *c)
{
    PGTransactionStatusType status = PQtransactionStatus(c);

    if (status == PQTRANS_ACTIVE)
        cancel_query(c); /* the server need not continue */
    server_pool_return(&pg->pool, c, PQstatus(c) == CONNECTION_OK && status == PQTRANS_IDLE);
}

/* ---- queries ---- */

static int flush_query(PGconn *c, struct reprise_plugin_call *call)
{
    int64_t deadline = server_now_ms() + call->timeout_ms;
    int left;

    while ((left = PQflush(c)) > 0) {
        PLUGIN_TRY(server_wait(PQsocket(c), POLLIN | POLLOUT, deadline, call));
        if (!PQconsumeInput(c))
            return fail_connection(call, c);
    }
    return left == 0 ? REPRISE_PLUGIN_OK : fail_connection(call, c);
}

/* The next result; NULL after the last one. libpq keeps the beginning of a result in memory and has no
 * function for its size, so the bytes are counted before libpq reads them. Notices belong to the result that they
 * precede. */
static int next_result(PGconn *c, struct reprise_plugin_call *call, PGresult **out)
{
    int64_t begun_ms = server_now_ms();
    size_t received = 0;

    while (PQisBusy(c)) {
        int64_t sent_ms = (int64_t)(received / SERVER_BYTES_PER_MS);
        int ready = 0;

        PLUGIN_TRY(server_wait(PQsocket(c), POLLIN, begun_ms + call->timeout_ms + sent_ms, call));
        if (ioctl(PQsocket(c), FIONREAD, &ready) == 0 && ready > 0)
            received += (size_t)ready;
        if (received > SERVER_ANSWER_MOST)
            return server_sends_too_much(call);
        if (!PQconsumeInput(c))
            return fail_connection(call, c);
    }
    *out = PQgetResult(c);
    return REPRISE_PLUGIN_OK;
}

/* Another program's answer may have any number of columns, and NULL in each. */
static int hand_result(const struct pg_query *q, const PGresult *r,
                       struct reprise_plugin_call *call)
{
    int rc = REPRISE_PLUGIN_OK;

    if (q->fn && PQntuples(r) > 0 && PQnfields(r) < q->columns)
        return pg_fail(call, REPRISE_PLUGIN_FAILED, "unexpected answer from the server");
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        if (call->stopped(call->arg))
            return REPRISE_PLUGIN_STOPPED;
        if (q->fn)
            rc = q->fn(r, i, q->arg);
    }
    return rc;
}

static bool is_error(ExecStatusType status)
{
    return status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR ||
           status == PGRES_BAD_RESPONSE || status == PGRES_EMPTY_QUERY;
}

/* If a callback ends the query, the rest of the answer is not read and the connection is closed. An answer that ends
 * with an error of the server is read to its end, but a server that begins to copy would never end. */
int pg_run_on(PGconn *c, const struct pg_query *q, struct reprise_plugin_call *call, char *state)
{
    enum { OTHERS_MOST = 8 }; /* results without rows */
    int others = 0;
    PGresult *r = NULL;
    bool sent = PQsendQueryParams(c, q->sql, q->params, NULL, q->param, NULL, NULL, 0);
    int rc = sent ? flush_query(c, call) : fail_connection(call, c), result = REPRISE_PLUGIN_OK;

    if (state)
        state[0] = '\0';
    if (!rc && q->fn)
        PQsetSingleRowMode(c);
    while (!rc && (rc = next_result(c, call, &r)) == REPRISE_PLUGIN_OK && r) {
        const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
        ExecStatusType status = PQresultStatus(r);

        if (status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK)
            rc = hand_result(q, r, call);
        else if (++others > OTHERS_MOST || (status != PGRES_COMMAND_OK && !is_error(status)))
            rc = pg_fail(call, REPRISE_PLUGIN_FAILED, "unexpected answer from the server");
        else if (status != PGRES_COMMAND_OK)
            result = fail_result(call, c, r);
        if (state && code)
            snprintf(state, 6, "%s", code);
        PQclear(r);
    }
    return rc ? rc : result;
}

int pg_run(struct pg *pg, const struct pg_query *q, struct reprise_plugin_call *call)
{
    PGconn *c;

    PLUGIN_TRY(pg_acquire(pg, call, &c));
    int rc = pg_run_on(c, q, call, NULL);

    pg_release(pg, c);
    return rc;
}
