#include "store/systems/claude/show/message_json.h"

#include "lite/json/json.h"
#include "store/systems/claude/chain/row_facts.h"
#include "store/systems/claude/show/row_origin.h"

/* The order is that of `names`. */
enum field {
    TYPE,
    UUID,
    SESSION,
    MESSAGE,
    SHUTDOWN,
    UNANSWERED,
    DENIAL,
    SUMMARY,
    META,
    TRANSCRIPT_ONLY,
    QUEUED,
    COMPLETED,
    TIMESTAMP,
    ORIGIN,
    FIELDS,
};

static const char *const names[FIELDS] = {
    "type",
    "uuid",
    "sessionId",
    "message",
    "interruptedByShutdown",
    "toolDenialUnanswered",
    "toolDenialKind",
    "isCompactSummary",
    "isMeta",
    "isVisibleInTranscriptOnly",
    "isQueuedCommand",
    "isCompletedLocalCommand",
    "timestamp",
    "origin",
};

static void member(struct jsonout *j, const char *key, struct slice value)
{
    if (value.n == 0)
        return;
    jsonout_key(j, key);
    jsonout_raw(j, value);
}

static void flag(struct jsonout *j, const char *key, bool set)
{
    if (!set)
        return;
    jsonout_key(j, key);
    jsonout_bool(j, true);
}

static bool is_true(struct slice value)
{
    return json_type(value) == JSON_TRUE;
}

static void text_or_null(struct jsonout *j, const char *key, struct slice text)
{
    jsonout_key(j, key);
    if (text.n)
        jsonout_text(j, text);
    else
        jsonout_null(j);
}

/* The id of the tool result, if the row holds exactly one. */
static struct slice only_result(struct slice row)
{
    struct slice key, block, id = { NULL, 0 };
    struct json_iter blocks;
    size_t results = 0;

    if (!claude_content(row, &blocks))
        return id;
    while (json_iter_next(&blocks, &key, &block)) {
        if (json_type(block) != JSON_OBJECT || !claude_row_says(block, "type", "tool_result"))
            continue;
        if (results++ || !json_get(block, "tool_use_id", &id) || json_type(id) != JSON_STRING)
            id = (struct slice){ NULL, 0 };
    }
    return results == 1 ? id : (struct slice){ NULL, 0 };
}

/* Why a tool call was not carried out, for the one call that the row answers. */
static void write_denial(struct jsonout *j, struct slice row, struct slice kind)
{
    static const char *const kinds[] = {
        "user-rejected",          "permission-rule", "automode-blocked", "automode-unavailable",
        "automode-parsing-error", "interrupted",     "cancelled",
    };
    size_t i = 0;

    while (i < sizeof kinds / sizeof *kinds && !json_string_is(kind, kinds[i]))
        i++;
    struct slice id = i < sizeof kinds / sizeof *kinds ? only_result(row) : (struct slice){ "", 0 };

    if (id.n == 0)
        return;
    jsonout_key(j, "tool_result_meta");
    jsonout_open(j, '[');
    jsonout_open(j, '{');
    member(j, "id", id);
    member(j, "non_execution_kind", kind);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
}

void claude_message_write(struct jsonout *j, struct slice row, unsigned item_flags,
                          const struct claude_parent *parent)
{
    struct slice v[FIELDS];

    json_get_each(row, names, FIELDS, v);
    jsonout_open(j, '{');
    member(j, "type", v[TYPE]);
    member(j, "uuid", v[UUID]);
    member(j, "session_id", v[SESSION]);
    member(j, "message", v[MESSAGE]);
    text_or_null(j, "parent_tool_use_id", parent->tool_use_id);
    text_or_null(j, "parent_agent_id", parent->agent_id);
    flag(j, "interruptedByShutdown", is_true(v[SHUTDOWN]));
    if (v[UNANSWERED].n && json_string_is(v[UNANSWERED], "stream-closed"))
        member(j, "toolDenialUnanswered", v[UNANSWERED]);
    if (v[DENIAL].n)
        write_denial(j, row, v[DENIAL]);
    flag(j, "isCompactSummary", is_true(v[SUMMARY]));
    flag(j, "is_meta", is_true(v[META]) || is_true(v[SUMMARY]) || is_true(v[TRANSCRIPT_ONLY]));
    flag(j, "isQueuedCommand", is_true(v[QUEUED]));
    flag(j, "isCompletedLocalCommand", is_true(v[COMPLETED]) || item_flags & ITEM_COMPLETED);
    member(j, "timestamp", v[TIMESTAMP]);
    if (claude_truthy(v[ORIGIN]))
        claude_origin_write(j, v[ORIGIN], (struct slice){ NULL, 0 });
    jsonout_close(j, '}');
}
