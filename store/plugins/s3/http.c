#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/plugins/s3/s3.h"

enum {
    TICK_MS = 100,
    TRIES = 4, /* if the server is busy */
    PAUSE_MS = 100,
    ANSWER_SLACK = 1 << 20, /* bytes of an answer without a known size, such as an error */
    PART_MOST = 512 << 20,  /* bytes of one object */
    HEADERS_MOST = 256 << 10,
};

struct slot {
    CURL *easy;
    struct curl_slist *header;
    struct s3_request *request; /* NULL: free */
    char why[CURL_ERROR_SIZE];
};

struct s3_conn {
    struct s3 *s3;
    CURLM *multi;
    struct slot slot[S3_REQUESTS];
    size_t active;
    size_t received; /* bytes since s3_finish() was called */
    bool broken;
};

/* ---- connections ---- */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct s3_request *r = arg;
    int64_t expected = r->expected > 0 ? r->expected : 0;

    r->conn->received += size * n;
    r->too_much = expected > PART_MOST || r->answer.n + size * n > (size_t)expected + ANSWER_SLACK;
    return !r->too_much && !buf_add(&r->answer, (struct slice){ bytes, size * n }) ? size * n : 0;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct s3_request *r = arg;

    (void)bytes;
    r->conn->received += size * n;
    r->header_bytes += size * n;
    r->too_much = r->header_bytes > HEADERS_MOST;
    return r->too_much ? 0 : size * n;
}

static void end_slot(struct s3_conn *c, struct slot *slot)
{
    curl_multi_remove_handle(c->multi, slot->easy);
    curl_slist_free_all(slot->header);
    slot->header = NULL;
    slot->request = NULL;
    c->active--;
}

void s3_conn_stop(struct s3_conn *c)
{
    for (size_t i = 0; i < S3_REQUESTS; i++)
        if (c->slot[i].request)
            end_slot(c, &c->slot[i]);
}

void s3_disconnect(void *connection)
{
    struct s3_conn *c = connection;

    s3_conn_stop(c);
    for (size_t i = 0; i < S3_REQUESTS; i++)
        curl_easy_cleanup(c->slot[i].easy);
    curl_multi_cleanup(c->multi);
    free(c);
}

int s3_acquire(struct s3 *s3, struct s3_conn **out)
{
    struct s3_conn *c = server_pool_take(&s3->pool);

    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || !(c->multi = curl_multi_init())) {
            free(c);
            return REPRISE_PLUGIN_NO_MEMORY;
        }
        c->s3 = s3;
        curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)S3_REQUESTS);
    }
    *out = c;
    return REPRISE_PLUGIN_OK;
}

void s3_release(struct s3_conn *c)
{
    s3_conn_stop(c);
    server_pool_return(&c->s3->pool, c, !c->broken);
}

/* ---- a request ---- */

int s3_encode(struct buf *out, const char *text, bool slashes)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++)
        if (strchr(plain, *text) || (slashes && *text == '/')
                ? buf_add_byte(out, *text)
                : buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text))
            return REPRISE_PLUGIN_NO_MEMORY;
    return REPRISE_PLUGIN_OK;
}

static bool s3_add_header(struct slot *slot, const char *name, const char *value)
{
    struct buf text = { 0 };
    struct curl_slist *more = NULL;

    if (!buf_addf(&text, "%s: ", name) && !buf_add(&text, slice_of(value)) && buf_cstr(&text))
        more = curl_slist_append(slot->header, text.p);
    if (more)
        slot->header = more;
    buf_fini(&text);
    return more != NULL;
}

static bool add_signature(struct slot *slot, const struct s3 *s3, const struct s3_request *r,
                          const char *path, struct arena *a)
{
    char sum[S3_SHA256_TEXT], date[S3_DATE];
    time_t now = time(NULL);
    struct tm tm;

    if (s3_sha256(r->put ? buf_slice(r->put) : SLICE(""), sum) || !gmtime_r(&now, &tm) ||
        !strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &tm))
        return false;
    const struct s3_signed x = { r->method ? r->method : "GET", path, r->query ? r->query : "", sum,
                                 date };
    const char *authorization = s3_sign(s3, &x, a);

    return authorization && s3_add_header(slot, "Host", s3->host) &&
           s3_add_header(slot, "x-amz-content-sha256", sum) &&
           s3_add_header(slot, "x-amz-date", date) &&
           (!s3->token || s3_add_header(slot, "x-amz-security-token", s3->token)) &&
           s3_add_header(slot, "Authorization", authorization);
}

