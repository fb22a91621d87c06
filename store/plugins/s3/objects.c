#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "store/plugins/s3/s3.h"

/* ---- documents ---- */

enum { ELEMENT_MOST = 64 << 10, DEPTH_MOST = 32, PAGE_BYTES = 16 << 20 };

/* Called where an element begins, without a text, and where it ends. */
typedef void element_fn(const char *name, const char *text, void *arg);

struct document {
    XML_Parser parser;
    struct buf text;
    element_fn *fn;
    void *arg;
    int depth;
};

/* S3 has no document types. One could define entities that are larger than any memory, or the contents of a file. */
static void on_doctype(void *arg, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int internal)
{
    const struct document *d = arg;

    (void)name, (void)system, (void)public, (void)internal;
    XML_StopParser(d->parser, XML_FALSE);
}

static void on_start(void *arg, const XML_Char *name, const XML_Char **attribute)
{
    struct document *d = arg;

    (void)attribute;
    d->text.n = 0;
    if (++d->depth > DEPTH_MOST)
        XML_StopParser(d->parser, XML_FALSE);
    else
        d->fn(name, NULL, d->arg);
}

static void s3_on_text(void *arg, const XML_Char *text, int n)
{
    struct document *d = arg;

    if (d->text.n > ELEMENT_MOST || buf_add(&d->text, (struct slice){ text, (size_t)n }))
        XML_StopParser(d->parser, XML_FALSE);
}

static void on_end(void *arg, const XML_Char *name)
{
    struct document *d = arg;

    if (buf_cstr(&d->text))
        d->fn(name, d->text.p, d->arg);
    else
        XML_StopParser(d->parser, XML_FALSE);
    d->text.n = 0;
    d->depth--;
}

static bool s3_read_document(struct slice xml, element_fn *fn, void *arg)
{
    struct document d = { .parser = XML_ParserCreate(NULL), .fn = fn, .arg = arg };
    bool ok = d.parser != NULL;

    if (ok) {
        XML_SetUserData(d.parser, &d);
        XML_SetStartDoctypeDeclHandler(d.parser, on_doctype);
        XML_SetElementHandler(d.parser, on_start, on_end);
        XML_SetCharacterDataHandler(d.parser, s3_on_text);
        ok = xml.n < INT32_MAX && XML_Parse(d.parser, xml.p, (int)xml.n, 1) == XML_STATUS_OK;
        XML_ParserFree(d.parser);
    }
    buf_fini(&d.text);
    return ok;
}

static void on_error_element(const char *name, const char *text, void *arg)
{
    struct s3_error *x = arg;

    if (!text)
        return;
    if (strcmp(name, "Code") == 0)
        snprintf(x->code, sizeof x->code, "%s", text);
    else if (strcmp(name, "Message") == 0)
        snprintf(x->message, sizeof x->message, "%s", text);
    else if (strcmp(name, "Region") == 0)
        snprintf(x->region, sizeof x->region, "%s", text);
}

void s3_error_parse(const struct buf *xml, struct s3_error *out)
{
    *out = (struct s3_error){ .code = "" };
    if (!s3_read_document(buf_slice(xml), on_error_element, out))
        *out = (struct s3_error){ .code = "" };
}

/* ---- one page of a list ---- */

struct page {
    struct arena *a;
    struct s3_object now, *object;
    size_t n, cap;
    const char *token;
    bool encoded, more, is_list, no_memory;
};

