#include "lite/base/time.h"
#include "store/plugins/redis/redis.h"

#include <stdlib.h>
#include <string.h>

/* How many rows that are not JSON may follow the newest valid one. */
enum { BROKEN_MOST = 64 };

struct appending {
    struct redis_conn *c;
    struct reprise_plugin_call *call;
    const char *key, *index, *member; /* the transcript's key; the index and its new member */
    bool is_main;
};

/* ---- before ---- */

/* The types are checked first, because Redis does not roll back a transaction in which a command fails. */
static int redis_check(const struct appending *x, int64_t after)
{
    AUTO_REPLY *watched = NULL, *length = NULL, *behind = NULL, *index = NULL;
    int64_t from = after > 0 ? after : 0;

    PLUGIN_TRY(after < 0 ? redis_send(x->c, "UNWATCH") : redis_send(x->c, "WATCH %s", x->key));
    PLUGIN_TRY(redis_send(x->c, x->is_main ? "ZCARD %s" : "SCARD %s", x->index));
    PLUGIN_TRY(redis_send(x->c, "LLEN %s", x->key));
    PLUGIN_TRY(redis_send(x->c, "LRANGE %s %lld %lld", x->key, (long long)from,
                          (long long)from + BROKEN_MOST - 1));
    PLUGIN_TRY(redis_expect(x->c, x->call, REDIS_REPLY_STATUS, &watched));
    PLUGIN_TRY(redis_expect(x->c, x->call, REDIS_REPLY_INTEGER, &index));
    PLUGIN_TRY(redis_expect(x->c, x->call, REDIS_REPLY_INTEGER, &length));
    PLUGIN_TRY(redis_expect(x->c, x->call, REDIS_REPLY_ARRAY, &behind));
    /* Only elements that are not rows may follow the row at `after`. */
    if (after >= 0 &&
        (length->integer < after || length->integer - after > (int64_t)behind->elements))
        return REPRISE_PLUGIN_CHANGED;
    for (size_t i = 0; i < behind->elements && after >= 0; i++)
        if (redis_is_row(behind->element[i]))
            return REPRISE_PLUGIN_CHANGED;
    return REPRISE_PLUGIN_OK;
}

/* ---- the transaction ---- */

static int send_rows(const struct appending *x, const struct reprise_plugin_text *row, size_t rows)
{
    AUTO_FREE const char **text = calloc(rows + 2, sizeof *text);
    AUTO_FREE size_t *size = calloc(rows + 2, sizeof *size);

    if (!text || !size)
        return REPRISE_PLUGIN_NO_MEMORY;
    text[0] = "RPUSH";
    text[1] = x->key;
    for (size_t i = 0; i < rows; i++) {
        text[i + 2] = row[i].p;
        size[i + 2] = row[i].n;
    }
    size[0] = strlen(text[0]);
    size[1] = strlen(text[1]);
    return redis_send_texts(x->c, (int)rows + 2, text, size);
}

/* Reads the answers to MULTI, `commands` commands and EXEC. *out is the array of EXEC; NULL with OK: the key was
 * changed. */
static int redis_finish(struct redis_conn *c, size_t commands, redisReply **out,
                        struct reprise_plugin_call *call)
{
    char why[REPRISE_PLUGIN_ERROR] = "";
    int refused = REPRISE_PLUGIN_OK;

    for (size_t i = 0; i < commands + 1; i++) {
        AUTO_REPLY *r = NULL;

        PLUGIN_TRY(redis_read_reply(c, call, &r));
        if (r->type == REDIS_REPLY_ERROR && !refused) {
            refused = redis_fail_reply(call, r);
            memcpy(why, call->error, sizeof why);
        }
    }
    PLUGIN_TRY(redis_read_reply(c, call, out));
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
    AUTO_REPLY *done = NULL;

    PLUGIN_TRY(redis_check(x, after));
    PLUGIN_TRY(redis_send(x->c, "MULTI"));
    PLUGIN_TRY(send_rows(x, row, rows));
    PLUGIN_TRY(x->is_main ? redis_send(x->c, "ZADD %s %lld %s", x->index,
                                       (long long)time_clock_ms(CLOCK_REALTIME), x->member)
                          : redis_send(x->c, "SADD %s %s", x->index, x->member));
    PLUGIN_TRY(redis_send(x->c, "EXEC"));
    PLUGIN_TRY(redis_finish(x->c, 2, &done, x->call));
    if (done->type != REDIS_REPLY_ARRAY)
        return REPRISE_PLUGIN_CHANGED;
    if (done->elements > 0)
        *last = done->element[0]->integer;
    return REPRISE_PLUGIN_OK;
}

