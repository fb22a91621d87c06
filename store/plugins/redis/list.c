#include "store/plugins/redis/redis.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/decimal.h"
#include "lite/base/slice.h"

/* Three steps: the names of the projects' indexes are looked for, the indexes are read in one round trip, and then the
 * ends of all transcripts in one pipeline, newest first. */

enum {
    SCANNED = 5000, /* keys that the server examines for one answer */
    HEAD_ROWS = 8,
    TAIL_ROWS = 12,
    WINDOW = 256, /* sessions whose rows are being fetched */
};

struct item {
    const char *project, *session;
    int64_t mtime_ms;
};

struct listing {
    const struct redis *rd;
    struct redis_conn *c;
    struct reprise_plugin_call *call;
    const struct reprise_plugin_query query;
    struct arena a;
    struct server_names names;
    struct slice_set seen; /* a scan may name a key twice */
    const char **project;
    size_t projects, project_cap;
    struct item *item;
    size_t items, item_cap;
    int trouble; /* with an index: what it was */
    char why[REPRISE_PLUGIN_ERROR];
};

static void listing_fini(struct listing *l)
{
    redis_release_at(&l->c);
    slice_set_fini(&l->seen);
    free(l->project);
    free(l->item);
    arena_fini(&l->a);
}

/* ---- the projects ---- */

static int redis_add_project(struct listing *l, const redisReply *key)
{
    static const char tail[] = ":" RD_SESSIONS;
    size_t front = strlen(l->rd->prefix), back = strlen(tail);
    uint32_t number;

    if (key->type != REDIS_REPLY_STRING || key->len <= front + back || strlen(key->str) != key->len)
        return REPRISE_PLUGIN_OK;
    struct slice name = { key->str + front, key->len - front - back };

    if (slice_set_find(&l->seen, name) != SLICE_SET_NONE || !server_wants(&l->query, name))
        return REPRISE_PLUGIN_OK;
    if (!server_count_name(&l->names, name.n))
        return server_sends_too_much(l->call);
    name = arena_copy(&l->a, name);
    if (!name.p || slice_set_add(&l->seen, name, &number) ||
        !array_reserve(l->project, l->project_cap, l->projects + 1))
        return REPRISE_PLUGIN_NO_MEMORY;
    if (number == l->projects)
        l->project[l->projects++] = name.p;
    return REPRISE_PLUGIN_OK;
}

static int find_projects(struct listing *l)
{
    /* A text as a part of a pattern, in which it matches only itself. */
    const char *text = l->rd->prefix;
    char *prefix = arena_alloc(&l->a, strlen(text) * 2 + 1), *to = prefix;

    for (; prefix && *text; text++) {
        if (strchr("*?[]\\^-", *text))
            *to++ = '\\';
        *to++ = *text;
    }
    if (prefix)
        *to = '\0';

    char cursor[32] = "0";

    if (!prefix)
        return REPRISE_PLUGIN_NO_MEMORY;
    do {
        AUTO_REPLY *r = NULL;

        PLUGIN_TRY(redis_send(l->c, "SCAN %s MATCH %s*:" RD_SESSIONS " COUNT %d", cursor, prefix,
                              SCANNED));
        PLUGIN_TRY(redis_expect(l->c, l->call, REDIS_REPLY_ARRAY, &r));
        if (r->elements != 2 || r->element[0]->type != REDIS_REPLY_STRING ||
            r->element[0]->len > 31 || r->element[1]->type != REDIS_REPLY_ARRAY)
            return text_fail(l->call, REPRISE_PLUGIN_FAILED, "unexpected answer from the server");
        memcpy(cursor, r->element[0]->str, r->element[0]->len + 1);
        for (size_t i = 0; i < r->element[1]->elements; i++)
            PLUGIN_TRY(redis_add_project(l, r->element[1]->element[i]));
    } while (strcmp(cursor, "0") != 0);
    return REPRISE_PLUGIN_OK;
}

/* ---- the sessions ---- */

static int redis_add_item(struct listing *l, const char *project, const redisReply *name,
                          const redisReply *score)
{
    double score_ms = score->type == REDIS_REPLY_STRING ? decimal_read(score->str, NULL) : 0;
    int64_t ms = score_ms > 0 && score_ms < 9e15 ? (int64_t)score_ms : 0;

    if (ms < l->query.since_ms)
        return REPRISE_PLUGIN_OK;
    if (name && (name->type != REDIS_REPLY_STRING || strlen(name->str) != name->len))
        return REPRISE_PLUGIN_OK;
    if (!server_count_name(&l->names, name ? name->len : 0))
        return server_sends_too_much(l->call);
    const char *session = name ? arena_copy_text(&l->a, name->str) : l->query.session;

    if (!session || !array_reserve(l->item, l->item_cap, l->items + 1))
        return REPRISE_PLUGIN_NO_MEMORY;
    l->item[l->items++] = (struct item){ project, session, ms };
    return REPRISE_PLUGIN_OK;
}

