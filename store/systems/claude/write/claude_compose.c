#include <stdio.h>
#include <string.h>

#include "store/systems/claude/claude.h"
#include "store/systems/common/compose_rows.h"

/* A conversation of another agent as the client would have recorded it (client 2.1.332): one row for each block of an
 * answer, one for the result of each call, each naming the row before it. Its model is the one that the client gives to
 * answers that no model of its own gave, so no tokens are counted. */

#define CLAUDE_COMPOSE_VERSION "2.1.332"

static enum err_code claude_compose_begin(struct compose *c, const char **path, struct err *e)
{
    struct slice folder = claude_folder_of(c->store, slice_of(c->dir), c->arena);

    host_generate_id(c->id);
    *path = folder.p ? arena_format(c->arena, "%s/projects/%.*s/%s" CLAUDE_SUFFIX, c->store->path,
                                    SLICE_ARG(folder), c->id)
                     : NULL;
    return *path ? ERR_OK : err_nomem(e);
}

static void claude_compose_open(struct compose *c, struct jsonout *j)
{
    compose_open(c, j);
    jsonout_text_or_null(j, "parentUuid", slice_of(c->parent));
    jsonout_bool_member(j, "isSidechain", false);
}

static void claude_compose_close(struct compose *c, struct jsonout *j, const char *type)
{
    host_generate_id(c->parent);
    jsonout_member(j, "type", slice_of(type));
    jsonout_member(j, "uuid", slice_of(c->parent));
    jsonout_member(j, "timestamp", slice_of(c->time));
    jsonout_member(j, "userType", SLICE("external"));
    jsonout_member(j, "entrypoint", SLICE("cli"));
    jsonout_member(j, "cwd", slice_of(c->dir));
    jsonout_member(j, "sessionId", slice_of(c->id));
    jsonout_member(j, "version", SLICE(CLAUDE_COMPOSE_VERSION));
    jsonout_member(j, "gitBranch", c->branch);
    compose_close_line(c, j);
}

static void claude_compose_prompt(struct compose *c, struct slice text)
{
    struct jsonout j;

    host_generate_id(c->turn);
    c->answer[0] = '\0';
    claude_compose_open(c, &j);
    jsonout_member(&j, "promptId", slice_of(c->turn));
    compose_member(&j, "message", '{');
    jsonout_member(&j, "role", SLICE("user"));
    compose_text(&j, "content", text);
    jsonout_close(&j, '}');
    jsonout_member(&j, "permissionMode", SLICE("default"));
    claude_compose_close(c, &j, "user");
}

/* The rows of one answer share the id of the message. */
static void claude_compose_answer(struct compose *c, struct jsonout *j)
{
    char id[HOST_ID + 4];

    if (!c->answer[0])
        host_generate_id(c->answer);
    snprintf(id, sizeof id, "msg_%s", c->answer);
    claude_compose_open(c, j);
    compose_member(j, "message", '{');
    jsonout_member(j, "id", slice_of(id));
    jsonout_member(j, "type", SLICE("message"));
    jsonout_member(j, "role", SLICE("assistant"));
    jsonout_member(j, "model", SLICE("<synthetic>"));
    compose_member(j, "content", '[');
    jsonout_open(j, '{');
}

static void claude_compose_answered(struct compose *c, struct jsonout *j, const char *reason)
{
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_member(j, "stop_reason", slice_of(reason));
    jsonout_key(j, "stop_sequence");
    jsonout_null(j);
    compose_member(j, "usage", '{');
    jsonout_int_member(j, "input_tokens", 0);
    jsonout_int_member(j, "output_tokens", 0);
    jsonout_close(j, '}');
    jsonout_close(j, '}');
    claude_compose_close(c, j, "assistant");
}

static void claude_compose_reply(struct compose *c, struct slice text)
{
    struct jsonout j;

    claude_compose_answer(c, &j);
    jsonout_member(&j, "type", SLICE("text"));
    compose_text(&j, "text", text);
    claude_compose_answered(c, &j, "end_turn");
}

static bool claude_compose_call(struct compose *c, const struct compose_call *call)
{
    static const struct compose_names names = {
        .tool = { [COMPOSE_COMMAND] = "Bash",
                  [COMPOSE_READ] = "Read",
                  [COMPOSE_WRITE] = "Write",
                  [COMPOSE_REPLACE] = "Edit" },
        .path = "file_path",
        .command = "command",
        .content = "content",
        .old_text = "old_string",
        .new_text = "new_string",
        .all = "replace_all",
    };
    char tool[HOST_ID + 6], asked[HOST_ID];
    struct jsonout j;

    snprintf(tool, sizeof tool, "toolu_%s", call->id);
    claude_compose_answer(c, &j);
    jsonout_member(&j, "type", SLICE("tool_use"));
    jsonout_member(&j, "id", slice_of(tool));
    jsonout_member(&j, "name", slice_of(names.tool[call->meaning]));
    compose_input(&j, "input", call, &names);
    claude_compose_answered(c, &j, "tool_use");

    /* The result, in a row of the user. */
    memcpy(asked, c->parent, sizeof asked);
    c->answer[0] = '\0';
    claude_compose_open(c, &j);
    jsonout_member(&j, "promptId", slice_of(c->turn));
    compose_member(&j, "message", '{');
    jsonout_member(&j, "role", SLICE("user"));
    compose_member(&j, "content", '[');
    jsonout_open(&j, '{');
    jsonout_member(&j, "tool_use_id", slice_of(tool));
    jsonout_member(&j, "type", SLICE("tool_result"));
    compose_text(&j, "content", call->result);
    jsonout_bool_member(&j, "is_error", call->failed);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    jsonout_close(&j, '}');
    jsonout_member(&j, "sourceToolAssistantUUID", slice_of(asked));
    claude_compose_close(c, &j, "user");
    return true;
}

const struct compose_ops claude_compose = {
    .begin = claude_compose_begin,
    .prompt = claude_compose_prompt,
    .reply = claude_compose_reply,
    .call = claude_compose_call,
};
