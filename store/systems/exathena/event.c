#include "store/systems/exathena/event.h"

#include "lite/buf.h"
#include "lite/json.h"

static const char *const kinds[] = {
    "user_message",  "assistant_message", "tool_result", "system_message",
    "session_start", "session_resume",    NULL,
};

const struct index_keys exathena_keys = {
    .type = "event", .id = "uuid", .time = "ts", .kinds = kinds
};

bool event_member(struct slice object, const char *name, struct slice *value)
{
    struct json_iter it;
    struct slice key, found;

    *value = (struct slice){ NULL, 0 };
    if (json_type(object) != JSON_OBJECT || !json_iter_open(&it, object))
        return false;
    while (json_iter_next(&it, &key, &found))
        if (json_string_is(key, name)) {
            *value = found;
            return true;
        }
    return false;
}

static bool decode(struct slice value, struct arena *a, struct slice *text)
{
    *text = (struct slice){ NULL, 0 };
    return json_type(value) != JSON_STRING || json_text(value, a, text);
}

bool event_text(struct slice object, const char *name, struct arena *a, struct slice *text)
{
    struct slice value;

    event_member(object, name, &value);
    return decode(value, a, text);
}

/* The top level in one walk. */
static void take(struct slice line, struct slice value[4])
{
    static const char *const names[4] = { "event", "uuid", "ts", "data" };
    struct json_iter it;
    struct slice key, found;
    bool more = json_iter_open(&it, line);

    while (more && json_iter_next(&it, &key, &found))
        for (size_t i = 0; i < 4; i++)
            if (!value[i].p && json_string_is(key, names[i]))
                value[i] = found;
}

bool event_read(struct slice line, struct arena *a, struct event *out)
{
    struct slice value[4] = { { NULL, 0 } };

    *out = (struct event){ .data = { NULL, 0 } };
    if (slice_starts(line, "\xef\xbb\xbf"))
        line = (struct slice){ line.p + 3, line.n - 3 };
    while (line.n && (unsigned char)line.p[0] <= ' ')
        line = (struct slice){ line.p + 1, line.n - 1 };
    if (json_type(line) != JSON_OBJECT || !json_valid(line))
        return false;
    take(line, value);
    out->data = value[3];
    event_member(out->data, "message", &out->message);
    if (json_type(out->message) != JSON_OBJECT)
        out->message = (struct slice){ NULL, 0 };
    return decode(value[0], a, &out->kind) && decode(value[1], a, &out->id) &&
           decode(value[2], a, &out->ts) && event_text(out->message, "role", a, &out->role);
}

bool event_said(struct slice message, struct arena *a, struct slice *text)
{
    struct slice content, key, part, piece;
    struct json_iter it;
    struct buf all = { 0 };
    bool ok = true;

    *text = (struct slice){ NULL, 0 };
    event_member(message, "content", &content);
    if (json_type(content) != JSON_ARRAY)
        return decode(content, a, text);
    json_iter_open(&it, content);
    while (ok && json_iter_next(&it, &key, &part)) {
        ok = event_text(part, "text", a, &piece);
        if (ok && piece.n)
            ok = (!all.n || !buf_add_byte(&all, '\n')) && !buf_add(&all, piece);
    }
    if (ok && all.n) {
        *text = arena_copy(a, buf_slice(&all));
        ok = text->p != NULL;
    }
    buf_fini(&all);
    return ok;
}