static int redis_find_sessions(struct listing *l)
{
    for (size_t i = 0; i < l->projects; i++) {
        const char *index = redis_index(l->rd, l->project[i], &l->a);

        if (!index)
            return REPRISE_PLUGIN_NO_MEMORY;
        PLUGIN_TRY(l->query.session ? redis_send(l->c, "ZSCORE %s %s", index, l->query.session)
                                    : redis_send(l->c, "ZREVRANGE %s 0 -1 WITHSCORES", index));
    }
    for (size_t i = 0; i < l->projects; i++) {
        AUTO_REPLY *r = NULL;

        PLUGIN_TRY(redis_read_reply(l->c, l->call, &r));

        /* A key that happens to be named like an index, or that this user may not read, is skipped. */
        if (r->type == REDIS_REPLY_ERROR) {
            l->trouble = redis_fail_reply(l->call, r);
            memcpy(l->why, l->call->error, sizeof l->why);
        } else if (l->query.session) {
            if (r->type == REDIS_REPLY_STRING)
                PLUGIN_TRY(redis_add_item(l, l->project[i], NULL, r));
        } else if (r->type == REDIS_REPLY_ARRAY) {
            for (size_t k = 0; k + 1 < r->elements; k += 2)
                PLUGIN_TRY(redis_add_item(l, l->project[i], r->element[k], r->element[k + 1]));
        }
    }
    return l->items == 0 && l->trouble ? text_fail(l->call, l->trouble, l->why) : REPRISE_PLUGIN_OK;
}

/* ---- their rows ---- */

static int redis_add_rows(struct buf *out, const redisReply *r, size_t from)
{
    for (size_t i = from; i < r->elements; i++)
        if (r->element[i]->type == REDIS_REPLY_STRING)
            PLUGIN_TRY(text_add_row(out, (struct slice){ r->element[i]->str, r->element[i]->len }));
    return REPRISE_PLUGIN_OK;
}

/* A session whose rows expired is still in the index and is not listed. One whose key has another type is listed, and
 * reading it reports the reason. A row that is added between the three answers is in neither end. */
static int redis_read_ends(struct listing *l, const struct item *item,
                           reprise_plugin_session_fn *fn, void *arg)
{
    AUTO_REPLY *length = NULL, *head = NULL, *tail = NULL;
    AUTO_BUF head_text = { 0 }, tail_text = { 0 };

    PLUGIN_TRY(redis_read_reply(l->c, l->call, &length));
    PLUGIN_TRY(redis_read_reply(l->c, l->call, &head));
    PLUGIN_TRY(redis_read_reply(l->c, l->call, &tail));
    if (length->type == REDIS_REPLY_ERROR || head->type == REDIS_REPLY_ERROR ||
        tail->type == REDIS_REPLY_ERROR)
        return server_list_bare(item->project, item->session, item->mtime_ms, fn, arg);
    if (head->elements == 0)
        return REPRISE_PLUGIN_OK;

    /* The two ends may overlap; the tail then begins after the head. */
    bool whole = head->elements < HEAD_ROWS;
    int64_t between = length->integer - HEAD_ROWS - (int64_t)tail->elements;

    PLUGIN_TRY(redis_add_rows(&head_text, head, 0));
    if (!whole)
        PLUGIN_TRY(redis_add_rows(&tail_text, tail, between < 0 ? (size_t)-between : 0));
    const struct reprise_plugin_session s = {
        .size = sizeof s,
        .project = item->project,
        .session = item->session,
        .mtime_ms = item->mtime_ms,
        .head = { head_text.p, head_text.n },
        .tail = { tail_text.p, tail_text.n },
        .whole = whole,
    };

    return fn(&s, arg) ? REPRISE_PLUGIN_STOPPED : REPRISE_PLUGIN_OK;
}

static int redis_newest_first(const void *x, const void *y)
{
    const struct item *p = x, *q = y;

    return (p->mtime_ms < q->mtime_ms) - (p->mtime_ms > q->mtime_ms);
}

int redis_list(void *store, const struct reprise_plugin_query *query, reprise_plugin_session_fn *fn,
               void *arg, struct reprise_plugin_call *call)
{
    CLEANUP(listing_fini)
    struct listing l = { .rd = store, .call = call, .query = server_query(query) };

    PLUGIN_TRY(redis_acquire(store, call, &l.c));
    PLUGIN_TRY(find_projects(&l));
    PLUGIN_TRY(redis_find_sessions(&l));

    /* The rows of the newest ones come first; the others are only named. */
    size_t wanted = l.items, asked = 0;

    if (l.query.newest && l.query.newest < l.items) {
        qsort(l.item, l.items, sizeof *l.item, redis_newest_first);
        wanted = l.query.newest;
    }
    for (size_t i = 0; i < wanted; i++) {
        for (; asked < wanted && asked - i < WINDOW; asked++) {
            const struct reprise_plugin_key key = { l.item[asked].project, l.item[asked].session,
                                                    NULL };
            const char *name = redis_key(l.rd, &key, NULL, &l.a);

            if (!name)
                return REPRISE_PLUGIN_NO_MEMORY;
            PLUGIN_TRY(redis_send(l.c, "LLEN %s", name));
            PLUGIN_TRY(redis_send(l.c, "LRANGE %s 0 %d", name, HEAD_ROWS - 1));
            PLUGIN_TRY(redis_send(l.c, "LRANGE %s -%d -1", name, TAIL_ROWS));
        }
        PLUGIN_TRY(redis_read_ends(&l, &l.item[i], fn, arg));
    }
    for (size_t i = wanted; i < l.items; i++)
        PLUGIN_TRY(
            server_list_bare(l.item[i].project, l.item[i].session, l.item[i].mtime_ms, fn, arg));
    return REPRISE_PLUGIN_OK;
}
