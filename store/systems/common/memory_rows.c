#include "store/systems/common/memory_rows.h"

#include <stdlib.h>
#include <string.h>

#include "lite/base/array.h"
#include "lite/base/time.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"

/* ---- rows ---- */

/* Replaces these bytes by blanks. */
static void memory_rows_blank(char *p, size_t n, const char *bytes)
{
    for (const char *c = bytes; *c && n; c++)
        for (char *at = p; (at = memchr(at, *c, (size_t)(p + n - at)));)
            *at++ = ' ';
}

enum err_code memory_rows_add(struct memory_rows *r, struct slice row, struct message m)
{
    size_t at = r->bytes.n;

    if (!array_reserve(r->message, r->cap, r->n + 1) || buf_add(&r->bytes, row) ||
        buf_add_byte(&r->bytes, '\n')) {
        r->bytes.n = at;
        return ERR_NOMEM;
    }
    memory_rows_blank(r->bytes.p + at, row.n, "\n\r"); /* a newline within JSON is a blank */
    m.offset = (int64_t)at;
    m.length = row.n > UINT32_MAX ? UINT32_MAX : (uint32_t)row.n;
    m.line = (uint32_t)r->n;
    if (!json_valid(row)) {
        m.kind = MESSAGE_OTHER;
        m.flags = MESSAGE_BROKEN;
    }
    r->message[r->n++] = m;
    return ERR_OK;
}

enum err_code memory_rows_value(struct buf *row, struct slice json)
{
    struct jsonout j;
    size_t at = row->n;

    if (json_valid(json)) {
        enum err_code rc = buf_add(row, json);

        if (!rc)
            memory_rows_blank(row->p + at, json.n, "\n\r");
        return rc;
    }
    jsonout_init(&j, row);
    jsonout_text(&j, json);
    return j.rc;
}

enum err_code memory_rows_line(struct buf *lines, struct slice json)
{
    if (buf_reserve(lines, json.n + 1))
        return ERR_NOMEM;
    const size_t at = lines->n;

    while (json.n) {
        const char *end = memchr(json.p, '\n', json.n);
        size_t n = end ? (size_t)(end - json.p) : json.n;

        memcpy(lines->p + lines->n, json.p, n);
        lines->n += n;
        n += end != NULL;
        while (end && n + 8 <= json.n && memcmp(json.p + n, "        ", 8) == 0)
            n += 8; /* indentation */
        while (end && n < json.n && json.p[n] == ' ')
            n++;
        json = (struct slice){ json.p + n, json.n - n };
    }
    memory_rows_blank(lines->p + at, lines->n - at, "\r");
    lines->p[lines->n++] = '\n';
    return ERR_OK;
}

void memory_rows_reset(struct memory_rows *r)
{
    r->bytes.n = 0;
    r->n = 0;
}

void memory_rows_fini(struct memory_rows *r)
{
    buf_fini(&r->bytes);
    free(r->message);
    *r = (struct memory_rows){ .n = 0 };
}

enum err_code memory_rows_finish(struct memory_rows *r, const struct session_ref *ref,
                                 struct transcript **out, struct err *e)
{
    struct transcript *t = calloc(1, sizeof *t);

    if (!t || buf_reserve(&r->bytes, 1) || !array_reserve(r->message, r->cap, r->n + 1) ||
        !(t->path = strdup(ref->path.p))) {
        transcript_free(t);
        return err_nomem(e);
    }
    t->message = r->message;
    t->n = t->lines = r->n;
    for (size_t i = 0; i < r->n; i++)
        t->broken += (r->message[i].flags & MESSAGE_BROKEN) != 0;
    t->bytes = r->bytes;
    t->size = (int64_t)r->bytes.n;
    t->id = ref->file;
    *r = (struct memory_rows){ .n = 0 };
    *out = t;
    return ERR_OK;
}

/* ---- messages ---- */

static void memory_rows_put_text(struct jsonout *j, const char *type, struct slice text)
{
    jsonout_member(j, "type", slice_of(type));
    jsonout_key(j, type);
    jsonout_text(j, text);
}

