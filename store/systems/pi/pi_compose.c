#include <stdio.h>
#include <string.h>

#include "store/systems/common/compose_rows.h"
#include "store/systems/pi/pi.h"

/* A conversation of another agent as pi records its own (1.6.0): messages that name the one before them. */

enum { PI_COMPOSE_ENTRY = 8 }; /* the length of the id of an entry */

static enum err_code pi_compose_begin(struct compose *c, const char **path, struct err *e)
{
    struct slice folder = pi_logs.folder_of(slice_of(c->dir), c->arena);
    char time[TIME_TEXT];
    struct jsonout j;

    compose_generate_v7(c->time_ms, c->id);
    memcpy(time, c->time, sizeof time);
    for (char *p = time; *p; p++)
        if (*p == ':' || *p == '.')
            *p = '-';
    *path = folder.p ? arena_format(c->arena, "%s/%.*s/%s_%s.jsonl", c->store->path,
                                    SLICE_ARG(folder), time, c->id)
                     : NULL;
    compose_open(c, &j);
    jsonout_member(&j, "type", SLICE("session"));
    jsonout_int_member(&j, "version", 3);
    jsonout_member(&j, "id", slice_of(c->id));
    jsonout_member(&j, "timestamp", slice_of(c->time));
    jsonout_member(&j, "cwd", slice_of(c->dir));
    compose_close_line(c, &j);
    return *path ? ERR_OK : err_nomem(e);
}

/* Opens a message up to its content. */
static void pi_compose_open(struct compose *c, struct jsonout *j, const char *role)
{
    char id[HOST_ID];

    host_generate_id(id);
    id[PI_COMPOSE_ENTRY] = '\0';
    compose_open(c, j);
    jsonout_member(j, "type", SLICE("message"));
    jsonout_member(j, "id", slice_of(id));
    jsonout_text_or_null(j, "parentId", slice_of(c->parent));
    memcpy(c->parent, id, sizeof id);
    jsonout_member(j, "timestamp", slice_of(c->time));
    compose_member(j, "message", '{');
    jsonout_member(j, "role", slice_of(role));
}

static void pi_compose_content(struct jsonout *j, struct slice text)
{
    compose_member(j, "content", '[');
    jsonout_open(j, '{');
    jsonout_member(j, "type", SLICE("text"));
    compose_text(j, "text", text);
    jsonout_close(j, '}');
    jsonout_close(j, ']');
}

static void pi_compose_close(struct compose *c, struct jsonout *j)
{
    jsonout_int_member(j, "timestamp", c->time_ms);
    jsonout_close(j, '}');
    compose_close_line(c, j);
}

/* No model of pi's gave the answer, and it cost nothing. */
static void pi_compose_answered(struct compose *c, struct jsonout *j, const char *reason)
{
    static const char *const counts[] = { "input", "output", "cacheRead", "cacheWrite",
                                          "totalTokens" };

    jsonout_member(j, "api", SLICE("openai-completions"));
    jsonout_member(j, "provider", SLICE("unknown"));
    jsonout_member(j, "model", SLICE("unknown"));
    compose_member(j, "usage", '{');
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        jsonout_int_member(j, counts[i], 0);
    compose_member(j, "cost", '{');
    for (size_t i = 0; i + 1 < sizeof counts / sizeof *counts; i++)
        jsonout_int_member(j, counts[i], 0);
    jsonout_int_member(j, "total", 0);
    jsonout_close(j, '}');
    jsonout_close(j, '}');
    jsonout_member(j, "stopReason", slice_of(reason));
    pi_compose_close(c, j);
}

static void pi_compose_prompt(struct compose *c, struct slice text)
{
    struct jsonout j;

    pi_compose_open(c, &j, "user");
    pi_compose_content(&j, text);
    pi_compose_close(c, &j);
}

static void pi_compose_reply(struct compose *c, struct slice text)
{
    struct jsonout j;

    pi_compose_open(c, &j, "assistant");
    pi_compose_content(&j, text);
    pi_compose_answered(c, &j, "stop");
}

static bool pi_compose_call(struct compose *c, const struct compose_call *call)
{
    static const struct compose_names names = {
        .tool = { [COMPOSE_COMMAND] = "bash",
                  [COMPOSE_READ] = "read",
                  [COMPOSE_WRITE] = "write",
                  [COMPOSE_REPLACE] = "edit" },
        .path = "path",
        .command = "command",
        .content = "content",
        .old_text = "oldText",
        .new_text = "newText",
    };
    char id[HOST_ID + 5];
    struct jsonout j;

    /* The edit tool of pi cannot replace all occurrences. */
    if (call->all)
        return false;
    snprintf(id, sizeof id, "call_%s", call->id);
    pi_compose_open(c, &j, "assistant");
    compose_member(&j, "content", '[');
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", SLICE("toolCall"));
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "name", slice_of(names.tool[call->meaning]));
    compose_input(&j, "arguments", call, &names);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    pi_compose_answered(c, &j, "toolUse");
    pi_compose_open(c, &j, "toolResult");
    jsonout_member(&j, "toolCallId", slice_of(id));
    jsonout_member(&j, "toolName", slice_of(names.tool[call->meaning]));
    pi_compose_content(&j, call->result);
    jsonout_bool_member(&j, "isError", call->failed);
    pi_compose_close(c, &j);
    return true;
}

const struct compose_ops pi_compose = {
    .begin = pi_compose_begin,
    .prompt = pi_compose_prompt,
    .reply = pi_compose_reply,
    .call = pi_compose_call,
};
