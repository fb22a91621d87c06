#include <stdio.h>
#include <string.h>

#include "store/systems/common/compose_rows.h"
#include "store/systems/qwen/qwen.h"

/* A conversation of another agent as Qwen Code records its own (0.24.4): prompts, answers and results are rows that name
 * the row before them; calls and results are parts in the form of the Gemini API. */

#define QWEN_COMPOSE_VERSION "0.24.4"

static enum err_code qwen_compose_begin(struct compose *c, const char **path, struct err *e)
{
    struct slice folder = qwen_logs.folder_of(slice_of(c->dir), c->arena);

    host_generate_id(c->id);
    *path = folder.p ? arena_format(c->arena, "%s/projects/%.*s/chats/%s.jsonl", c->store->path,
                                    SLICE_ARG(folder), c->id)
                     : NULL;
    return *path ? ERR_OK : err_nomem(e);
}

/* Opens a row up to the one part of its message. */
static void qwen_compose_open(struct compose *c, struct jsonout *j, const char *type,
                              const char *provenance, const char *role)
{
    char id[HOST_ID];

    host_generate_id(id);
    compose_open(c, j);
    jsonout_member(j, "uuid", slice_of(id));
    jsonout_text_or_null(j, "parentUuid", slice_of(c->parent));
    memcpy(c->parent, id, sizeof id);
    jsonout_member(j, "sessionId", slice_of(c->id));
    jsonout_member(j, "timestamp", slice_of(c->time));
    jsonout_member(j, "type", slice_of(type));
    jsonout_member(j, "provenance", slice_of(provenance));
    jsonout_member(j, "cwd", slice_of(c->dir));
    jsonout_member(j, "version", SLICE(QWEN_COMPOSE_VERSION));
    jsonout_member(j, "gitBranch", c->branch);
    compose_member(j, "message", '{');
    jsonout_member(j, "role", slice_of(role));
    compose_member(j, "parts", '[');
    jsonout_open(j, '{');
}

static void qwen_compose_close(struct jsonout *j)
{
    jsonout_close(j, '}');
    jsonout_close(j, ']');
    jsonout_close(j, '}');
}

static void qwen_compose_said(struct compose *c, const char *type, const char *provenance,
                              const char *role, struct slice text)
{
    struct jsonout j;

    qwen_compose_open(c, &j, type, provenance, role);
    compose_text(&j, "text", text);
    qwen_compose_close(&j);
    compose_close_line(c, &j);
}

static void qwen_compose_prompt(struct compose *c, struct slice text)
{
    qwen_compose_said(c, "user", "real_user", "user", text);
}

static void qwen_compose_reply(struct compose *c, struct slice text)
{
    qwen_compose_said(c, "assistant", "assistant_output", "model", text);
}

static bool qwen_compose_call(struct compose *c, const struct compose_call *call)
{
    static const struct compose_names names = {
        .tool = { [COMPOSE_COMMAND] = "run_shell_command",
                  [COMPOSE_READ] = "read_file",
                  [COMPOSE_WRITE] = "write_file",
                  [COMPOSE_REPLACE] = "edit" },
        .path = "file_path",
        .command = "command",
        .content = "content",
        .old_text = "old_string",
        .new_text = "new_string",
        .all = "replace_all",
    };
    char id[HOST_ID + 5];
    struct jsonout j;

    snprintf(id, sizeof id, "call_%s", call->id);
    qwen_compose_open(c, &j, "assistant", "assistant_output", "model");
    compose_member(&j, "functionCall", '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "name", slice_of(names.tool[call->meaning]));
    compose_input(&j, "args", call, &names);
    jsonout_close(&j, '}');
    qwen_compose_close(&j);
    compose_close_line(c, &j);
    /* The result, in a line of its own. */
    qwen_compose_open(c, &j, "tool_result", "tool_result", "user");
    compose_member(&j, "functionResponse", '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "name", slice_of(names.tool[call->meaning]));
    compose_member(&j, "response", '{');
    compose_text(&j, call->failed ? "error" : "output", call->result);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    qwen_compose_close(&j);
    compose_member(&j, "toolCallResult", '{');
    jsonout_member(&j, "callId", slice_of(id));
    jsonout_member(&j, "status", call->failed ? SLICE("error") : SLICE("success"));
    compose_text(&j, "resultDisplay", (struct slice){ "", 0 });
    jsonout_close(&j, '}');
    compose_close_line(c, &j);
    return true;
}

const struct compose_ops qwen_compose = {
    .begin = qwen_compose_begin,
    .prompt = qwen_compose_prompt,
    .reply = qwen_compose_reply,
    .call = qwen_compose_call,
};
