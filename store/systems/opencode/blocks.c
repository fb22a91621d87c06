#include "lite/json/json.h"
#include "store/systems/opencode/opencode.h"

/* The parts of a message as blocks. */

struct slice opencode_prompt(struct slice part, struct arena *a)
{
    enum { TYPE, TEXT, SYNTHETIC, IGNORED, N };
    static const char *const names[] = { "type", "text", "synthetic", "ignored" };
    struct slice value[N];

    return json_get_each(part, names, N, value) && json_string_is(value[TYPE], "text") &&
                   !slice_eq(value[SYNTHETIC], SLICE("true")) &&
                   !slice_eq(value[IGNORED], SLICE("true"))
               ? json_text_of(value[TEXT], a)
               : SLICE("");
}

/* A message that is taken apart. */
struct parting {
    struct block_list *out;
    bool user;
};

static void put_text(struct parting *p, struct slice part)
{
    bool own = json_get_true(part, "synthetic") || json_get_true(part, "ignored");

    transcript_block_put_text(p->out, p->user ? own ? BLOCK_NOTE : BLOCK_PROMPT : BLOCK_TEXT,
                              json_text_at(part, "text", &p->out->arena));
}

/* The sub-agent that a task began. */
static struct slice agent_of(struct slice state, struct arena *a)
{
    struct slice metadata, id = SLICE("");

    if (json_get(state, "metadata", &metadata))
        json_get_text(metadata, "sessionId", a, &id);
    return id;
}

static void put_result(struct parting *p, struct slice state, struct slice call)
{
    struct arena *a = &p->out->arena;
    struct block b = { .kind = BLOCK_TOOL_RESULT, .call_id = call };
    struct slice status = SLICE("");

    json_get_text(state, "status", a, &status);
    b.failed = slice_eq(status, SLICE("error"));
    if (b.failed)
        json_get_text(state, "error", a, &b.text);
    else if (slice_eq(status, SLICE("completed")))
        json_get_text(state, "output", a, &b.text);
    else
        return; /* it was running when the session ended, or still is */
    transcript_block_put(p->out, b);
}

static void put_tool(struct parting *p, struct slice part)
{
    struct arena *a = &p->out->arena;
    struct block b = { .kind = BLOCK_TOOL_CALL, .input = SLICE("{}") };
    struct slice state = SLICE("{}");

    json_get_text(part, "tool", a, &b.name);
    json_get_text(part, "callID", a, &b.call_id);
    json_get(part, "state", &state);
    json_get(state, "input", &b.input);
    b.agent = agent_of(state, a);
    transcript_block_put(p->out, b);
    put_result(p, state, b.call_id);
}

static void put_file(struct parting *p, struct slice part)
{
    struct block b = { .kind = BLOCK_DOCUMENT };

    json_get_text(part, "mime", &p->out->arena, &b.name);
    if (slice_starts(b.name, "image/"))
        b.kind = BLOCK_IMAGE;
    transcript_block_put(p->out, b);
}

/* A part with its text in this member. */
static void put_note(struct parting *p, struct slice part, const char *member)
{
    struct block b = { .kind = BLOCK_NOTE };

    json_get_text(part, "type", &p->out->arena, &b.name);
    json_get_text(part, member, &p->out->arena, &b.text);
    transcript_block_put(p->out, b);
}

static void put_thinking(struct parting *p, struct slice part)
{
    transcript_block_put_text(p->out, BLOCK_THINKING, json_text_at(part, "text", &p->out->arena));
}

static void put_part(struct parting *p, struct slice part)
{
    if (json_get_is(part, "type", "text"))
        put_text(p, part);
    else if (json_get_is(part, "type", "reasoning"))
        put_thinking(p, part);
    else if (json_get_is(part, "type", "tool"))
        put_tool(p, part);
    else if (json_get_is(part, "type", "file"))
        put_file(p, part);
    else if (json_get_is(part, "type", "compaction"))
        transcript_block_put_compaction(p->out, SLICE(""));
    else if (json_get_is(part, "type", "subtask"))
        put_note(p, part, "prompt");
    else if (json_get_is(part, "type", "agent"))
        put_note(p, part, "name");
    else if (!json_get_is(part, "type", "step-start") &&
             !json_get_is(part, "type", "step-finish") && !json_get_is(part, "type", "snapshot") &&
             !json_get_is(part, "type", "patch") && !json_get_is(part, "type", "retry"))
        transcript_block_put(p->out, (struct block){ .kind = BLOCK_RAW, .text = part });
}

/* The message itself contains the reason why a turn failed. */
static void put_error(struct parting *p, struct slice message)
{
    struct block b = { .kind = BLOCK_NOTE, .name = SLICE("error"), .failed = true };
    struct slice error, data;

    if (!json_get(message, "error", &error) || json_type(error) != JSON_OBJECT)
        return;
    if (!json_get(error, "data", &data) || !json_get_text(data, "message", &p->out->arena, &b.text))
        json_get_text(error, "name", &p->out->arena, &b.text);
    transcript_block_put(p->out, b);
}

enum err_code opencode_blocks(const struct store *st, struct slice row, struct block_list *out,
                              struct err *e)
{
    struct parting p = { .out = out };
    struct slice message = SLICE("{}"), parts, key, part, data;
    struct json_iter it;

    (void)st;
    if (!json_valid(row) || !json_get(row, "message", &message) ||
        !json_get(row, "parts", &parts)) {
        transcript_block_put(out, (struct block){ .kind = BLOCK_RAW, .text = row });
        return out->arena.failed ? err_nomem(e) : ERR_OK;
    }
    p.user = json_get_is(message, "role", "user");
    if (json_iter_open(&it, parts))
        while (json_iter_next(&it, &key, &part))
            if (json_get(part, "data", &data))
                put_part(&p, data);
    put_error(&p, message);
    return out->arena.failed ? err_nomem(e) : ERR_OK;
}
