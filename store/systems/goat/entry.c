#include "store/systems/goat/log.h"

#include "lite/base/buf.h"
#include "lite/json/json.h"
#include "store/systems/common/go_json.h"
#include "store/systems/goat/dialect.h"
#include "store/systems/goat/metadata.h"

enum top { UUID, TIMESTAMP, MESSAGE, TYPE, SUBTYPE, ROLE, CONTENT, CALLS, CALL_ID, NAME, TOPS };

static const char *const top_names[TOPS] = {
    [UUID] = "uuid",       [TIMESTAMP] = "timestamp", [MESSAGE] = "message",
    [TYPE] = "type",       [SUBTYPE] = "subtype",     [ROLE] = "role",
    [CONTENT] = "content", [CALLS] = "tool_calls",    [CALL_ID] = "tool_call_id",
    [NAME] = "name",
};

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

    /* A type marks a row of the stream, even one that has a message inside. */
    if (json_type(top[TYPE]) == JSON_STRING)
        e.shape = GOAT_STREAM;
    else if (e.message.p)
        e.shape = GOAT_NESTED;
    else if (json_type(top[ROLE]) == JSON_STRING)
        e.shape = GOAT_FLAT;

    const struct slice *value = e.shape == GOAT_FLAT ? top : inside;

    e.role = value[ROLE];
    e.content = value[CONTENT];
    e.tool_calls = value[CALLS];
    e.tool_call_id = value[CALL_ID];
    e.name = value[NAME];

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
        return "uuid must be a string";
    if (e->shape == GOAT_STREAM)
        return NULL;
    if (e->odd_message)
        return "message must be an object";
    if (!time_loads(e->timestamp))
        return "timestamp is not an RFC 3339 time";
    if (!absent_or(e->role, JSON_STRING))
        return "role must be a string";
    if (!absent_or(e->content, JSON_STRING) && !list_of_objects(e->content))
        return "content must be a string or a list of parts";
    if (!absent_or(e->tool_calls, JSON_ARRAY) ||
        (json_type(e->tool_calls) == JSON_ARRAY && !list_of_objects(e->tool_calls)))
        return "tool_calls must be a list of calls";
    if (!absent_or(e->tool_call_id, JSON_STRING) || !absent_or(e->name, JSON_STRING))
        return "tool_call_id and name must be strings";
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
    struct slice key, value;

    if (json_type(e->tool_calls) == JSON_ARRAY && json_iter_open(&it, e->tool_calls))
        return json_iter_next(&it, &key, &value);
    if (e->shape != GOAT_STREAM || json_type(e->content) != JSON_ARRAY ||
        !json_iter_open(&it, e->content))
        return false;
    while (json_iter_next(&it, &key, &value))
        if (json_get_is(value, "type", "tool_use"))
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

static void raw_member(struct jsonout *j, const char *key, struct slice value)
{
    jsonout_key(j, key);
    if (value.p)
        jsonout_raw(j, value);
    else
        jsonout_null(j);
}

static const char *role_name(enum goat_role role)
{
    switch (role) {
    case GOAT_USER: return "user";
    case GOAT_ASSISTANT: return "assistant";
    case GOAT_TOOL: return "tool";
    default: return "system";
    }
}

void goat_message_write(struct jsonout *j, struct slice line, const struct goat_entry *e,
                        struct slice session)
{
    static const char *const names[] = { "parent_tool_use_id" };
    const char *word = role_name(goat_entry_role(e));
    struct slice parent = { NULL, 0 };

    if (e->shape == GOAT_STREAM)
        goat_members(line, names, 1, &parent);
    jsonout_open(j, '{');
    jsonout_key(j, "type");
    jsonout_text(j, slice_of(word));
    raw_member(j, "uuid", e->uuid);
    jsonout_key(j, "session_id");
    jsonout_text(j, session);
    if (e->timestamp.p)
        raw_member(j, "timestamp", e->timestamp);
    jsonout_key(j, "message");
    if (e->shape == GOAT_FLAT) {
        /* A flat row's message consists of all its members except those that wrap a nested
         * one. */
        struct json_iter it;
        struct slice key, value;

        jsonout_open(j, '{');
        for (bool more = json_iter_open(&it, line); more && json_iter_next(&it, &key, &value);) {
            if (goat_key_is(key, "uuid") || goat_key_is(key, "timestamp"))
                continue;
            jsonout_raw_key(j, key);
            jsonout_raw(j, value);
        }
        jsonout_close(j, '}');
    } else if (e->message.p)
        jsonout_raw(j, e->message);
    else
        jsonout_raw(j, line);
    raw_member(j, "parent_tool_use_id", parent);
    jsonout_key(j, "parent_agent_id");
    jsonout_null(j);
    jsonout_close(j, '}');
}

