#include <stdio.h>
#include <string.h>

#include "lite/base/digest.h"
#include "store/systems/common/compose_rows.h"
#include "store/systems/gemini/gemini.h"

/* A conversation of another agent as the Gemini CLI records its own (0.61.0): an answer with a call has the call and its
 * result. The message of the user that repeats the result is left out, because a resume would then send it twice. */

static enum err_code gemini_compose_begin(struct compose *c, const char **path, struct err *e)
{
    const struct slice folder = gemini_folder_of(c->store, slice_of(c->dir), c->arena);
    uint8_t sum[SHA256_BYTES];
    char hash[2 * SHA256_BYTES + 1], minute[TIME_TEXT];
    struct jsonout j;

    NEED(folder.p);
    if (!digest_of(DIGEST_SHA256, slice_of(c->dir), sum))
        return digest_error(e);
    digest_hex(sum, SHA256_BYTES, hash);
    host_generate_id(c->id);
    memcpy(minute, c->time, sizeof minute);
    minute[13] = '-';
    *path = arena_format(c->arena, "%s/tmp/%.*s/chats/session-%.16s-%.8s.jsonl", c->store->path,
                         SLICE_ARG(folder), minute, c->id);
    compose_open(c, &j);
    jsonout_member(&j, "sessionId", slice_of(c->id));
    jsonout_member(&j, "projectHash", slice_of(hash));
    jsonout_member(&j, "startTime", slice_of(c->time));
    jsonout_member(&j, "lastUpdated", slice_of(c->time));
    jsonout_member(&j, "kind", SLICE("main"));
    compose_close_line(c, &j);
    return *path ? ERR_OK : err_nomem(e);
}

static void gemini_compose_open(struct compose *c, struct jsonout *j, const char *type)
{
    char id[HOST_ID];

    host_generate_id(id);
    compose_open(c, j);
    jsonout_member(j, "id", slice_of(id));
    jsonout_member(j, "timestamp", slice_of(c->time));
    jsonout_member(j, "type", slice_of(type));
}

static void gemini_compose_prompt(struct compose *c, struct slice text)
{
    struct jsonout j;

    gemini_compose_open(c, &j, "user");
    compose_member(&j, "content", '[');
    jsonout_open(&j, '{');
    compose_text(&j, "text", text);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    compose_close_line(c, &j);
}

static void gemini_compose_answer(struct compose *c, struct jsonout *j, struct slice text)
{
    static const char *const counts[] = {
        "input", "output", "cached", "thoughts", "tool", "total"
    };

    gemini_compose_open(c, j, "gemini");
    compose_text(j, "content", text);
    compose_member(j, "thoughts", '[');
    jsonout_close(j, ']');
    compose_member(j, "tokens", '{');
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        jsonout_int_member(j, counts[i], 0);
    jsonout_close(j, '}');
}

static void gemini_compose_reply(struct compose *c, struct slice text)
{
    struct jsonout j;

    gemini_compose_answer(c, &j, text);
    compose_close_line(c, &j);
}

static bool gemini_compose_call(struct compose *c, const struct compose_call *call)
{
    static const struct compose_names names = {
        .tool = { [COMPOSE_COMMAND] = "run_shell_command",
                  [COMPOSE_READ] = "read_file",
                  [COMPOSE_WRITE] = "write_file",
                  [COMPOSE_REPLACE] = "replace" },
        .path = "file_path",
        .command = "command",
        .content = "content",
        .old_text = "old_string",
        .new_text = "new_string",
        .all = "allow_multiple",
    };
    const char *name = names.tool[call->meaning];
    char id[HOST_ID + 5];
    struct jsonout j;

    snprintf(id, sizeof id, "call_%s", call->id);
    gemini_compose_answer(c, &j, SLICE(""));
    compose_member(&j, "toolCalls", '[');
    jsonout_open(&j, '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "name", slice_of(name));
    compose_input(&j, "args", call, &names);

    /* The list with the one result of a call. */
    compose_member(&j, "result", '[');
    jsonout_open(&j, '{');
    compose_member(&j, "functionResponse", '{');
    jsonout_member(&j, "id", slice_of(id));
    jsonout_member(&j, "name", slice_of(name));
    compose_member(&j, "response", '{');
    compose_text(&j, call->failed ? "error" : "output", call->result);
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');

    jsonout_member(&j, "status", call->failed ? SLICE("error") : SLICE("success"));
    jsonout_member(&j, "timestamp", slice_of(c->time));
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    compose_close_line(c, &j);
    return true;
}

const struct compose_ops gemini_compose = {
    .begin = gemini_compose_begin,
    .prompt = gemini_compose_prompt,
    .reply = gemini_compose_reply,
    .call = gemini_compose_call,
};
