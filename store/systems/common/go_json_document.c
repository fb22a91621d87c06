#include "store/systems/common/go_json_document.h"

#include <string.h>

#include "lite/json/json.h"
#include "store/systems/common/go_json.h"

enum { SETS_MAX = 32 };

void go_json_document_init(struct go_json_document *g, struct buf *out)
{
    *g = (struct go_json_document){ .out = out };
}

static void append_bytes(struct go_json_document *g, struct slice bytes)
{
    if (!g->rc)
        g->rc = buf_add(g->out, bytes);
}

static void new_line(struct go_json_document *g)
{
    append_bytes(g, SLICE("\n"));
    for (int i = 0; i < g->depth; i++)
        append_bytes(g, SLICE("  "));
}

/* Before each member of an object and each element of an array. */
static void begin_item(struct go_json_document *g)
{
    if (g->filled)
        append_bytes(g, SLICE(","));
    if (g->depth)
        new_line(g);
    g->filled = true;
}

static bool behind_key(const struct go_json_document *g)
{
    return g->out->n >= 2 && memcmp(g->out->p + g->out->n - 2, ": ", 2) == 0;
}

static void begin_value(struct go_json_document *g)
{
    if (!behind_key(g))
        begin_item(g);
}

void go_json_document_open(struct go_json_document *g, char bracket)
{
    begin_value(g);
    append_bytes(g, (struct slice){ &bracket, 1 });
    g->depth++;
    g->filled = false;
}

void go_json_document_close(struct go_json_document *g, char bracket)
{
    g->depth--;
    if (g->filled)
        new_line(g);
    append_bytes(g, (struct slice){ &bracket, 1 });
    g->filled = true;
}

static void put_string(struct go_json_document *g, struct slice text)
{
    if (!g->rc)
        g->rc = go_json_text(g->out, text);
}

void go_json_document_key(struct go_json_document *g, const char *key)
{
    begin_item(g);
    put_string(g, slice_of(key));
    append_bytes(g, SLICE(": "));
}

void go_json_document_text(struct go_json_document *g, struct slice text)
{
    begin_value(g);
    put_string(g, text);
}

void go_json_document_int(struct go_json_document *g, int64_t n)
{
    begin_value(g);
    if (!g->rc)
        g->rc = buf_addf(g->out, "%lld", (long long)n);
}

void go_json_document_member(struct go_json_document *g, const char *key, struct slice text)
{
    if (text.n == 0)
        return;
    go_json_document_key(g, key);
    go_json_document_text(g, text);
}

void go_json_document_end(struct go_json_document *g)
{
    append_bytes(g, SLICE("\n"));
}

/* ---- documents of others ---- */

static void raw_key(struct go_json_document *g, struct slice quoted)
{
    begin_item(g);
    append_bytes(g, quoted);
    append_bytes(g, SLICE(": "));
}

void go_json_document_value(struct go_json_document *g, struct slice json)
{
    begin_value(g);
    if (!g->rc)
        g->rc = go_json_indent(g->out, json, (unsigned)g->depth);
}

/* ---- changing one ---- */

struct editing {
    struct go_json_document g;
    bool plain; /* the document writes <, > and & as they are */
    const char *const *order;
    const struct go_json_member *set;
    size_t n;
    bool there[SETS_MAX]; /* a member of the object: it keeps the place that it has there */
    bool done[SETS_MAX];
};

static size_t rank_of(const char *const order[], const char *key)
{
    size_t i = 0;

    while (order[i] && strcmp(order[i], key) != 0)
        i++;
    return i;
}

static size_t rank_of_quoted(const char *const order[], struct slice key)
{
    size_t i = 0;

    while (order[i] && !json_string_is(key, order[i]))
        i++;
    return i;
}

static const struct {
    const char *escape;
    char plain;
} html[] = { { "\\u003c", '<' }, { "\\u003e", '>' }, { "\\u0026", '&' } };

/* The escape of one of the three at the front of the text: which; -1: none of them. */
static int html_escape(struct slice text)
{
    for (int i = 0; i < 3; i++)
        if (text.n >= 6 && memcmp(text.p, html[i].escape, 6) == 0)
            return i;
    return -1;
}

static bool is_plain(struct slice object)
{
    bool plain = false;

    for (size_t i = 0; i < object.n; i++) {
        char c = object.p[i];

        if (html_escape((struct slice){ object.p + i, object.n - i }) >= 0)
            return false;
        plain |= c == '<' || c == '>' || c == '&';
        i += c == '\\'; /* and what is escaped */
    }
    return plain;
}

static void put_plain(struct editing *x, struct slice value)
{
    struct buf text = { 0 };

    for (size_t i = 0; i < value.n && !x->g.rc; i++) {
        int which = html_escape((struct slice){ value.p + i, value.n - i });
        bool pair = which < 0 && value.p[i] == '\\' && i + 1 < value.n;

        x->g.rc = which >= 0 ? buf_add_byte(&text, html[which].plain)
                             : buf_add(&text, (struct slice){ value.p + i, pair ? 2 : 1 });
        i += which >= 0 ? 5 : pair;
    }
    if (!x->g.rc)
        go_json_document_value(&x->g, buf_slice(&text));
    buf_fini(&text);
}

static void put_set(struct editing *x, size_t i)
{
    if (x->done[i])
        return;
    x->done[i] = true;
    if (x->set[i].value.n == 0)
        return;
    go_json_document_key(&x->g, x->set[i].key);
    if (x->plain)
        put_plain(x, x->set[i].value);
    else
        go_json_document_value(&x->g, x->set[i].value);
}

/* New members that belong before this rank. */
static void put_due(struct editing *x, size_t rank)
{
    for (size_t i = 0; i < x->n; i++)
        if (!x->there[i] && rank_of(x->order, x->set[i].key) < rank)
            put_set(x, i);
}

static void edit_member(struct editing *x, struct slice key, struct slice value)
{
    size_t rank = rank_of_quoted(x->order, key);

    if (x->order[rank]) /* a member that we do not know tells nothing about places */
        put_due(x, rank);
    for (size_t i = 0; i < x->n; i++)
        if (x->there[i] && json_string_is(key, x->set[i].key)) {
            put_set(x, i);
            return;
        }
    raw_key(&x->g, key);
    go_json_document_value(&x->g, value);
}

enum err_code go_json_document_edit(struct slice object, const char *const order[],
                                    const struct go_json_member set[], size_t n, struct buf *out)
{
    struct editing x = { .plain = is_plain(object), .order = order, .set = set, .n = n };
    struct json_iter it;
    struct slice key, value;

    if (n > SETS_MAX)
        return ERR_USAGE;
    for (size_t i = 0; i < n; i++)
        x.there[i] = json_get(object, set[i].key, &value);
    go_json_document_init(&x.g, out);
    go_json_document_open(&x.g, '{');
    if (json_iter_open(&it, object))
        while (!x.g.rc && json_iter_next(&it, &key, &value))
            edit_member(&x, key, value);
    put_due(&x, SIZE_MAX);
    go_json_document_close(&x.g, '}');
    go_json_document_end(&x.g);
    return x.g.rc;
}