static CURL *new_easy(const struct s3 *s3, struct slot *slot)
{
    CURL *easy = curl_easy_init();

    if (!easy)
        return NULL;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "reprise");
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->why);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, (char *)slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    if (s3->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, s3->ca_file);
    return easy;
}

static int s3_begin(struct s3_conn *c, struct slot *slot, struct s3_request *r)
{
    CURL *easy = slot->easy;
    AUTO_ARENA a = { 0 };
    const char *path;

    /* The path is signed as it is sent. */
    struct buf b = { 0 };
    bool ok = !buf_add(&b, slice_of(c->s3->path)) &&
              (!r->key || (!buf_add_byte(&b, '/') && !s3_encode(&b, r->key, true))) &&
              (b.n || !buf_add_byte(&b, '/'));

    path = ok ? arena_copy(&a, buf_slice(&b)).p : NULL;
    buf_fini(&b);
    const char *url = path ? arena_format(&a, "%s%s%s%s", c->s3->origin, path, r->query ? "?" : "",
                                          r->query ? r->query : "")
                           : NULL;

    int rc = url && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK ? REPRISE_PLUGIN_OK
                                                                         : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc) {
        const struct s3 *s3 = c->s3;

        ok = add_signature(slot, s3, r, path, &a);
        if (ok && r->put)
            ok = s3_add_header(slot, "Content-Type", "application/x-ndjson");
        if (ok && r->put && s3->conditions != S3_CONDITIONS_NONE) /* a part is never replaced */
            ok = s3_add_header(slot, "If-None-Match", "*");
        curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->header);
        rc = ok ? REPRISE_PLUGIN_OK : REPRISE_PLUGIN_NO_MEMORY;
    }
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (r->put) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->put->n);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, r->put->p);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(easy, CURLOPT_RANGE, r->range);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    if (!rc && curl_multi_add_handle(c->multi, easy) != CURLM_OK)
        rc = REPRISE_PLUGIN_NO_MEMORY;
    if (rc) {
        curl_slist_free_all(slot->header);
        slot->header = NULL;
        return rc;
    }
    slot->request = r;
    c->active++;
    return REPRISE_PLUGIN_OK;
}

int s3_start(struct s3_conn *c, struct s3_request *r)
{
    size_t i = 0;

    while (i < S3_REQUESTS && c->slot[i].request)
        i++;
    if (i == S3_REQUESTS)
        return REPRISE_PLUGIN_FAILED;
    struct slot *slot = &c->slot[i];

    if (!slot->easy && !(slot->easy = new_easy(c->s3, slot)))
        return REPRISE_PLUGIN_NO_MEMORY;
    r->answer.n = r->header_bytes = 0;
    r->status = 0;
    r->too_much = false;
    r->conn = c;
    return s3_begin(c, slot, r);
}

/* ---- answers ---- */

/* *done stays NULL if the request is started again. */
static int on_done(struct s3_conn *c, const CURLMsg *m, struct reprise_plugin_call *call,
                   struct s3_request **done)
{
    struct slot *slot = NULL;
    CURLcode result = m->data.result;

    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
    struct s3_request *r = slot->request;

    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &r->status);
    end_slot(c, slot);
    if (result != CURLE_OK) {
        c->broken = true;
        if (r->too_much)
            return server_sends_too_much(call);
        return result == CURLE_OUT_OF_MEMORY
                   ? REPRISE_PLUGIN_NO_MEMORY
                   : text_fail(call, REPRISE_PLUGIN_FAILED,
                               slot->why[0] ? slot->why : curl_easy_strerror(result));
    }
    if ((r->status == 429 || r->status == 500 || (r->status >= 502 && r->status <= 504)) &&
        ++r->tries < TRIES) {
        /* While a server is busy, no other requests are sent to it. */
        for (int64_t until = server_now_ms() + ((int64_t)PAUSE_MS << r->tries);
             server_now_ms() < until;) {
            if (call->stopped(call->arg))
                return REPRISE_PLUGIN_STOPPED;
            poll(NULL, 0, TICK_MS / 2);
        }
        return s3_start(c, r);
    }
    *done = r;
    return REPRISE_PLUGIN_OK;
}

