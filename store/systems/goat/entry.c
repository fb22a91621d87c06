#include "store/systems/goat/entry.h"

#include "lite/buf.h"
#include "lite/json.h"
#include "store/systems/goat/members.h"
#include "store/systems/goat/metadata.h"

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

    goat_members(line, top_names, TOPS, top);
    e.uuid = top[UUID];
    e.timestamp = top[TIMESTAMP];
    e.type = top[TYPE];
    e.subtype = top[SUBTYPE];
    e.message = json_type(top[MESSAGE]) == JSON_OBJECT ? top[MESSAGE] : (struct slice){ NULL, 0 };
    if (json_type(top[TYPE]) == JSON_STRING)
        e.shape = GOAT_STREAM;
    else if (e.message.p)
        e.shape = GOAT_NESTED;
    else if (json_type(top[ROLE]) == JSON_STRING)
        e.shape = GOAT_FLAT;
    goat_members(e.message, top_names, TOPS, inside);
    take_said(e.shape == GOAT_FLAT ? top : inside, &e);
    *out = e;
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
