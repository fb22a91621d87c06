#ifndef STORE_PLUGINS_REDIS_REDIS_H
#define STORE_PLUGINS_REDIS_REDIS_H

#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/plugins/common/server.h"
#include "store/plugins/common/text.h"

/* Sessions in Redis, under the keys of the reference adapters of the agent's SDK:
 *
 *   PREFIX:PROJECT:SESSION               list of rows, the main transcript
 *   PREFIX:PROJECT:SESSION:SUBPATH       list of rows
 *   PREFIX:PROJECT:SESSION:__subkeys     set of subpaths
 *   PREFIX:PROJECT:__sessions            sorted set of sessions by the time in ms of their newest row
 *
 * The path is redis://[USER@]HOST[:PORT][/DATABASE] or redis:///PATH/OF/A/SOCKET, each with ?db=N and &prefix=TEXT;
 * rediss:// is the same with TLS. The password is in REDISCLI_AUTH or in a file. The options are in docs/plugins.md.
 *
 * The position of a row is its place in the list, from 1. Rows that are not JSON are skipped, as the references skip
 * them. */

struct redis {
    struct arena arena; /* owns the texts */
    const char *host, *socket, *user, *password, *password_file;
    const char *prefix; /* "" or with the colon */
    const char *ca_file, *cert_file, *key_file;
    int port, db;
    bool secure; /* with TLS, for which the next two are */
    SSL_CTX *tls;
    BIO_METHOD *tls_socket;
    struct server_pool pool;
};

/* The most lines of one answer. An element takes one or two, and more memory than its bytes. */
enum { REDIS_LINES_MOST = 2000000 };

struct redis_conn {
    struct redis *rd;
    redisContext *c;
    SSL *ssl;          /* NULL without TLS */
    char in[16 << 10]; /* a whole record of TLS: what OpenSSL keeps, poll() does not see */
    struct buf out;    /* commands */
    size_t sent;       /* bytes of `out` that were sent */
    size_t wanted;     /* answers that are still to come */
    size_t moved, received,
        lines;     /* since the last answer: bytes in both directions, those of the server */
    bool broken;   /* to be closed after use */
    bool too_much; /* the server announced an array that no memory holds */
    redisReplyObjectFunctions functions; /* the reader's; create_array is the one of hiredis */
    __typeof__(((redisReplyObjectFunctions *)0)->createArray) create_array;
};

/* ---- connection.c ---- */

/* A connection for this thread: one that is idle, or a new one. */
int redis_acquire(struct redis *rd, struct reprise_plugin_call *call, struct redis_conn **out);
/* Ends the use of a connection. It is closed if answers are still to come. */
void redis_release(struct redis_conn *c);
DEFINE_CLEANUP(struct redis_conn, redis_release);
#define AUTO_CONNECTION CLEANUP(redis_release_at) struct redis_conn
/* The functions of the pool. */
bool redis_is_usable(void *connection);
void redis_disconnect(void *connection);

/* Queues a command for sending (in the formats of hiredis). Returns NO_MEMORY or OK. */
int redis_send(struct redis_conn *c, const char *format, ...);
/* The same with texts, which may contain any bytes. */
int redis_send_texts(struct redis_conn *c, int n, const char *text[], const size_t size[]);

DEFINE_CLEANUP(redisReply, freeReplyObject);
#define AUTO_REPLY CLEANUP(freeReplyObject_at) redisReply
/* Reads the answer to the oldest unanswered command; free it with freeReplyObject(). An error is an answer too. */
int redis_read_reply(struct redis_conn *c, struct reprise_plugin_call *call, redisReply **out);
/* The same, but an error or an answer of another type is a failure. */
int redis_expect(struct redis_conn *c, struct reprise_plugin_call *call, int type,
                 redisReply **out);
/* Fails with the code for an error of the server. */
int redis_fail_reply(struct reprise_plugin_call *call, const redisReply *r);

/* ---- tls.c ---- */

/* Reads the certificates that TLS needs; redis_tls_close() is called even after a failure. */
int redis_tls_open(struct redis *rd, struct reprise_plugin_call *call);
void redis_tls_close(struct redis *rd);
/* Begins TLS on a connection. The server needs a valid certificate for its name. */
int redis_tls_connect(const struct redis *rd, struct redis_conn *c,
                      struct reprise_plugin_call *call);
/* These return what send() and recv() would, and do not wait. errno is EAGAIN, or redis_tls_fail() has the reason. */
ssize_t redis_tls_send(SSL *ssl, const void *p, size_t n);
ssize_t redis_tls_receive(SSL *ssl, void *p, size_t n);
int redis_tls_fail(const SSL *ssl, struct reprise_plugin_call *call);

/* ---- open.c ---- */

#define RD_SESSIONS "__sessions"
#define RD_SUBKEYS "__subkeys"

/* The key of a transcript or, with a tail, the key of that name below the session. NULL: out of memory. */
const char *redis_key(const struct redis *rd, const struct reprise_plugin_key *key,
                      const char *tail, struct arena *a);
const char *redis_index(const struct redis *rd, const char *project, struct arena *a);

int redis_open(const char *path, const struct reprise_plugin_option *option, size_t options,
               struct reprise_plugin_call *call, void **store);
void redis_close(void *store);

/* ---- list.c ---- */

int redis_list(void *store, const struct reprise_plugin_query *query, reprise_plugin_session_fn *fn,
               void *arg, struct reprise_plugin_call *call);

/* ---- rows.c ---- */

bool redis_is_row(const redisReply *r);

/* ---- append.c ---- */

int redis_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                 const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                 struct reprise_plugin_call *call);
int redis_remove(void *store, const struct reprise_plugin_key *key,
                 struct reprise_plugin_call *call);

#endif