static void on_list_element(const char *name, const char *text, void *arg)
{
    static const int64_t most = INT64_C(1) << 40;
    struct page *p = arg;

    bool object = strcmp(name, "Contents") == 0, folder = strcmp(name, "CommonPrefixes") == 0;

    if (!text)
        p->is_list |= strcmp(name, "ListBucketResult") == 0;
    if (object || folder) {
        /* Called where the element begins, without a text, and where it ends. */
        p->now.folder = folder;
        if (text && p->now.name) {
            if (array_reserve(p->object, p->cap, p->n + 1))
                p->object[p->n++] = p->now;
            else
                p->no_memory = true;
        }
        p->now = (struct s3_object){ .name = NULL };
    } else if (!text)
        return;
    else if (strcmp(name, "Key") == 0 || strcmp(name, "Prefix") == 0)
        p->now.name = arena_copy_text(p->a, text);
    else if (strcmp(name, "Size") == 0) {
        /* Sizes are added up, so none may overflow the sum. */
        int64_t size = strtoll(text, NULL, 10);

        p->now.size = size < 0 ? 0 : size > most ? most : size;
    } else if (strcmp(name, "LastModified") == 0)
        p->now.modified_ms =
            time_parse(slice_of(text), &p->now.modified_ms) ? p->now.modified_ms : 0;
    else if (strcmp(name, "IsTruncated") == 0)
        p->more = strcmp(text, "true") == 0;
    else if (strcmp(name, "NextContinuationToken") == 0)
        p->token = arena_copy_text(p->a, text);
    else if (strcmp(name, "EncodingType") == 0)
        p->encoded = strcmp(text, "url") == 0;
}

/* In the names of a list, unlike those of a path, a blank is a plus. */
static const char *decode_name(struct arena *a, const char *name)
{
    char *copy = arena_format(a, "%s", name);

    for (char *plus = copy; plus && (plus = strchr(plus, '+'));)
        *plus = ' ';
    return copy ? text_decode(a, copy, strlen(copy)) : NULL;
}

/* Keys that do not begin with the prefix were not asked for. */
static int hand_page(const struct s3_query *q, struct page *p, struct server_names *names,
                     struct reprise_plugin_call *call)
{
    size_t front = strlen(q->prefix);

    for (size_t i = 0; i < p->n; i++) {
        struct s3_object *o = &p->object[i];
        const char *key = p->encoded ? decode_name(p->a, o->name) : o->name;

        if (!key)
            return REPRISE_PLUGIN_NO_MEMORY;
        if (!server_count_name(names, strlen(key)))
            return server_sends_too_much(call);
        if (strncmp(key, q->prefix, front) != 0)
            continue;
        o->name = key + front;
        if (o->name[0] && q->fn(o, q->arg))
            return REPRISE_PLUGIN_NO_MEMORY;
    }
    return REPRISE_PLUGIN_OK;
}

static int make_no_sense(struct reprise_plugin_call *call)
{
    return text_fail(call, REPRISE_PLUGIN_FAILED, "unexpected answer from the server");
}

static int s3_read_page(struct s3_query *q, struct server_names *names,
                        struct reprise_plugin_call *call)
{
    struct page p = { .a = &q->a };
    int rc = s3_check(&q->request, call);

    if (!rc &&
        (!s3_read_document(buf_slice(&q->request.answer), on_list_element, &p) || !p.is_list))
        rc = make_no_sense(call);
    if (p.no_memory || q->a.failed)
        rc = REPRISE_PLUGIN_NO_MEMORY;
    if (!rc)
        rc = hand_page(q, &p, names, call);
    if (!rc) {
        /* A server that repeats a page would keep us forever. */
        char *old = (char *)q->token;

        q->token = p.more && p.token ? strdup(p.token) : NULL;
        bool lost = p.more && !p.token, again = old && q->token && strcmp(old, q->token) == 0;
        bool no_memory = p.more && p.token && !q->token;

        free(old);
        if (lost || again)
            rc = make_no_sense(call);
        else
            rc = no_memory ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;
    }
    free(p.object);
    arena_reset(&q->a);
    return rc;
}

/* ---- questions ---- */

/* In the order of the names. */
static int add_parameter(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return REPRISE_PLUGIN_OK;
    if (buf_addf(out, "%s%s=", out->n ? "&" : "", name))
        return REPRISE_PLUGIN_NO_MEMORY;
    return s3_encode(out, value, false);
}

