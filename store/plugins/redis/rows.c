#include "store/plugins/redis/redis.h"

#include <stdlib.h>

#include "lite/base/array.h"

enum {
    FIRST_ROWS = 16, /* in the first answer; then as many as make CHUNK bytes */
    MOST_ROWS = 4096,
    CHUNK = 1 << 20,
    EXAMINED_MOST = 1 << 20, /* elements of a list that a page looks at */
};

bool redis_is_row(const redisReply *r)
{
    return r->type == REDIS_REPLY_STRING && text_is_row((struct slice){ r->str, r->len });
}

/* A connection, and the key that is read through it. */
struct keyed {
    struct arena a;
    const char *key;
    struct redis_conn *c;
};

static int keyed_open(struct redis *rd, const struct reprise_plugin_key *key, const char *tail,
                      struct reprise_plugin_call *call, struct keyed *out)
{
    out->key = redis_key(rd, key, tail, &out->a);
    return out->key ? redis_acquire(rd, call, &out->c) : REPRISE_PLUGIN_NO_MEMORY;
}

static void keyed_close(struct keyed *k)
{
    redis_release_at(&k->c);
    arena_fini(&k->a);
}

static int read_length(const struct keyed *k, int64_t *out, struct reprise_plugin_call *call)
{
    AUTO_REPLY *r = NULL;

    PLUGIN_TRY(redis_send(k->c, "LLEN %s", k->key));
    PLUGIN_TRY(redis_expect(k->c, call, REDIS_REPLY_INTEGER, &r));
    *out = r->integer;
    return REPRISE_PLUGIN_OK;
}

/* The rows from..to-1, counted from 0. If there are fewer, the session was deleted meanwhile. */
static int redis_read_range(const struct keyed *k, int64_t from, int64_t to, redisReply **out,
                            struct reprise_plugin_call *call)
{
    PLUGIN_TRY(redis_send(k->c, "LRANGE %s %lld %lld", k->key, (long long)from, (long long)to - 1));
    PLUGIN_TRY(redis_expect(k->c, call, REDIS_REPLY_ARRAY, out));
    int64_t n = (int64_t)(*out)->elements;

    return n == to - from ? REPRISE_PLUGIN_OK
                          : text_fail(call, REPRISE_PLUGIN_FAILED,
                                      n < to - from ? "the session was deleted while it was read"
                                                    : "unexpected answer from the server");
}

static int redis_hand_rows(const redisReply *r, int64_t from, reprise_plugin_row_fn *fn, void *arg)
{
    for (size_t i = 0; i < r->elements; i++) {
        const redisReply *row = r->element[i];

        if (redis_is_row(row) &&
            fn(from + (int64_t)i + 1, (struct reprise_plugin_text){ row->str, row->len }, arg))
            return REPRISE_PLUGIN_STOPPED;
    }
    return REPRISE_PLUGIN_OK;
}

static size_t bytes_of(const redisReply *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->elements; i++)
        n += r->element[i]->len;
    return n;
}

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int redis_read(void *store, const struct reprise_plugin_key *key, int64_t after,
                      reprise_plugin_row_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    CLEANUP(keyed_close) struct keyed k = { .c = NULL };
    int64_t end = 0, step = FIRST_ROWS;

    PLUGIN_TRY(keyed_open(store, key, NULL, call, &k));
    PLUGIN_TRY(read_length(&k, &end, call));
    for (int64_t at = after, to; at < end; at = to) {
        AUTO_REPLY *r = NULL;

        to = least(at + step, end);
        PLUGIN_TRY(redis_read_range(&k, at, to, &r, call));
        PLUGIN_TRY(redis_hand_rows(r, at, fn, arg));

        /* The next answer should have about CHUNK bytes, to judge by this one. */
        int64_t rows = to - at;
        size_t bytes = bytes_of(r);
        int64_t next = rows * CHUNK / (int64_t)(bytes + 1);

        step = next < 1 ? 1 : least(next, MOST_ROWS);
    }
    return REPRISE_PLUGIN_OK;
}

/* ---- pages ---- */

/* Answers from the end backwards. */
struct page {
    struct {
        redisReply *r;
        int64_t from;
    } * part;
    size_t n, cap;
};

