#include "lite/base/time.h"
#include "store/plugins/redis/redis.h"

#include <stdlib.h>
#include <string.h>

/* How many rows that are not JSON may follow the newest valid one. */
enum { BROKEN_MOST = 64 };

struct appending {
    struct redis_conn *c;
    struct reprise_plugin_call *call;
    const char *key, *index, *member; /* of the transcript; of the index and what it gets */
    bool is_main;
};

/* ---- before ---- */

/* Returns true if the row at `after` is the newest: only elements that are not rows follow it. */
static bool is_newest(int64_t after, int64_t length, const redisReply *behind)
{
    if (length < after || length - after > (int64_t)behind->elements)
        return false;
    for (size_t i = 0; i < behind->elements; i++)
        if (redis_is_row(behind->element[i]))
            return false;
    return true;
}

/* The types are checked first, because Redis does not roll back a transaction in which a command fails. */
static int redis_check(const struct appending *x, int64_t after)
{
    redisReply *watched = NULL, *length = NULL, *behind = NULL, *index = NULL;
    int64_t from = after > 0 ? after : 0;
    int rc = after < 0 ? redis_send(x->c, "UNWATCH") : redis_send(x->c, "WATCH %s", x->key);

    if (!rc)
        rc = redis_send(x->c, x->is_main ? "ZCARD %s" : "SCARD %s", x->index);
    if (!rc)
        rc = redis_send(x->c, "LLEN %s", x->key);
    if (!rc)
        rc = redis_send(x->c, "LRANGE %s %lld %lld", x->key, (long long)from,
                        (long long)from + BROKEN_MOST - 1);
    if (!rc)
        rc = redis_expect(x->c, x->call, REDIS_REPLY_STATUS, &watched);
    if (!rc)
        rc = redis_expect(x->c, x->call, REDIS_REPLY_INTEGER, &index);
    if (!rc)
        rc = redis_expect(x->c, x->call, REDIS_REPLY_INTEGER, &length);
    if (!rc)
        rc = redis_expect(x->c, x->call, REDIS_REPLY_ARRAY, &behind);
    if (!rc && after >= 0 && !is_newest(after, length->integer, behind))
        rc = REPRISE_PLUGIN_CHANGED;
    freeReplyObject(watched);
    freeReplyObject(index);
    freeReplyObject(length);
    freeReplyObject(behind);
    return rc;
}

/* ---- the transaction ---- */

static int send_rows(const struct appending *x, const struct reprise_plugin_text *row, size_t rows)
{
    const char **text = calloc(rows + 2, sizeof *text);
    size_t *size = calloc(rows + 2, sizeof *size);
    int rc = text && size ? REPRISE_PLUGIN_OK : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc) {
        text[0] = "RPUSH";
        text[1] = x->key;
        for (size_t i = 0; i < rows; i++) {
            text[i + 2] = row[i].p;
            size[i + 2] = row[i].n;
        }
        size[0] = strlen(text[0]);
        size[1] = strlen(text[1]);
        rc = redis_send_texts(x->c, (int)rows + 2, text, size);
    }
    free(text);
    free(size);
    return rc;
}

static int send_index(const struct appending *x)
{
    return x->is_main ? redis_send(x->c, "ZADD %s %lld %s", x->index,
                                   (long long)time_clock_ms(CLOCK_REALTIME), x->member)
                      : redis_send(x->c, "SADD %s %s", x->index, x->member);
}

/* Reads the answers to MULTI, `commands` commands and EXEC. *out is the array of EXEC; NULL with OK: the key was
 * changed. */
static int redis_finish(struct redis_conn *c, size_t commands, redisReply **out,
                        struct reprise_plugin_call *call)
{
    int rc = REPRISE_PLUGIN_OK;
    char why[REPRISE_PLUGIN_ERROR] = "";
    int refused = REPRISE_PLUGIN_OK;

    *out = NULL;
    for (size_t i = 0; i < commands + 1 && !rc; i++) {
        redisReply *r;

        rc = redis_read_reply(c, call, &r);
        if (!rc && r->type == REDIS_REPLY_ERROR && !refused) {
            refused = redis_fail_reply(call, r);
            memcpy(why, call->error, sizeof why);
        }
        freeReplyObject(r);
    }
    if (!rc)
        rc = redis_read_reply(c, call, out);
    if (rc)
        return rc;
    if (refused) /* the error of EXEC does not contain the reason */
        return text_fail(call, refused, why);
    if ((*out)->type == REDIS_REPLY_ERROR)
        return redis_fail_reply(call, *out);
    for (size_t i = 0; i < (*out)->elements; i++)
        if ((*out)->element[i]->type == REDIS_REPLY_ERROR)
            return redis_fail_reply(call, (*out)->element[i]);
    return REPRISE_PLUGIN_OK;
}

static int redis_append_rows(const struct appending *x, int64_t after,
                             const struct reprise_plugin_text *row, size_t rows, int64_t *last)
{
    redisReply *done = NULL;
    int rc = redis_check(x, after);

    if (!rc)
        rc = redis_send(x->c, "MULTI");
    if (!rc)
        rc = send_rows(x, row, rows);
    if (!rc)
        rc = send_index(x);
    if (!rc)
        rc = redis_send(x->c, "EXEC");
    if (!rc)
        rc = redis_finish(x->c, 2, &done, x->call);
    if (!rc && done->type != REDIS_REPLY_ARRAY)
        rc = REPRISE_PLUGIN_CHANGED;
    if (!rc && done->elements > 0)
        *last = done->element[0]->integer;
    freeReplyObject(done);
    x->c->broken |= rc != REPRISE_PLUGIN_OK; /* it may still watch the key */
    return rc;
}