static void put_block(struct jsonout *j, const struct block *b)
{
    jsonout_open(j, '{');
    switch (b->kind) {
    case BLOCK_TOOL_CALL:
        jsonout_member(j, "type", SLICE("tool_use"));
        jsonout_member(j, "id", b->call_id);
        jsonout_member(j, "name", b->name);
        jsonout_raw_member(j, "input", json_valid(b->input) ? b->input : SLICE("{}"));
        break;
    case BLOCK_TOOL_RESULT:
        jsonout_member(j, "type", SLICE("tool_result"));
        jsonout_member(j, "tool_use_id", b->call_id);
        jsonout_key(j, "content");
        jsonout_text(j, b->text);
        if (b->failed)
            jsonout_bool_member(j, "is_error", true);
        break;
    case BLOCK_THINKING: memory_rows_put_text(j, "thinking", b->text); break;
    case BLOCK_IMAGE:
    case BLOCK_DOCUMENT:
        jsonout_member(j, "type", b->kind == BLOCK_IMAGE ? SLICE("image") : SLICE("document"));
        jsonout_member(j, "media_type", b->name);
        break;
    default: memory_rows_put_text(j, "text", b->text);
    }
    jsonout_close(j, '}');
}

/* Where messages are delivered. */
struct delivery {
    const struct store *store;
    const struct transcript *transcript;
    struct slice session;
    const struct message_query *q;
    json_fn *fn;
    void *arg;
    struct buf row, out;
    struct arena arena; /* owns the texts of one message */
};

static void put_head(struct delivery *d, struct jsonout *j, const struct message *m)
{
    const char *role = m->kind == MESSAGE_USER        ? "user"
                       : m->kind == MESSAGE_ASSISTANT ? "assistant"
                       : m->kind == MESSAGE_TOOL      ? "tool"
                                                      : "system";
    struct slice id;
    char time[TIME_TEXT];

    jsonout_open(j, '{');
    jsonout_member(j, "type", slice_of(role));
    if (json_get_text(buf_slice(&d->row), "id", &d->arena, &id))
        jsonout_member(j, "uuid", id);
    jsonout_member(j, "session_id", d->session);
    if (m->time_ms != TIME_NONE) {
        time_format(m->time_ms, time);
        jsonout_member(j, "timestamp", slice_of(time));
    }
    jsonout_key(j, "message");
    jsonout_open(j, '{');
    jsonout_member(j, "role", slice_of(role));
    jsonout_key(j, "content");
    jsonout_open(j, '[');
}

static bool memory_rows_is_wanted(const struct message_query *q, const struct message *m)
{
    if (m->flags & (MESSAGE_BROKEN | MESSAGE_LEFT_OUT))
        return false;
    return m->kind == MESSAGE_USER || m->kind == MESSAGE_ASSISTANT || m->kind == MESSAGE_TOOL ||
           q->system_messages;
}

enum err_code memory_rows_messages(const struct store *st, const struct transcript *t,
                                   struct slice session, const struct message_query *q, json_fn *fn,
                                   void *arg, struct err *e)
{
    struct delivery d = {
        .store = st, .transcript = t, .session = session, .q = q, .fn = fn, .arg = arg
    };
    size_t n = 0, from, to, at = 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0; i < t->n; i++)
        n += memory_rows_is_wanted(q, &t->message[i]);
    transcript_page(q, n, &from, &to);
    for (size_t i = 0; i < t->n && !rc && at < to; i++) {
        if (!memory_rows_is_wanted(q, &t->message[i]))
            continue;
        if (at++ >= from) {
            struct block_list blocks = { .n = 0 };
            struct jsonout j;

            rc = transcript_read(d.transcript, i, &d.row, e);

            if (!rc)
                rc = d.store->ops->blocks(d.store, buf_slice(&d.row), &blocks, e);
            if (!rc) {
                d.out.n = 0;
                jsonout_init(&j, &d.out);
                put_head(&d, &j, &d.transcript->message[i]);
                for (size_t k = 0; k < blocks.n; k++)
                    put_block(&j, &blocks.block[k]);

                /* put_head has opened the row, its message and the content. */
                jsonout_close(&j, ']');
                jsonout_close(&j, '}');
                jsonout_key(&j, "parent_tool_use_id");
                jsonout_null(&j);
                jsonout_key(&j, "parent_agent_id");
                if (d.q->agent.n)
                    jsonout_text(&j, d.q->agent);
                else
                    jsonout_null(&j);
                jsonout_close(&j, '}');

                rc = j.rc ? err_nomem(e) : d.fn(buf_slice(&d.out), d.arg, e);
            }
            arena_reset(&d.arena);
            transcript_blocks_fini(&blocks);
        }
    }
    buf_fini(&d.row);
    buf_fini(&d.out);
    arena_fini(&d.arena);
    return rc;
}