int redis_append(void *store, const struct reprise_plugin_key *key, int64_t after,
                 const struct reprise_plugin_text *row, size_t rows, int64_t *last,
                 struct reprise_plugin_call *call)
{
    struct redis *rd = store;
    AUTO_ARENA a = { 0 };
    AUTO_CONNECTION *c = NULL;
    struct appending x = { .call = call,
                           .key = redis_key(rd, key, NULL, &a),
                           .index = key->subpath ? redis_key(rd, key, RD_SUBKEYS, &a)
                                                 : redis_index(rd, key->project, &a),
                           .member = key->subpath ? key->subpath : key->session,
                           .is_main = !key->subpath };

    *last = 0;
    if (a.failed)
        return REPRISE_PLUGIN_NO_MEMORY;
    if (rows == 0)
        return REPRISE_PLUGIN_OK;

    /* A colon in an id, or a name that the reference adapters reserve, would make two keys
     * equal. */
    if (strchr(key->session, ':') || strcmp(key->session, RD_SESSIONS) == 0 ||
        (key->subpath && strcmp(key->subpath, RD_SUBKEYS) == 0))
        return text_fail(call, REPRISE_PLUGIN_FAILED, "its id cannot be a key");

    PLUGIN_TRY(redis_acquire(rd, call, &c));
    x.c = c;
    int rc = redis_append_rows(&x, after, row, rows, last);

    c->broken |= rc != REPRISE_PLUGIN_OK; /* it may still watch the key */
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

    if (!main || !subkeys || !index)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(redis_send(c, "MULTI"));
    PLUGIN_TRY(redis_send(c, "DEL %s %s", main, subkeys));
    for (size_t i = 0; i < subpaths->elements; i++) {
        const redisReply *sub = subpaths->element[i];

        PLUGIN_TRY(redis_send(c, "DEL %s:%b", main, sub->str, sub->len));
    }
    PLUGIN_TRY(redis_send(c, "ZREM %s %s", index, key->session));
    return redis_send(c, "EXEC");
}

/* The index of the subpaths is watched, because a sub-agent that is added meanwhile would remain without its
 * session. */
static int remove_session(const struct redis *rd, struct redis_conn *c,
                          const struct reprise_plugin_key *key, struct arena *a,
                          struct reprise_plugin_call *call)
{
    const char *subkeys = redis_key(rd, key, RD_SUBKEYS, a);
    AUTO_REPLY *watched = NULL, *subpaths = NULL, *done = NULL;

    if (!subkeys)
        return REPRISE_PLUGIN_NO_MEMORY;
    PLUGIN_TRY(redis_send(c, "WATCH %s", subkeys));
    PLUGIN_TRY(redis_send(c, "SMEMBERS %s", subkeys));
    PLUGIN_TRY(redis_expect(c, call, REDIS_REPLY_STATUS, &watched));
    PLUGIN_TRY(redis_expect(c, call, REDIS_REPLY_ARRAY, &subpaths));
    PLUGIN_TRY(send_cascade(rd, c, key, subpaths, a));
    PLUGIN_TRY(redis_finish(c, subpaths->elements + 2, &done, call));
    return done->type == REDIS_REPLY_ARRAY
               ? REPRISE_PLUGIN_OK
               : text_fail(call, REPRISE_PLUGIN_CHANGED, "another program is adding to it");
}

int redis_remove(void *store, const struct reprise_plugin_key *key,
                 struct reprise_plugin_call *call)
{
    struct redis *rd = store;
    AUTO_ARENA a = { 0 };
    AUTO_CONNECTION *c = NULL;

    PLUGIN_TRY(redis_acquire(rd, call, &c));
    int rc = REPRISE_PLUGIN_OK;

    if (key->subpath) {
        const char *name = redis_key(rd, key, NULL, &a);
        const char *subkeys = redis_key(rd, key, RD_SUBKEYS, &a);
        AUTO_REPLY *done = NULL;

        if (!name || !subkeys)
            rc = REPRISE_PLUGIN_NO_MEMORY;
        if (!rc)
            rc = redis_send(c, "MULTI");
        if (!rc)
            rc = redis_send(c, "DEL %s", name);
        if (!rc)
            rc = redis_send(c, "SREM %s %s", subkeys, key->subpath);
        if (!rc)
            rc = redis_send(c, "EXEC");
        if (!rc)
            rc = redis_finish(c, 2, &done, call);
    } else
        rc = remove_session(rd, c, key, &a, call);

    c->broken |= rc != REPRISE_PLUGIN_OK;
    return rc;
}