/* All requests together must move bytes at a rate. Bytes that are ready after the deadline are read for a while, as by
 * server_wait(). */
static int wait_for_any(struct s3_conn *c, int64_t begun_ms, struct reprise_plugin_call *call)
{
    int ready = 0;

    if (call->stopped(call->arg))
        return REPRISE_PLUGIN_STOPPED;
    if (curl_multi_poll(c->multi, NULL, 0, TICK_MS, &ready) != CURLM_OK)
        return text_fail(call, REPRISE_PLUGIN_FAILED, "libcurl failed");

    /* Bytes that were sent and received since s3_finish() was called. */
    int64_t moved = (int64_t)c->received;
    curl_off_t sent = 0;

    for (size_t i = 0; i < S3_REQUESTS; i++)
        if (c->slot[i].request &&
            curl_easy_getinfo(c->slot[i].easy, CURLINFO_SIZE_UPLOAD_T, &sent) == CURLE_OK)
            moved += sent;

    return server_now_ms() > begun_ms + call->timeout_ms + moved / SERVER_BYTES_PER_MS +
                                 (ready > 0 ? call->timeout_ms : 0)
               ? server_timed_out(call)
               : REPRISE_PLUGIN_OK;
}

int s3_finish(struct s3_conn *c, struct reprise_plugin_call *call, struct s3_request **done)
{
    int64_t begun_ms = server_now_ms();
    int rc = REPRISE_PLUGIN_OK, count;

    *done = NULL;
    c->received = 0;
    while (!rc && !*done && c->active) {
        const CURLMsg *m;

        if (curl_multi_perform(c->multi, &count) != CURLM_OK)
            rc = text_fail(call, REPRISE_PLUGIN_FAILED, "libcurl failed");
        else if (!(m = curl_multi_info_read(c->multi, &count)))
            rc = wait_for_any(c, begun_ms, call);
        else if (m->msg == CURLMSG_DONE)
            rc = on_done(c, m, call, done);
    }
    return rc;
}

/* A redirection is not followed: it would carry the signature elsewhere. */
int s3_check(const struct s3_request *r, struct reprise_plugin_call *call)
{
    struct s3_error x;

    if (r->status >= 200 && r->status < 300)
        return REPRISE_PLUGIN_OK;
    s3_error_parse(&r->answer, &x);
    if (x.region[0])
        snprintf(call->error, sizeof call->error, "the bucket is in another region: region = %s",
                 x.region);
    else if (r->status == 401 || r->status == 403) {
        if (strcmp(x.code, "InvalidAccessKeyId") == 0 ||
            strcmp(x.code, "SignatureDoesNotMatch") == 0)
            return text_fail(call, REPRISE_PLUGIN_REFUSED, "wrong access key or secret");
        snprintf(call->error, sizeof call->error, "%s", x.message[0] ? x.message : "access denied");
        return REPRISE_PLUGIN_REFUSED;
    } else if (strcmp(x.code, "NoSuchBucket") == 0)
        snprintf(call->error, sizeof call->error, "no such bucket");
    else if (r->status >= 300 && r->status < 400)
        snprintf(call->error, sizeof call->error,
                 "the bucket is on another server; set endpoint or region");
    else
        snprintf(call->error, sizeof call->error, "the server returned %ld%s%s", r->status,
                 x.code[0] ? ": " : "", x.message[0] ? x.message : x.code);
    return REPRISE_PLUGIN_FAILED;
}

int s3_run(struct s3 *s3, struct s3_request *r, struct reprise_plugin_call *call)
{
    AUTO_CONNECTION *c = NULL;
    struct s3_request *done;

    PLUGIN_TRY(s3_acquire(s3, &c));
    PLUGIN_TRY(s3_start(c, r));
    return s3_finish(c, call, &done);
}
