#include "store/systems/goat/read/message_json.h"

#include "lite/json/json.h"
#include "store/systems/goat/members.h"

static void raw_member(struct jsonout *j, const char *key, struct slice value)
{
    jsonout_key(j, key);
    if (value.p)
        jsonout_raw(j, value);
    else
        jsonout_null(j);
}

/* A flat row's message is everything in it but what wraps a nested one. */
static void flat_message(struct jsonout *j, struct slice line)
{
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
    if (e->shape == GOAT_FLAT)
        flat_message(j, line);
    else if (e->message.p)
        jsonout_raw(j, e->message);
    else
        jsonout_raw(j, line);
    raw_member(j, "parent_tool_use_id", parent);
    jsonout_key(j, "parent_agent_id");
    jsonout_null(j);
    jsonout_close(j, '}');
}