static void page_fini(struct page *page)
{
    while (page->n)
        freeReplyObject(page->part[--page->n].r);
    free(page->part);
}

static int redis_collect(const struct keyed *k, int64_t end, size_t rows, size_t bytes,
                         struct page *page, struct reprise_plugin_call *call)
{
    size_t got = 0, newer = 0;

    while (end > 0 && got < rows && newer < bytes) {
        int64_t step =
            least(FIRST_ROWS, (int64_t)(rows - got < MOST_ROWS ? rows - got : MOST_ROWS));
        int64_t from = end > step ? end - step : 0;

        if (page->n > EXAMINED_MOST / FIRST_ROWS)
            return server_sends_too_much(call);
        if (!array_reserve(page->part, page->cap, page->n + 1))
            return REPRISE_PLUGIN_NO_MEMORY;
        redisReply **r = &page->part[page->n].r;

        *r = NULL;
        page->part[page->n++].from = from;
        PLUGIN_TRY(redis_read_range(k, from, end, r, call));

        /* Elements that are not rows are emptied, so that they are not reported. */
        for (size_t i = 0; i < (*r)->elements; i++)
            if (redis_is_row((*r)->element[i]))
                got++;
            else
                (*r)->element[i]->len = 0;

        /* As in the plug-in for PostgreSQL, a row is wanted if the rows after it have fewer than `bytes` bytes. Rows
         * before those are emptied, too, and the page then ends here. */
        size_t first = (*r)->elements;

        for (size_t after = newer; first > 0 && after < bytes;)
            after += (*r)->element[--first]->len;
        for (size_t i = 0; i < first; i++)
            (*r)->element[i]->len = 0;
        newer += bytes_of(*r);
        end = first ? 0 : from;
    }
    return REPRISE_PLUGIN_OK;
}

static int redis_page(void *store, const struct reprise_plugin_key *key, int64_t before,
                      size_t rows, size_t bytes, reprise_plugin_row_fn *fn, void *arg,
                      struct reprise_plugin_call *call)
{
    CLEANUP(page_fini) struct page page = { .part = NULL };
    CLEANUP(keyed_close) struct keyed k = { .c = NULL };
    int64_t end = 0;

    PLUGIN_TRY(keyed_open(store, key, NULL, call, &k));
    PLUGIN_TRY(read_length(&k, &end, call));
    if (before > 0)
        end = least(end, before - 1);
    PLUGIN_TRY(redis_collect(&k, end, rows, bytes, &page, call));
    for (size_t i = page.n; i-- > 0;)
        PLUGIN_TRY(redis_hand_rows(page.part[i].r, page.part[i].from, fn, arg));
    return REPRISE_PLUGIN_OK;
}

static int redis_subkeys(void *store, const struct reprise_plugin_key *key,
                         reprise_plugin_name_fn *fn, void *arg, struct reprise_plugin_call *call)
{
    CLEANUP(keyed_close) struct keyed k = { .c = NULL };
    AUTO_REPLY *r = NULL;

    PLUGIN_TRY(keyed_open(store, key, RD_SUBKEYS, call, &k));
    PLUGIN_TRY(redis_send(k.c, "SMEMBERS %s", k.key));
    PLUGIN_TRY(redis_expect(k.c, call, REDIS_REPLY_ARRAY, &r));
    for (size_t i = 0; i < r->elements; i++)
        if (r->element[i]->type == REDIS_REPLY_STRING && fn(r->element[i]->str, arg))
            return REPRISE_PLUGIN_STOPPED;
    return REPRISE_PLUGIN_OK;
}

extern const struct reprise_plugin reprise_plugin;
const struct reprise_plugin reprise_plugin = {
    .abi = REPRISE_PLUGIN_ABI,
    .flags = REPRISE_PLUGIN_THREADS,
    .size = sizeof(struct reprise_plugin),
    .name = "redis",
    .open = redis_open,
    .close = redis_close,
    .list = redis_list,
    .read = redis_read,
    .page = redis_page,
    .subkeys = redis_subkeys,
    .append = redis_append,
    .remove = redis_remove,
};
