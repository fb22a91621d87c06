#include "store/plugins/redis/redis.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* ---- the socket below TLS ---- */

/* OpenSSL's own one calls write(), which raises SIGPIPE when the server is gone. */

static int socket_result(BIO *b, ssize_t n, int retry)
{
    BIO_clear_retry_flags(b);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(b, retry | BIO_FLAGS_SHOULD_RETRY);
    else if (n == 0)
        errno = 0; /* the end of the stream is not a system error */
    return (int)n;
}

static int socket_write(BIO *b, const char *p, int n)
{
    int fd = (int)(intptr_t)BIO_get_data(b);

    return socket_result(b, send(fd, p, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT), BIO_FLAGS_WRITE);
}

static int socket_read(BIO *b, char *p, int n)
{
    int fd = (int)(intptr_t)BIO_get_data(b);

    return socket_result(b, recv(fd, p, (size_t)n, MSG_DONTWAIT), BIO_FLAGS_READ);
}

static long socket_control(BIO *b, int command, long number, void *p)
{
    (void)b, (void)number, (void)p;
    return command == BIO_CTRL_FLUSH;
}

/* ---- failures ---- */

int redis_tls_fail(const SSL *ssl, struct reprise_plugin_call *call)
{
    long verdict = SSL_get_verify_result(ssl);
    const char *why = ERR_reason_error_string(ERR_peek_last_error());

    if (verdict != X509_V_OK)
        snprintf(call->error, sizeof call->error, "the server's certificate is not valid: %s",
                 X509_verify_cert_error_string(verdict));
    else if (why)
        snprintf(call->error, sizeof call->error, "TLS: %s", why);
    else
        return text_fail(call, REPRISE_PLUGIN_FAILED,
                         errno ? strerror(errno) : "the server closed the connection");
    return REPRISE_PLUGIN_FAILED;
}

/* The result of send() or recv() for that of SSL_write_ex() or SSL_read_ex(). */
static ssize_t moved(const SSL *ssl, int ok, size_t n)
{
    int why = ok ? SSL_ERROR_NONE : SSL_get_error(ssl, ok);

    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        errno = EAGAIN;
    else if (errno == EAGAIN)
        errno = 0;
    return why == SSL_ERROR_NONE ? (ssize_t)n : why == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

ssize_t redis_tls_send(SSL *ssl, const void *p, size_t n)
{
    size_t done = 0;

    ERR_clear_error();
    int ok = SSL_write_ex(ssl, p, n, &done);

    return moved(ssl, ok, done);
}

ssize_t redis_tls_receive(SSL *ssl, void *p, size_t n)
{
    size_t done = 0;

    ERR_clear_error();
    int ok = SSL_read_ex(ssl, p, n, &done);

    return moved(ssl, ok, done);
}

/* ---- connecting ---- */

int redis_tls_connect(const struct redis *rd, struct redis_conn *c,
                      struct reprise_plugin_call *call)
{
    BIO *below = BIO_new(rd->tls_socket);

    c->ssl = SSL_new(rd->tls);

    /* The certificate must be for this name or address. */
    if (!below || !c->ssl ||
        (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(c->ssl), rd->host) &&
         (!X509_VERIFY_PARAM_set1_host(SSL_get0_param(c->ssl), rd->host, 0) ||
          !SSL_set_tlsext_host_name(c->ssl, rd->host)))) {
        BIO_free(below);
        return REPRISE_PLUGIN_NO_MEMORY;
    }
    BIO_set_data(below, (void *)(intptr_t)c->c->fd);
    BIO_set_init(below, 1);
    SSL_set_bio(c->ssl, below, below);
    int64_t deadline = server_now_ms() + call->timeout_ms;

    for (;;) {
        ERR_clear_error();
        int done = SSL_connect(c->ssl);
        int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, done);

        if (why == SSL_ERROR_NONE)
            return REPRISE_PLUGIN_OK;
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            return redis_tls_fail(c->ssl, call);
        PLUGIN_TRY(
            server_wait(c->c->fd, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline, call));
    }
}

/* ---- certificates ---- */

/* Without this OpenSSL would ask for the passphrase of a key on the terminal. */
static int no_password(char *out, int size, int writing, void *arg)
{
    (void)out, (void)size, (void)writing, (void)arg;
    return -1;
}

int redis_tls_open(struct redis *rd, struct reprise_plugin_call *call)
{
    rd->tls = SSL_CTX_new(TLS_client_method());
    BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");

    if (m) {
        BIO_meth_set_write(m, socket_write);
        BIO_meth_set_read(m, socket_read);
        BIO_meth_set_ctrl(m, socket_control);
    }
    rd->tls_socket = m;

    if (!rd->tls || !rd->tls_socket)
        return REPRISE_PLUGIN_NO_MEMORY;
    SSL_CTX_set_min_proto_version(rd->tls, TLS1_2_VERSION);
    SSL_CTX_set_verify(rd->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(rd->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_default_passwd_cb(rd->tls, no_password);

    /* The reason of a failure is the oldest error in the queue, so older ones are removed. */
    ERR_clear_error();
    const char *bad = NULL; /* the option whose file cannot be used */

    if (rd->ca_file ? !SSL_CTX_load_verify_file(rd->tls, rd->ca_file)
                    : !SSL_CTX_set_default_verify_paths(rd->tls))
        bad = "ca-file";
    else if (rd->cert_file && SSL_CTX_use_certificate_chain_file(rd->tls, rd->cert_file) != 1)
        bad = "cert-file";
    else if (rd->key_file &&
             SSL_CTX_use_PrivateKey_file(rd->tls, rd->key_file, SSL_FILETYPE_PEM) != 1)
        bad = "key-file";
    if (!bad)
        return REPRISE_PLUGIN_OK;
    const char *why = ERR_reason_error_string(ERR_peek_error());

    snprintf(call->error, sizeof call->error, "%s: %s", bad, why ? why : "it cannot be read");
    return REPRISE_PLUGIN_REFUSED;
}

void redis_tls_close(struct redis *rd)
{
    SSL_CTX_free(rd->tls);
    BIO_meth_free(rd->tls_socket);
}
