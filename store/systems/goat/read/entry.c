#include "store/systems/goat/read/entry.h"

#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "store/systems/goat/members.h"
#include "store/systems/goat/read/metadata.h"

enum top { UUID, TIMESTAMP, MESSAGE, TYPE, SUBTYPE, ROLE, CONTENT, CALLS, CALL_ID, NAME, TOPS };

static const char *const top_names[TOPS] = {
    [UUID] = "uuid",       [TIMESTAMP] = "timestamp", [MESSAGE] = "message",
    [TYPE] = "type",       [SUBTYPE] = "subtype",     [ROLE] = "role",
    [CONTENT] = "content", [CALLS] = "tool_calls",    [CALL_ID] = "tool_call_id",
    [NAME] = "name",
};

static void take_said(const struct slice value[TOPS], struct goat_entry *e)
{
    e->role = value[ROLE];
    e->content = value[CONTENT];
    e->tool_calls = value[CALLS];
    e->tool_call_id = value[CALL_ID];
    e->name = value[NAME];
}

void goat_entry_read(struct slice line, struct goat_entry *out)
{
    struct slice top[TOPS], inside[TOPS];
    struct goat_entry e = { 0 };

    goat_members_both(line, top_names, TOPS, top, MESSAGE, inside);
    e.uuid = top[UUID];
    e.timestamp = top[TIMESTAMP];
    e.type = top[TYPE];
    e.subtype = top[SUBTYPE];
    if (json_type(top[MESSAGE]) == JSON_OBJECT)
        e.message = top[MESSAGE];
    e.odd_message = !e.message.p && top[MESSAGE].p && json_type(top[MESSAGE]) != JSON_NULL;
    if (json_type(top[TYPE]) == JSON_STRING)
        e.shape = GOAT_STREAM;
    else if (e.message.p)
        e.shape = GOAT_NESTED;
    else if (json_type(top[ROLE]) == JSON_STRING)
        e.shape = GOAT_FLAT;
    take_said(e.shape == GOAT_FLAT ? top : inside, &e);
    *out = e;
}

static bool absent_or(struct slice value, enum json_type type)
{
    return !value.p || json_type(value) == JSON_NULL || json_type(value) == type;
}

static bool list_of_objects(struct slice value)
{
    struct json_iter it;
    struct slice key, one;

    if (json_type(value) != JSON_ARRAY || !json_iter_open(&it, value))
        return false;
    while (json_iter_next(&it, &key, &one))
        if (json_type(one) != JSON_OBJECT)
            return false;
    return true;
}

static bool time_loads(struct slice value)
{
    int64_t ns;

    return absent_or(value, JSON_STRING) &&
           (json_type(value) != JSON_STRING ||
            goat_time((struct slice){ value.p + 1, value.n - 2 }, &ns));
}

const char *goat_entry_fault(const struct goat_entry *e)
{
    if (!absent_or(e->uuid, JSON_STRING))
        return "uuid is a text";
    if (e->shape == GOAT_STREAM)
        return NULL;
    if (e->odd_message)
        return "message is an object";
    if (!time_loads(e->timestamp))
        return "timestamp is no time as RFC 3339 writes it";
    if (!absent_or(e->role, JSON_STRING))
        return "role is a text";
    if (!absent_or(e->content, JSON_STRING) && !list_of_objects(e->content))
        return "content is a text or a list of parts";
    if (!absent_or(e->tool_calls, JSON_ARRAY) ||
        (json_type(e->tool_calls) == JSON_ARRAY && !list_of_objects(e->tool_calls)))
        return "tool_calls is a list of calls";
    if (!absent_or(e->tool_call_id, JSON_STRING) || !absent_or(e->name, JSON_STRING))
        return "tool_call_id and name are texts";
    return NULL;
}

enum goat_role goat_entry_role(const struct goat_entry *e)
{
    static const struct {
        const char *word;
        enum goat_role role;
    } roles[] = { { "user", GOAT_USER },
                  { "assistant", GOAT_ASSISTANT },
                  { "tool", GOAT_TOOL },
                  { "system", GOAT_SYSTEM } };
    struct slice word = e->shape == GOAT_STREAM ? e->type : e->role;

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (json_string_is(word, roles[i].word))
            return roles[i].role;
    return GOAT_OTHER;
}

bool goat_entry_text(const struct goat_entry *e, struct arena *a, struct slice *text)
{
    struct json_iter it;
    struct slice key, part, one;
    struct buf all = { 0 };
    bool ok = true;

    *text = (struct slice){ NULL, 0 };
    if (json_type(e->content) == JSON_STRING)
        return json_text(e->content, a, text);
    if (json_type(e->content) != JSON_ARRAY || !json_iter_open(&it, e->content))
        return true;
    while (ok && json_iter_next(&it, &key, &part)) {
        if (!json_get_text(part, "text", a, &one) || one.n == 0)
            continue;
        ok = (!all.n || buf_add_byte(&all, '\n') == ERR_OK) && buf_add(&all, one) == ERR_OK;
    }
    if (ok && all.n)
        *text = arena_copy(a, buf_slice(&all));
    ok = ok && (!all.n || text->p);
    buf_fini(&all);
    return ok;
}

bool goat_entry_calls(const struct goat_entry *e)
{
    struct json_iter it;
    struct slice key, value, type;

    if (json_type(e->tool_calls) == JSON_ARRAY && json_iter_open(&it, e->tool_calls))
        return json_iter_next(&it, &key, &value);
    if (e->shape != GOAT_STREAM || json_type(e->content) != JSON_ARRAY ||
        !json_iter_open(&it, e->content))
        return false;
    while (json_iter_next(&it, &key, &value))
        if (json_get(value, "type", &type) && json_string_is(type, "tool_use"))
            return true;
    return false;
}

bool goat_line_time(struct slice line, int64_t *ms)
{
    static const char *const names[] = { "timestamp" };
    struct slice value;
    int64_t ns;

    if (json_type(line) != JSON_OBJECT)
        return false;
    goat_members(line, names, 1, &value);
    if (json_type(value) != JSON_STRING || value.n < 2 ||
        !goat_time((struct slice){ value.p + 1, value.n - 2 }, &ns) || ns == 0)
        return false;
    *ms = ns / 1000000;
    return true;
}
