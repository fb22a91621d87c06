#include "store/plugins/redis/redis.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- errors ---- */

static bool redis_begins(const redisReply *r, const char *word)
{
    size_t n = strlen(word);

    return r->len >= n && memcmp(r->str, word, n) == 0;
}

int redis_fail_reply(struct reprise_plugin_call *call, const redisReply *r)
{
    bool refused =
        redis_begins(r, "NOAUTH") || redis_begins(r, "WRONGPASS") || redis_begins(r, "NOPERM");

    if (redis_begins(r, "WRONGTYPE"))
        return text_fail(call, REPRISE_PLUGIN_FAILED, "its key holds a value of another type");
    if (redis_begins(r, "NOAUTH"))
        return text_fail(
            call, REPRISE_PLUGIN_REFUSED,
            "the server needs a password; keep it in REDISCLI_AUTH or a password-file");
    return text_fail(call, refused ? REPRISE_PLUGIN_REFUSED : REPRISE_PLUGIN_FAILED,
                     redis_begins(r, "ERR ") ? r->str + 4 : r->str);
}

static int break_off(struct redis_conn *c, struct reprise_plugin_call *call, const char *why)
{
    c->broken = true;
    return text_fail(call, REPRISE_PLUGIN_FAILED, why);
}

static int break_off_failed(struct redis_conn *c, struct reprise_plugin_call *call)
{
    c->broken = true;
    return c->ssl ? redis_tls_fail(c->ssl, call)
                  : text_fail(call, REPRISE_PLUGIN_FAILED, strerror(errno));
}

/* ---- commands and answers ---- */

static int redis_add_command(struct redis_conn *c, char *command, long long n)
{
    int rc = REPRISE_PLUGIN_NO_MEMORY;

    if (c->sent == c->out.n)
        c->sent = c->out.n = 0;
    if (n > 0 && !buf_add(&c->out, (struct slice){ command, (size_t)n })) {
        c->wanted++;
        rc = REPRISE_PLUGIN_OK;
    }
    if (n > 0)
        redisFreeCommand(command);
    c->broken |= rc != REPRISE_PLUGIN_OK; /* a part of a transaction may be missing */
    return rc;
}

int redis_send(struct redis_conn *c, const char *format, ...)
{
    char *command = NULL;
    va_list ap;

    va_start(ap, format);
    int n = redisvFormatCommand(&command, format, ap);

    va_end(ap);
    return redis_add_command(c, command, n);
}

int redis_send_texts(struct redis_conn *c, int n, const char *text[], const size_t size[])
{
    char *command = NULL;
    long long length = redisFormatCommandArgv(&command, n, text, size);

    return redis_add_command(c, command, length);
}

static int receive_some(struct redis_conn *c, struct reprise_plugin_call *call)
{
    ssize_t n = c->ssl ? redis_tls_receive(c->ssl, c->in, sizeof c->in)
                       : recv(c->c->fd, c->in, sizeof c->in, MSG_DONTWAIT);

    if (n == 0)
        return break_off(c, call, "the server closed the connection");
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return break_off_failed(c, call);
    if (n > 0) {
        c->received += (size_t)n;
        c->moved += (size_t)n;
        for (const char *p = c->in; (p = memchr(p, '\n', (size_t)(c->in + n - p))); p++)
            c->lines++;
        if (c->received > SERVER_ANSWER_MOST || c->lines > REDIS_LINES_MOST) {
            c->broken = true;
            return server_sends_too_much(call);
        }
        if (redisReaderFeed(c->c->reader, c->in, (size_t)n) != REDIS_OK)
            return break_off(c, call, c->c->reader->errstr);
    }
    return REPRISE_PLUGIN_OK;
}

/* Sends and receives what is possible at the moment, so that in a long pipeline the two sides never wait for each
 * other. The bytes that move put the deadline off, but only as far as they come at a rate. */
static int exchange(struct redis_conn *c, int64_t begun_ms, struct reprise_plugin_call *call)
{
    bool sending = c->sent < c->out.n;
    int64_t deadline = begun_ms + call->timeout_ms + (int64_t)(c->moved / SERVER_BYTES_PER_MS);
    int rc = server_wait(c->c->fd, sending ? POLLIN | POLLOUT : POLLIN, deadline, call);

    if (!rc && sending) {
        /* hiredis is not used for this, because its write() would raise SIGPIPE when the server is
         * gone. */
        const char *from = c->out.p + c->sent;
        size_t most = c->out.n - c->sent;
        ssize_t n = c->ssl ? redis_tls_send(c->ssl, from, most)
                           : send(c->c->fd, from, most, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR)
            rc = break_off_failed(c, call);
        else {
            if (n > 0) {
                c->sent += (size_t)n;
                c->moved += (size_t)n;
            }
            rc = REPRISE_PLUGIN_OK;
        }
    }
    if (!rc)
        rc = receive_some(c, call);
    if (rc)
        c->broken = true;
    return rc;
}