enum err_code goat_hostrow_check(const struct goat_entry *entry, bool stream, struct err *e)
{
    /* The reason why the row is not a message; NULL if it is. Rows of the stream are checked only by the host's own
     * reader. */
    const char *why = entry->shape == GOAT_NOTHING || entry->shape == GOAT_STREAM || !entry->role.p
                          ? "a row without a role is not a message"
                          : goat_entry_fault(entry);

    if (stream)
        why = entry->shape == GOAT_STREAM ? NULL
                                          : "a row without a type is not part of the SDK's stream";
    return why ? err_set(e, ERR_USAGE, "", "append: %s", why) : ERR_OK;
}

/* ---- as a Go program writes it ---- */

static void goat_add_member(struct go_json_document *g, const char *key, struct slice value)
{
    go_json_document_key(g, key);
    go_json_document_value(g, value);
}

static void add_if_set(struct go_json_document *g, const char *key, struct slice value)
{
    if (value.p && json_type(value) != JSON_NULL)
        goat_add_member(g, key, value);
}

/* Adds the row's other members, except those that were written separately. */
static void add_others(struct go_json_document *g, struct slice row, const char *const apart[],
                       size_t n)
{
    struct json_iter it;
    struct slice key, value;

    for (bool more = json_iter_open(&it, row); more && json_iter_next(&it, &key, &value);) {
        bool skip = false;

        for (size_t i = 0; i < n; i++)
            skip |= goat_key_is(key, apart[i]);
        if (skip)
            continue;
        go_json_document_raw_key(g, key);
        go_json_document_value(g, value);
    }
}

/* The known members, in the order of goat_entry_read: the wrapping ones first. */
static const char *const known[] = { "uuid",    "timestamp",  "message",      "role",
                                     "content", "tool_calls", "tool_call_id", "name" };
enum { WRAPPING = 3, KNOWN = sizeof known / sizeof known[0] };

enum err_code goat_hostrow_message(struct slice row, const struct goat_entry *entry, bool flat,
                                   struct slice time, struct buf *out)
{
    bool nested = entry->shape == GOAT_NESTED;
    struct go_json_document g;

    go_json_row_init(&g, out);
    go_json_document_open(&g, '{');
    goat_add_member(&g, "uuid", entry->uuid);
    goat_add_member(&g, "timestamp", time);
    if (!flat) {
        go_json_document_key(&g, "message");
        go_json_document_open(&g, '{');
    }

    /* Go writes members in the order of a struct, and tool_call_id has another place in each form. */
    goat_add_member(&g, "role", entry->role);
    if (flat)
        add_if_set(&g, "tool_call_id", entry->tool_call_id);
    goat_add_member(&g, "content", entry->content.p ? entry->content : SLICE("null"));
    add_if_set(&g, "tool_calls", entry->tool_calls);
    if (!flat)
        add_if_set(&g, "tool_call_id", entry->tool_call_id);
    add_if_set(&g, "name", entry->name);

    if (nested)
        add_others(&g, entry->message, known + WRAPPING, KNOWN - WRAPPING);
    else
        add_others(&g, row, known, KNOWN);
    if (!flat)
        go_json_document_close(&g, '}');
    if (nested)
        add_others(&g, row, known, flat ? (size_t)KNOWN : (size_t)WRAPPING);
    go_json_document_close(&g, '}');
    go_json_document_end(&g);
    return g.rc;
}

enum err_code goat_hostrow_event(struct slice row, const struct goat_entry *entry,
                                 struct slice session_id, struct buf *out)
{
    static const char *const in_front[] = { "uuid", "session_id" };
    struct go_json_document g;

    go_json_row_init(&g, out);
    go_json_document_open(&g, '{');
    goat_add_member(&g, "uuid", entry->uuid);
    go_json_document_key(&g, "session_id");
    go_json_document_text(&g, session_id);
    add_others(&g, row, in_front, 2);
    go_json_document_close(&g, '}');
    go_json_document_end(&g);
    return g.rc;
}
