#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/api/transcript.h"
#include "store/systems/claude/claude.h"
#include "store/systems/claude/list/discover.h"

/* Splits one row into blocks for a reader (claude.md 3 and 8). Anything unknown becomes a note or
 * raw bytes, and is never dropped, because a reader must see that it exists. */

enum top_member {
    TOP_TYPE,
    TOP_MESSAGE,
    TOP_META,
    TOP_SUMMARY,
    TOP_API_ERROR,
    TOP_RESULT,
    TOP_SUBTYPE,
    TOP_CONTENT,
    TOP_LEVEL,
    TOP_ATTACHMENT,
    TOP_COUNT
};

static const char *const top_names[TOP_COUNT] = {
    [TOP_TYPE] = "type",
    [TOP_MESSAGE] = "message",
    [TOP_META] = "isMeta",
    [TOP_SUMMARY] = "isCompactSummary",
    [TOP_API_ERROR] = "isApiErrorMessage",
    [TOP_RESULT] = "toolUseResult",
    [TOP_SUBTYPE] = "subtype",
    [TOP_CONTENT] = "content",
    [TOP_LEVEL] = "level",
    [TOP_ATTACHMENT] = "attachment",
};

/* The first failure, which can only be out of memory, stays in rc and is returned at the end. */
struct blocks {
    struct slice top[TOP_COUNT]; /* top-level values, raw; empty: none */
    struct block_list *out;
    enum err_code rc;
};

static void add_block(struct blocks *r, struct block b)
{
    if (!r->rc)
        r->rc = transcript_block_add(r->out, &b);
}

static void add_note(struct blocks *r, struct slice name, struct slice text)
{
    add_block(r, (struct block){ .kind = BLOCK_NOTE, .name = name, .text = text });
}

/* A string value, decoded; empty if the value is not a string. */
static struct slice decode_row_text(struct blocks *r, struct slice value)
{
    struct slice text = { NULL, 0 };

    if (json_type(value) == JSON_STRING && !json_text(value, &r->out->arena, &text))
        r->rc = ERR_NOMEM; /* the row is valid, so this is the only possible failure */
    return text;
}

static struct slice claude_record_json_text(struct blocks *r, struct slice object, const char *name)
{
    struct slice value;

    json_get(object, name, &value);
    return decode_row_text(r, value);
}

static bool claude_is_true(struct slice value)
{
    return json_type(value) == JSON_TRUE;
}

/* ---- texts in the person's place ---- */

/* The client writes more here than the typed text: commands, their output, reminders, notes of an
 * interruption. */

static bool starts_with_any(struct slice text, const char *const fronts[])
{
    for (size_t i = 0; fronts[i]; i++)
        if (slice_starts(text, fronts[i]))
            return true;
    return false;
}

/* The arguments of prompt_between for <tag> and </tag>. */
#define TAGS(tag) "<" tag ">", "</" tag ">"

/* Two texts with something between them, in the arena; either may be empty. */
static struct slice joined(struct blocks *r, struct slice a, const char *between, struct slice b)
{
    const struct slice all[] = { a, slice_of(between), b };

    if (a.n == 0 || b.n == 0)
        return a.n ? a : b;
    char *p = arena_concat(&r->out->arena, all, 3);

    if (!p)
        r->rc = ERR_NOMEM;
    return (struct slice){ p, p ? a.n + all[1].n + b.n : 0 };
}

/* The words of a slash command, such as "/review now". */
static bool claude_add_command(struct blocks *r, struct slice text)
{
    struct slice name, args = { NULL, 0 };

    if (prompt_between(text, TAGS("bash-input"), &name)) {
        add_block(r, (struct block){ .kind = BLOCK_COMMAND,
                                     .text = joined(r, SLICE("!"), " ", utf8_js_trim(name)) });
        return true;
    }
    if (!prompt_between(text, TAGS("command-name"), &name))
        return false;
    prompt_between(text, TAGS("command-args"), &args);
    add_block(r, (struct block){ .kind = BLOCK_COMMAND,
                                 .text = joined(r, utf8_js_trim(name), " ", utf8_js_trim(args)) });
    return true;
}

/* The output of a command that the person ran: two streams, one text. */
static bool add_output(struct blocks *r, struct slice text, const char *out_open,
                       const char *out_close, const char *err_open, const char *err_close)
{
    struct slice out = { NULL, 0 }, err = { NULL, 0 };
    bool found = prompt_between(text, out_open, out_close, &out);

    if (!prompt_between(text, err_open, err_close, &err) && !found)
        return false;
    add_block(r, (struct block){ .kind = BLOCK_NOTE,
                                 .name = SLICE("output"),
                                 .text = joined(r, out, "\n", err) });
    return true;
}

/* Notes of the client in the person's place; claude.md 3.7 has the whole list. */
static bool is_interruption(struct slice text)
{
    static const char *const notes[] = {
        "[Request interrupted",
        "[This turn ended before it finished",
        "[Agent call interrupted",
        "[Tool call ",
        NULL,
    };

    return starts_with_any(text, notes);
}

