#include <stdio.h>
#include <string.h>

#include "lite/json/jsonout.h"
#include "store/plugins/http/http.h"

/* ---- requests ---- */

static void http_begin(struct jsonout *j, struct buf *body, const struct reprise_plugin_key *key)
{
    jsonout_init(j, body);
    jsonout_open(j, '{');
    if (key->project[0])
        jsonout_member(j, "projectKey", slice_of(key->project));
    if (key->session)
        jsonout_member(j, "sessionId", slice_of(key->session));
    if (key->subpath)
        jsonout_member(j, "subpath", slice_of(key->subpath));
}

/* Posts a key alone. The list that the answer has to have is walked by *it. entries: see http_post(). */
static int http_ask(struct http *http, const char *name, const struct reprise_plugin_key *key,
                    const char *list, struct http_entries *entries, struct buf *answer,
                    struct json_iter *it, struct reprise_plugin_call *call)
{
    AUTO_BUF body = { 0 };
    struct jsonout j;
    struct slice value = { NULL, 0 };

    http_begin(&j, &body, key);
    jsonout_close(&j, '}');
    if (j.rc)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(http_post(http, name, buf_slice(&body), entries, answer, call));
    *it = (struct json_iter){ .p = NULL };
    if (!list)
        return REPRISE_PLUGIN_OK;
    json_get(buf_slice(answer), list, &value);
    if (json_type(value) == JSON_ARRAY && json_iter_open(it, value))
        return REPRISE_PLUGIN_OK;
    /* null is nothing; a list that is missing is not, or a push would add everything again */
    if (json_type(value) == JSON_NULL)
        return REPRISE_PLUGIN_OK;
    snprintf(call->error, sizeof call->error, "the server's answer to /%s has no list \"%s\"", name,
             list);
    return REPRISE_PLUGIN_FAILED;
}

static bool http_next(struct json_iter *it, struct slice *value)
{
    struct slice key;

    return it->p && json_iter_next(it, &key, value);
}

/* ---- the list ---- */

/* A member that is a text without a NUL; NULL: it is none. */
static const char *http_text(struct slice value, struct arena *a)
{
    const struct slice text = json_text_of(value, a);

    return text.n && !memchr(text.p, '\0', text.n) ? arena_copy(a, text).p : NULL;
}

/* Sessions of one project, or, with "", those that the server lists without one, which then have a projectKey. */
static int http_list_project(struct http *http, const struct reprise_plugin_query *query,
                             const char *project, reprise_plugin_session_fn *fn, void *arg,
                             struct reprise_plugin_call *call)
{
    static const char *const names[] = { "sessionId", "mtime", "projectKey" };
    AUTO_ARENA a = { 0 };
    AUTO_BUF answer = { 0 };
    struct server_names count = { 0, 0 };
    struct json_iter it;
    struct slice session, value[COUNT_OF(names)];
    const struct reprise_plugin_key key = { .project = project };

    PLUGIN_TRY(http_ask(http, "list-sessions", &key, "sessions", NULL, &answer, &it, call));
    while (http_next(&it, &session)) {
        int64_t mtime_ms = 0;

        if (!server_count_name(&count, session.n))
            return server_sends_too_much(call);
        memset(value, 0, sizeof value);
        if (json_type(session) != JSON_OBJECT)
            continue;
        json_get_each(session, names, COUNT_OF(names), value);
        const char *id = http_text(value[0], &a);
        const char *of = project[0] ? project : http_text(value[2], &a);

        if (a.failed)
            return REPRISE_PLUGIN_NO_MEMORY;
        json_int(value[1], &mtime_ms);

        /* A session without an id or a project cannot be named in another request. */
        if (!id || !of || (query->session && strcmp(id, query->session) != 0))
            continue;
        PLUGIN_TRY(server_list_bare(of, id, mtime_ms, fn, arg));
    }
    return REPRISE_PLUGIN_OK;
}

