#include <stdlib.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/api/host.h"
#include "store/systems/common/config_dir.h"
#include "store/systems/common/jsonl.h"

/* A made-up agent that can only be read, as an example: a session is <store>/<id>.jsonl, and a row of it is
 * {"at": time, "by": "user" or "agent", "id": ..., "text": ...}. This is all that had to be written for it. */
extern const struct store_ops tiny_ops;
static const struct jsonl_format format;

static void tiny_close(struct store *st)
{
    struct jsonl_store *s = (struct jsonl_store *)st;

    jsonl_store_fini(s);
    free(s);
}

static enum err_code tiny_open(const struct store_env *env, const char *path, struct store **out,
                               struct err *e)
{
    struct jsonl_store *s = calloc(1, sizeof *s);

    if (!s)
        return err_nomem(e);
    s->base = (struct store){ &tiny_ops, env, config_dir_absolute(env, path ? path : ".tiny") };
    s->format = &format;
    s->folder = config_dir_absolute(env, s->base.path ? s->base.path : "");
    s->pool = window_pool_new();
    enum err_code rc =
        s->base.path && s->folder && s->pool ? config_dir_require(s->folder, e) : err_nomem(e);

    if (rc)
        tiny_close(&s->base);
    else
        *out = &s->base;
    return rc;
}

static enum err_code read_row_facts(struct slice row, struct arena *a, struct jsonl_row_facts *out)
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

static const struct jsonl_format format = { .keys = &keys,
                                            .judge = judge,
                                            .read = read_row_facts,
                                            .prompt_needle = "\"user",
                                            .is_id = host_id_is_plain,
                                            .id_name = "a session id" };

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
    return json_valid(row) ? jsonl_page_add(arg, row, e) : ERR_OK;
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
    .name = "tiny", .open = tiny_open, .close = tiny_close, .enumerate = jsonl_enumerate, .find = jsonl_find,
    .describe = jsonl_describe, .load = jsonl_load, .tail = jsonl_tail, .blocks = tiny_blocks, .messages = tiny_messages,
};
/* clang-format on */
