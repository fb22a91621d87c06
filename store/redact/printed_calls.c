#include "store/redact/printed_calls.h"

#include <string.h>

#include "lite/base/arena.h"
#include "lite/base/cleanup.h"
#include "lite/json/json.h"
#include "store/redact/given_printed.h"

enum { COMMAND_MOST = 8192, DEPTH_MOST = 6 };

static bool is_member_of(struct slice name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(name, slice_of(names[i])))
            return true;
    return false;
}

bool printed_calls_is_output(struct slice name)
{
    static const char *const names[] = {
        "output",     "content",           "text",          "stdout",
        "result",     "aggregated_output", "resultDisplay", "detailedContent",
        "llmContent", "formatted_output",  "returnDisplay", "response",
        "body",       "display",           "rawOutput",
    };

    return is_member_of(name, names, COUNT_OF(names));
}

/* Joins the words of a command, and its texts if there are several. */
static enum err_code add_command(struct slice value, int depth, struct arena *a,
                                 struct buf *command)
{
    static const char *const holds_command[] = {
        "command",  "cmd",      "input", "args",  "arguments", "script", "code",   "parameters",
        "function", "toolCall", "value", "state", "rawInput",  "action", "params", "call",
    };
    struct json_iter it;
    struct slice name, inner, text;

    if (json_type(value) == JSON_STRING) {
        if (!json_text(value, a, &text))
            return a->failed ? ERR_NOMEM : ERR_OK;
        TRY(buf_add(command, text));
        return buf_add_byte(command, ' ');
    }
    if (depth == DEPTH_MOST || value.n > COMMAND_MOST || !json_iter_open(&it, value))
        return ERR_OK;
    const bool object = json_type(value) == JSON_OBJECT;

    while (json_iter_next(&it, &name, &inner)) {
        if (object && name.n > 1)
            name = (struct slice){ name.p + 1, name.n - 2 };
        if (!object || is_member_of(name, holds_command, COUNT_OF(holds_command)))
            TRY(add_command(inner, depth + 1, a, command));
    }
    return ERR_OK;
}

enum err_code printed_calls_note(struct known_values **known, struct slice object,
                                 enum printed *printed)
{
    enum { IDS = 8, INPUTS = 9 };
    static const char *const keys[IDS + INPUTS] = {
        "id",       "call_id",   "callID",     "toolCallId", "tool_use_id", "tool_call_id",
        "callId",   "toolUseId", "input",      "args",       "arguments",   "command",
        "function", "toolCall",  "parameters", "state",      "action",
    };
    CLEANUP(arena_fini) struct arena a = { 0 };
    AUTO_BUF command = { 0 };
    struct slice value[IDS + INPUTS], id = { .n = 0 };
    bool alone;

    if (json_type(object) != JSON_OBJECT)
        return ERR_OK;
    json_get_each(object, keys, IDS + INPUTS, value);
    for (size_t i = IDS; i-- > 0 && !id.n;)
        if (json_type(value[i]) == JSON_STRING && value[i].n > 5)
            id = value[i];
    if (!id.n)
        return ERR_OK;
    for (size_t i = IDS; i < IDS + INPUTS; i++)
        if (value[i].n && value[i].n < COMMAND_MOST)
            TRY(add_command(value[i], 0, &a, &command));
    if (command.n && printed_by(buf_slice(&command), &alone))
        TRY(known_calls_add(known, id, alone));
    if (known_calls_have(*known, id, &alone))
        *printed = alone ? PRINTED_ALONE : PRINTED_AMONG;
    return ERR_OK;
}
