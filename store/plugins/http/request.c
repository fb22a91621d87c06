#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/plugins/http/http.h"

enum { HTTP_TICK_MS = 100, HTTP_HEADERS_MOST = 256 << 10 };

struct http_conn {
    CURLM *multi;
    CURL *easy;
    struct buf *answer;
    struct http_entries *entries; /* may be NULL */
    size_t headers, received;     /* bytes */
    bool too_much;
    char why[CURL_ERROR_SIZE];
};

static size_t http_take_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_conn *c = arg;
    const struct slice more = { bytes, size * n };
    long status = 0;

    c->received += more.n;
    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (c->entries && status >= 200 && status < 300)
        return http_entries_add(c->entries, more) ? more.n : 0;
    c->too_much = c->answer->n + more.n > SERVER_ANSWER_MOST;
    return !c->too_much && !buf_add(c->answer, more) ? more.n : 0;
}

static size_t http_take_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_conn *c = arg;

    (void)bytes;
    c->headers += size * n;
    c->too_much = c->headers > HTTP_HEADERS_MOST;
    return c->too_much ? 0 : size * n;
}

void http_disconnect(void *connection)
{
    struct http_conn *c = connection;

    curl_easy_cleanup(c->easy);
    curl_multi_cleanup(c->multi);
    free(c);
}

static struct http_conn *http_connect(const struct http *http)
{
    struct http_conn *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->multi = curl_multi_init();
    c->easy = curl_easy_init();
    if (!c->multi || !c->easy) {
        http_disconnect(c);
        return NULL;
    }
    /* A redirection is not followed: it would carry the token elsewhere. */
    curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->easy, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(c->easy, CURLOPT_USERAGENT, "reprise");
    curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, http_take_bytes);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, http_take_header);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
    if (http->ca_file)
        curl_easy_setopt(c->easy, CURLOPT_CAINFO, http->ca_file);
    return c;
}

/* Bytes must move at a rate. Bytes that are ready after the deadline are read for a while, as by server_wait(). */
static int http_perform(struct http_conn *c, struct reprise_plugin_call *call)
{
    const int64_t begun_ms = server_now_ms();
    curl_off_t sent;
    int running = 1, ready = 0, left;

    while (curl_multi_perform(c->multi, &running) == CURLM_OK) {
        const CURLMsg *m = curl_multi_info_read(c->multi, &left);

        if (m && m->msg == CURLMSG_DONE) {
            if (m->data.result == CURLE_OK)
                return REPRISE_PLUGIN_OK;

            const enum http_entry_failed failed = c->entries ? c->entries->failed : HTTP_ENTRY_FINE;

            if (c->too_much || failed == HTTP_ENTRY_TOO_MUCH)
                return server_sends_too_much(call);
            if (failed == HTTP_ENTRY_STOPPED)
                return REPRISE_PLUGIN_STOPPED;
            if (failed == HTTP_ENTRY_BAD)
                return text_fail(call, REPRISE_PLUGIN_FAILED,
                                 "the server sends a row that is not JSON");
            return m->data.result == CURLE_OUT_OF_MEMORY || failed == HTTP_ENTRY_NO_MEMORY
                       ? REPRISE_PLUGIN_NO_MEMORY
                       : text_fail(call, REPRISE_PLUGIN_FAILED,
                                   c->why[0] ? c->why : curl_easy_strerror(m->data.result));
        }
        if (call->stopped(call->arg))
            return REPRISE_PLUGIN_STOPPED;
        if (curl_multi_poll(c->multi, NULL, 0, HTTP_TICK_MS, &ready) != CURLM_OK)
            break;
        if (curl_easy_getinfo(c->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK)
            sent = 0;
        const int64_t moved = (int64_t)c->received + (int64_t)sent;

        if (server_now_ms() > begun_ms + call->timeout_ms + moved / SERVER_BYTES_PER_MS +
                                  (ready > 0 ? call->timeout_ms : 0))
            return server_timed_out(call);
    }
    return text_fail(call, REPRISE_PLUGIN_FAILED, "libcurl failed");
}

static int http_check(struct http_conn *c, const char *name, struct reprise_plugin_call *call)
{
    long status = 0;

    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status == 401 || status == 403) {
        snprintf(call->error, sizeof call->error, "access denied (%ld): token-file", status);
        return REPRISE_PLUGIN_REFUSED;
    }
    if (status >= 300 && status < 400)
        return text_fail(call, REPRISE_PLUGIN_FAILED,
                         "the server redirects to another address; set path to that");
    if (status < 200 || status >= 300) {
        snprintf(call->error, sizeof call->error, "the server returned %ld for /%s", status, name);
        return REPRISE_PLUGIN_FAILED;
    }
    if (c->answer->n && !json_valid(buf_slice(c->answer))) {
        snprintf(call->error, sizeof call->error, "the server's answer to /%s is not JSON", name);
        return REPRISE_PLUGIN_FAILED;
    }
    return REPRISE_PLUGIN_OK;
}

int http_post(struct http *http, const char *name, struct slice body, struct http_entries *entries,
              struct buf *answer, struct reprise_plugin_call *call)
{
    struct http_conn *c = server_pool_take(&http->pool);

    if (!c && !(c = http_connect(http)))
        return REPRISE_PLUGIN_NO_MEMORY;
    c->answer = answer;
    c->entries = entries;
    c->headers = c->received = 0;
    c->too_much = false;
    AUTO_ARENA a = { 0 };
    const char *url = arena_format(&a, "%s/%s", http->url, name);
    struct curl_slist *header = curl_slist_append(NULL, "Content-Type: application/json"), *more;
    int rc = REPRISE_PLUGIN_NO_MEMORY;

    /* Some servers answer a large request only after 100-continue, which others never send. */
    more = header ? curl_slist_append(header, "Expect:") : NULL;
    if (more && http->authorization)
        more = curl_slist_append(header, http->authorization);
    c->why[0] = '\0';
    if (url && more && curl_easy_setopt(c->easy, CURLOPT_URL, url) == CURLE_OK) {
        curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, header);
        curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
        curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, body.p);
        if (curl_multi_add_handle(c->multi, c->easy) == CURLM_OK) {
            rc = http_perform(c, call);
            curl_multi_remove_handle(c->multi, c->easy);
        }
    }
    if (!rc)
        rc = http_check(c, name, call);
    curl_slist_free_all(header);

    server_pool_return(&http->pool, c, rc == REPRISE_PLUGIN_OK);
    return rc;
}
