#include "store/systems/exathena/read/event.h"

#include "lite/base/buf.h"
#include "lite/json/json.h"

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

/* What an event is read for, level by level: of the line, of its data and of the message in it. */
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

/* MEMBERS: nobody asks for it, or one of this name was there before. */
static enum member member_of(struct slice key, unsigned level, const struct slice value[MEMBERS])
{
    size_t i = json_key_in(key, levels[level].name, levels[level].n);
    enum member m = i < levels[level].n ? levels[level].first + (enum member)i : MEMBERS;

    return m < MEMBERS && !value[m].p ? m : MEMBERS;
}

/* Every byte is passed once, on whatever level it is. */
static void read_level_members(struct json_iter *it, unsigned level, struct slice value[MEMBERS])
{
    struct json_iter inner;
    struct slice key, found;
    bool more = true;

    while (more && json_iter_key(it, &key)) {
        enum member m = member_of(key, level, value);
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
    return decode(value[EVENT], a, &out->kind) && decode(value[UUID], a, &out->id) &&
           decode(value[TS], a, &out->ts) && decode(value[ROLE], a, &out->role);
}

bool event_said(const struct event *ev, struct arena *a, struct slice *text)
{
    struct slice key, part, piece;
    struct json_iter it;
    struct buf all = { 0 };
    bool ok = true;

    *text = (struct slice){ NULL, 0 };
    if (json_type(ev->content) != JSON_ARRAY)
        return decode(ev->content, a, text);
    json_iter_open(&it, ev->content);
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