static int http_list(void *store, const struct reprise_plugin_query *given,
                     reprise_plugin_session_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    struct http *http = store;
    const struct reprise_plugin_query query = server_query(given);
    bool own = http->project && http->project[0];

    for (size_t i = 0; i < query.projects; i++) {
        own = own && strcmp(query.project[i], http->project) != 0;
        PLUGIN_TRY(http_list_project(http, &query, query.project[i], fn, arg, call));
    }
    if (own || query.projects == 0)
        return http_list_project(http, &query, own ? http->project : "", fn, arg, call);
    return REPRISE_PLUGIN_OK;
}

/* ---- rows ---- */

static int http_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                     reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    AUTO_BUF answer = { 0 };
    struct http_entries entries = { .fn = fn, .arg = arg, .after = after, .rest = &answer };
    struct json_iter it;
    struct slice row;
    int rc = http_ask(store, "load", key, "entries", &entries, &answer, &it, call);

    /* A list whose key is written in another way was not noticed as it came. */
    for (int64_t at = 1; !rc && !entries.found && http_next(&it, &row); at++)
        if (at > after && json_type(row) == JSON_OBJECT &&
            fn(at, (struct reprise_plugin_text){ row.p, row.n }, arg))
            rc = REPRISE_PLUGIN_STOPPED;
    buf_fini(&entries.entry);
    return rc;
}

static int http_subkeys(void *store, const struct reprise_plugin_key *key,
                        reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    AUTO_ARENA a = { 0 };
    AUTO_BUF answer = { 0 };
    struct server_names count = { 0, 0 };
    struct json_iter it;
    struct slice value;

    PLUGIN_TRY(http_ask(store, "list-subkeys", key, "subpaths", NULL, &answer, &it, call));
    while (http_next(&it, &value)) {
        const char *name = http_text(value, &a);

        if (!server_count_name(&count, value.n))
            return server_sends_too_much(call);
        if (name && fn(name, arg))
            return REPRISE_PLUGIN_STOPPED;
    }
    return a.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
}

/* ---- changes ---- */

static int http_remember(int64_t position, struct reprise_plugin_text row, void *arg)
{
    (void)row;
    *(int64_t *)arg = position;
    return 0;
}

/* The protocol has no condition, so what is expected is compared right before. Between the two, another program may add
 * rows; then the next append notices. */
static int http_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                       const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                       struct reprise_plugin_call *call)
{
    AUTO_BUF body = { 0 }, answer = { 0 };
    struct jsonout j;
    int64_t newest = 0;

    if (after >= 0) {
        PLUGIN_TRY(http_read(store, key, 0, http_remember, &newest, call));
        if (newest != after)
            return text_fail(call, REPRISE_PLUGIN_CHANGED, "another program added rows");
    }

    /* Without rows, only the condition is checked. */
    if (rows == 0)
        return REPRISE_PLUGIN_OK;

    http_begin(&j, &body, key);
    jsonout_key(&j, "entries");
    jsonout_open(&j, '[');
    for (size_t i = 0; i < rows; i++) {
        if (json_type((struct slice){ row[i].p, row[i].n }) != JSON_OBJECT) {
            call->row = i;
            return text_fail(call, REPRISE_PLUGIN_BAD_ROW, "it is not a JSON object");
        }
        jsonout_raw(&j, (struct slice){ row[i].p, row[i].n });
    }
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    if (j.rc)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(http_post(store, "append", buf_slice(&body), NULL, &answer, call));
    *last = after >= 0 ? after + (int64_t)rows : 0;
    return REPRISE_PLUGIN_OK;
}

static int http_remove(void *store, const struct reprise_plugin_key *key,
                       struct reprise_plugin_call *call)
{
    AUTO_BUF answer = { 0 };
    struct json_iter it;

    return http_ask(store, "delete", key, NULL, NULL, &answer, &it, call);
}

extern const struct reprise_plugin reprise_plugin;
const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .flags = REPRISE_PLUGIN_THREADS | REPRISE_PLUGIN_REORDERS,
    .size = sizeof(struct reprise_plugin),
    .name = "http",
    .open = http_open,
    .close = http_close,
    .list = http_list,
    .read = http_read,
    .subkeys = http_subkeys,
    .append = http_append,
    .remove = http_remove,
};