/* Wrappers that the client writes around its own texts. A prompt that merely begins with a tag stays a prompt. */
static bool is_machine_text(struct slice text)
{
    static const char *const tags[] = {
        "<system-reminder>",
        "<task-notification",
        "<local-command-caveat>",
        "<command-message>",
        NULL,
    };

    return starts_with_any(text, tags);
}

/* ---- blocks ---- */

/* How many bytes a base64 string encodes. The value has its quotes; escapes, if any, are not considered. */
static int64_t base64_size(struct slice quoted)
{
    if (quoted.n < 2)
        return 0;
    size_t n = quoted.n - 2, padding = 0;

    while (padding < 2 && padding < n && quoted.p[n - padding] == '=')
        padding++;
    return (int64_t)((n - padding) * 3 / 4);
}

static void add_media(struct blocks *r, enum block_kind kind, struct slice object,
                      struct slice call_id)
{
    struct slice source, data;
    struct block b = { .kind = kind, .call_id = call_id };

    json_get(object, "source", &source);
    json_get(source, "data", &data);
    b.name = claude_record_json_text(r, source, "media_type");
    b.bytes = json_type(data) == JSON_STRING ? base64_size(data) : 0;
    b.text = claude_record_json_text(r, object, "title");
    if (b.text.n == 0)
        b.text = claude_record_json_text(r, source, "url");
    add_block(r, b);
}

static struct slice claude_content_text(struct blocks *r, struct slice content)
{
    struct json_iter it;

    if (json_type(content) == JSON_STRING)
        return decode_row_text(r, content);
    if (json_type(content) == JSON_ARRAY && json_iter_open(&it, content)) {
        /* The text blocks of an array, one below the other. */
        struct slice key, value, copy = { NULL, 0 };
        struct buf all = { 0 };

        while (!r->rc && json_iter_next(&it, &key, &value)) {
            struct slice text = claude_record_json_text(r, value, "text");

            if (all.n && text.n && !r->rc)
                r->rc = buf_add_byte(&all, '\n');
            if (!r->rc)
                r->rc = buf_add(&all, text);
        }
        if (!r->rc && all.n) {
            copy = arena_copy(&r->out->arena, buf_slice(&all));
            r->rc = copy.p ? ERR_OK : ERR_NOMEM;
        }
        buf_fini(&all);
        return copy;
    }
    return (struct slice){ NULL, 0 };
}

static void add_tool_result(struct blocks *r, struct slice object)
{
    struct slice content, error, patch, interrupted, key, value, type;
    struct slice more = r->top[TOP_RESULT];
    struct block b = { .kind = BLOCK_TOOL_RESULT };
    struct json_iter it;

    json_get(object, "content", &content);
    json_get(object, "is_error", &error);
    b.call_id = claude_record_json_text(r, object, "tool_use_id");
    b.text = claude_content_text(r, content);
    b.failed = claude_is_true(error);
    if (json_type(more) == JSON_OBJECT) {
        json_get(more, "interrupted", &interrupted);
        b.failed = b.failed || claude_is_true(interrupted);
        b.agent = claude_record_json_text(r, more, "agentId");
        if (json_get(more, "structuredPatch", &patch) && json_type(patch) == JSON_ARRAY)
            b.patch = patch;
    }
    add_block(r, b);

    /* Images and documents of a result are blocks of their own, with the id of its call. */
    if (json_type(content) != JSON_ARRAY || !json_iter_open(&it, content))
        return;
    while (json_iter_next(&it, &key, &value)) {
        json_get(value, "type", &type);
        if (json_string_is(type, "image"))
            add_media(r, BLOCK_IMAGE, value, b.call_id);
        else if (json_string_is(type, "document"))
            add_media(r, BLOCK_DOCUMENT, value, b.call_id);
    }
}

static void claude_add_text_block(struct blocks *r, struct slice text)
{
    struct slice trimmed = utf8_js_trim(text);

    if (trimmed.n == 0)
        return;
    if (json_string_is(r->top[TOP_TYPE], "assistant"))
        add_block(r, (struct block){ .kind = BLOCK_TEXT,
                                     .text = text,
                                     .failed = claude_is_true(r->top[TOP_API_ERROR]) });
    else if (json_type(r->top[TOP_SUMMARY]) == JSON_TRUE)
        add_note(r, SLICE("summary"), text);
    else if (claude_add_command(r, text) ||
             add_output(r, text, TAGS("bash-stdout"), TAGS("bash-stderr")) ||
             add_output(r, text, TAGS("local-command-stdout"), TAGS("local-command-stderr")))
        return;
    else if (is_interruption(trimmed))
        add_block(r, (struct block){ .kind = BLOCK_NOTE,
                                     .failed = true,
                                     .name = SLICE("interrupted"),
                                     .text = text });
    else if (json_type(r->top[TOP_META]) == JSON_TRUE || is_machine_text(trimmed))
        add_note(r, SLICE("meta"), text);
    else
        add_block(r, (struct block){ .kind = BLOCK_PROMPT, .text = text });
}

