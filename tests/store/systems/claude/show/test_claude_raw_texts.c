#include "tests/test.h"

#include <stdlib.h>

#include "lite/base/utf8.h"
#include "lite/json/json.h"
#include "store/systems/claude/claude.h"

/* claude_raw_texts says the same of a row as claude_blocks, or nothing. */

static uint64_t roll(uint64_t *dice, uint64_t sides)
{
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    return *dice % sides;
}

struct maker {
    struct buf out;
    uint64_t dice;
};

static void put(struct maker *m, const char *text)
{
    assert_int_equal(buf_add(&m->out, slice_of(text)), ERR_OK);
}

static void put_text(struct maker *m)
{
    static const char *const parts[] = {
        "word",
        " ",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u001b[31m",
        "\\u00e9",
        "\xc3\xa9",
        "[Request",
        "<b>",
        "\xff",
        "\\ud83d",
        "long text of the session",
        "\\u003cb>",
        "<bash-input>ls</bash-input>",
        "x",
        "0123456789abcdef0123456789",
    };
    size_t n = roll(&m->dice, 9);

    put(m, "\"");
    for (size_t i = 0; i < n; i++)
        put(m, parts[roll(&m->dice, sizeof parts / sizeof *parts)]);
    put(m, "\"");
}

static void put_value(struct maker *m, int depth)
{
    static const char *const scalars[] = { "null", "true", "false", "-1.5e3", "0", "[]", "{}" };
    bool object = roll(&m->dice, 2);

    if (depth > 3 || roll(&m->dice, 3) == 0) {
        put(m, scalars[roll(&m->dice, sizeof scalars / sizeof *scalars)]);
    } else if (roll(&m->dice, 2)) {
        put_text(m);
    } else {
        put(m, object ? "{" : "[");
        for (size_t i = 0, n = roll(&m->dice, 4); i < n; i++) {
            put(m, i ? "," : "");
            put(m, object ? "\"k\":" : "");
            put_value(m, depth + 1);
        }
        put(m, object ? "}" : "]");
    }
}

/* One of these, mostly the first. */
static void put_one_of(struct maker *m, const char *const words[], size_t n)
{
    put(m, roll(&m->dice, 3) ? words[0] : words[roll(&m->dice, n)]);
}

static void put_result(struct maker *m)
{
    put(m, "[");
    for (size_t i = 0, n = roll(&m->dice, 3); i < n; i++) {
        put(m, i ? ",{\"type\":\"text\",\"text\":" : "{\"type\":\"text\",\"text\":");
        put_text(m);
        put(m, roll(&m->dice, 8) ? "}" : ",\"text\":7}");
    }
    put(m, "]");
}

static void put_block(struct maker *m)
{
    static const char *const keys[] = { "text", "thinking", "content", "input", "title", "source" };
    static const char *const types[] = { "text",  "tool_result", "tool_use",
                                         "image", "thinking",    "redacted_thinking",
                                         "other", "document",    "mcp_tool_result" };
    bool begun = false, typed = false;

    put(m, "{");
    for (size_t i = 0, n = roll(&m->dice, 5); i <= n; i++) {
        put(m, begun ? "," : "");
        begun = true;
        if (!typed && (i == n || roll(&m->dice, 2))) {
            put(m, "\"type\":\"");
            put(m, types[roll(&m->dice, sizeof types / sizeof *types)]);
            put(m, "\"");
            typed = true;
            continue;
        }
        const char *key = keys[roll(&m->dice, sizeof keys / sizeof *keys)];

        put(m, "\"");
        put(m, key);
        put(m, "\":");
        if (strcmp(key, "content") == 0 && roll(&m->dice, 2))
            put_result(m);
        else if (strcmp(key, "input") == 0)
            put_value(m, 0);
        else
            put_text(m);
    }
    put(m, "}");
}

static void put_row(struct maker *m)
{
    static const char *const types[] = { "user", "assistant", "assistant", "system", "attachment" };
    static const char *const metas[] = { "", ",\"isMeta\":true", ",\"isMeta\":false",
                                         ",\"isCompactSummary\":true" };
    bool late = roll(&m->dice, 2);
    const char *type = types[roll(&m->dice, sizeof types / sizeof *types)];

    put(m, late ? "{\"uuid\":\"1\"" : "{\"type\":\"");
    put(m, late ? "" : type);
    put(m, late ? ",\"message\":{\"role\":\"x\",\"content\":" : "\",\"message\":{\"content\":");
    if (roll(&m->dice, 3) == 0) {
        put_text(m);
    } else {
        put(m, "[");
        for (size_t i = 0, n = roll(&m->dice, 4); i < n; i++) {
            put(m, i ? "," : "");
            put_block(m);
        }
        put(m, "]");
    }
    put(m, ",\"usage\":");
    put_value(m, 0);
    put(m, "}");
    put_one_of(m, metas, sizeof metas / sizeof *metas);
    put(m, ",\"toolUseResult\":");
    put_value(m, 0);
    put(m, late ? ",\"type\":\"" : "");
    put(m, late ? type : "");
    put(m, late ? "\"}" : "}");
}

/* A byte is replaced, left out or repeated. */
static void damage(struct maker *m)
{
    static const char bytes[] = "{}[]\",:\\u0n <\n\x01t";
    size_t at = roll(&m->dice, m->out.n);

    if (roll(&m->dice, 2)) {
        m->out.p[at] = bytes[roll(&m->dice, sizeof bytes - 1)];
    } else {
        memmove(m->out.p + at, m->out.p + at + 1, m->out.n - at - 1);
        m->out.n--;
    }
}

/* Without blanks, which are where the two differ: at the ends, and between joined texts. */
static void add_solid(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr(" \n", text.p[i]) || !text.p[i])
            assert_int_equal(buf_add_byte(out, text.p[i]), ERR_OK);
}

