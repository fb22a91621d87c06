#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/systems/codex/codex.h"
#include "store/systems/common/compose_rows.h"

/* A conversation of another agent as a thread of Codex, in the rows that every version reads (docs/formats/codex.md 2): what
 * the model is given (response_item), and what a person sees (event_msg). No provider is named, so the list shows the
 * thread whatever provider is configured. */

#define CODEX_COMPOSE_VERSION "0.130.0"

static void codex_compose_open(struct compose *c, struct jsonout *j, const char *kind,
                               const char *type)
{
    compose_open(c, j);
    jsonout_member(j, "timestamp", slice_of(c->time));
    jsonout_member(j, "type", slice_of(kind));
    compose_member(j, "payload", '{');
    if (type)
        jsonout_member(j, "type", slice_of(type));
}

static void codex_compose_close(struct compose *c, struct jsonout *j)
{
    jsonout_close(j, '}');
    compose_close_line(c, j);
}

static enum err_code codex_compose_begin(struct compose *c, const char **path, struct err *e)
{
    time_t seconds = (time_t)(c->time_ms / 1000);
    struct jsonout j;
    struct tm day;
    char name[64];

    if (!localtime_r(&seconds, &day) ||
        !strftime(name, sizeof name, "%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S", &day))
        return err_set(e, ERR_FORMAT, c->store->path, "the time of the conversation is not usable");
    compose_generate_v7(c->time_ms, c->id);
    *path = arena_format(c->arena, "%s/sessions/%s-%s.jsonl", c->store->path, name, c->id);
    codex_compose_open(c, &j, "session_meta", NULL);
    jsonout_member(&j, "id", slice_of(c->id));
    jsonout_member(&j, "timestamp", slice_of(c->time));
    jsonout_member(&j, "cwd", slice_of(c->dir));
    jsonout_member(&j, "originator", SLICE("codex-tui"));
    jsonout_member(&j, "cli_version", SLICE(CODEX_COMPOSE_VERSION));
    jsonout_member(&j, "source", SLICE("cli"));
    if (c->branch.n) {
        compose_member(&j, "git", '{');
        jsonout_member(&j, "branch", c->branch);
        jsonout_close(&j, '}');
    }
    codex_compose_close(c, &j);
    return *path ? ERR_OK : err_nomem(e);
}

static void codex_compose_turn(struct compose *c, const char *type)
{
    struct jsonout j;
    bool ends = strcmp(type, "task_complete") == 0;

    codex_compose_open(c, &j, "event_msg", type);
    jsonout_member(&j, "turn_id", slice_of(c->turn));
    if (ends) {
        jsonout_key(&j, "last_agent_message");
        jsonout_null(&j);
    } else {
        jsonout_int_member(&j, "started_at", c->time_ms / 1000);
        jsonout_key(&j, "model_context_window");
        jsonout_null(&j);
    }
    codex_compose_close(c, &j);
}

static void codex_compose_end(struct compose *c)
{
    if (c->turn[0])
        codex_compose_turn(c, "task_complete");
}

static void codex_compose_message(struct compose *c, const char *role, const char *type,
                                  struct slice text)
{
    struct jsonout j;

    codex_compose_open(c, &j, "response_item", "message");
    jsonout_member(&j, "role", slice_of(role));
    compose_member(&j, "content", '[');
    jsonout_open(&j, '{');
    jsonout_member(&j, "type", slice_of(type));
    compose_text(&j, "text", text);
    jsonout_close(&j, '}');
    jsonout_close(&j, ']');
    codex_compose_close(c, &j);
}

static void codex_compose_prompt(struct compose *c, struct slice text)
{
    static const char *const empty[] = { "images", "local_images", "text_elements" };
    struct jsonout j;

    codex_compose_end(c);
    compose_generate_v7(c->time_ms, c->turn);
    codex_compose_turn(c, "task_started");
    codex_compose_message(c, "user", "input_text", text);
    codex_compose_open(c, &j, "event_msg", "user_message");
    compose_text(&j, "message", text);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        compose_member(&j, empty[i], '[');
        jsonout_close(&j, ']');
    }
    codex_compose_close(c, &j);
}