static int ask_page(struct s3_conn *c, struct s3_query *q)
{
    AUTO_BUF query = { 0 };

    PLUGIN_TRY(add_parameter(&query, "continuation-token", q->token));
    PLUGIN_TRY(add_parameter(&query, "delimiter", q->deep ? NULL : "/"));
    PLUGIN_TRY(add_parameter(&query, "encoding-type", "url"));
    PLUGIN_TRY(add_parameter(&query, "list-type", "2"));
    PLUGIN_TRY(add_parameter(&query, "prefix", q->prefix));
    PLUGIN_TRY(add_parameter(&query, "start-after", q->token ? NULL : q->after));
    q->request.owner = q;
    q->request.expected = PAGE_BYTES;
    q->request.tries = 0;
    q->request.query = arena_copy(&q->a, buf_slice(&query)).p;
    return q->request.query ? s3_start(c, &q->request) : REPRISE_PLUGIN_NO_MEMORY;
}

static int ask_all(struct s3_conn *c, struct s3_query *q, size_t n,
                   struct reprise_plugin_call *call)
{
    struct server_names names = { 0 }; /* collected from all pages */
    struct s3_request *done;
    size_t begun = 0, open = 0;

    for (;;) {
        for (; begun < n && open < S3_REQUESTS; open++)
            PLUGIN_TRY(ask_page(c, &q[begun++]));
        PLUGIN_TRY(s3_finish(c, call, &done));
        if (!done)
            return REPRISE_PLUGIN_OK;
        struct s3_query *x = done->owner;

        PLUGIN_TRY(s3_read_page(x, &names, call));
        if (x->token)
            PLUGIN_TRY(ask_page(c, x));
        else
            open--;
    }
}

int s3_run_queries(struct s3 *s3, struct s3_query *q, size_t n, struct reprise_plugin_call *call)
{
    struct s3_conn *c;

    PLUGIN_TRY(s3_acquire(s3, &c));
    int rc = ask_all(c, q, n, call);

    s3_release(c);
    for (size_t i = 0; i < n; i++) {
        free((char *)q[i].token);
        q[i].token = NULL;
        buf_fini(&q[i].request.answer);
        arena_fini(&q[i].a);
    }
    return rc;
}

struct names {
    struct arena *a;
    const char **name;
    size_t n;
};

static int s3_add_name(const struct s3_object *o, void *arg)
{
    struct names *names = arg;

    return !o->folder && !arena_add_text(names->a, &names->name, &names->n, o->name);
}

/* Several at a time. */
static int delete_names(struct s3_conn *c, const char *folder, const struct names *names,
                        bool below, struct reprise_plugin_call *call)
{
    struct s3_request request[S3_REQUESTS] = { { .method = NULL } }, *done = NULL;
    size_t next = 0, used = 0;
    int rc = REPRISE_PLUGIN_OK;

    do {
        for (; !rc && next < names->n && (used < S3_REQUESTS || done); next++) {
            const char *name = names->name[next];

            if ((strchr(name, '/') != NULL) != below)
                continue;
            /* The place of a request that is done is used for the next one. */
            struct s3_request *r = done ? done : &request[used++];

            done = NULL;
            r->method = "DELETE";
            r->key = arena_format(names->a, "%s%s", folder, name);
            rc = r->key ? s3_start(c, r) : REPRISE_PLUGIN_NO_MEMORY;
        }
        if (!rc)
            rc = s3_finish(c, call, &done);

        /* An object that is gone already is no error. */
        if (!rc && done && done->status != 404)
            rc = s3_check(done, call);
    } while (!rc && done);
    for (size_t i = 0; i < S3_REQUESTS; i++)
        buf_fini(&request[i].answer);
    return rc;
}

/* Sub-agents come first: if this is interrupted, the session is still listed and can be removed again. */
int s3_remove(void *store, const struct reprise_plugin_key *key, struct reprise_plugin_call *call)
{
    AUTO_ARENA a = { 0 };
    AUTO_CONNECTION *c = NULL;
    struct names names = { .a = &a };
    struct s3_query q = {
        .prefix = s3_folder(store, key, &a), .deep = !key->subpath, .fn = s3_add_name, .arg = &names
    };

    if (!q.prefix)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(s3_run_queries(store, &q, 1, call));
    PLUGIN_TRY(s3_acquire(store, &c));
    PLUGIN_TRY(delete_names(c, q.prefix, &names, true, call));
    return delete_names(c, q.prefix, &names, false, call);
}
