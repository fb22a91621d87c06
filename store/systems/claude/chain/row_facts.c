#include "store/systems/claude/chain/row_facts.h"

/* Where a turn was interrupted, the client writes one of these in place of the missing part.
 * Comparing the beginning is enough to distinguish them from typed text. */
static const char *const interrupt_notes[] = {
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
    "[Request interrupted: the session ended before this agent finished. Nobody asked it to stop.]",
    "[This turn ended before it finished.]",
    "[Agent call interrupted: the process running this conversation stopped before this agent "
    "finished, so it returned no result. Nobody asked it to stop.]",
    "[Tool call did not complete: the turn was ended to deliver the message that follows. Nothing "
    "refused it; re-run it if still needed.]",
    "[Tool call interrupted: the session ended before this call's result was recorded, so its "
    "outcome is unknown. Check whether it took effect before relying on it or running it again.]",
    "[Tool call result not in this copy: this session was copied from another session before that "
    "session recorded this call's result. The call may have finished there, may still be running "
    "there, or may never have run. Check whether it took effect before relying on it or running it "
    "again.]",
    "[Tool call skipped: the turn was stopped before this call ran, by the check whose denial is "
    "on another call in this batch. Nothing refused this call and it had no effects; re-run it if "
    "still needed.]",
    "[Tool call skipped: the turn ended to deliver the message that follows before this call ran. "
    "Nothing refused it; re-run it if still needed.]",
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the "
    "user to tell you how to proceed.",
};

bool claude_truthy(struct slice value)
{
    switch (json_type(value)) {
    case JSON_TRUE:
    case JSON_ARRAY:
    case JSON_OBJECT: return true;
    case JSON_STRING: return value.n > 2;
    case JSON_NUMBER: {
        /* Zero, however it is written, has no other digit before its exponent. */
        for (size_t i = 0; i < value.n && value.p[i] != 'e' && value.p[i] != 'E'; i++)
            if (value.p[i] >= '1' && value.p[i] <= '9')
                return true;
        return false;
    }
    default: return false;
    }
}

bool claude_key_truthy(struct slice object, const char *key)
{
    struct slice value;

    return json_get(object, key, &value) && claude_truthy(value);
}

bool claude_string_in(struct slice value, const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (json_string_is(value, names[i]))
            return true;
    return false;
}

bool claude_value_is(struct slice row, const char *path, const char *text)
{
    struct slice value;

    return json_at(row, path, &value) && json_string_is(value, text);
}

struct id128 claude_id(struct slice value, struct arena *a)
{
    struct slice text;

    if (json_type(value) != JSON_STRING || !json_text(value, a, &text))
        return (struct id128){ 0, 0 };
    return id128_of(text);
}

struct id128 claude_id_at(struct slice row, const char *path, struct arena *a)
{
    struct slice value;

    return json_at(row, path, &value) ? claude_id(value, a) : (struct id128){ 0, 0 };
}

int claude_id_compare(struct id128 a, struct id128 b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return (a.lo > b.lo) - (a.lo < b.lo);
}

bool claude_is_queued_command(struct slice row)
{
    return claude_value_is(row, "attachment.type", "queued_command");
}

bool claude_is_boundary(struct slice row)
{
    return claude_value_is(row, "subtype", "compact_boundary");
}

bool claude_content(struct slice row, struct json_iter *blocks)
{
    struct slice content;

    return json_at(row, "message.content", &content) && json_type(content) == JSON_ARRAY &&
           json_iter_open(blocks, content);
}

bool claude_block_is(struct slice block, const char *type)
{
    return json_type(block) == JSON_OBJECT && claude_value_is(block, "type", type);
}

bool claude_block_id(struct slice block, const char *type, const char *key, struct arena *a,
                     struct id128 *id)
{
    struct slice value;

    if (!claude_block_is(block, type) || !json_get(block, key, &value) ||
        json_type(value) != JSON_STRING)
        return false;
    *id = claude_id(value, a);
    return true;
}

bool claude_has_tool_result(struct slice row)
{
    struct json_iter blocks;
    struct slice key, block;

    if (!claude_content(row, &blocks))
        return false;
    while (json_iter_next(&blocks, &key, &block))
        if (claude_block_is(block, "tool_result"))
            return true;
    return false;
}

static bool claude_is_note(struct slice value, struct arena *a)
{
    struct slice text;

    if (json_type(value) != JSON_STRING || !json_text(value, a, &text))
        return false;
    for (size_t i = 0; i < sizeof interrupt_notes / sizeof *interrupt_notes; i++)
        if (slice_starts(text, interrupt_notes[i]))
            return true;
    return false;
}