static void codex_compose_reply(struct compose *c, struct slice text)
{
    struct jsonout j;

    codex_compose_open(c, &j, "event_msg", "agent_message");
    compose_text(&j, "message", text);
    codex_compose_close(c, &j);
    codex_compose_message(c, "assistant", "output_text", text);
}

/* ---- calls ---- */

/* The lines of a text with a sign before each; it ends with a newline. */
static void codex_compose_lines(struct buf *patch, char sign, struct slice text, struct compose *c)
{
    struct slice line;
    bool torn;

    while (slice_line(&text, &line, &torn))
        if (buf_add_byte(patch, sign) || buf_add(patch, line) || buf_add_byte(patch, '\n'))
            c->rc = ERR_NOMEM;
}

static bool codex_compose_whole(struct slice text)
{
    return text.n && text.p[text.n - 1] == '\n';
}

/* A patch consists of whole lines, so a text that ends within a line has none. */
static bool codex_compose_patch(struct compose *c, const struct compose_call *call,
                                struct buf *patch)
{
    size_t root = strlen(c->dir);
    struct slice path = call->path;
    bool writes = call->meaning == COMPOSE_WRITE;

    if (call->all || !codex_compose_whole(call->text) || memchr(path.p, '\n', path.n) ||
        (!writes && !codex_compose_whole(call->old_text)))
        return false;
    if (path.n > root + 1 && memcmp(path.p, c->dir, root) == 0 && path.p[root] == '/')
        path = (struct slice){ path.p + root + 1, path.n - root - 1 };
    if (buf_addf(patch, "*** Begin Patch\n*** %s File: ", writes ? "Add" : "Update") ||
        buf_add(patch, path) || buf_add(patch, writes ? SLICE("\n") : SLICE("\n@@\n")))
        c->rc = ERR_NOMEM;
    codex_compose_lines(patch, '-', call->old_text, c);
    codex_compose_lines(patch, '+', call->text, c);
    if (buf_add(patch, SLICE("*** End Patch\n")))
        c->rc = ERR_NOMEM;
    return true;
}

static bool codex_compose_call(struct compose *c, const struct compose_call *call)
{
    const bool runs = call->meaning == COMPOSE_COMMAND;
    AUTO_BUF input = { 0 };
    char call_id[HOST_ID + 5];
    struct jsonout j;

    if (call->meaning == COMPOSE_READ || (!runs && !codex_compose_patch(c, call, &input)))
        return false;
    if (runs) {
        jsonout_init(&j, &input);
        jsonout_open(&j, '{');
        compose_text(&j, "cmd", call->text);
        jsonout_close(&j, '}');
        if (j.rc)
            c->rc = ERR_NOMEM;
    }
    snprintf(call_id, sizeof call_id, "call_%s", call->id);
    codex_compose_open(c, &j, "response_item", runs ? "function_call" : "custom_tool_call");
    jsonout_member(&j, "name", runs ? SLICE("exec_command") : SLICE("apply_patch"));
    jsonout_member(&j, runs ? "arguments" : "input", buf_slice(&input));
    jsonout_member(&j, "call_id", slice_of(call_id));
    codex_compose_close(c, &j);
    codex_compose_open(c, &j, "response_item",
                       runs ? "function_call_output" : "custom_tool_call_output");
    jsonout_member(&j, "call_id", slice_of(call_id));
    compose_text(&j, "output", call->result);
    codex_compose_close(c, &j);
    return true;
}

const struct compose_ops codex_compose = {
    .begin = codex_compose_begin,
    .prompt = codex_compose_prompt,
    .reply = codex_compose_reply,
    .call = codex_compose_call,
    .end = codex_compose_end,
};
