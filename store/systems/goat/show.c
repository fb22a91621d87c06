#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/common/jsonl.h"
#include "store/systems/goat/entry.h"
#include "store/systems/goat/goat.h"
#include "store/systems/goat/log.h"

/* The conversation as a person reads it: every line in the order of the file, those that nobody can read among them. */

static uint16_t message_flags_of(enum goat_line_kind kind)
{
    switch (kind) {
    case GOAT_LINE_BROKEN: return MESSAGE_BROKEN;
    case GOAT_LINE_MISTYPED: return MESSAGE_BROKEN | MESSAGE_MISTYPED;
    default: return 0;
    }
}

static enum err_code judge_line(struct logfile *log, size_t line, struct message *m, bool *keep,
                                struct err *e)
{
    enum goat_line_kind kind;
    enum message_kind message;
    enum err_code rc = goat_log_kind(log, line, &kind, &message, e);

    if (rc)
        return rc;
    *keep = kind != GOAT_LINE_SKIP;
    m->kind = (uint8_t)message;
    m->flags = message_flags_of(kind);
    return ERR_OK;
}

static struct jsonl_log log_of(const struct session_ref *ref)
{
    return (struct jsonl_log){
        .path = ref->path.p, .keys = &goat_keys, .judge = judge_line, .empty = !goat_has_log(ref)
    };
}

enum err_code goat_load(const struct store *st, const struct session_ref *ref,
                        const atomic_bool *cancel, struct transcript **out, struct err *e)
{
    const struct jsonl_log log = log_of(ref);

    (void)st;
    return jsonl_load(&log, cancel, out, e);
}

enum err_code goat_tail(const struct store *st, const struct session_ref *ref, size_t bytes,
                        struct transcript **out, struct err *e)
{
    const struct jsonl_log log = log_of(ref);

    (void)st;
    return jsonl_tail(&log, bytes, out, e);
}

/* One line, taken apart for a reader, whichever dialect wrote it. What is said in a way not known here becomes a note or
 * its raw bytes, never nothing. */

struct blocks {
    struct block_list *out;
    enum err_code rc; /* the first failure (memory) sticks */
};

static void add_line_block(struct blocks *b, struct block block)
{
    if (!b->rc)
        b->rc = transcript_block_add(b->out, &block);
}

static struct slice decode_line_text(struct blocks *b, struct slice value)
{
    struct slice text = { NULL, 0 };

    if (json_type(value) == JSON_STRING && !json_text(value, &b->out->arena, &text))
        b->rc = ERR_NOMEM;
    return text;
}

static struct slice member(struct blocks *b, struct slice object, const char *name)
{
    struct slice value;

    json_get(object, name, &value);
    return decode_line_text(b, value);
}

static void put_said(struct blocks *b, enum goat_role role, struct slice text)
{
    static const enum block_kind kinds[] = {
        [GOAT_OTHER] = BLOCK_NOTE, [GOAT_USER] = BLOCK_PROMPT, [GOAT_ASSISTANT] = BLOCK_TEXT,
        [GOAT_TOOL] = BLOCK_NOTE,  [GOAT_SYSTEM] = BLOCK_NOTE,
    };

    if (utf8_js_trim(text).n)
        add_line_block(b, (struct block){ .kind = kinds[role], .text = text });
}

/* "data:image/png;base64,…": the media type, and how many bytes it stands for. */
static void put_image(struct blocks *b, struct slice url)
{
    struct block block = { .kind = BLOCK_IMAGE, .text = url };
    const char *comma = url.n ? memchr(url.p, ',', url.n) : NULL;

    if (slice_starts(url, "data:") && comma) {
        const char *end = memchr(url.p, ';', (size_t)(comma - url.p));

        block.name = (struct slice){ url.p + 5, (size_t)((end ? end : comma) - url.p) - 5 };
        block.bytes = (int64_t)((size_t)(url.p + url.n - comma - 1) * 3 / 4);
        block.text = (struct slice){ NULL, 0 };
    }
    add_line_block(b, block);
}

/* What a tool answered, in the SDK's stream: a text or a list of texts. */
static void put_stream_result(struct blocks *b, struct slice part)
{
    struct goat_entry content = { 0 };
    struct slice error;
    struct block block = { .kind = BLOCK_TOOL_RESULT, .call_id = member(b, part, "tool_use_id") };

    json_get(part, "content", &content.content);
    json_get(part, "is_error", &error);
    block.failed = json_type(error) == JSON_TRUE;
    if (!goat_entry_text(&content, &b->out->arena, &block.text))
        b->rc = ERR_NOMEM;
    add_line_block(b, block);
}