int redis_read_reply(struct redis_conn *c, struct reprise_plugin_call *call, redisReply **out)
{
    int64_t begun_ms = server_now_ms();
    void *r = NULL;

    *out = NULL;
    c->moved = c->received = c->lines = 0;
    for (;;) {
        if (redisReaderGetReply(c->c->reader, &r) != REDIS_OK) {
            c->broken = true;
            return c->too_much ? server_sends_too_much(call)
                               : break_off(c, call, c->c->reader->errstr);
        }
        if (r)
            break;
        PLUGIN_TRY(exchange(c, begun_ms, call));
    }
    c->wanted--;
    *out = r;
    return REPRISE_PLUGIN_OK;
}

int redis_expect(struct redis_conn *c, struct reprise_plugin_call *call, int type, redisReply **out)
{
    int rc = redis_read_reply(c, call, out);

    if (rc || (*out)->type == type)
        return rc;
    rc = (*out)->type == REDIS_REPLY_ERROR
             ? redis_fail_reply(call, *out)
             : break_off(c, call, "unexpected answer from the server");
    freeReplyObject(*out);
    *out = NULL;
    return rc;
}

/* ---- connections ---- */

void redis_disconnect(void *connection)
{
    struct redis_conn *c = connection;

    SSL_free(c->ssl);
    if (c->c)
        redisFree(c->c);
    if (c->out.n)
        explicit_bzero(c->out.p, c->out.n); /* it began with the password */
    buf_fini(&c->out);
    free(c);
}

#if HIREDIS_MAJOR >= 1
typedef size_t redis_count;
#else
typedef int redis_count;
#endif

/* hiredis allocates the elements of an array as soon as it is announced. */
static void *create_array(const redisReadTask *task, redis_count n)
{
    struct redis_conn *c = task->privdata;

    c->too_much = c->too_much || n > (redis_count)REDIS_LINES_MOST;
    return c->too_much ? NULL : c->create_array(task, n);
}

/* A server without passwords accepts any. The server's error may repeat the password, so it is not shown. */
static int introduce(const struct redis *rd, struct redis_conn *c, struct reprise_plugin_call *call)
{
    AUTO_REPLY *checked = NULL, *selected = NULL;

    if (rd->password)
        PLUGIN_TRY(rd->user ? redis_send(c, "AUTH %s %s", rd->user, rd->password)
                            : redis_send(c, "AUTH %s", rd->password));
    if (rd->db)
        PLUGIN_TRY(redis_send(c, "SELECT %d", rd->db));
    if (rd->password) {
        PLUGIN_TRY(redis_read_reply(c, call, &checked));
        if (checked->type == REDIS_REPLY_ERROR &&
            (redis_begins(checked, "WRONGPASS") || redis_begins(checked, "ERR invalid")))
            return text_fail(call, REPRISE_PLUGIN_REFUSED, "wrong password or user");
    }
    return rd->db ? redis_expect(c, call, REDIS_REPLY_STATUS, &selected) : REPRISE_PLUGIN_OK;
}

static int redis_connect(const struct redis *rd, struct redis_conn *c,
                         struct reprise_plugin_call *call)
{
    c->c = rd->socket ? redisConnectUnixNonBlock(rd->socket)
                      : redisConnectNonBlock(rd->host, rd->port);
    if (!c->c)
        return REPRISE_PLUGIN_NO_MEMORY;
    if (c->c->err)
        return text_fail(call, REPRISE_PLUGIN_FAILED, c->c->errstr);
    int error = 0;
    socklen_t size = sizeof error;

    PLUGIN_TRY(server_wait(c->c->fd, POLLOUT, server_now_ms() + call->timeout_ms, call));
    if (getsockopt(c->c->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error)
        return text_fail(call, REPRISE_PLUGIN_FAILED, strerror(error));
    redisReader *reader = c->c->reader;

    c->functions = *reader->fn;
    c->create_array = c->functions.createArray;
    c->functions.createArray = create_array;
    reader->fn = &c->functions;
    reader->privdata = c;

    if (rd->secure)
        PLUGIN_TRY(redis_tls_connect(rd, c, call));
    int rc = introduce(rd, c, call);

    if (c->out.n)
        explicit_bzero(c->out.p, c->out.n); /* the password */
    return rc;
}

/* Nothing but its end is expected on an idle connection. */
bool redis_is_usable(void *connection)
{
    const struct redis_conn *c = connection;
    struct pollfd p = { .fd = c->c->fd, .events = POLLIN };

    return poll(&p, 1, 0) == 0;
}

int redis_acquire(struct redis *rd, struct reprise_plugin_call *call, struct redis_conn **out)
{
    struct redis_conn *c = server_pool_take(&rd->pool);
    int rc = REPRISE_PLUGIN_OK;

    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c)
            return REPRISE_PLUGIN_NO_MEMORY;
        c->rd = rd;
        rc = redis_connect(rd, c, call);
    }
    if (rc)
        redis_disconnect(c);
    else
        *out = c;
    return rc;
}

void redis_release(struct redis_conn *c)
{
    server_pool_return(&c->rd->pool, c, !c->broken && !c->wanted);
}
