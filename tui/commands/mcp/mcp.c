#include "tui/commands/mcp/mcp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lite/base/cleanup.h"
#include "lite/base/utf8.h"
#include "lite/json/json.h"

/* The protocol is JSON-RPC 2.0 with one message per line.
 *
 * Clients of two kinds are served, also at the same time: those that begin with `initialize`, and those of 2026-07-28 and
 * later, of which every request names its version in `_meta`. Requests are carried out one after the other. While one is,
 * only cancellations are looked for in what the client sends. */

enum { MCP_LINE_MAX = 1 << 20 };
enum mcp_error {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_UNSUPPORTED_VERSION = -32022,
};

#define MCP_META "io.modelcontextprotocol/"
static const char mcp_version[] = "2026-07-28";
/* with `initialize`, the newest first */
static const char *const mcp_older[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

struct mcp_request {
    struct slice id; /* JSON */
    struct slice params;
    bool modern; /* it names its version itself */
};

/* ---- answers ---- */

static struct jsonout *mcp_begin(struct mcp_server *s, struct slice id)
{
    struct out *o = &s->in->out;

    out_open(o, NULL, '{');
    out_string(o, "jsonrpc", "2.0");
    jsonout_raw_member(out_json(o), "id", id.n ? id : SLICE("null"));
    return out_json(o);
}

static void mcp_end(struct mcp_server *s)
{
    if (s->batch)
        out_close(&s->in->out, '}');
    else
        out_end(&s->in->out, '}');
}

/* Begins an error, to which members can be added before the two objects are closed. */
static void mcp_begin_error(struct mcp_server *s, struct slice id, enum mcp_error code,
                            const char *text)
{
    mcp_begin(s, id);
    out_open(&s->in->out, "error", '{');
    out_int(&s->in->out, "code", code);
    out_string(&s->in->out, "message", text);
}

static void mcp_error(struct mcp_server *s, struct slice id, enum mcp_error code, const char *text)
{
    mcp_begin_error(s, id, code, text);
    out_close(&s->in->out, '}');
    mcp_end(s);
}

static void mcp_write_identity(struct out *o, const char *key)
{
    out_open(o, key, '{');
    out_string(o, "name", "reprise");
    out_string(o, "version", REPRISE_VERSION);
    out_close(o, '}');
}

static void mcp_begin_result(struct mcp_server *s, const struct mcp_request *r)
{
    struct out *o = &s->in->out;

    mcp_begin(s, r->id);
    out_open(o, "result", '{');
    if (!r->modern)
        return;
    out_string(o, "resultType", "complete");
    out_open(o, "_meta", '{');
    mcp_write_identity(o, MCP_META "serverInfo");
    out_close(o, '}');
}

static void mcp_end_result(struct mcp_server *s)
{
    out_close(&s->in->out, '}');
    mcp_end(s);
}

/* What does not change while the server runs. */
static void mcp_write_cacheable(const struct mcp_request *r, struct out *o)
{
    enum { HOUR_MS = 60 * 60 * 1000 };

    if (!r->modern)
        return;
    out_int(o, "ttlMs", HOUR_MS);
    out_string(o, "cacheScope", "public");
}

static void mcp_write_server(struct out *o)
{
    out_open(o, "capabilities", '{');
    out_open(o, "tools", '{');
    out_close(o, '}');
    out_close(o, '}');
    out_string(o, "instructions",
               "Sessions of coding agents on this machine, read only. A rewind is only planned; a "
               "person makes it with: reprise rewind ID --to MSG --apply");
}

/* ---- methods ---- */

static void mcp_initialize(struct mcp_server *s, const struct mcp_request *r)
{
    struct out *o = &s->in->out;
    const char *version = mcp_older[0];
    struct slice asked;

    if (!json_get(r->params, "protocolVersion", &asked) || json_type(asked) != JSON_STRING) {
        mcp_error(s, r->id, MCP_INVALID_PARAMS, "initialize needs protocolVersion");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(mcp_older); i++)
        if (json_string_is(asked, mcp_older[i]))
            version = mcp_older[i];
    mcp_begin_result(s, r);
    out_string(o, "protocolVersion", version);
    mcp_write_identity(o, "serverInfo");
    mcp_write_server(o);
    mcp_end_result(s);
}

static void mcp_discover(struct mcp_server *s, const struct mcp_request *r)
{
    struct out *o = &s->in->out;
    const char *const versions[] = { mcp_version };

    mcp_begin_result(s, r);
    out_strings(o, "supportedVersions", versions, COUNT_OF(versions));
    mcp_write_server(o);
    mcp_write_cacheable(r, o);
    mcp_end_result(s);
}

static void mcp_ping(struct mcp_server *s, const struct mcp_request *r)
{
    mcp_begin_result(s, r);
    mcp_end_result(s);
}

static void mcp_list_tools(struct mcp_server *s, const struct mcp_request *r)
{
    struct out *o = &s->in->out;

    mcp_begin_result(s, r);
    mcp_tools_list(out_json(o));
    mcp_write_cacheable(r, o);
    mcp_end_result(s);
}

static void mcp_call_tool(struct mcp_server *s, const struct mcp_request *r)
{
    AUTO_ARENA a = { 0 };
    struct out *o = &s->in->out;
    const struct out before = *o;
    struct slice name, arguments = SLICE("{}");
    struct err e;

    if (!json_get_text(r->params, "name", &a, &name) || !mcp_tools_has(name)) {
        mcp_error(s, r->id, MCP_INVALID_PARAMS, "no such tool");
        return;
    }
    if (json_get(r->params, "arguments", &arguments) && json_type(arguments) != JSON_OBJECT) {
        mcp_error(s, r->id, MCP_INVALID_PARAMS, "arguments must be an object");
        return;
    }
    s->running = r->id;
    s->cancelled = false;
    s->looked = s->at;
    mcp_begin_result(s, r);
    const enum err_code rc =
        mcp_is_cancelled(s) ? ERR_OK : mcp_tools_call(s, name, arguments, out_json(o), &e);

    if (rc || s->cancelled) { /* remove what was begun */
        o->buf.n = before.buf.n;
        o->depth = before.depth;
        o->json.comma = before.json.comma;
    }
    if (rc && !s->cancelled)
        mcp_error(s, r->id, MCP_INTERNAL_ERROR, e.text);
    else if (!s->cancelled)
        mcp_end_result(s);
    s->running = (struct slice){ NULL, 0 };
}

/* ---- messages ---- */

/* Finds out whether the request names its version. Returns false if it cannot be served; then it was answered. */
static bool mcp_read_version(struct mcp_server *s, struct mcp_request *r, bool needed)
{
    static const char *const names[] = { MCP_META "protocolVersion",
                                         MCP_META "clientCapabilities" };
    struct slice meta, value[COUNT_OF(names)] = { { NULL, 0 } };

    if (json_get(r->params, "_meta", &meta))
        json_get_each(meta, names, COUNT_OF(names), value);

    r->modern = value[0].n > 0;
    if (!r->modern && !needed)
        return true;
    if (json_type(value[0]) != JSON_STRING) {
        mcp_error(s, r->id, MCP_INVALID_PARAMS, "_meta needs " MCP_META "protocolVersion");
    } else if (!json_string_is(value[0], mcp_version)) {
        struct out *o = &s->in->out;
        const char *const versions[] = { mcp_version };

        mcp_begin_error(s, r->id, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version");
        out_open(o, "data", '{');
        out_strings(o, "supported", versions, COUNT_OF(versions));
        jsonout_raw_member(out_json(o), "requested", value[0]);
        out_close(o, '}');
        out_close(o, '}');
        mcp_end(s);
    } else if (json_type(value[1]) != JSON_OBJECT) {
        mcp_error(s, r->id, MCP_INVALID_PARAMS, "_meta needs " MCP_META "clientCapabilities");
    } else {
        return true;
    }
    return false;
}

static const struct {
    const char *name;
    void (*call)(struct mcp_server *s, const struct mcp_request *r);
} mcp_methods[] = {
    { "initialize", mcp_initialize }, { "server/discover", mcp_discover }, { "ping", mcp_ping },
    { "tools/list", mcp_list_tools }, { "tools/call", mcp_call_tool },
};

/* Requests are answered; notifications, and answers to requests that this server never sends, are ignored. */
static void mcp_handle_one(struct mcp_server *s, struct slice message)
{
    static const char *const names[] = { "jsonrpc", "id", "method", "params", "result", "error" };
    struct slice value[COUNT_OF(names)] = { { NULL, 0 } };
    struct mcp_request r = { .id = { NULL, 0 } };
    size_t i = 0;

    if (json_type(message) == JSON_OBJECT)
        json_get_each(message, names, COUNT_OF(names), value);
    if (json_type(value[1]) == JSON_STRING || json_type(value[1]) == JSON_NUMBER)
        r.id = value[1];

    const bool rpc = json_type(value[0]) == JSON_STRING && json_string_is(value[0], "2.0");

    if (rpc && !value[2].n && (value[4].n || value[5].n))
        return;
    if (!rpc || json_type(value[2]) != JSON_STRING || (value[1].n && !r.id.n)) {
        mcp_error(s, r.id, MCP_INVALID_REQUEST, "Invalid request");
        return;
    }

    /* A message without an id is a notification. */
    if (!r.id.n)
        return;
    r.params = value[3].n ? value[3] : SLICE("{}");
    while (i < COUNT_OF(mcp_methods) && !json_string_is(value[2], mcp_methods[i].name))
        i++;
    if (i == COUNT_OF(mcp_methods))
        mcp_error(s, r.id, MCP_NO_METHOD, "Method not found");
    else if (json_type(r.params) != JSON_OBJECT)
        mcp_error(s, r.id, MCP_INVALID_PARAMS, "params must be an object");
    else if (mcp_methods[i].call == mcp_initialize ||
             mcp_read_version(s, &r, mcp_methods[i].call == mcp_discover))
        mcp_methods[i].call(s, &r);
}

/* A line is one message, or, for clients of 2025-03-26, an array of them, whose answers are an array. */
static void mcp_handle(struct mcp_server *s, struct slice line)
{
    struct out *o = &s->in->out;
    struct json_iter it;
    struct slice key, message;

    while (line.n && strchr(" \t\r", *line.p))
        line = (struct slice){ line.p + 1, line.n - 1 };
    if (!line.n)
        return;
    if (!utf8_valid(line) || !json_valid(line)) {
        mcp_error(s, (struct slice){ NULL, 0 }, MCP_PARSE_ERROR, "Parse error");
        return;
    }

    /* An empty array is not a batch and is refused like any other value that is no object. */
    if (json_type(line) != JSON_ARRAY || !json_iter_open(&it, line) ||
        !json_iter_next(&it, &key, &message)) {
        mcp_handle_one(s, line);
        return;
    }
    const size_t before = o->buf.n;

    s->batch = true;
    out_open(o, NULL, '[');
    const size_t begin = o->buf.n;

    do
        mcp_handle_one(s, message);
    while (json_iter_next(&it, &key, &message));
    s->batch = false;

    /* A batch of notifications alone has no answer, not even an empty array. */
    const bool empty = o->buf.n == begin;

    out_end(o, ']');
    if (empty)
        o->buf.n = before;
}

/* ---- input ---- */

/* Reads what is there, and removes what is done. Waits for it if asked to. */
static void mcp_read(struct mcp_server *s, bool wait)
{
    struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };

    if (s->ended || (!wait && (poll(&ready, 1, 0) <= 0 || s->input.n > 2 * MCP_LINE_MAX)))
        return;
    if (buf_reserve(&s->input, OUT_PIECE)) {
        s->ended = true;
        return;
    }
    const ssize_t n = read(STDIN_FILENO, s->input.p + s->input.n, OUT_PIECE);

    if (n > 0)
        s->input.n += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        s->ended = true;
    else if (wait)
        poll(&ready, 1, -1);
}

/* Returns the next line that begins at *at, and moves *at behind it; false: it is not complete. */
static bool mcp_line(const struct mcp_server *s, size_t *at, struct slice *line)
{
    const char *begin = s->input.n > *at ? s->input.p + *at : NULL,
               *newline = begin ? memchr(begin, '\n', s->input.n - *at) : NULL;

    if (!newline)
        return false;
    *line = (struct slice){ begin, (size_t)(newline - begin) };
    *at += line->n + 1;
    return true;
}

bool mcp_is_cancelled(struct mcp_server *s)
{
    struct slice line, id;

    mcp_read(s, false);
    while (!s->cancelled && mcp_line(s, &s->looked, &line))
        s->cancelled = slice_has(line, "cancelled") && utf8_valid(line) && json_valid(line) &&
                       json_get_is(line, "method", "notifications/cancelled") &&
                       json_at(line, "params.requestId", &id) && slice_eq(id, s->running);
    return s->cancelled;
}

/* Waits for the next message. Returns false if the client closed its end. Half a line at the end is no message. */
static bool mcp_next(struct mcp_server *s, struct slice *line)
{
    for (;;) {
        if (mcp_line(s, &s->at, line)) {
            if (!s->skipping)
                return true;
            s->skipping = false;
            continue;
        }
        if (s->at) {
            memmove(s->input.p, s->input.p + s->at, s->input.n - s->at);
            s->input.n -= s->at;
            s->at = s->looked = 0;
        }
        if (s->input.n > MCP_LINE_MAX) {
            if (!s->skipping)
                mcp_error(s, (struct slice){ NULL, 0 }, MCP_INVALID_REQUEST,
                          "the message is too long");
            s->skipping = true;
            s->input.n = 0;
        }
        if (s->ended || out_flush(&s->in->out, NULL))
            return false;
        mcp_read(s, true);
    }
}

enum err_code mcp_run(struct invocation *in, struct err *e)
{
    struct mcp_server s = { .in = in };
    AUTO_BUF message = { 0 }; /* the input moves while it is handled */
    struct slice line;
    enum err_code rc = ERR_OK;

    if (in->options.install || in->options.remove)
        return mcp_install(in, e);
    if (option_given(&in->options, OPTION_APPLY) || option_given(&in->options, OPTION_DRY_RUN) ||
        option_given(&in->options, OPTION_SKILL))
        return err_set(e, ERR_USAGE, "",
                       "--apply, --dry-run and --skill need --install or --remove");
    if (isatty(STDIN_FILENO))
        command_warn(in, ERR_OK, NULL, "an agent starts this server; see reprise mcp --help");
    in->out.json_lines = true;
    in->out.wants_json = true;
    while (!rc && mcp_next(&s, &line)) {
        message.n = 0;
        if (buf_add(&message, line)) {
            rc = err_nomem(e);
            break;
        }
        mcp_handle(&s, buf_slice(&message));
        rc = out_flush(&in->out, e);
    }
    buf_fini(&s.input);
    return rc;
}