static void put_part(struct blocks *b, enum goat_role role, struct slice part)
{
    struct slice type, value;

    json_get(part, "type", &type);
    if (json_string_is(type, "text")) {
        put_said(b, role, member(b, part, "text"));
    } else if (json_string_is(type, "image_url")) {
        json_at(part, "image_url.url", &value);
        put_image(b, decode_line_text(b, value));
    } else if (json_string_is(type, "thinking")) {
        add_line_block(
            b, (struct block){ .kind = BLOCK_THINKING, .text = member(b, part, "thinking") });
    } else if (json_string_is(type, "tool_use")) {
        struct block call = { .kind = BLOCK_TOOL_CALL,
                              .name = member(b, part, "name"),
                              .call_id = member(b, part, "id") };

        json_get(part, "input", &call.input);
        add_line_block(b, call);
    } else if (json_string_is(type, "tool_result")) {
        put_stream_result(b, part);
    } else {
        add_line_block(b, (struct block){ .kind = BLOCK_NOTE,
                                          .name = decode_line_text(b, type),
                                          .text = member(b, part, "text") });
    }
}

static void put_content(struct blocks *b, const struct goat_entry *e, enum goat_role role)
{
    struct json_iter it;
    struct slice key, part;

    if (json_type(e->content) == JSON_STRING)
        put_said(b, role, decode_line_text(b, e->content));
    else if (json_type(e->content) == JSON_ARRAY && json_iter_open(&it, e->content))
        while (json_iter_next(&it, &key, &part))
            put_part(b, role, part);
}

/* Arguments are a text that mostly is a JSON object; one that is none is shown as it is. */
static void add_call_block(struct blocks *b, struct slice call)
{
    struct slice function, arguments;
    struct block block = { .kind = BLOCK_TOOL_CALL, .call_id = member(b, call, "id") };

    json_get(call, "function", &function);
    block.name = member(b, function, "name");
    json_get(function, "arguments", &arguments);
    block.input = json_type(arguments) == JSON_STRING ? utf8_js_trim(decode_line_text(b, arguments))
                                                      : arguments;
    if (json_type(block.input) != JSON_OBJECT || !json_valid(block.input)) {
        block.text = block.input;
        block.input = (struct slice){ NULL, 0 };
    }
    add_line_block(b, block);
}

static void put_calls(struct blocks *b, struct slice calls)
{
    struct json_iter it;
    struct slice key, call;

    if (json_type(calls) == JSON_ARRAY && json_iter_open(&it, calls))
        while (json_iter_next(&it, &key, &call))
            add_call_block(b, call);
}

static void put_message(struct blocks *b, const struct goat_entry *e, enum goat_role role)
{
    struct block result = { .kind = BLOCK_TOOL_RESULT };

    if (role != GOAT_TOOL) {
        put_content(b, e, role);
        put_calls(b, e->tool_calls);
        return;
    }
    result.call_id = decode_line_text(b, e->tool_call_id);
    if (!goat_entry_text(e, &b->out->arena, &result.text))
        b->rc = ERR_NOMEM;
    add_line_block(b, result);
}

/* Rows of the SDK's stream that are no messages (goat.md B3). */
static void put_event(struct blocks *b, const struct goat_entry *e, struct slice line)
{
    struct block note = { .kind = BLOCK_NOTE, .name = decode_line_text(b, e->type) };

    if (json_string_is(e->subtype, "compact_boundary"))
        note.kind = BLOCK_SEAM;
    if (json_type(e->subtype) == JSON_STRING)
        note.name = decode_line_text(b, e->subtype);
    if (json_string_is(e->type, "result"))
        note.text = member(b, line, "result");
    else if (json_string_is(e->type, "tool_progress"))
        note.text = member(b, line, "tool_name");
    else if (json_string_is(e->type, "tool_use_summary"))
        note.text = member(b, line, "summary");
    note.failed = json_get_true(line, "is_error");
    add_line_block(b, note);
}

static void put_line(struct blocks *b, struct slice row)
{
    struct slice line = utf8_js_trim(row);
    struct goat_entry e;

    if (row.n > GOAT_LINE_MAX) {
        add_line_block(
            b, (struct block){ .kind = BLOCK_SEAM,
                               .text = SLICE("a line of more than 10 MiB: the agent itself cannot "
                                             "load a session that holds one") });
        return;
    }
    if (json_type(line) != JSON_OBJECT || !json_valid(line)) {
        add_line_block(b, (struct block){ .kind = BLOCK_RAW, .text = row });
        return;
    }
    goat_entry_read(line, &e);
    enum goat_role role = goat_entry_role(&e);

    if (e.shape == GOAT_NOTHING || (e.shape != GOAT_STREAM && role == GOAT_OTHER))
        add_line_block(b, (struct block){ .kind = BLOCK_RAW, .text = row });
    else if (e.shape == GOAT_STREAM && (role == GOAT_OTHER || role == GOAT_SYSTEM))
        put_event(b, &e, line);
    else
        put_message(b, &e, role);
}

enum err_code goat_blocks(const struct store *st, struct slice row, struct block_list *out,
                          struct err *e)
{
    struct blocks b = { .out = out };

    (void)st;
    put_line(&b, row);
    return b.rc ? err_set(e, b.rc, NULL, "take a row apart") : ERR_OK;
}