/* A colon in an id, or a name that the reference adapters reserve, would make two keys equal. */
static bool redis_is_plain(const struct reprise_plugin_key *key)
{
    return !strchr(key->session, ':') && strcmp(key->session, RD_SESSIONS) != 0 &&
           (!key->subpath || strcmp(key->subpath, RD_SUBKEYS) != 0);
}

int redis_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                 const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                 struct reprise_plugin_call *call)
{
    struct redis *rd = store;
    struct arena a = { 0 };
    struct appending x = { .call = call,
                           .key = redis_key(rd, key, NULL, &a),
                           .index = key->subpath ? redis_key(rd, key, RD_SUBKEYS, &a)
                                                 : redis_index(rd, key->project, &a),
                           .member = key->subpath ? key->subpath : key->session,
                           .is_main = !key->subpath };
    int rc = a.failed ? REPRISE_PLUGIN_NO_MEMORY : REPRISE_PLUGIN_OK;

    *last = 0;
    if (!rc && rows > 0) {
        rc = redis_is_plain(key) ? redis_acquire(rd, call, &x.c)
                                 : text_fail(call, REPRISE_PLUGIN_FAILED, "its id cannot be a key");
        if (!rc) {
            rc = redis_append_rows(&x, after, row, rows, last);
            redis_release(rd, x.c);
        }
    }
    arena_fini(&a);
    return rc;
}

/* ---- deleting ---- */

/* Deletes the transcript, its subpaths and their index, and the session's entry in the other index. */
static int send_cascade(const struct redis *rd, struct redis_conn *c,
                        const struct reprise_plugin_key *key, const redisReply *subpaths,
                        struct arena *a)
{
    const char *index = redis_index(rd, key->project, a);
    const char *main = redis_key(rd, key, NULL, a), *subkeys = redis_key(rd, key, RD_SUBKEYS, a);
    int rc = redis_send(c, "MULTI");

    if (!main || !subkeys || !index)
        return REPRISE_PLUGIN_NO_MEMORY;
    if (!rc)
        rc = redis_send(c, "DEL %s %s", main, subkeys);
    for (size_t i = 0; i < subpaths->elements && !rc; i++) {
        const redisReply *sub = subpaths->element[i];

        rc = redis_send(c, "DEL %s:%b", main, sub->str, sub->len);
    }
    if (!rc)
        rc = redis_send(c, "ZREM %s %s", index, key->session);
    return rc ? rc : redis_send(c, "EXEC");
}

/* The index of the subpaths is watched, because a sub-agent that is added meanwhile would remain without its
 * session. */
static int remove_session(const struct redis *rd, struct redis_conn *c,
                          const struct reprise_plugin_key *key, struct arena *a,
                          struct reprise_plugin_call *call)
{
    const char *subkeys = redis_key(rd, key, RD_SUBKEYS, a);
    redisReply *watched = NULL, *subpaths = NULL, *done = NULL;
    int rc = subkeys ? redis_send(c, "WATCH %s", subkeys) : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = redis_send(c, "SMEMBERS %s", subkeys);
    if (!rc)
        rc = redis_expect(c, call, REDIS_REPLY_STATUS, &watched);
    if (!rc)
        rc = redis_expect(c, call, REDIS_REPLY_ARRAY, &subpaths);
    if (!rc)
        rc = send_cascade(rd, c, key, subpaths, a);
    if (!rc)
        rc = redis_finish(c, subpaths->elements + 2, &done, call);
    if (!rc && done->type != REDIS_REPLY_ARRAY)
        rc = text_fail(call, REPRISE_PLUGIN_CHANGED, "another program is adding to it");
    freeReplyObject(watched);
    freeReplyObject(subpaths);
    freeReplyObject(done);
    return rc;
}

static int remove_subpath(const struct redis *rd, struct redis_conn *c,
                          const struct reprise_plugin_key *key, struct arena *a,
                          struct reprise_plugin_call *call)
{
    const char *name = redis_key(rd, key, NULL, a), *subkeys = redis_key(rd, key, RD_SUBKEYS, a);
    redisReply *done = NULL;
    int rc = name && subkeys ? redis_send(c, "MULTI") : REPRISE_PLUGIN_NO_MEMORY;

    if (!rc)
        rc = redis_send(c, "DEL %s", name);
    if (!rc)
        rc = redis_send(c, "SREM %s %s", subkeys, key->subpath);
    if (!rc)
        rc = redis_send(c, "EXEC");
    if (!rc)
        rc = redis_finish(c, 2, &done, call);
    freeReplyObject(done);
    return rc;
}

int redis_remove(void *store, const struct reprise_plugin_key *key,
                 struct reprise_plugin_call *call)
{
    struct redis *rd = store;
    struct redis_conn *c;
    struct arena a = { 0 };
    int rc = redis_acquire(rd, call, &c);

    if (!rc) {
        rc = key->subpath ? remove_subpath(rd, c, key, &a, call)
                          : remove_session(rd, c, key, &a, call);
        c->broken |= rc != REPRISE_PLUGIN_OK;
        redis_release(rd, c);
    }
    arena_fini(&a);
    return rc;
}
