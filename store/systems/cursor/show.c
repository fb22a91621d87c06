#include <stdio.h>

#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/memory_rows.h"
#include "store/systems/common/row_table.h"
#include "store/systems/cursor/cursor.h"

/* A row of a conversation is {"id": ..., "message": <blob>}. Messages with the same text share a
 * blob, so an id consists of the number of the message and the beginning of the blob's name. */

enum { DAMAGED_MOST = 4 << 10, ALL_MOST = 512 << 20 };

struct loading {
    struct memory_rows rows;
    struct buf row, message;
    size_t bytes; /* that were read; a state may name one large blob many times */
};

static enum message_kind cursor_kind_of(struct slice message, struct arena *a)
{
    return cursor_role_is(message, "assistant") ? MESSAGE_ASSISTANT
           : cursor_role_is(message, "tool")    ? MESSAGE_TOOL
           : cursor_prompt(message, a).n        ? MESSAGE_USER
                                                : MESSAGE_SYSTEM;
}

static enum err_code cursor_add_message(struct loading *l, size_t number, struct slice name)
{
    struct message m = { .time_ms = TIME_NONE };
    struct slice json = buf_slice(&l->message);
    struct arena a = { 0 };
    struct jsonout j;
    char id[64];

    if (!json_valid(json)) { /* damaged, or not there */
        json.n = json.n < DAMAGED_MOST ? json.n : DAMAGED_MOST;
        return memory_rows_add(&l->rows, json.n ? json : SLICE("?"), m);
    }
    if (cursor_role_is(json, "system"))
        return ERR_OK;
    snprintf(id, sizeof id, "%zu-%.*s", number, (int)(name.n < 16 ? name.n : 16), name.p);
    m.id = id128_of(slice_of(id));
    m.kind = (uint8_t)cursor_kind_of(json, &a);
    l->row.n = 0;
    jsonout_init(&j, &l->row);
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_raw_member(&j, "message", json);
    jsonout_close(&j, '}');
    enum err_code rc = a.failed ? ERR_NOMEM : j.rc;

    arena_fini(&a);
    return rc ? rc : memory_rows_add(&l->rows, buf_slice(&l->row), m);
}

/* Begins anew if it is called again. */
static enum err_code cursor_read_messages(struct sqlite_db *db, void *arg, struct err *e)
{
    struct loading *l = arg;
    struct cursor_state s;
    enum err_code rc = cursor_state_read(db, &s, e);

    if (rc)
        return rc;
    memory_rows_reset(&l->rows);
    l->bytes = 0;
    for (size_t i = 0; i < s.n && !rc; i++) {
        rc = cursor_blob_read(db, s.message[i], &l->message, e);
        l->bytes += l->message.n;
        if (!rc && l->bytes > ALL_MOST)
            rc = err_set(e, ERR_UNSUPPORTED, "", "it is too large");
        if (!rc && cursor_add_message(l, i, s.message[i]))
            rc = err_nomem(e);
    }
    cursor_state_fini(&s);
    return rc;
}

enum err_code cursor_load(const struct store *st, const struct session_ref *ref,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    struct loading l = { .rows = { .n = 0 } };
    enum err_code rc =
        err_at(e, sqlite_db_read(ref->path.p, cancel, cursor_read_messages, &l, e), ref->path.p);

    (void)st;
    if (!rc)
        rc = memory_rows_finish(&l.rows, ref, out, e);
    memory_rows_fini(&l.rows);
    buf_fini(&l.row);
    buf_fini(&l.message);
    return rc ? err_wrap(e, rc, "load the conversation") : ERR_OK;
}

enum err_code cursor_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                          const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    (void)bytes;
    return cursor_load(st, ref, cancel, out, e);
}

enum err_code cursor_messages(const struct store *st, const struct session_ref *ref,
                              const struct message_query *q, json_fn *fn, void *arg, struct err *e)
{
    struct transcript *t;

    TRY(cursor_load(st, ref, q->cancel, &t, e));
    enum err_code rc = memory_rows_messages(st, t, ref->id, q, fn, arg, e);

    transcript_free(t);
    return rc;
}

/* ---- blocks ---- */

/* What a person typed, or else what Cursor adds to a prompt. */
static void cursor_put_typed(struct block_list *b, struct slice part)
{
    struct arena *a = &b->arena;
    struct slice text =
        json_type(part) == JSON_STRING ? json_text_of(part, a) : json_text_at(part, "text", a);
    struct slice typed = cursor_typed(text, a);

    transcript_block_put_text(b, typed.n ? BLOCK_PROMPT : BLOCK_NOTE, typed.n ? typed : text);
}

/* A text, or JSON; another version keeps it as {"type", "value"}. */
static struct slice cursor_result(struct slice part, struct arena *a)
{
    struct slice value = SLICE(""), text;

    if (!row_value(part, "result|output.value", &value))
        return SLICE("");
    return json_text(value, a, &text) ? text : value;
}

/* clang-format off */
#define CURSOR_PARTS                                                                                    \
    { BLOCK_NOTE, .when = "type=redacted-reasoning" }, /* without a text, and so not shown */           \
    { BLOCK_THINKING, "text", .when = "type=reasoning&text:text", .empty = true },                      \
    { BLOCK_TOOL_CALL, .when = "type=tool-call", .call = "toolCallId", .name = "toolName",              \
      .input = "args" },                                                                                \
    { BLOCK_TOOL_RESULT, .when = "type=tool-result", .call = "toolCallId", .name = "toolName",          \
      .read = cursor_result, .failed = "isError" },                                                     \
    { BLOCK_IMAGE, .when = "type=image" }, { BLOCK_RAW, .read = row_whole }, ROW_BLOCKS_END
static const struct row_block cursor_user_parts[] = {
    { .when = "type=text&text:text", .put = cursor_put_typed }, CURSOR_PARTS
};
static const struct row_block cursor_agent_parts[] = {
    { BLOCK_TEXT, "text", .when = "type=text&text:text" }, CURSOR_PARTS
};
#define CURSOR_BLOCKS(list) { { .each = "content", .parts = list }, ROW_BLOCKS_END }
static const struct row_block cursor_user[] = CURSOR_BLOCKS(cursor_user_parts);
static const struct row_block cursor_spoken[] = CURSOR_BLOCKS(cursor_agent_parts);
/* clang-format on */

enum err_code cursor_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e)
{
    struct slice message;

    (void)st;
    if (!json_valid(row) || !json_get(row, "message", &message))
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
    else
        row_blocks_put(out, cursor_role_is(message, "user") ? cursor_user : cursor_spoken, message);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