bool claude_only_result(struct slice row, struct slice *result)
{
    struct json_iter it;
    struct slice key, block;
    size_t n = 0;

    if (!claude_content(row, &it))
        return false;
    while (json_iter_next(&it, &key, &block))
        if (claude_block_is(block, "tool_result") && n++ == 0)
            *result = block;
    return n == 1;
}

bool claude_is_interrupt_note(struct slice row, struct arena *a)
{
    struct slice content, key, block, value;
    struct json_iter blocks;
    bool any = false;

    if (!json_at(row, "message.content", &content))
        return false;
    if (json_type(content) != JSON_ARRAY)
        return claude_is_note(content, a);
    if (!json_iter_open(&blocks, content))
        return false;
    while (json_iter_next(&blocks, &key, &block)) {
        if (json_type(block) != JSON_OBJECT)
            return false;
        bool text = claude_value_is(block, "type", "text");

        if (!text &&
            !(claude_value_is(block, "type", "tool_result") && json_get_true(block, "is_error")))
            return false;
        if (!json_get(block, text ? "text" : "content", &value) || !claude_is_note(value, a))
            return false;
        any = true;
    }
    return any;
}

bool claude_origin_is_shown(struct slice origin)
{
    static const char *const kinds[] = { "channel",    "observer",   "observer-activity",
                                         "slack-ping", "voice-call", "peer",
                                         NULL };
    struct slice kind;

    return json_type(origin) == JSON_OBJECT && json_get(origin, "kind", &kind) &&
           claude_string_in(kind, kinds);
}

/* The text by which the kind of a row is recognised: its content, or that of its last text block. */
static bool last_text_of(struct slice row, struct slice *value)
{
    struct slice content, key, block;
    struct json_iter blocks;
    bool found = false;

    if (!json_at(row, "message.content", &content))
        return false;
    if (json_type(content) != JSON_ARRAY) {
        *value = content;
        return json_type(content) == JSON_STRING;
    }
    if (!json_iter_open(&blocks, content))
        return false;
    while (json_iter_next(&blocks, &key, &block)) {
        if (claude_block_is(block, "text"))
            found = json_get(block, "text", value) && json_type(*value) == JSON_STRING;
    }
    return found;
}

enum claude_local claude_local_part(struct slice row, struct arena *a)
{
    struct slice value, text;

    if (json_get(row, "promptSource", &value) || !last_text_of(row, &value) ||
        !json_text(value, a, &text))
        return LOCAL_NOT;
    if (slice_starts(text, "<command-name>"))
        return LOCAL_RECORD;
    if (slice_starts(text, "<local-command-stdout>") ||
        slice_starts(text, "<local-command-stderr>"))
        return LOCAL_OUTPUT;
    return slice_starts(text, "<local-command-caveat>") ? LOCAL_CAVEAT : LOCAL_NOT;
}

/* ---- values ---- */

enum err_code claude_values_add(struct claude_values *values, struct arena *a, struct slice value)
{
    struct slice *p = arena_grow(a, values->p, values->n, sizeof *p);

    if (!p)
        return ERR_NOMEM;
    values->p = p;
    values->p[values->n++] = value;
    return ERR_OK;
}

void claude_write_value(struct jsonout *j, const char *key, struct slice value)
{
    if (value.n == 0)
        return;
    jsonout_raw_member(j, key, value);
}

void claude_copy_member(struct jsonout *j, struct slice row, const char *from, const char *to)
{
    struct slice value;

    if (json_get(row, from, &value))
        claude_write_value(j, to, value);
}

void claude_end_row(struct jsonout *j)
{
    jsonout_close(j, '}');
    if (!j->rc)
        j->rc = buf_add_byte(j->out, '\n');
}

/* ---- collation ---- */

/* The order of the Unicode root collation. A letter represents both cases. */
static const char order[] = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
                            "abcdefghijklmnopqrstuvwxyz";

static int claude_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* 0: ignored. */
static int weight(unsigned char c)
{
    if (c >= 0x80)
        return 0x100 + c;
    const char *at = c ? strchr(order, claude_lower(c)) : NULL;

    return at ? (int)(at - order) + 1 : 0;
}

static int next_weight(struct slice *text, unsigned char *c)
{
    while (text->n) {
        *c = (unsigned char)*text->p++;
        text->n--;
        if (weight(*c))
            return weight(*c);
    }
    *c = 0;
    return 0;
}

int claude_collate(struct slice a, struct slice b)
{
    int by_case = 0;

    for (;;) {
        unsigned char ca, cb;
        int wa = next_weight(&a, &ca), wb = next_weight(&b, &cb);

        if (wa != wb)
            return wa < wb ? -1 : 1;
        if (wa == 0)
            return by_case;
        if (by_case == 0 && ca != cb)
            by_case = ca == claude_lower(ca) ? -1 : 1; /* lower case first */
    }
}
