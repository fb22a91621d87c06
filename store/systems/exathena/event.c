#include "store/systems/exathena/event.h"

#include <stdio.h>
#include <string.h>

#include "lite/base/buf.h"
#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "lite/json/jsonout.h"
#include "store/systems/common/go_json.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/exathena/exathena.h"

static const char *const kinds[] = {
    "user_message",  "assistant_message", "tool_result", "system_message",
    "session_start", "session_resume",    NULL,
};

const struct index_keys exathena_keys = {
    .type = "event", .id = "uuid", .time = "ts", .kinds = kinds
};

struct slice event_member(struct slice object, const char *name)
{
    struct json_iter it;
    struct slice key, value;

    if (json_type(object) == JSON_OBJECT && json_iter_open(&it, object))
        while (json_iter_next(&it, &key, &value))
            if (json_string_is(key, name))
                return value;
    return (struct slice){ NULL, 0 };
}

static bool exathena_decode(struct slice value, struct arena *a, struct slice *text)
{
    *text = (struct slice){ NULL, 0 };
    return json_type(value) != JSON_STRING || json_text(value, a, text);
}

struct slice event_text(struct slice object, const char *name, struct arena *a)
{
    struct slice text;

    if (!exathena_decode(event_member(object, name), a, &text))
        a->failed = true;
    return text;
}

bool event_list(struct slice object, const char *name, struct json_iter *it)
{
    struct slice list = event_member(object, name);

    return json_type(list) == JSON_ARRAY && json_iter_open(it, list);
}

/* The members of an event that are read, level by level: of the line, of its data and of the
 * message in it. */
enum member { EVENT, UUID, TS, DATA, MESSAGE, ROLE, CONTENT, MEMBERS };
enum { LEVELS = 3, ON_A_LEVEL = 4 };

static const struct {
    const char *name[ON_A_LEVEL];
    size_t n;
    enum member first;
} levels[LEVELS] = {
    { { "event", "uuid", "ts", "data" }, 4, EVENT },
    { { "message" }, 1, MESSAGE },
    { { "role", "content" }, 2, ROLE },
};

/* Reads every byte of all levels once. */
static void read_level_members(struct json_iter *it, unsigned level, struct slice value[MEMBERS])
{
    struct json_iter inner;
    struct slice key, found;
    bool more = true;

    while (more && json_iter_key(it, &key)) {
        /* A member that is not needed, or whose name occurred before, is skipped. */
        size_t i = json_key_in(key, levels[level].name, levels[level].n);
        enum member m = i < levels[level].n ? levels[level].first + (enum member)i : MEMBERS;

        m = m < MEMBERS && !value[m].p ? m : MEMBERS;
        bool into = (m == DATA || m == MESSAGE) && json_iter_into(it, &inner) && inner.object;

        if (into)
            read_level_members(&inner, level + 1, value);
        more = into ? json_iter_back(it, &inner, &found) : json_iter_value(it, &found);
        if (more && m < MEMBERS)
            value[m] = found;
    }
}

bool event_read(struct slice line, struct arena *a, struct event *out)
{
    struct slice value[MEMBERS] = { { NULL, 0 } };
    struct json_iter it;

    *out = (struct event){ .data = { NULL, 0 } };
    if (slice_starts(line, "\xef\xbb\xbf"))
        line = (struct slice){ line.p + 3, line.n - 3 };
    while (line.n && (unsigned char)line.p[0] <= ' ')
        line = (struct slice){ line.p + 1, line.n - 1 };
    if (json_type(line) != JSON_OBJECT || !json_valid(line))
        return false;
    if (json_iter_open(&it, line))
        read_level_members(&it, 0, value);
    out->data = value[DATA];
    if (json_type(value[MESSAGE]) == JSON_OBJECT)
        out->message = value[MESSAGE];
    out->content = value[CONTENT];
    return exathena_decode(value[EVENT], a, &out->kind) &&
           exathena_decode(value[UUID], a, &out->id) && exathena_decode(value[TS], a, &out->ts) &&
           exathena_decode(value[ROLE], a, &out->role);
}

struct slice event_message_text(const struct event *ev, struct arena *a)
{
    struct slice key, part, text = { NULL, 0 };
    struct json_iter it;
    struct buf all = { 0 };
    bool ok = true;

    if (json_type(ev->content) != JSON_ARRAY) {
        a->failed |= !exathena_decode(ev->content, a, &text);
        return text;
    }
    json_iter_open(&it, ev->content);
    while (ok && json_iter_next(&it, &key, &part)) {
        struct slice piece = event_text(part, "text", a);

        if (piece.n)
            ok = (!all.n || !buf_add_byte(&all, '\n')) && !buf_add(&all, piece);
    }
    a->failed |= !ok;
    if (all.n)
        text = arena_copy(a, buf_slice(&all));
    buf_fini(&all);
    return text;
}

static const char *const names[EVENT_KEYS] = {
    [KEY_DATA] = "data", [KEY_TS] = "ts", [KEY_EVENT] = "event", [KEY_UUID] = "uuid"
};

static bool event_key_of(struct slice quoted, enum event_key *key)
{
    for (int k = 0; k < EVENT_KEYS; k++)
        if (json_string_is(quoted, names[k])) {
            *key = (enum event_key)k;
            return true;
        }
    return false;
}