static void add_decoded(struct buf *out, struct slice quoted, struct arena *a)
{
    struct slice text;

    assert_true(json_text(quoted, a, &text));
    add_solid(out, text);
}

static void add_input(struct buf *out, struct slice input, struct arena *a)
{
    struct json_iter it;
    struct slice key, value;

    if (json_type(input) == JSON_STRING)
        add_decoded(out, input, a);
    if (!json_iter_open(&it, input))
        return;
    while (json_iter_next(&it, &key, &value))
        add_input(out, value, a);
}

static bool is_counted(enum block_kind kind)
{
    return kind == BLOCK_PROMPT || kind == BLOCK_COMMAND || kind == BLOCK_TEXT ||
           kind == BLOCK_THINKING || kind == BLOCK_TOOL_CALL || kind == BLOCK_TOOL_RESULT;
}

static void compare(struct slice row, const struct raw_texts *raw)
{
    struct buf want[BLOCK_RAW + 1] = { 0 }, got[BLOCK_RAW + 1] = { 0 };
    struct block_list list = { 0 };
    struct arena a = { 0 };

    assert_int_equal(claude_blocks(NULL, row, &list, NULL), ERR_OK);
    for (size_t i = 0; i < list.n; i++) {
        const struct block *b = &list.block[i];

        if (b->kind == BLOCK_RAW)
            fail_msg("a damaged row is accepted: %.*s", SLICE_ARG(row));
        add_solid(&want[b->kind], b->text);
        if (b->kind == BLOCK_TOOL_CALL)
            add_input(&want[b->kind], b->input, &a);
    }
    for (size_t i = 0; i < raw->n; i++)
        add_decoded(&got[raw->text[i].kind],
                    (struct slice){ raw->text[i].text.p - 1, raw->text[i].text.n + 2 }, &a);
    for (int kind = 0; kind <= BLOCK_RAW; kind++) {
        if (is_counted((enum block_kind)kind) &&
            !slice_eq(buf_slice(&want[kind]), buf_slice(&got[kind])))
            fail_msg("kind %d of %.*s:\n%.*s\nis not\n%.*s", kind, SLICE_ARG(row),
                     SLICE_ARG(buf_slice(&got[kind])), SLICE_ARG(buf_slice(&want[kind])));
        buf_fini(&want[kind]);
        buf_fini(&got[kind]);
    }
    transcript_blocks_fini(&list);
    arena_fini(&a);
}

TEST(they_are_those_of_the_blocks)
{
    enum { ROWS = 20000 };
    struct maker m = { .dice = 88172645463325252u };
    size_t said = 0;

    for (int i = 0; i < ROWS; i++) {
        struct raw_texts raw;

        m.out.n = 0;
        put_row(&m);
        if (i % 2)
            damage(&m);
        /* A copy that ends where the row ends, so that a sanitizer sees a read past it. */
        char *copy = malloc(m.out.n);

        assert_non_null(copy);
        memcpy(copy, m.out.p, m.out.n);
        struct slice row = { copy, m.out.n };

        if (claude_raw_texts(row, &raw)) {
            said++;
            compare(row, &raw);
        }
        free(copy);
    }
    assert_true(said > ROWS / 10);
    buf_fini(&m.out);
}

TEST(ordinary_rows_need_no_decoding)
{
    static const char *const rows[] = {
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"fix\\nit\"},\"uuid\":"
        "\"x\"}",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"tool_use_id\":\"t\",\"type\":\"tool_"
        "result\","
        "\"content\":\"<b>\"}]},\"toolUseResult\":{\"stdout\":\"x\",\"n\":[1,{}]}}",
        "{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<i>\"}],\"usage\":{\"n\":1}},"
        "\"type\":\"assistant\"}",
    };
    struct raw_texts raw;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(claude_raw_texts(slice_of(rows[i]), &raw));
        assert_int_equal(raw.n, 1);
    }
}