/* A string, or an array of blocks. */
static void add_contents(struct blocks *r, struct slice content)
{
    struct json_iter it;
    struct slice key, value;

    if (json_type(content) == JSON_STRING)
        claude_add_text_block(r, decode_row_text(r, content));
    else if (json_type(content) == JSON_ARRAY && json_iter_open(&it, content))
        while (json_iter_next(&it, &key, &value)) {
            /* One block of the content, which either role may have. */
            struct slice type;

            json_get(value, "type", &type);
            if (json_string_is(type, "text"))
                claude_add_text_block(r, claude_record_json_text(r, value, "text"));
            else if (json_string_is(type, "thinking") || json_string_is(type, "redacted_thinking"))
                add_block(r,
                          (struct block){ .kind = BLOCK_THINKING,
                                          .text = claude_record_json_text(r, value, "thinking") });
            else if (json_string_is(type, "tool_use") || json_string_is(type, "server_tool_use") ||
                     json_string_is(type, "mcp_tool_use")) {
                struct block b = { .kind = BLOCK_TOOL_CALL };

                b.name = claude_record_json_text(r, value, "name");
                b.call_id = claude_record_json_text(r, value, "id");
                json_get(value, "input", &b.input);
                add_block(r, b);
            } else if (json_string_is(type, "tool_result") ||
                       json_string_is(type, "mcp_tool_result"))
                add_tool_result(r, value);
            else if (json_string_is(type, "image"))
                add_media(r, BLOCK_IMAGE, value, (struct slice){ NULL, 0 });
            else if (json_string_is(type, "document"))
                add_media(r, BLOCK_DOCUMENT, value, (struct slice){ NULL, 0 });
            else
                add_note(r, decode_row_text(r, type), claude_content_text(r, value));
        }
}

/* A prompt that was typed while the agent was working; else a note with the file that it is about. */
static void add_attachment(struct blocks *r)
{
    static const char *const about[] = { "displayPath", "filename", "path" };
    struct slice type, prompt, text = { NULL, 0 };

    json_get(r->top[TOP_ATTACHMENT], "type", &type);
    if (json_string_is(type, "queued_command") &&
        json_get(r->top[TOP_ATTACHMENT], "prompt", &prompt)) {
        add_contents(r, prompt);
        return;
    }
    for (size_t i = 0; i < sizeof about / sizeof about[0] && text.n == 0; i++)
        text = claude_record_json_text(r, r->top[TOP_ATTACHMENT], about[i]);
    add_note(r, decode_row_text(r, type), text);
}

enum err_code claude_blocks(const struct store *st, struct slice row, struct block_list *out,
                            struct err *e)
{
    struct blocks r = { .out = out };
    struct slice trimmed = utf8_js_trim(row);

    (void)st;
    if (json_type(trimmed) != JSON_OBJECT || !json_valid(trimmed)) {
        add_block(&r, (struct block){ .kind = BLOCK_RAW, .text = row });
        return r.rc ? err_set(e, r.rc, NULL, "split a row into blocks") : ERR_OK;
    }
    json_get_each(trimmed, top_names, TOP_COUNT, r.top);
    if (json_string_is(r.top[TOP_TYPE], "user") || json_string_is(r.top[TOP_TYPE], "assistant")) {
        struct slice content;

        if (json_get(r.top[TOP_MESSAGE], "content", &content))
            add_contents(&r, content);
    } else if (json_string_is(r.top[TOP_TYPE], "system")) {
        struct block b = { .kind = BLOCK_NOTE };
        struct slice inside;

        b.name = decode_row_text(&r, r.top[TOP_SUBTYPE]);
        b.text = decode_row_text(&r, r.top[TOP_CONTENT]);
        b.failed = json_string_is(r.top[TOP_LEVEL], "error");

        /* The output of a local command is shown without its tags. */
        if (prompt_between(b.text, TAGS("local-command-stdout"), &inside) ||
            prompt_between(b.text, TAGS("local-command-stderr"), &inside))
            b.text = inside;
        if (json_string_is(r.top[TOP_SUBTYPE], "compact_boundary"))
            b.kind = BLOCK_SEAM;
        add_block(&r, b);
    } else if (json_string_is(r.top[TOP_TYPE], "attachment"))
        add_attachment(&r);
    else {
        struct slice text = decode_row_text(&r, r.top[TOP_CONTENT]);

        if (text.n == 0)
            text = claude_record_json_text(&r, trimmed, "summary");
        add_note(&r, decode_row_text(&r, r.top[TOP_TYPE]), text);
    }
    return r.rc ? err_set(e, r.rc, NULL, "split a row into blocks") : ERR_OK;
}