struct event_order event_order_default(void)
{
    return (struct event_order){ { KEY_DATA, KEY_TS, KEY_EVENT, KEY_UUID } };
}

struct event_order event_order_of(struct slice line)
{
    struct event_order order;
    struct json_iter it;
    struct slice key, value;
    unsigned seen = 0, n = 0;
    bool more = json_valid(line) && json_iter_open(&it, line) && it.object;

    while (more && n < EVENT_KEYS && json_iter_next(&it, &key, &value)) {
        enum event_key k;

        if (!event_key_of(key, &k) || seen >> k & 1)
            continue;
        seen |= 1U << k;
        order.key[n++] = k;
    }
    return n == EVENT_KEYS ? order : event_order_default();
}

void event_time(int64_t ms, char out[EVENT_TIME])
{
    char text[TIME_TEXT];

    time_format(ms, text); /* "...:58.343Z" */
    snprintf(out, EVENT_TIME, "%.*s000Z", (int)strcspn(text, "Z"), text);
}

enum err_code event_write(const struct event_draft *d, const struct event_order *order,
                          struct buf *out)
{
    struct jsonout j;
    struct json_iter it;
    struct slice key, value;
    enum event_key known;

    jsonout_init(&j, out);
    jsonout_open(&j, '{');
    for (int i = 0; i < EVENT_KEYS; i++) {
        jsonout_key(&j, names[order->key[i]]);
        switch (order->key[i]) {
        case KEY_DATA: jsonout_raw(&j, d->data); break;
        case KEY_TS: jsonout_text(&j, d->ts); break;
        case KEY_EVENT: jsonout_text(&j, d->kind); break;
        default: jsonout_text(&j, d->id); break;
        }
    }

    /* Members that we do not know follow as they were. */
    struct slice object = d->rest;

    if (object.n && json_iter_open(&it, object)) {
        while (json_iter_next(&it, &key, &value))
            if (!event_key_of(key, &known)) {
                jsonout_raw_key(&j, key);
                jsonout_raw(&j, value);
            }
    }

    jsonout_close(&j, '}');
    return j.rc ? j.rc : buf_add_byte(out, '\n');
}

static enum err_code add_control(struct buf *out, unsigned char c)
{
    switch (c) {
    case '"': return buf_add(out, SLICE("\\\""));
    case '\\': return buf_add(out, SLICE("\\\\"));
    case '\b': return buf_add(out, SLICE("\\b"));
    case '\t': return buf_add(out, SLICE("\\t"));
    case '\n': return buf_add(out, SLICE("\\n"));
    case '\f': return buf_add(out, SLICE("\\f"));
    case '\r': return buf_add(out, SLICE("\\r"));
    default: return c < 0x20 ? buf_addf(out, "\\u%04X", c) : buf_add_byte(out, (char)c);
    }
}

static enum err_code add_escaped_text(struct buf *out, struct slice quoted, struct arena *a)
{
    struct slice text;
    bool ok = json_text(quoted, a, &text) && utf8_repair(text, a, &text);

    TRY(ok ? buf_add_byte(out, '"') : ERR_NOMEM);
    for (size_t i = 0; i < text.n; i++)
        TRY(add_control(out, (unsigned char)text.p[i]));
    return buf_add_byte(out, '"');
}

enum err_code event_compact(struct buf *out, struct slice value, struct arena *a)
{
    enum err_code rc = ERR_OK;

    while (value.n && !rc) {
        char c = value.p[0];
        size_t n = c == '"' ? go_json_text_length(value) : 1;

        if (c == '"')
            rc = add_escaped_text(out, (struct slice){ value.p, n }, a);
        else if (!strchr(" \t\r\n", c))
            rc = buf_add_byte(out, c);
        value = (struct slice){ value.p + n, value.n - n };
    }
    return rc;
}

enum err_code exathena_point(const struct session_ref *ref, struct slice id, struct arena *a,
                             struct point *out, struct err *e)
{
    struct point p = { .blank = -1, .time_ms = TIME_NONE };
    struct logfile log;
    struct slice row;
    struct event ev;

    TRY(logfile_open(&log, ref->path.p, 0, &exathena_keys, NULL, e));
    enum err_code rc = jsonl_find_row(&log, &exathena_format, id, &p.line, e);

    if (!rc)
        rc = logfile_row(&log, p.line, &row, e);
    if (!rc && event_read(row, a, &ev)) {
        time_parse(ev.ts, &p.time_ms);
        p.id = arena_copy(a, ev.id);
        p.offset = log.index.line[p.line].offset;
        p.size = log.file.id.size;

        /* Blank lines are not events. A cut drops those before the point, too, from the first one on. */
        for (size_t i = 0; i < log.index.n; i++) {
            bool blank = log.index.line[i].length == 0;

            p.total += !blank;
            p.before += !blank && i < p.line;
            if (blank && i < p.line && p.blank < 0)
                p.blank = log.index.line[i].offset;
        }
    }
    logfile_close(&log);
    if (rc)
        return rc;
    *out = p;
    return p.id.p ? ERR_OK : err_nomem(e);
}
