#include <stdlib.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

/* A made-up agent that can only be read, as an example: a session is <store>/<id>.jsonl, and a row of it is
 * {"at": time, "by": "user" or "agent", "id": ..., "text": ...}. This is all that had to be written for it. */
struct tiny {
    struct store base;
    struct window_pool *pool;
};

extern const struct store_ops tiny_ops;

static void tiny_close(struct store *st)
{
    struct tiny *t = (struct tiny *)st;

    window_pool_free(t->pool);
    free(t->base.path);
    free(t);
}

static enum err_code tiny_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    struct tiny *t = calloc(1, sizeof *t);

    if (!t)
        return err_nomem(e);
    t->base = (struct store){ &tiny_ops, env, config_dir_absolute(env, path ? path : ".tiny") };
    t->pool = window_pool_new();
    enum err_code rc = t->base.path && t->pool ? config_dir_require(t->base.path, e) : err_nomem(e);

    if (rc)
        tiny_close(&t->base);
    else
        *out = &t->base;
    return rc;
}

static enum err_code tiny_enumerate(const struct store *st, const struct scope *scope,
                                    session_ref_fn *fn, void *arg, struct err *e)
{
    (void)scope;
    return jsonl_enumerate(&(struct jsonl_folder){ st, st->path, host_id_is_plain }, fn, arg, e);
}

static enum err_code tiny_find(const struct store *st, const struct scope *scope, struct slice id,
                               struct arena *a, struct session_ref *ref, struct err *e)
{
    (void)scope;
    if (!host_id_is_plain(id))
        return err_set(e, ERR_USAGE, "", "find session: not a session id");
    return jsonl_find(&(struct jsonl_folder){ st, st->path, host_id_is_plain }, id, a, ref, e);
}

static enum err_code read_said(struct slice row, struct arena *a, struct jsonl_said *out)
{
    struct slice by, at;

    if (!json_valid(row) || !json_get(row, "by", &by) || !json_get_text(row, "at", a, &at))
        return ERR_FORMAT;
    if (!time_parse(at, &out->time_ms))
        out->time_ms = TIME_NONE;
    out->speaks = true;
    out->waits = json_string_is(by, "user");
    if (out->waits)
        json_get_text(row, "text", a, &out->prompt);
    return a->failed ? ERR_NOMEM : ERR_OK;
}

static enum err_code tiny_describe(const struct store *st, const struct scope *scope,
                                   const struct session_ref *ref, struct session_row *row,
                                   struct err *e)
{
    static const struct jsonl_format format = { .read = read_said, .prompt_mark = "\"user" };

    (void)scope;
    return jsonl_describe(((const struct tiny *)st)->pool, ref, &format, row, e);
}

static const char *const kinds[] = { "user", "agent", NULL };
static const struct index_keys keys = { .type = "by", .id = "id", .time = "at", .kinds = kinds };

static enum err_code judge(struct logfile *log, size_t line, struct message *m, bool *keep,
                           struct err *e)
{
    const struct index_line *ix = &log->index.line[line];

    (void)keep, (void)e;
    m->kind = ix->kind == 1 ? MESSAGE_USER : MESSAGE_ASSISTANT;
    m->flags = ix->state == LINE_BROKEN ? MESSAGE_BROKEN : 0;
    return ERR_OK;
}

static enum err_code tiny_load(const struct store *st, const struct session_ref *ref,
                               const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)st;
    return jsonl_load(&(struct jsonl_log){ ref->path.p, &keys, judge, false }, cancel, out, e);
}

static enum err_code tiny_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                               struct transcript **out, struct err *e)
{
    (void)st;
    return jsonl_tail(&(struct jsonl_log){ ref->path.p, &keys, judge, false }, bytes, out, e);
}

static enum err_code tiny_blocks(const struct store *st, struct slice row, struct block_list *out,
                                 struct err *e)
{
    struct block b = { .kind = BLOCK_RAW, .text = row };
    struct slice by;

    (void)st;
    if (json_get(row, "by", &by) && json_get_text(row, "text", &out->arena, &b.text))
        b.kind = json_string_is(by, "user") ? BLOCK_PROMPT : BLOCK_TEXT;
    return transcript_block_add(out, &b) ? err_nomem(e) : ERR_OK;
}

static enum err_code put_row(struct slice row, void *arg, bool *stop, struct err *e)
{
    (void)stop;
    return json_valid(row) ? jsonl_page_put(arg, row, e) : ERR_OK;
}

static enum err_code tiny_messages(const struct store *st, const struct session_ref *ref,
                                   const struct message_query *q, json_fn *fn, void *arg,
                                   struct err *e)
{
    struct jsonl_page page = jsonl_page_of(q, fn, arg);
    enum err_code rc = jsonl_each_row(ref->path.p, &keys, q->cancel, put_row, &page, e);

    (void)st;
    return page.full ? ERR_OK : rc;
}

/* clang-format off */
const struct store_ops tiny_ops = {
    .name = "tiny", .open = tiny_open, .close = tiny_close, .enumerate = tiny_enumerate, .find = tiny_find,
    .describe = tiny_describe, .load = tiny_load, .tail = tiny_tail, .blocks = tiny_blocks, .messages = tiny_messages,
};
/* clang-format on */
