#include "store/systems/claude/list/archived.h"

#include <string.h>

#include "lite/base/time.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/claude/list/prompt.h"

/* What is asked, and where it came from. */
struct asked {
    struct slice content; /* a string or blocks */
    struct slice origin;  /* .p is NULL: the row does not say */
    struct slice timestamp;
};

static bool string_is_one_of(struct slice value, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (json_string_is(value, names[i]))
            return true;
    return false;
}

/* Keys that must be false or absent, and keys that must be absent altogether. */
static bool no_marks(struct slice row)
{
    enum { FALSE = 8, ABSENT = 3, KEYS = FALSE + ABSENT };
    static const char *const keys[KEYS] = {
        "isMeta",       "isCompactSummary",          "isSidechain",
        "isVirtual",    "isVisibleInTranscriptOnly", "textNotTyped",
        "handedOff",    "queueSkipAttachments",      "persist",
        "wakeupSource", "scheduledTaskId",
    };
    struct slice value[KEYS];

    json_get_each(row, keys, KEYS, value);
    for (size_t i = 0; i < KEYS; i++)
        if (value[i].p && (i >= FALSE || json_type(value[i]) != JSON_FALSE))
            return false;
    return true;
}

static bool user_row(struct slice row, struct asked *out)
{
    enum { MESSAGE, RESULT, TURN, SOURCE, ORIGIN, TIME, KEYS };
    static const char *const keys[KEYS] = { "message",      "toolUseResult", "turnOrigin",
                                            "promptSource", "origin",        "timestamp" };
    static const char *const turns[] = { "human", "sdk", "unknown", NULL };
    struct slice value[KEYS];

    json_get_each(row, keys, KEYS, value);
    if (json_type(value[MESSAGE]) != JSON_OBJECT || json_type(value[TIME]) != JSON_STRING ||
        (value[RESULT].p && json_type(value[RESULT]) != JSON_NULL) ||
        (value[TURN].p && !string_is_one_of(value[TURN], turns)) ||
        (value[SOURCE].p && json_type(value[SOURCE]) != JSON_STRING) || !no_marks(row))
        return false;
    json_get(value[MESSAGE], "content", &out->content);
    out->origin = value[ORIGIN];
    out->timestamp = value[TIME];
    return true;
}

static bool false_or_absent(struct slice object, const char *key)
{
    struct slice value;

    return !json_get(object, key, &value) || json_type(value) == JSON_FALSE;
}

static bool queued_row(struct slice row, struct asked *out)
{
    enum { TYPE, PROMPT, ORIGIN, MODE, KEYS };
    static const char *const keys[KEYS] = { "type", "prompt", "origin", "commandMode" };
    static const char *const modes[] = { "prompt", "bash", NULL };
    struct slice value[KEYS], attachment;

    if (!json_get(row, "attachment", &attachment) || json_type(attachment) != JSON_OBJECT ||
        !false_or_absent(row, "isSidechain") || !false_or_absent(attachment, "isMeta"))
        return false;
    json_get_each(attachment, keys, KEYS, value);
    if (!json_string_is(value[TYPE], "queued_command") ||
        (value[MODE].p && !string_is_one_of(value[MODE], modes)) ||
        !json_get(row, "timestamp", &out->timestamp) || json_type(out->timestamp) != JSON_STRING)
        return false;
    out->content = value[PROMPT];
    out->origin = value[ORIGIN];
    return true;
}

/* What the blocks of a prompt say together. */
struct said {
    bool text, command_name, command_message, media, tool_result;
};

static void note_said_text(struct said *said, struct slice text)
{
    text = utf8_js_trim(text);
    said->text |= text.n > 0;
    said->command_name |= slice_starts(text, "<command-name>");
    said->command_message |= slice_starts(text, "<command-message>");
}

static bool read_block(struct slice block, struct arena *a, struct said *said, bool *ok)
{
    struct slice type, value, text;

    if (json_type(block) != JSON_OBJECT || !json_get(block, "type", &type) ||
        json_type(type) != JSON_STRING)
        return false;
    said->tool_result |= json_string_is(type, "tool_result");
    said->media |= json_string_is(type, "image") || json_string_is(type, "document");
    if (json_get(block, "text", &value) && json_type(value) == JSON_STRING) {
        *ok &= json_text(value, a, &text);
        if (*ok)
            note_said_text(said, text);
    }
    return true;
}

/* One block that is none makes the agent see no blocks at all. */
static struct said read_content(struct slice content, struct arena *a, bool *ok)
{
    struct said said = { 0 };
    struct slice key, block, text;
    struct json_iter it;

    if (json_type(content) == JSON_STRING) {
        *ok &= json_text(content, a, &text);
        if (*ok)
            note_said_text(&said, text);
    } else if (json_type(content) == JSON_ARRAY && json_iter_open(&it, content)) {
        while (json_iter_next(&it, &key, &block))
            if (!read_block(block, a, &said, ok))
                return (struct said){ 0 };
    }
    return said;
}

static bool by_person(const struct asked *asked, struct arena *a, bool *ok)
{
    struct said said = read_content(asked->content, a, ok);
    struct prompt prompt = { 0 };
    struct slice kind;

    if (said.tool_result)
        return false;
    if (asked->origin.p) {
        if (json_type(asked->origin) != JSON_OBJECT || !json_get(asked->origin, "kind", &kind) ||
            !json_string_is(kind, "human"))
            return false;
        return (said.text && !said.command_name) || said.media;
    }
    *ok &= prompt_of_content(asked->content, a, &prompt);
    return prompt.text.p || said.command_message || said.media;
}

static bool asked_after(struct slice row, int64_t at_ms, struct arena *a, bool *ok)
{
    struct asked asked = { 0 };
    struct slice type, text;
    int64_t ms;

    if (!json_valid(row) || !json_get(row, "type", &type))
        return false;
    if (!(json_string_is(type, "user") && user_row(row, &asked)) &&
        !(json_string_is(type, "attachment") && queued_row(row, &asked)))
        return false;
    *ok &= json_text(asked.timestamp, a, &text);
    return *ok && time_parse(text, &ms) && ms > at_ms && by_person(&asked, a, ok);
}

bool archived_prompt_after(struct slice window, int64_t at_ms, struct arena *a, bool *ok)
{
    struct slice row;
    bool torn;

    *ok = true;
    while (*ok && slice_line(&window, &row, &torn)) {
        if ((slice_has(row, "\"user\"") || slice_has(row, "\"queued_command\"")) &&
            !slice_has(row, "\"tool_result\"") && asked_after(row, at_ms, a, ok))
            return true;
    }
    return false;
}
